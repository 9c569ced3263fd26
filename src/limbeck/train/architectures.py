"""Architectures: the encoders that people name, in all their sizes, with random weights.

In:  a name, and what of it is to be other than in its paper.
Out: transformers' configuration or model. Sizes are those of the papers: BERT (Devlin et al.,
2019) and its small ones (Turc et al., 2019), ALBERT (Lan et al., 2020), DistilBERT (Sanh et al.,
2019), XLNet (Yang et al., 2019), MiniLM (Wang et al., 2020).
"""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import torch
from transformers import AutoConfig, AutoModel, PretrainedConfig

from limbeck.errors import ConfigError
from limbeck.train.backbones import Backbone
from limbeck.train.partly_shared import PARTLY_SHARED

Family = Literal["bert", "albert", "distilbert", "xlnet"]
Sharing = Literal["all", "attention", "ffn", "none"]
SHARINGS: tuple[Sharing, ...] = get_args(Sharing)
HEAD_SIZE = 64  # of all but MiniLM's


@dataclass(frozen=True, slots=True, kw_only=True)
class Architecture:
    """Sizes of one encoder."""

    family: Family
    n_layers: int
    width: int
    n_heads: int
    vocabulary: int  # pieces of the released checkpoints
    paper_millions: float | None = None  # parameters, as its paper counts them
    embedding: int | None = None  # ALBERT: size of the factorised piece vectors


def _bert(n_layers: int, width: int, millions: float | None, n_heads: int = 0) -> Architecture:
    return Architecture(
        family="bert", n_layers=n_layers, width=width, n_heads=n_heads or width // HEAD_SIZE,
        vocabulary=30_522, paper_millions=millions,
    )  # fmt: skip


def _albert(n_layers: int, width: int, millions: float, n_heads: int) -> Architecture:
    return Architecture(
        family="albert", n_layers=n_layers, width=width, n_heads=n_heads, vocabulary=30_000,
        paper_millions=millions, embedding=128,
    )  # fmt: skip


ARCHITECTURES: Mapping[str, Architecture] = {
    "bert-tiny": _bert(2, 128, 4.4),
    "bert-mini": _bert(4, 256, 11.3),
    "bert-small": _bert(4, 512, 29.1),
    "bert-medium": _bert(8, 512, 41.7),
    "bert-base": _bert(12, 768, 108),
    "bert-large": _bert(24, 1_024, 334),
    "minilm-6x384": _bert(6, 384, 22, n_heads=12),
    "albert-base": _albert(12, 768, 12, n_heads=12),
    "albert-large": _albert(24, 1_024, 18, n_heads=16),
    "albert-xlarge": _albert(24, 2_048, 60, n_heads=16),
    "albert-xxlarge": _albert(12, 4_096, 235, n_heads=64),
    "distilbert": Architecture(
        family="distilbert", n_layers=6, width=768, n_heads=12, vocabulary=30_522, paper_millions=66
    ),
    "xlnet-base": Architecture(
        family="xlnet", n_layers=12, width=768, n_heads=12, vocabulary=32_000, paper_millions=110
    ),
    "xlnet-large": Architecture(
        family="xlnet", n_layers=24, width=1_024, n_heads=16, vocabulary=32_000, paper_millions=340
    ),
}


def architecture(name: str) -> Architecture:
    """Look a name up."""
    if name not in ARCHITECTURES:
        near = difflib.get_close_matches(name, ARCHITECTURES, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(ARCHITECTURES)}"
        raise ConfigError(f"no architecture is called {name!r}", hint=hint)
    return ARCHITECTURES[name]


def make_config(
    it: Architecture,
    *,
    vocabulary: int | None = None,
    sharing: Sharing | None = None,
    n_groups: int = 1,
    embedding: int | None = None,
    pad_id: int = 0,
) -> PretrainedConfig:
    """Configuration of transformers; sharing, groups and the embedding size are ALBERT's alone."""
    if it.family != "albert" and (sharing or embedding or n_groups != 1):
        raise ConfigError(f"{it.family}: sharing, groups and embedding size are ALBERT's alone")
    size: dict[str, Any] = {
        "vocab_size": vocabulary or it.vocabulary,
        "hidden_size": it.width,
        "num_hidden_layers": it.n_layers,
        "num_attention_heads": it.n_heads,
        "intermediate_size": 4 * it.width,
        "max_position_embeddings": 512,
        "pad_token_id": pad_id,
    }
    match it.family:
        case "bert":
            return AutoConfig.for_model("bert", **size)
        case "distilbert":
            return AutoConfig.for_model(
                "distilbert", vocab_size=size["vocab_size"], dim=it.width, n_layers=it.n_layers,
                n_heads=it.n_heads, hidden_dim=4 * it.width, pad_token_id=pad_id,
            )  # fmt: skip
        case "xlnet":
            return AutoConfig.for_model(
                "xlnet", vocab_size=size["vocab_size"], d_model=it.width, n_layer=it.n_layers,
                n_head=it.n_heads, d_inner=4 * it.width, pad_token_id=pad_id,
            )  # fmt: skip
        case "albert":
            size["embedding_size"] = embedding or it.embedding or 128
            match sharing or "all":
                case "all":
                    _check_groups(n_groups, it.n_layers)
                    return AutoConfig.for_model("albert", **size, num_hidden_groups=n_groups)
                case "none":
                    return AutoConfig.for_model("albert", **size, num_hidden_groups=it.n_layers)
                case part:
                    return AutoConfig.for_model(
                        PARTLY_SHARED, **size, num_hidden_groups=it.n_layers, shared=part
                    )


def _check_groups(n_groups: int, n_layers: int) -> None:
    if not 1 <= n_groups <= n_layers or n_layers % n_groups:
        raise ConfigError(f"{n_groups} groups do not divide {n_layers} layers")


def random_backbone(config: PretrainedConfig, *, seed: int) -> Backbone:
    """An encoder with random weights; speed does not depend on them."""
    torch.manual_seed(seed)
    return Backbone(AutoModel.from_config(config).eval())


def n_parameters(config: PretrainedConfig) -> int:
    """Parameters of embeddings, layers and pooler, what is shared once; nothing is allocated.

    The papers count the same but for rounding, save that ALBERT's are 2 % (xlarge) and 6 %
    (xxlarge) above what their released checkpoints hold, and XLNet's below.
    """
    with torch.device("meta"):
        model = AutoModel.from_config(config)
    return sum(p.numel() for p in model.parameters())
