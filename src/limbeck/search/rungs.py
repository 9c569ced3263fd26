"""The text of a rung: as many records and epochs as a share of full training comes to.

In:  a share, the epochs of full training, records.
Out: records and epochs; the seed fixes which. Pure.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from limbeck.data.records import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class RungText:
    """What a candidate reads on a rung."""

    records: tuple[Record, ...]
    epochs: int


def rung_text(records: Sequence[Record], *, share: float, epochs: int, seed: int) -> RungText:
    """Whole epochs where the share allows them, else a part of the text, once.

    Law: epochs x records is at most share x full epochs x all records (but never less than one
    record).
    """
    wanted = share * epochs
    if wanted >= 1:
        return RungText(records=tuple(records), epochs=int(wanted + 1e-9))
    n = max(1, int(wanted * len(records)))
    drawn = np.random.default_rng([seed, 4]).permutation(len(records))[:n]
    return RungText(records=tuple(records[i] for i in sorted(drawn.tolist())), epochs=1)
