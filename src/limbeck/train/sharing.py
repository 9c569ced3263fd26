"""Sharing: one layer of a pretrained encoder, repeated, behind a factorised embedding.

In:  a backbone of BERT's build.
Out: an ALBERT (Lan et al., 2020) that starts from it: few bytes on disk, all the depth one likes.
The piece vectors V x H become V x E and E x H by singular values, E being small.
"""

import torch
from torch import Tensor
from transformers import AlbertConfig, AlbertModel, PretrainedConfig

from limbeck.errors import ConfigError
from limbeck.train.backbones import Backbone

# a BERT layer's parameters -> ALBERT's names for them
_NAMES = {
    "attention.self.query": "attention.query",
    "attention.self.key": "attention.key",
    "attention.self.value": "attention.value",
    "attention.output.dense": "attention.dense",
    "attention.output.LayerNorm": "attention.LayerNorm",
    "intermediate.dense": "ffn",
    "output.dense": "ffn_output",
    "output.LayerNorm": "full_layer_layer_norm",
}
_SHARED = "encoder.albert_layer_groups.0.albert_layers.0"
_NOISE = 1e-6  # added to singular values that nothing uses, before dividing by them


def share_layer(backbone: Backbone, *, layer: int, repeats: int, embedding: int) -> Backbone:
    """Repeat `layer` (counted from 0) `repeats` times behind piece vectors of size `embedding`."""
    config = backbone.config
    check_shareable(config, embedding=embedding)
    if not 0 <= layer < backbone.n_layers:
        raise ConfigError(f"layer {layer}: the backbone has layers 0 to {backbone.n_layers - 1}")
    shared = AlbertModel(
        AlbertConfig(
            vocab_size=config.vocab_size,
            embedding_size=embedding,
            hidden_size=config.hidden_size,
            num_hidden_layers=repeats,
            num_attention_heads=config.num_attention_heads,
            intermediate_size=config.intermediate_size,
            hidden_act=config.hidden_act,
            max_position_embeddings=config.max_position_embeddings,
            type_vocab_size=config.type_vocab_size,
            layer_norm_eps=config.layer_norm_eps,
            hidden_dropout_prob=config.hidden_dropout_prob,
            attention_probs_dropout_prob=0.0,
            pad_token_id=config.pad_token_id,
        )
    )
    given = backbone.model.state_dict()
    wanted: dict[str, Tensor] = dict(shared.state_dict())
    for theirs, ours in _NAMES.items():
        for kind in ("weight", "bias"):
            wanted[f"{_SHARED}.{ours}.{kind}"] = given[f"encoder.layer.{layer}.{theirs}.{kind}"]
    wanted |= _factorised(given, embedding)
    shared.load_state_dict(wanted)
    return Backbone(shared)


def check_shareable(config: PretrainedConfig, *, embedding: int) -> None:
    """Refuse an encoder of another build, and piece vectors wider than its own."""
    if config.model_type != "bert":
        raise ConfigError(
            f"{config.model_type}: its layers cannot be shared",
            hint="start from a BERT-like encoder; MiniLM is one",
        )
    if not 0 < embedding <= config.hidden_size:
        raise ConfigError(f"embedding {embedding}: must be at most {config.hidden_size}")


def _factorised(given: dict[str, Tensor], size: int) -> dict[str, Tensor]:
    """Piece vectors as V x E of unit variance, and the E x H that turns them back.

    ALBERT normalises before the turn, BERT after it: at unit variance the difference is small.
    """
    pieces = given["embeddings.word_embeddings.weight"].float()
    centre = pieces.mean(dim=0)
    _, values, directions = torch.linalg.svd(pieces - centre, full_matrices=False)
    scale = values[:size] / len(pieces) ** 0.5 + _NOISE
    turn = directions[:size].T * scale  # (H, E)
    back = directions[:size].T / scale  # (H, E): from H to unit variance
    return {
        "embeddings.word_embeddings.weight": (pieces - centre) @ back,
        "embeddings.position_embeddings.weight": (
            given["embeddings.position_embeddings.weight"].float() @ back
        ),
        "embeddings.token_type_embeddings.weight": (
            given["embeddings.token_type_embeddings.weight"].float() @ back
        ),
        "embeddings.LayerNorm.weight": torch.ones(size),
        "embeddings.LayerNorm.bias": torch.zeros(size),
        "encoder.embedding_hidden_mapping_in.weight": turn,
        "encoder.embedding_hidden_mapping_in.bias": centre,
    }
