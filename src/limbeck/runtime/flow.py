"""Flow: windows of records in, scored batches out, in order, with the engine kept busy.

In:  windows that are read ahead, and a function that scores the rows of a batch.
Out: each window's batches as they are done. The next window is read meanwhile, and whoever takes a
batch decodes it while the next ones are in the engine. Only a few batches run ahead: their outputs
are larger than the text by far.
"""

from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from threading import Thread

from limbeck.data.pieces import Pieces
from limbeck.data.records import Record
from limbeck.errors import LimbeckError, StageError
from limbeck.tasks.scores import BatchScores

N_AHEAD = 4  # batches that wait for each worker, or for whoever decodes them

Score = Callable[[Sequence[Pieces]], BatchScores]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Window:
    """Records that are sorted together."""

    records: list[Record]
    rows: list[tuple[Pieces, ...]]  # of each record; several where it is too long for the model
    plan: list[list[int]]  # of each batch, the places of its rows among all rows


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredBatch:
    """A batch of a window that went through the engine."""

    window: Window
    positions: list[int]  # among all rows of the window
    scores: BatchScores


def read_ahead(read: Callable[[], Window | None]) -> Iterator[Window]:
    """Windows, each while the one before is still being worked on; None ends them."""
    coming = _soon(read)
    while (window := coming.result()) is not None:
        coming = _soon(read)
        yield window


def in_turn(window: Window, score: Score) -> Iterator[ScoredBatch]:
    """Score the batches of one window, here."""
    for positions, rows in _batches(window):
        yield _named(window, positions, partial(score, rows))


def overlapped(
    windows: Iterator[Window], score: Score, *, n_workers: int
) -> Generator[ScoredBatch, None, None]:
    """Score the batches of all windows by `n_workers` threads, and give them back in order."""
    workers = ThreadPoolExecutor(n_workers, thread_name_prefix="engine")
    running: deque[tuple[Window, list[int], Future[BatchScores]]] = deque()
    try:
        latest: Window | None = None
        for window in windows:
            while running and running[0][0] is not latest:  # no more than two windows in memory
                first, own, future = running.popleft()
                yield _named(first, own, future.result)
            latest = window
            for positions, rows in _batches(window):
                running.append((window, positions, workers.submit(score, rows)))
                if len(running) > n_workers * N_AHEAD:
                    first, own, future = running.popleft()
                    yield _named(first, own, future.result)
        for first, own, future in running:
            yield _named(first, own, future.result)
    finally:
        workers.shutdown(cancel_futures=True)


def _batches(window: Window) -> Iterator[tuple[list[int], list[Pieces]]]:
    rows = [row for record in window.rows for row in record]
    for positions in window.plan:
        yield positions, [rows[i] for i in positions]


def _named(window: Window, positions: list[int], result: Callable[[], BatchScores]) -> ScoredBatch:
    """What a batch gave; a failure names the records that it was among."""
    try:
        return ScoredBatch(window=window, positions=positions, scores=result())
    except LimbeckError:
        raise
    except Exception as failure:
        first, last = window.records[0].where, window.records[-1].where
        raise StageError(
            f"the engine failed between {first or 'the first record'} and "
            f"{last or 'the last record'} of this window: {failure}"
        ) from failure


def _soon(work: Callable[[], Window | None]) -> Future[Window | None]:
    """Do it in a thread that nobody waits for: it may be reading from an idle pipe for ever, and
    an end by a signal must not wait with it.
    """
    future: Future[Window | None] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as failure:  # noqa: BLE001  told where the result is asked for
            future.set_exception(failure)

    Thread(target=run, name="read", daemon=True).start()
    return future
