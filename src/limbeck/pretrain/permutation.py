"""XLNet's objective: pieces predicted in a random order, each from those before it in that order.

In:  a batch: slots and ranks.
Out: what each piece may not see, which positions are asked for, as XLNetModel takes them.
All pieces that are no slot are seen by all, and see none of the slots (Yang et al., 2019, 2.3).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from limbeck.pretrain.batches import Batch
from limbeck.tasks.base import MISSING

TARGET_STEP = 8  # targets of a row are padded to a multiple, for few distinct shapes


@dataclass(frozen=True, slots=True, kw_only=True)
class Permuted:
    """A batch's order."""

    unseen: NDArray[np.float32]  # (n_rows, n_pieces, n_pieces) 1: the first may not see the second
    targets: NDArray[np.float32]  # (n_rows, n_targets, n_pieces) one of them is 1, or none
    state_at: NDArray[np.int64]  # (n_slots,) row x n_targets + target of each slot


def permuted(batch: Batch) -> Permuted:
    """Turn ranks into what may be seen."""
    n_rows, n_pieces = batch.piece_ids.shape
    slots = batch.slots[batch.labels != MISSING]
    is_slot = np.zeros(n_rows * n_pieces, dtype=np.bool_)
    is_slot[slots] = True
    is_slot = is_slot.reshape(n_rows, n_pieces)
    # what is no slot comes before every slot
    ranks = np.where(is_slot, batch.ranks, -1.0)
    unseen = is_slot[:, None, :] & (ranks[:, None, :] >= ranks[:, :, None])
    rows, positions = np.divmod(slots, n_pieces)
    counts = np.bincount(rows, minlength=n_rows)
    n_targets = -(-int(counts.max()) // TARGET_STEP) * TARGET_STEP
    firsts = np.concatenate(([0], np.cumsum(counts)[:-1]))
    target = np.arange(len(slots)) - firsts[rows]  # slots come row by row
    targets = np.zeros((n_rows, n_targets, n_pieces), dtype=np.float32)
    targets[rows, target, positions] = 1
    state_at = np.zeros(len(batch.slots), dtype=np.int64)
    state_at[: len(slots)] = rows * n_targets + target
    return Permuted(unseen=unseen.astype(np.float32), targets=targets, state_at=state_at)
