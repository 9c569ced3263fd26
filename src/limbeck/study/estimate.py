"""Estimates: how long an arm will take, before it starts.

In:  a recipe, a scale, how fast this machine multiplied in arms that are done.
Out: operations and seconds. Pure; only a plan, every result is measured.
"""

from collections.abc import Iterable

from limbeck.pretrain.config import PretrainRecipe
from limbeck.pretrain.feed import PROBE_ROWS
from limbeck.pretrain.students import sizes_of
from limbeck.study.scales import Scale

TRAIN_FACTOR = 3  # forward, and twice as much backward
# multiplications and additions a second in training, where nothing has been measured: one thread
# of a Zen 4 server came to 52 (width 128) to 115 (width 512) billions in bf16, here are two; the
# first arm that is done takes its place
ASSUMED_RATE = 100e9
FIXED_SECONDS = 15.0  # of an arm: kernels are made, weights are written and read
TEXT_SECONDS_PER_DOCUMENT = 0.002  # vocabulary and pieces, once for all arms
TUNED_LENGTH = 40  # pieces of a labelled record, about


def operations_per_piece(recipe: PretrainRecipe) -> float:
    """Of a forward pass over one piece: layers, attention, and the head for what is hidden."""
    assert recipe.model is not None  # studies distil nothing
    it = sizes_of(recipe.model)
    embedding = recipe.model.embedding or it.embedding or it.width
    layer = 24 * it.width**2 + 4 * recipe.segments.length * it.width
    head = 2 * embedding * (recipe.learnt_vocabulary.size + it.width)
    factorised = 2 * embedding * it.width if it.family == "albert" else 0
    return it.n_layers * layer + factorised + recipe.masks.share * head


def training_operations(recipe: PretrainRecipe, n_pieces: int) -> float:
    return TRAIN_FACTOR * operations_per_piece(recipe) * n_pieces


def arm_seconds(
    recipe: PretrainRecipe, scale: Scale, *, n_kinds: int, fits: bool, n_tuned: int, rate: float
) -> float:
    """Training, then what is measured: `n_kinds` of held-out rows, `n_tuned` labelled corpora."""
    training = recipe.training
    if training.minutes is not None:
        seconds = 60 * training.minutes
    else:
        assert training.steps is not None  # the settings have one of the two
        seconds = training_operations(recipe, training.steps * scale.batch) / rate
    looks = recipe.training.probes * PROBE_ROWS + n_kinds * scale.held_out_rows
    looks += 2 * scale.fitted_rows if fits else 0
    forward = operations_per_piece(recipe)
    seconds += looks * scale.length * forward / rate
    tuned = n_tuned * scale.tuned_records * scale.tuned_epochs * TUNED_LENGTH
    return FIXED_SECONDS + seconds + TRAIN_FACTOR * tuned * forward / rate


def measured_rate(done: Iterable[tuple[float, float]]) -> float:
    """Operations and seconds of arms that are done give operations a second."""
    pairs = list(done)
    seconds = sum(s for _, s in pairs)
    return sum(o for o, _ in pairs) / seconds if seconds > 0 else ASSUMED_RATE
