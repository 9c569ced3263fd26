"""Tiny random encoders of every family that limbeck names, and a vocabulary for them.

Built here, never fetched: hidden size 32, two layers, seeded.
"""

import json
from pathlib import Path

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import AutoConfig, AutoModel

from limbeck.data.vocabulary import load_tokenizer
from limbeck.train.backbones import Backbone, Pretrained

LETTERS = "abcdefghijklmnopqrstuvwxyz"
WORDS = [
    "the",
    "a",
    "cat",
    "dog",
    "bird",
    "sees",
    "likes",
    "runs",
    "sleeps",
    "big",
    "small",
    "red",
    "in",
    "on",
    "and",
    "not",
]

FAMILIES: dict[str, dict[str, object]] = {
    "bert": {"intermediate_size": 64},
    "albert": {"intermediate_size": 64, "embedding_size": 16},
    "xlnet": {"d_inner": 64},
    "distilbert": {"hidden_dim": 64},
    "roberta": {"intermediate_size": 64},
    "electra": {"intermediate_size": 64, "embedding_size": 16},
    "mpnet": {"intermediate_size": 64},
    "deberta-v2": {
        "intermediate_size": 64,
        "relative_attention": True,
        "pos_att_type": ["p2c", "c2p"],
        "position_biased_input": False,
    },
    "modernbert": {"intermediate_size": 64, "global_attn_every_n_layers": 2},
}
_SIZES: dict[str, dict[str, object]] = {
    "xlnet": {"d_model": 32, "n_layer": 2, "n_head": 2},
    "distilbert": {"dim": 32, "n_layers": 2, "n_heads": 2},
}


def word_piece() -> Tokenizer:
    """A WordPiece vocabulary of letters and a few words, in BERT's manner."""
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS, *LETTERS, ".", ",", "?", "!"]
    pieces += [f"##{letter}" for letter in LETTERS] + [str(digit) for digit in range(10)]
    pieces += [f"##{digit}" for digit in range(10)]
    vocabulary = {piece: i for i, piece in enumerate(dict.fromkeys(pieces))}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])],
    )
    return tokenizer


def tiny_model(family: str, *, n_layers: int = 2, seed: int = 0) -> Backbone:
    """A random encoder of one family."""
    torch.manual_seed(seed)
    size = _SIZES.get(
        family, {"hidden_size": 32, "num_hidden_layers": n_layers, "num_attention_heads": 2}
    )
    config = AutoConfig.for_model(
        family,
        vocab_size=word_piece().get_vocab_size(),
        pad_token_id=0,
        **{**size, **FAMILIES[family]},
    )
    if hasattr(config, "max_position_embeddings") and family != "xlnet":
        config.max_position_embeddings = 66
    return Backbone(AutoModel.from_config(config).eval())


def tiny_pretrained(family: str, folder: Path) -> Pretrained:
    """A random encoder with its vocabulary."""
    write_tokenizer(folder)
    return Pretrained(
        backbone=tiny_model(family), tokenizer=load_tokenizer(folder / "tokenizer.json")
    )


def write_tokenizer(folder: Path) -> None:
    """tokenizer.json, as checkpoints have it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tokenizer.json").write_text(word_piece().to_str(), encoding="utf-8")


def write_checkpoint(family: str, folder: Path, *, n_layers: int = 2, seed: int = 0) -> Path:
    """A folder as save_pretrained leaves it, tokenizer included."""
    write_tokenizer(folder)
    tiny_model(family, n_layers=n_layers, seed=seed).model.save_pretrained(folder)
    about = {"tokenizer_class": "PreTrainedTokenizerFast", "pad_token": "[PAD]"}
    (folder / "tokenizer_config.json").write_text(json.dumps(about), encoding="utf-8")
    return folder
