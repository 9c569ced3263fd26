"""How much memory a run will need, before it starts.

In:  an encoder's configuration, the settings of batches.
Out: bytes, by what they are for. A little too much rather than too little.
"""

from dataclasses import dataclass

import torch
from transformers import AutoModel, PretrainedConfig

from limbeck.errors import ConfigError
from limbeck.pretrain.config import PretrainRecipe

# weights, gradients, two means of the optimizer, all fp32; and once more what a checkpoint copies
BYTES_PER_PARAMETER = 4 + 4 + 8 + 12
TEACHER_BYTES = 4  # a teacher is only read
# values kept of each layer for its gradient, in multiples of its width, and in multiples of what
# attention weighs (Korthikanti et al., 2022, count 34 and 5 at two bytes or less each)
STATES_PER_LAYER = 17
WEIGHTS_PER_PAIR = 3
XLNET_FACTOR = 2  # two streams
LOGITS = 4  # of each slot: as products, as fp32, their gradient, their softmax
PROGRAM = 600_000_000  # Python, torch, transformers
GB = 1e9


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """Bytes."""

    parameters: int
    states: int
    logits: int
    teacher: int

    @property
    def total(self) -> int:
        return self.parameters + self.states + self.logits + self.teacher + PROGRAM


def n_parameters(config: PretrainedConfig) -> int:
    """Parameters of the encoder, what is shared once; nothing is allocated."""
    with torch.device("meta"):
        return sum(p.numel() for p in AutoModel.from_config(config).parameters())


def estimate(
    config: PretrainedConfig, recipe: PretrainRecipe, *, teacher: PretrainedConfig | None
) -> Memory:
    """Add up what one batch and the parameters take."""
    pieces = max(recipe.training.max_padded_pieces, recipe.segments.length)
    states = _states(config, pieces, recipe.segments.length)
    vocabulary = int(config.vocab_size)
    logits = round(pieces * recipe.masks.share * vocabulary * LOGITS * 4)
    return Memory(
        parameters=BYTES_PER_PARAMETER * n_parameters(config),
        states=states * (XLNET_FACTOR if config.model_type == "xlnet" else 1),
        logits=logits * (2 if teacher is not None else 1),
        teacher=TEACHER_BYTES * n_parameters(teacher) if teacher is not None else 0,
    )


def _states(config: PretrainedConfig, pieces: int, length: int) -> int:
    width, heads = int(config.hidden_size), int(config.num_attention_heads)
    kept = pieces * (STATES_PER_LAYER * width + WEIGHTS_PER_PAIR * heads * length)
    return 4 * kept * int(config.num_hidden_layers)


def check_memory(memory: Memory, free_bytes: int, name: str) -> None:
    """Refuse what does not fit, with the estimate."""
    if memory.total > free_bytes:
        raise ConfigError(
            f"{name}: training needs about {memory.total / GB:.1f} GB (parameters "
            f"{memory.parameters / GB:.1f}, states {memory.states / GB:.1f}, logits "
            f"{memory.logits / GB:.1f}), {free_bytes / GB:.1f} GB are free",
            hint="a smaller [model], a smaller [vocabulary] size, or fewer [training] "
            "max_padded_pieces with more of them accumulated",
        )
