"""Slicing: a narrower encoder made of the parts of a wide one that matter most.

In:  a backbone of BERT's or MPNet's build, a width, text to weigh its parts on.
Out: a backbone of the same family with fewer heads, intermediate units and hidden dimensions.
A part weighs what it sends on: the mean square of its activation times the square of the weights
that read it (after Fan et al., 2021, and the magnitude pruning before it). Heads are kept whole.
"""

import re
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn
from transformers import AutoModel, PretrainedConfig

from limbeck.data.pieces import Batch
from limbeck.errors import ConfigError
from limbeck.train.backbones import Backbone

Axis = Literal["hidden", "heads", "head", "ffn"]

# parameter -> what each of its axes counts; None is left whole
_COMMON: dict[str, tuple[Axis | None, ...]] = {
    r"embeddings\.(word|position|token_type)_embeddings\.weight": (None, "hidden"),
    r".*LayerNorm\.(weight|bias)": ("hidden",),
    r"encoder\.layer\.\d+\.intermediate\.dense\.weight": ("ffn", "hidden"),
    r"encoder\.layer\.\d+\.intermediate\.dense\.bias": ("ffn",),
    r"encoder\.layer\.\d+\.output\.dense\.weight": ("hidden", "ffn"),
    r"encoder\.layer\.\d+\.output\.dense\.bias": ("hidden",),
    r"pooler\.dense\.weight": ("hidden", "hidden"),
    r"pooler\.dense\.bias": ("hidden",),
}
_AXES: dict[str, dict[str, tuple[Axis | None, ...]]] = {
    "bert": {
        **_COMMON,
        r".*attention\.self\.(query|key|value)\.weight": ("heads", "hidden"),
        r".*attention\.self\.(query|key|value)\.bias": ("heads",),
        r".*attention\.output\.dense\.weight": ("hidden", "heads"),
        r".*attention\.output\.dense\.bias": ("hidden",),
    },
    "mpnet": {
        **_COMMON,
        r".*attention\.attn\.[qkv]\.weight": ("heads", "hidden"),
        r".*attention\.attn\.[qkv]\.bias": ("heads",),
        r".*attention\.attn\.o\.weight": ("hidden", "heads"),
        r".*attention\.attn\.o\.bias": ("hidden",),
        r"encoder\.relative_attention_bias\.weight": (None, "head"),
    },
}
_READS_HEADS = {"bert": "attention.output.dense", "mpnet": "attention.attn.o"}
_READS_FFN = "output.dense"
SLICEABLE = tuple(_AXES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Importance:
    """How much each part matters; larger is more."""

    hidden: Tensor  # (hidden_size,)
    heads: Tensor  # (n_layers, n_heads)
    ffn: Tensor  # (n_layers, intermediate_size)


def narrow_sizes(config: PretrainedConfig, *, width: int, ffn: int | None) -> tuple[int, int]:
    """Dimensions of a head and intermediate units of the narrow encoder, if it can be one."""
    if config.model_type not in SLICEABLE:
        raise ConfigError(
            f"{config.model_type}: its width cannot be cut",
            hint=f"families whose width can: {', '.join(SLICEABLE)}",
        )
    size = head_size(config)
    if not 0 < width <= config.hidden_size or width % size:
        raise ConfigError(
            f"width {width}: must be a multiple of {size}, at most {config.hidden_size}"
        )
    n_units = ffn or config.intermediate_size * width // config.hidden_size
    if not 0 < n_units <= config.intermediate_size:
        raise ConfigError(f"ffn {n_units}: must be at most {config.intermediate_size}")
    return size, n_units


def head_size(config: PretrainedConfig) -> int:
    """Dimensions of one head; a sliced width is a multiple of it."""
    return int(config.hidden_size) // int(config.num_attention_heads)


def slice_width(
    backbone: Backbone, *, width: int, ffn: int | None, batches: Sequence[Batch]
) -> Backbone:
    """Keep the most important `width` hidden dimensions, the heads that fill it, and `ffn`
    intermediate units (default: in the proportion of before). The given backbone is left alone.
    """
    config = deepcopy(backbone.config)
    size, n_units = narrow_sizes(config, width=width, ffn=ffn)
    found = importance(backbone, batches)
    # relative position biases are shared by all layers, so all must keep the same heads
    shared_heads = "encoder.relative_attention_bias.weight" in backbone.model.state_dict()
    heads = found.heads.sum(dim=0, keepdim=True).expand_as(found.heads) if shared_heads else None
    kept_heads = _top_rows(found.heads if heads is None else heads, width // size)
    kept_units = _top_rows(found.ffn, n_units)
    kept_hidden = _top(found.hidden, width)
    config.hidden_size, config.num_attention_heads = width, width // size
    config.intermediate_size = n_units
    narrow = AutoModel.from_config(config)
    wanted = narrow.state_dict()
    offsets = torch.arange(size)
    sliced: dict[str, Tensor] = {}
    for name, tensor in backbone.model.state_dict().items():
        if name not in wanted:
            continue
        layer = _layer_of(name)
        kept: dict[Axis, Tensor] = {"hidden": kept_hidden, "head": kept_heads[0]}
        if layer is not None:
            kept["heads"] = (kept_heads[layer][:, None] * size + offsets).flatten()
            kept["ffn"] = kept_units[layer]
        sliced[name] = _sliced(tensor, _axes_of(config.model_type, name, tensor), kept)
    narrow.load_state_dict(sliced, strict=False)
    missing = [n for n in wanted if n not in sliced and "position_ids" not in n]
    if missing:
        raise ConfigError(f"{config.model_type}: no weights for {missing[0]}")
    return Backbone(narrow)


def importance(backbone: Backbone, batches: Sequence[Batch]) -> Importance:
    """Weigh heads, units and hidden dimensions on some text (pieces that are padding do not count).

    Work is one forward pass over the batches.
    """
    model_type, n_layers = backbone.config.model_type, backbone.n_layers
    size, n_heads = head_size(backbone.config), int(backbone.config.num_attention_heads)
    squares: dict[str, Tensor] = {}
    mask = torch.zeros(0)
    hooks = []

    def watch(name: str) -> Callable[[nn.Module, tuple[Any, ...]], None]:
        def before(_module: nn.Module, inputs: tuple[Any, ...]) -> None:
            real = inputs[0][mask]
            squares[name] = squares.get(name, torch.zeros(())) + real.float().square().sum(dim=0)

        return before

    readers: dict[str, nn.Linear] = {}
    for i in range(n_layers):
        for part in (_READS_HEADS[model_type], _READS_FFN):
            name = f"encoder.layer.{i}.{part}"
            module = backbone.model.get_submodule(name)
            if not isinstance(module, nn.Linear):
                raise ConfigError(f"{model_type}: {name} is not a plain product")
            readers[name] = module
            hooks.append(module.register_forward_pre_hook(watch(name)))
    hidden = torch.zeros(backbone.hidden_size)
    backbone.eval()
    try:
        with torch.inference_mode():
            for batch in batches:
                mask = torch.from_numpy(batch.mask).bool()
                states = backbone(
                    torch.from_numpy(batch.piece_ids),
                    torch.from_numpy(batch.mask),
                    torch.from_numpy(batch.type_ids),
                )
                for state in states:
                    hidden += state[mask].square().sum(dim=0)
    finally:
        for hook in hooks:
            hook.remove()
    sent = {
        name: squares[name] * module.weight.detach().float().square().sum(dim=0)
        for name, module in readers.items()
    }
    return Importance(
        hidden=hidden,
        heads=torch.stack(
            [
                sent[f"encoder.layer.{i}.{_READS_HEADS[model_type]}"]
                .view(n_heads, size)
                .sum(dim=-1)
                for i in range(n_layers)
            ]
        ),
        ffn=torch.stack([sent[f"encoder.layer.{i}.{_READS_FFN}"] for i in range(n_layers)]),
    )


def _axes_of(model_type: str, name: str, tensor: Tensor) -> tuple[Axis | None, ...]:
    for pattern, axes in _AXES[model_type].items():
        if re.fullmatch(pattern, name):
            return axes
    return (None,) * tensor.ndim


def _sliced(tensor: Tensor, axes: tuple[Axis | None, ...], kept: dict[Axis, Tensor]) -> Tensor:
    for dim, axis in enumerate(axes):
        if axis is not None:
            tensor = tensor.index_select(dim, kept[axis])
    return tensor.clone()


def _layer_of(name: str) -> int | None:
    found = re.match(r"encoder\.layer\.(\d+)\.", name)
    return int(found.group(1)) if found else None


def _top(values: Tensor, n: int) -> Tensor:
    """Positions of the n largest, in their old order."""
    return values.topk(n).indices.sort().values


def _top_rows(values: Tensor, n: int) -> Tensor:
    return values.topk(n, dim=1).indices.sort(dim=1).values
