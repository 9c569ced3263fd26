"""Parity: how far a transformed model strays from its source.

In:  outputs of both on the same batches.
Out: a `Parity` that can refuse.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from limbeck.errors import StageError
from limbeck.tasks.base import Floats

IMPOSSIBLE = -1e3  # arcs to padding have no meaning and are not compared
TIE = 1e-5  # logits this close are one label as good as the other


@dataclass(frozen=True, slots=True, kw_only=True)
class Parity:
    """Differences over all outputs of all batches."""

    n_batches: int
    max_abs_diff: float
    agreement: float  # share of rows whose largest output is the same, ties aside

    def check(self, *, max_abs_diff: float) -> None:
        if not self.max_abs_diff <= max_abs_diff:
            raise StageError(
                f"the exported graph differs from the network by {self.max_abs_diff:.2e}, "
                f"more than {max_abs_diff:.0e}"
            )


def compare(
    wanted: Sequence[Mapping[str, Floats]], found: Sequence[Mapping[str, Floats]]
) -> Parity:
    """Compare named outputs batch by batch."""
    largest, same, n_rows = 0.0, 0, 0
    for a, b in zip(wanted, found, strict=True):
        for name, left in a.items():
            right = b[name]
            real = left > IMPOSSIBLE
            if real.any():
                largest = max(largest, float(np.abs(left[real] - right[real]).max()))
            there = np.take_along_axis(left, right.argmax(axis=-1)[..., None], axis=-1)[..., 0]
            same += int((left.max(axis=-1) - there <= TIE).sum())
            n_rows += int(np.prod(left.shape[:-1]))
    return Parity(
        n_batches=len(wanted), max_abs_diff=largest, agreement=same / n_rows if n_rows else 1.0
    )
