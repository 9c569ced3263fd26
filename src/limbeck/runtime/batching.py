"""Pure batching: rows of a window -> length-sorted batches within a padded budget.

In:  how many pieces each row has.
Out: lists of positions; the caller keeps the rows and restores their order.
No engine, no tokenizer, no threads: everything here is decided by integers.
"""

from collections.abc import Sequence

import numpy as np


def plan_batches(n_pieces: Sequence[int], *, max_padded_pieces: int) -> list[list[int]]:
    """Group positions so that `len(batch) * longest` stays within the budget.

    Longest first: the costliest batch starts first, so the tail of a parallel run is short. A row
    that alone exceeds the budget gets a batch of its own; windows were cut before.
    """
    batches: list[list[int]] = []
    longest = 0
    lengths = np.asarray(n_pieces, dtype=np.int64)
    for position in np.argsort(-lengths, kind="stable").tolist():
        if not batches or (len(batches[-1]) + 1) * longest > max_padded_pieces:
            batches.append([])
            longest = max(1, n_pieces[position])
        batches[-1].append(position)
    return batches


def padding_share(n_pieces: Sequence[int], batches: Sequence[Sequence[int]]) -> float:
    """Share of the pieces computed that are padding."""
    padded = sum(len(batch) * max(n_pieces[i] for i in batch) for batch in batches)
    return 1 - sum(n_pieces) / padded if padded else 0.0
