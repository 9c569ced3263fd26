"""What pretraining starts from: an encoder of random weights, or every other layer of a teacher.

In:  a recipe, the vocabulary's size, a teacher's checkpoint.
Out: networks with their heads.
"""

from copy import deepcopy
from dataclasses import dataclass, replace

import torch
from transformers import AutoModel, PretrainedConfig

from limbeck.errors import ConfigError
from limbeck.pretrain.config import ModelConfig, PretrainRecipe
from limbeck.pretrain.layout import TEACHERS, load_heads
from limbeck.pretrain.network import PretrainNetwork
from limbeck.train.architectures import Architecture, architecture, make_config
from limbeck.train.backbones import (
    ATTENTION_DROPOUT,
    Backbone,
    keep_layers,
    load_pretrained,
)
from limbeck.train.dropout import ByteDropout
from limbeck.train.hub_models import read_config

_DROPOUT = ("hidden_dropout_prob", "dropout")  # the families' names for it


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A student and its teacher."""

    student: PretrainNetwork
    teacher: PretrainNetwork


def sizes_of(config: ModelConfig) -> Architecture:
    """The named architecture with the recipe's changes."""
    named = architecture(config.architecture)
    width = config.width or named.width
    head_size = named.width // named.n_heads
    heads = config.heads or max(1, width // head_size)
    if width % heads:
        raise ConfigError(
            f"[model] width {width} is no multiple of its {heads} heads",
            hint="give `heads` or another width",
        )
    return replace(named, n_layers=config.layers or named.n_layers, width=width, n_heads=heads)


def model_config(
    recipe: PretrainRecipe, model: ModelConfig, *, vocabulary: int, pad_id: int
) -> PretrainedConfig:
    """transformers' configuration of what is trained."""
    it = sizes_of(model)
    if it.family in ("xlnet", "distilbert") and recipe.segments.order != "none":
        raise ConfigError(
            f"{it.family} is trained without an order of segments",
            hint='[segments] order = "none"',
        )
    config = make_config(
        it,
        vocabulary=vocabulary,
        sharing=model.sharing,
        n_groups=model.groups,
        embedding=model.embedding,
        pad_id=pad_id,
    )
    for name in ATTENTION_DROPOUT:
        if hasattr(config, name):
            setattr(config, name, 0.0)
    if it.family != "xlnet":  # its positions are relative
        # the vectors of later positions would stay random, and nobody could tell
        config.max_position_embeddings = recipe.segments.length
    return config


def random_network(
    config: PretrainedConfig, *, dropout: float, has_order: bool, seed: int
) -> PretrainNetwork:
    """An encoder of random weights; its configuration keeps the family's dropout, for later."""
    torch.manual_seed(seed)
    trained = deepcopy(config)
    for name in _DROPOUT:
        if hasattr(trained, name):
            setattr(trained, name, dropout)
    model = AutoModel.from_config(trained)
    for name in _DROPOUT:
        if hasattr(config, name):
            setattr(model.config, name, getattr(config, name))
    return PretrainNetwork(Backbone(model), has_order=has_order)


def teacher_config(reference: str) -> PretrainedConfig:
    """Look at a teacher before it is loaded."""
    try:
        config = read_config(reference)
    except ConfigError as failure:
        raise ConfigError(
            f"teacher {reference!r} is neither a folder nor reachable on the hub",
            hint="offline: name a folder that limbeck pretrain or save_pretrained wrote",
        ) from failure
    if config.model_type not in TEACHERS:
        raise ConfigError(
            f"teacher {reference!r} is of another architecture: {config.model_type}",
            hint=f"teachers that predict hidden pieces: {', '.join(TEACHERS)}",
        )
    return config


def kept_layers(config: PretrainedConfig, wanted: int | None) -> list[int]:
    """Every other layer; where more or fewer are wanted, as evenly spread, the first among them."""
    n = int(config.num_hidden_layers)
    n_kept = wanted or max(1, n // 2)
    if n_kept > n:
        raise ConfigError(f"[distil] layers {n_kept}: the teacher has {n}")
    return [i * n // n_kept for i in range(n_kept)]


def student_and_teacher(recipe: PretrainRecipe, reference: str) -> Pair:
    """Load a teacher twice: once whole, once with some of its layers."""
    assert recipe.distil is not None  # the caller's recipe says so
    layers = kept_layers(teacher_config(reference), recipe.distil.layers)
    teacher, student = (_with_head(reference) for _ in range(2))
    keep_layers(student.backbone, layers)
    set_dropout(student.backbone, recipe.distil.dropout)
    return Pair(student=student, teacher=teacher.eval().requires_grad_(False))


def _with_head(reference: str) -> PretrainNetwork:
    network = PretrainNetwork(load_pretrained(reference).backbone, has_order=False)
    load_heads(network, reference)
    return network


def set_dropout(backbone: Backbone, rate: float) -> None:
    """Change the rate wherever the encoder drops anything but attention."""
    for parent in list(backbone.modules()):
        for name, child in list(parent.named_children()):
            if isinstance(child, ByteDropout) and child.p > 0:
                setattr(parent, name, ByteDropout(rate))
