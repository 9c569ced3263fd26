"""Scoring: rows of records through anything that runs a batch, and back to whole records.

In:  the rows of each record, and a function from batch to named arrays.
Out: `RecordScores` in order. Training, compression and tests share it; `annotate` adds overlap.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from limbeck.data.pieces import Batch, Pieces, collate
from limbeck.runtime.batching import plan_batches, round_up
from limbeck.tasks.base import Floats, TaskKind
from limbeck.tasks.scores import BatchScores, RecordScores, join_windows

WORD_STEPS = ((32, 8), (64, 16), (128, 32), (512, 64))  # up to so many words in steps of so many
LAST_WORD_STEP = 128
GRID_STEP = 8  # words of the longest row of a small batch
FEW_ROWS = 32
ROW_STEPS = ((8, 2), (16, 4), (FEW_ROWS, 8))

Run = Callable[[Batch], Mapping[str, Floats]]


def score_records(
    windows: Sequence[tuple[Pieces, ...]],
    run: Run,
    *,
    pad_id: int,
    kinds: Mapping[str, TaskKind],
    max_padded_pieces: int,
) -> list[RecordScores]:
    """Score records one batch after another."""
    rows = [row for record in windows for row in record]
    plan = plan_batches([len(row.ids) for row in rows], max_padded_pieces=max_padded_pieces)
    scored = ((p, run_rows([rows[i] for i in p], run, pad_id=pad_id)) for p in plan)
    return gather(windows, scored, kinds)


def run_rows(rows: Sequence[Pieces], run: Run, *, pad_id: int) -> BatchScores:
    """Score one batch."""
    batch = make_batch(rows, pad_id=pad_id)
    return BatchScores(outputs=run(batch), n_words=batch.n_words.tolist())


def make_batch(rows: Sequence[Pieces], *, pad_id: int) -> Batch:
    """Rows as an engine gets them."""
    return steady_words(steady_rows(collate(rows, pad_id=pad_id), pad_id=pad_id))


def steady_rows(batch: Batch, *, pad_id: int) -> Batch:
    """Let small batches have one of few numbers of rows, with rows of padding alone.

    A server's rounds are small and no two alike, and each new shape costs an engine 20 to 40 ms and
    memory for its kernels. Large batches, of files, have their shapes from the planner; one row
    alone would cost its reader time. `n_words` counts the real rows alone, so nobody reads others.
    """
    n_rows = len(batch.piece_ids)
    if not 1 < n_rows <= FEW_ROWS:
        return batch
    n_more = round_up(n_rows, ROW_STEPS, FEW_ROWS) - n_rows
    rows = ((0, n_more), (0, 0))
    mask = np.pad(batch.mask, rows)
    mask[n_rows:, 0] = 1  # attention to nothing at all is no number
    return replace(
        batch,
        piece_ids=np.pad(batch.piece_ids, rows, constant_values=pad_id),
        mask=mask,
        type_ids=np.pad(batch.type_ids, rows),
        word_grid=np.pad(
            batch.word_grid,
            ((0, n_more), (0, -batch.word_grid.shape[1] % GRID_STEP)),
            constant_values=-1,
        ),
    )


def steady_words(batch: Batch) -> Batch:
    """Let words that point at the first piece fill up to a number that comes again and again.

    An engine makes its kernels anew for each new number, which costs a fifth of the time where
    every batch brings one. It also spares engines an array without any word, which they choke on.
    `n_words` still counts the real words alone, so nobody reads what comes of the others.
    """
    n_words = steady_count(len(batch.word_at))
    n_more = n_words - len(batch.word_at)
    if n_more == 0:
        return batch
    return replace(
        batch,
        word_at=np.pad(batch.word_at, (0, n_more)),
        shapes=np.pad(batch.shapes, ((0, n_more), (0, 0))),
    )


def steady_count(n_words: int) -> int:
    """Round a number of words up, more coarsely where there are many."""
    return round_up(max(1, n_words), WORD_STEPS, LAST_WORD_STEP)


def gather(
    windows: Sequence[tuple[Pieces, ...]],
    scored: Iterable[tuple[Sequence[int], BatchScores]],
    kinds: Mapping[str, TaskKind],
) -> list[RecordScores]:
    """Put scores of rows, which come batch by batch, back in the order of the records."""
    by_row: dict[int, RecordScores] = {}
    for positions, batch in scored:
        by_row.update(zip(positions, batch.rows(kinds), strict=True))
    scores: list[RecordScores] = []
    begin = 0
    for record in windows:
        own = [by_row[i] for i in range(begin, begin + len(record))]
        scores.append(join_windows(record, own, kinds))
        begin += len(record)
    return scores
