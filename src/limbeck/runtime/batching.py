"""Pure batching: rows of a window -> length-sorted batches within a padded budget.

In:  how many pieces each row has.
Out: lists of positions; the caller keeps the rows and restores their order.
No engine, no tokenizer, no threads: everything here is decided by integers.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

# What one more batch costs an engine, in pieces of padding that cost the same: little where it has
# seen the batch's size, 500 where it makes kernels for it. With more than 128, a file of 2,000
# short sentences would have too much padding.
BATCH_COST = 128
# OpenVINO adds up what a row attends to vector by vector, and the numbers of the last, unfilled one
# in another order. Whether padding fills it decides the last bits of the sum, int8 makes steps of
# them, and now and then a label of it. Rows whose lengths end in the same vector all leave it
# unfilled, whatever batch they are in. Its numbers: 8 with AVX2; 16 with AVX-512, which 8 divides.
LANES = 8


def plan_batches(n_pieces: Sequence[int], *, max_padded_pieces: int) -> list[list[int]]:
    """Group positions so that padding and the number of batches together cost least.

    `len(batch) * longest` stays within the budget, but for a row that alone exceeds it, which gets
    a batch of its own. Rows of a batch have the same `length // LANES`, so that no row's outputs
    depend on its company. Longest first: the costliest batch starts first, so the tail of a
    parallel run is short.
    """
    if len(n_pieces) == 1:  # one record at a time must not pay for planning
        return [[0]]
    lengths = np.maximum(1, np.asarray(n_pieces, dtype=np.int64))
    order = np.argsort(-lengths, kind="stable")
    distinct, counts = np.unique(lengths, return_counts=True)
    distinct, counts = distinct[::-1], counts[::-1]
    most_rows = np.maximum(1, max_padded_pieces // distinct)
    batches: list[list[int]] = []
    begin = 0
    for first, last in _segments(distinct, counts, most_rows):
        n_rows = int(counts[first : last + 1].sum())
        n_batches = -(-n_rows // int(most_rows[first]))
        for part in np.array_split(order[begin : begin + n_rows], n_batches):
            batches.append(part.tolist())
        begin += n_rows
    return batches


def _segments(
    distinct: NDArray[np.int64], counts: NDArray[np.int64], most_rows: NDArray[np.int64]
) -> list[tuple[int, int]]:
    """Cut the falling lengths into runs, each padded to its first, at the least cost in all."""
    n = len(distinct)
    blocks = distinct // LANES
    stops = n - np.searchsorted(blocks[::-1], blocks)  # one past the last length of each's block
    least = np.zeros(n + 1)  # least[i]: what the lengths from i on cost
    ends = np.zeros(n, dtype=np.int64)
    for first in range(n - 1, -1, -1):
        stop = int(stops[first])
        n_rows = np.cumsum(counts[first:stop])
        n_batches = -(-n_rows // most_rows[first])
        costs = n_rows * distinct[first] + BATCH_COST * n_batches + least[first + 1 : stop + 1]
        ends[first] = first + int(np.argmin(costs))
        least[first] = costs[ends[first] - first]
    segments: list[tuple[int, int]] = []
    first = 0
    while first < n:
        segments.append((first, int(ends[first])))
        first = int(ends[first]) + 1
    return segments


def full_batches(n_pieces: Sequence[int], *, max_padded_pieces: int) -> list[list[int]]:
    """Group positions into batches as full as the budget allows, whatever the padding.

    For training, where a batch is a step, and a step of few rows is a noisy one.
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


def round_up(n: int, steps: Sequence[tuple[int, int]], last_step: int) -> int:
    """Round up to one of few numbers: up to each first of `steps` by its second, then by the last.

    Engines and torch make their kernels anew for each new size.
    """
    step = next((step for upto, step in steps if n <= upto), last_step)
    return -(-n // step) * step
