"""Sizes of batches: few that come again and again, as each new one costs an engine dear.

In:  the size that rows need at least.
Out: a size that holds them, one that the engine has seen where that costs little.
An engine makes its kernels anew for each new size, which takes 20 to 40 ms and 6 MB: as long as a
quarter of a full batch, and far longer than a small one.
"""

from dataclasses import replace
from threading import Lock

from limbeck.data.pieces import BatchSize
from limbeck.runtime.batching import LANES, round_up

FEW_PIECES = 512  # a batch of no more takes about as long as making its kernels
ROW_STEPS = ((2, 1), (8, 2), (16, 4), (32, 8))  # of a small batch
LAST_ROW_STEP = 16
GRID_STEP = 8  # words of the longest row
WORD_STEPS = ((128, 32), (512, 64))  # up to so many words of all rows in steps of so many
LAST_WORD_STEP = 256
MAX_GROWTH = 1.08  # pieces of a large batch in a size seen before, against those it needs
MAX_KNOWN = 128  # the engine forgets kernels that were not used for long


class Sizes:
    """The sizes that one engine has seen. Any thread may ask."""

    def __init__(self, max_pieces: int) -> None:
        self._max_pieces = max_pieces
        self._known: dict[BatchSize, None] = {}  # least recently used first
        self._lock = Lock()

    def holding(self, least: BatchSize) -> BatchSize:
        """A size for rows that need this at least.

        A row's outputs are the same to the last bit in both: its length stays in the same vector.
        """
        if _area(least) <= FEW_PIECES:
            return small_size(least, self._max_pieces)
        with self._lock:
            fitting = [size for size in self._known if _fits(size, least)]
            size = min(fitting, key=_cost, default=large_size(least))
            self._known.pop(size, None)
            self._known[size] = None
            if len(self._known) > MAX_KNOWN:
                del self._known[next(iter(self._known))]
        return size


def small_size(least: BatchSize, max_pieces: int) -> BatchSize:
    """One of few sizes at all. A server's rounds are small, and no two are alike."""
    n_rows = round_up(least.n_rows, ROW_STEPS, LAST_ROW_STEP)
    n_pieces = least.n_pieces // LANES * LANES + LANES - 1
    n_grid = max(least.n_grid, n_pieces)  # given by the pieces: a word has one at least
    return BatchSize(
        n_rows=n_rows,
        n_pieces=max(least.n_pieces, min(max_pieces, n_pieces)),
        n_words=n_rows * n_grid,
        n_grid=n_grid,
    )


def large_size(least: BatchSize) -> BatchSize:
    """The planner's own rows, as padding would cost more than kernels do; words are rounded up.

    It also spares engines an array without any word, which they choke on.
    """
    return replace(
        least,
        n_words=round_up(max(1, least.n_words), WORD_STEPS, LAST_WORD_STEP),
        n_grid=_up(least.n_grid, GRID_STEP),
    )


def _fits(size: BatchSize, least: BatchSize) -> bool:
    return (
        size.n_rows >= least.n_rows
        and size.n_pieces >= least.n_pieces
        and size.n_pieces // LANES == least.n_pieces // LANES
        and size.n_words >= least.n_words
        and size.n_grid >= least.n_grid
        and _area(size) <= MAX_GROWTH * _area(least)
        and size.n_grid <= least.n_grid + 2 * GRID_STEP
    )


def _cost(size: BatchSize) -> tuple[int, int, int, int]:
    return _area(size), size.n_words, size.n_grid, size.n_rows


def _area(size: BatchSize) -> int:
    return size.n_rows * size.n_pieces


def _up(n: int, step: int) -> int:
    return -(-n // step) * step
