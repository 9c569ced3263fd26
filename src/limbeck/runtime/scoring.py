"""Scoring: rows of records through anything that runs a batch, and back to whole records.

In:  the rows of each record, and a function from batch to named arrays.
Out: `RecordScores` in order. Training, compression and tests share it; `annotate` adds overlap.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from limbeck.data.pieces import Batch, Pieces, collate
from limbeck.runtime.batching import plan_batches
from limbeck.tasks.base import Floats, TaskKind
from limbeck.tasks.scores import RecordScores, join_windows, split_rows

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
    scored = ((p, run_rows([rows[i] for i in p], run, pad_id=pad_id, kinds=kinds)) for p in plan)
    return gather(windows, scored, kinds)


def run_rows(
    rows: Sequence[Pieces], run: Run, *, pad_id: int, kinds: Mapping[str, TaskKind]
) -> list[RecordScores]:
    """Score one batch."""
    batch = with_a_word(collate(rows, pad_id=pad_id))
    return split_rows(run(batch), batch.n_words.tolist(), kinds)


def with_a_word(batch: Batch) -> Batch:
    """Let a batch without any word point at its first piece: engines choke on empty arrays.

    `n_words` still says that there is none, so nobody reads what comes of it.
    """
    if len(batch.word_at):
        return batch
    grid = batch.word_grid.copy()
    grid[0, 0] = 0
    return replace(
        batch,
        word_at=np.zeros(1, dtype=np.int64),
        shapes=np.zeros((1, 3), dtype=np.int64),
        word_grid=grid,
    )


def gather(
    windows: Sequence[tuple[Pieces, ...]],
    scored: Iterable[tuple[Sequence[int], Sequence[RecordScores]]],
    kinds: Mapping[str, TaskKind],
) -> list[RecordScores]:
    """Put scores of rows, which come batch by batch, back in the order of the records."""
    by_row: dict[int, RecordScores] = {}
    for positions, parts in scored:
        by_row.update(zip(positions, parts, strict=True))
    scores: list[RecordScores] = []
    begin = 0
    for record in windows:
        own = [by_row[i] for i in range(begin, begin + len(record))]
        scores.append(join_windows(record, own, kinds))
        begin += len(record)
    return scores
