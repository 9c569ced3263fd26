"""CTranslate2: the bundle's body alone in int8, batches sorted by length."""

import json
import shutil
import tempfile
from pathlib import Path

import ctranslate2
from ctranslate2.converters import TransformersConverter
from talk import job, records, serve
from tokenizers import Tokenizer

told = job()
bundle = Path(told["bundle"])
scratch = Path(tempfile.mkdtemp())
shutil.copytree(bundle / "backbone", scratch / "fp32")
shutil.copyfile(bundle / "tokenizer.json", scratch / "fp32" / "tokenizer.json")
# the converter asks for a key that newer libraries no longer write
config = json.loads((scratch / "fp32" / "config.json").read_text())
config["position_embedding_type"] = "absolute"
(scratch / "fp32" / "config.json").write_text(json.dumps(config))
about = {
    "tokenizer_class": "PreTrainedTokenizerFast",
    "unk_token": "[UNK]",
    "pad_token": "[PAD]",
    "cls_token": "[CLS]",
    "sep_token": "[SEP]",
    "mask_token": "[MASK]",
}
(scratch / "fp32" / "tokenizer_config.json").write_text(json.dumps(about))
TransformersConverter(str(scratch / "fp32")).convert(str(scratch / "int8"), quantization="int8")
tokenizer = Tokenizer.from_file(str(bundle / "tokenizer.json"))
encoder = ctranslate2.Encoder(
    str(scratch / "int8"), device="cpu", compute_type="int8", inter_threads=1,
    intra_threads=told["n_threads"],
)  # fmt: skip
texts = [record["words"] for record in records(told["texts"])]
BUDGET = told["max_padded_pieces"]


def run() -> list[object]:
    ids = [e.ids for e in tokenizer.encode_batch(texts, is_pretokenized=True)]
    order = sorted(range(len(ids)), key=lambda i: -len(ids[i]))
    begin = 0
    while begin < len(order):
        n = max(1, BUDGET // len(ids[order[begin]]))
        encoder.forward_batch([ids[i] for i in order[begin : begin + n]])
        begin += n
    return []


shutil.rmtree(scratch)
serve(run, {"ctranslate2": ctranslate2.__version__})
