"""Steady shapes: batches padded to few distinct shapes, so that torch makes each kernel once.

In:  a batch of any shape, the budget it was planned for.
Out: the same batch with more padding.
On a CPU torch multiplies through oneDNN, which makes a new kernel for each new shape. That costs
three to ten times the product itself at the sizes of small encoders, and batches of text hardly
ever repeat a shape.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from limbeck.data.pieces import Batch
from limbeck.runtime.batching import round_up
from limbeck.tasks.base import TEXT_KINDS, Task

# finer steps where texts are short and many: padding stays near 5 %
STEPS = ((32, 4), (64, 8), (128, 16), (256, 32))
LAST_STEP = 64
WORD_STEP = 128
N_ROW_STEPS = 4


def steady_length(n: int) -> int:
    """Round a length up to one of few."""
    return round_up(n, STEPS, LAST_STEP)


def steady_batch(batch: Batch, *, max_padded_pieces: int, pad_id: int) -> Batch:
    """Pad rows, pieces and words up to a repeating shape.

    Added rows hold one padding piece and no word: attention must see something. Added words point
    at the first piece of the batch and are in no row's grid; `n_words` still counts only the real
    ones, as many as `word_grid` shows.
    """
    n_rows, longest = batch.piece_ids.shape
    length = steady_length(longest)
    full = max(1, max_padded_pieces // length)
    step = max(1, full // N_ROW_STEPS)
    rows = min(full, -(-n_rows // step) * step) if n_rows <= full else n_rows
    piece_ids = _grown(batch.piece_ids, (rows, length), pad_id)
    mask = _grown(batch.mask, (rows, length), 0)
    mask[n_rows:, 0] = 1
    row, position = np.divmod(batch.word_at, longest)
    n_words = -(-len(batch.word_at) // WORD_STEP) * WORD_STEP
    n_grid = steady_length(batch.word_grid.shape[1])
    return Batch(
        piece_ids=piece_ids,
        mask=mask,
        type_ids=_grown(batch.type_ids, (rows, length), 0),
        word_at=_grown(row * length + position, (n_words,), 0),
        shapes=_grown(batch.shapes, (n_words, batch.shapes.shape[1]), 0),
        word_grid=_grown(batch.word_grid, (rows, n_grid), -1),
        n_words=batch.n_words,
    )


def real_logits(
    logits: Mapping[str, Tensor], batch: Batch, tasks: Sequence[Task]
) -> dict[str, Tensor]:
    """Cut the logits of a steady batch to its real rows and words."""
    n_rows, n_words = len(batch.n_words), int(batch.n_words.sum())
    cut: dict[str, Tensor] = {}
    for task in tasks:
        cut[task.name] = logits[task.name][: n_rows if task.kind in TEXT_KINDS else n_words]
        if task.kind == "dep":
            cut[f"{task.name}.arcs"] = logits[f"{task.name}.arcs"][:n_rows]
    return cut


def _grown(values: NDArray[np.int64], shape: tuple[int, ...], fill: int) -> NDArray[np.int64]:
    grown = np.full(shape, fill, dtype=np.int64)
    grown[tuple(slice(n) for n in values.shape)] = values
    return grown
