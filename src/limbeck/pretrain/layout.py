"""Checkpoints in the hub's own layout: encoder and heads in one file, under transformers' names.

In:  a network, or a checkpoint with heads.
Out: a folder that AutoModel, AutoModelForMaskedLM and a recipe's `model` load; or heads with a
checkpoint's weights. What is shared or tied is on disk once.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn
from transformers.utils import cached_file

from limbeck.errors import ConfigError
from limbeck.pretrain.heads import Transform
from limbeck.pretrain.network import PretrainNetwork
from limbeck.pretrain.vocabulary import CLS_NAMES, MASK_NAMES, PAD_NAMES
from limbeck.train.partly_shared import PARTLY_SHARED

WEIGHTS = "model.safetensors"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Names:
    """What transformers calls the heads of one family."""

    whole: str  # class with heads; with and without the order of segments
    masked: str
    bias: str
    dense: str = ""
    norm: str = ""
    order: str = ""


_ALBERT = _Names(
    whole="AlbertForPreTraining", masked="AlbertForMaskedLM", bias="predictions.bias",
    dense="predictions.dense", norm="predictions.LayerNorm", order="sop_classifier.classifier",
)  # fmt: skip
_FAMILIES: Mapping[str, _Names] = {
    "bert": _Names(
        whole="BertForPreTraining", masked="BertForMaskedLM", bias="cls.predictions.bias",
        dense="cls.predictions.transform.dense", norm="cls.predictions.transform.LayerNorm",
        order="cls.seq_relationship",
    ),
    "albert": _ALBERT,
    PARTLY_SHARED: _ALBERT,
    "distilbert": _Names(
        whole="DistilBertForMaskedLM", masked="DistilBertForMaskedLM", bias="vocab_projector.bias",
        dense="vocab_transform", norm="vocab_layer_norm",
    ),
    "xlnet": _Names(whole="XLNetLMHeadModel", masked="XLNetLMHeadModel", bias="lm_loss.bias"),
}  # fmt: skip
TEACHERS = ("bert", "albert", "distilbert")  # predict hidden pieces, through a transform
_OLD_NAMES = {"gamma": "weight", "beta": "bias"}  # of norms, in BERT's first checkpoints


def save_model(folder: Path, network: PretrainNetwork, tokenizer: str) -> None:
    """Write into an existing folder; `tokenizer` is the text of a tokenizer.json."""
    model = network.backbone.model
    names = _FAMILIES[model.config.model_type]
    tensors = {
        f"{model.base_model_prefix}.{name}": parameter
        for name, parameter in model.named_parameters()  # what is shared comes once
    }
    for name, parameter in _head_parameters(network, names).items():
        tensors[name] = parameter
    save_file(
        {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()},
        folder / WEIGHTS,
        metadata={"format": "pt"},
    )
    model.config.architectures = [names.whole if network.order_head is not None else names.masked]
    model.config.save_pretrained(folder)
    (folder / "tokenizer.json").write_text(tokenizer, encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(
        json.dumps(_tokenizer_settings(tokenizer, network)), encoding="utf-8"
    )


def _head_parameters(network: PretrainNetwork, names: _Names) -> dict[str, nn.Parameter]:
    head = network.piece_head
    found = {names.bias: head.bias}
    if isinstance(head.transform, Transform):
        for name, module in (
            (names.dense, head.transform.dense),
            (names.norm, head.transform.norm),
        ):
            found |= {f"{name}.{part}": p for part, p in module.named_parameters()}
    if network.order_head is not None:
        parameters = network.order_head.classifier.named_parameters()
        found |= {f"{names.order}.{part}": p for part, p in parameters}
    return found


def _tokenizer_settings(tokenizer: str, network: PretrainNetwork) -> dict[str, object]:
    """What AutoTokenizer must know beside tokenizer.json."""
    pieces = {added["content"] for added in json.loads(tokenizer).get("added_tokens", ())}
    kinds = {
        "pad_token": PAD_NAMES,
        "mask_token": MASK_NAMES,
        "cls_token": CLS_NAMES,
        "sep_token": ("[SEP]", "<sep>", "</s>"),
        "unk_token": ("[UNK]", "<unk>"),
    }
    found: dict[str, object] = {
        kind: next(name for name in names if name in pieces)
        for kind, names in kinds.items()
        if pieces.intersection(names)
    }
    limit = getattr(network.backbone.config, "max_position_embeddings", 0)
    if limit > 0:
        found["model_max_length"] = limit
    return {"tokenizer_class": "PreTrainedTokenizerFast", **found}


def load_heads(network: PretrainNetwork, reference: str) -> None:
    """Give the heads that a network has the weights of a checkpoint, in place."""
    names = _FAMILIES[network.backbone.config.model_type]
    wanted = _head_parameters(network, names)
    found = _tensors(reference, tuple(wanted))
    with torch.no_grad():
        for name, parameter in wanted.items():
            if name not in found:
                raise ConfigError(
                    f"teacher {reference!r}: the checkpoint has no {name!r}, so it cannot predict "
                    "hidden pieces",
                    hint="name one that was saved with its head for masked pieces, such as one "
                    "that limbeck pretrained",
                )
            parameter.copy_(found[name])


def _tensors(reference: str, wanted: tuple[str, ...]) -> dict[str, Tensor]:
    path = cached_file(reference, WEIGHTS, _raise_exceptions_for_missing_entries=False)
    if path is None:
        raise ConfigError(f"teacher {reference!r}: no {WEIGHTS}")
    try:
        with safe_open(path, framework="pt") as file:
            given = {_new_name(name): name for name in file.keys()}  # noqa: SIM118  no mapping
            return {name: file.get_tensor(given[name]) for name in wanted if name in given}
    except SafetensorError as failure:
        raise ConfigError(f"{path}: damaged ({failure})") from failure


def _new_name(name: str) -> str:
    head, _, last = name.rpartition(".")
    return f"{head}.{_OLD_NAMES.get(last, last)}"
