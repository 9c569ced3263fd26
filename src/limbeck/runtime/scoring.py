"""Scoring: rows of records through anything that runs a batch, and back to whole records.

In:  the rows of each record, and a function from batch to named arrays.
Out: `RecordScores` in order. Training, compression and tests share it; `annotate` adds overlap.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from limbeck.data.pieces import Batch, Pieces, collate, least_size
from limbeck.runtime.batching import plan_batches
from limbeck.runtime.sizes import Sizes
from limbeck.tasks.base import Floats, TaskKind
from limbeck.tasks.scores import BatchScores, RecordScores, join_windows

Run = Callable[[Batch], Mapping[str, Floats]]


def score_records(
    windows: Sequence[tuple[Pieces, ...]],
    run: Run,
    *,
    pad_id: int,
    max_pieces: int,
    kinds: Mapping[str, TaskKind],
    max_padded_pieces: int,
) -> list[RecordScores]:
    """Score records one batch after another."""
    rows = [row for record in windows for row in record]
    plan = plan_batches([len(row.ids) for row in rows], max_padded_pieces=max_padded_pieces)
    sizes = Sizes(max_pieces)
    scored = ((p, run_rows([rows[i] for i in p], run, pad_id=pad_id, sizes=sizes)) for p in plan)
    return gather(windows, scored, kinds)


def run_rows(rows: Sequence[Pieces], run: Run, *, pad_id: int, sizes: Sizes) -> BatchScores:
    """Score one batch."""
    batch = make_batch(rows, pad_id=pad_id, sizes=sizes)
    return BatchScores(
        outputs=run(batch), n_words=batch.n_words.tolist(), n_pieces=batch.piece_ids.size
    )


def make_batch(rows: Sequence[Pieces], *, pad_id: int, sizes: Sizes) -> Batch:
    """Rows as an engine gets them."""
    return collate(rows, pad_id=pad_id, size=sizes.holding(least_size(rows)))


def gather(
    windows: Sequence[tuple[Pieces, ...]],
    scored: Iterable[tuple[Sequence[int], BatchScores]],
    kinds: Mapping[str, TaskKind],
) -> list[RecordScores]:
    """Put scores of rows, which come batch by batch, back in the order of the records."""
    by_row: dict[int, RecordScores] = {}
    for positions, batch in scored:
        by_row.update(zip(positions, batch.rows(kinds), strict=True))
    return join_rows(windows, [by_row[i] for i in range(len(by_row))], kinds)


def join_rows(
    windows: Sequence[tuple[Pieces, ...]],
    by_row: Sequence[RecordScores],
    kinds: Mapping[str, TaskKind],
) -> list[RecordScores]:
    """Scores of whole records from those of their rows, all in order."""
    scores: list[RecordScores] = []
    begin = 0
    for record in windows:
        scores.append(join_windows(record, by_row[begin : begin + len(record)], kinds))
        begin += len(record)
    return scores
