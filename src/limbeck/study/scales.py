"""Scales: how large the studies that train are, as plain data.

In:  nothing.
Out: sizes and budgets by name. Nothing else decides how long a study takes.
Steps are optimizer steps of `batch` padded pieces; seconds are of training alone, of each arm.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

ScaleName = Literal["tiny", "small", "hour"]
SCALE_NAMES: tuple[ScaleName, ...] = get_args(ScaleName)


@dataclass(frozen=True, slots=True, kw_only=True)
class SameTime:
    """Sizes of the unshared body; the shared ones are made from them."""

    layers: int  # a multiple of four: the body of equal cost has a quarter of them
    width: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Depth:
    depths: tuple[int, ...]
    width: int
    wide_depths: tuple[int, ...]
    wide: int
    steps: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Sharing:
    layers: int
    width: int
    small_embedding: int  # stands for the paper's 64
    embedding: int  # stands for its 128; its 768 is the width, here too
    steps: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Sop:
    layers: int
    width: int
    steps: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """Everything about a study that is only a matter of time."""

    name: ScaleName
    documents: int  # first ones of the text
    vocabulary: int
    length: int  # pieces of a row
    batch: int  # padded pieces
    held_out_rows: int
    fitted_rows: int  # rows of training text that a head for the order is fitted on
    tuned_records: int  # of each labelled corpus
    tuned_epochs: int
    same_time: SameTime
    depth: Depth
    sharing: Sharing
    sop: Sop


_DEPTHS = (1, 2, 4, 6, 12, 24)

SCALES: Mapping[ScaleName, Scale] = {
    # shows that everything works, and nothing else
    "tiny": Scale(
        name="tiny", documents=400, vocabulary=300, length=32, batch=256, held_out_rows=32,
        fitted_rows=64, tuned_records=64, tuned_epochs=1,
        same_time=SameTime(layers=4, width=16, seconds=1.0),
        depth=Depth(depths=(1, 6, 12), width=16, wide_depths=(12, 24), wide=32, steps=4),
        sharing=Sharing(layers=2, width=32, small_embedding=8, embedding=16, steps=4),
        sop=Sop(layers=2, width=16, steps=4),
    ),
    # about a quarter of an hour on two cores. Rows are short, batches small and the vocabulary too:
    # at 1,024 pieces a step, rows of 128 and 4,000 pieces no body left the frequencies of pieces
    "small": Scale(
        name="small", documents=8_000, vocabulary=2_000, length=64, batch=512,
        held_out_rows=1_024, fitted_rows=2_000, tuned_records=2_000, tuned_epochs=2,
        same_time=SameTime(layers=12, width=128, seconds=150.0),
        depth=Depth(depths=_DEPTHS, width=128, wide_depths=(12, 24), wide=192, steps=500),
        sharing=Sharing(layers=4, width=256, small_embedding=64, embedding=128, steps=500),
        sop=Sop(layers=4, width=256, steps=1_400),
    ),
    # about an hour
    "hour": Scale(
        name="hour", documents=40_000, vocabulary=4_000, length=64, batch=512,
        held_out_rows=2_048, fitted_rows=4_000, tuned_records=3_000, tuned_epochs=2,
        same_time=SameTime(layers=12, width=192, seconds=600.0),
        depth=Depth(depths=_DEPTHS, width=128, wide_depths=(12, 24), wide=256, steps=1_400),
        sharing=Sharing(layers=6, width=256, small_embedding=64, embedding=128, steps=1_200),
        sop=Sop(layers=6, width=256, steps=3_800),
    ),
}  # fmt: skip
