"""Segments: documents -> rows of one segment or two, as stretches of the text's pieces.

In:  where sentences and documents end, which documents, a generator.
Out: `Rows`. Decided by numbers alone; nothing is read.
As BERT's authors do it (Devlin et al., 2019): whole sentences until a row is full, some rows short
on purpose, what is too much cut off at either end by chance. Sentence order as ALBERT's (Lan et
al., 2020): two consecutive segments, swapped in half of the rows.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from limbeck.pretrain.config import OrderTask
from limbeck.pretrain.text import Text
from limbeck.tasks.base import MISSING

SHORTEST = 2  # pieces of a row that is short on purpose
AS_WRITTEN, OTHERWISE = 0, 1  # labels, as transformers' heads have them


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Rows of one pass over the documents, in the order of the text."""

    spans: NDArray[np.int64]  # (n_rows, 4) begin and end of both segments; the second may be empty
    orders: NDArray[np.int64]  # (n_rows,) AS_WRITTEN, OTHERWISE, or MISSING for one segment

    @property
    def n_pieces(self) -> NDArray[np.int64]:
        """Pieces of each row without special ones."""
        begin, end = self.spans[:, ::2], self.spans[:, 1::2]
        return np.asarray((end - begin).sum(axis=1), dtype=np.int64)


def plan_rows(
    text: Text,
    chosen: NDArray[np.int64],
    *,
    order: OrderTask,
    room: int,
    short: float,
    rng: np.random.Generator,
) -> Rows:
    """Cut the chosen documents into rows of at most `room` pieces."""
    starts: list[int] = text.sentences.tolist()
    bounds: list[int] = text.documents.tolist()
    spans: list[tuple[int, int, int, int]] = []
    orders: list[int] = []
    least = 1 if order == "none" else 2
    for document in chosen.tolist():
        at, last = bounds[document], bounds[document + 1]
        while at < last:
            target = room if rng.random() >= short else int(rng.integers(SHORTEST, room + 1))
            end = at + 1
            while end < last and (starts[end] - starts[at] < target or end - at < least):
                end += 1
            if order == "none" or end - at == 1:
                begin, stop = _cut_one(starts[at], starts[end], target, rng)
                spans.append((begin, stop, stop, stop))
                orders.append(MISSING)
                at = end
                continue
            middle = at + int(rng.integers(1, end - at))
            first, second = (starts[at], starts[middle]), (starts[middle], starts[end])
            label = int(rng.random() < 0.5)
            at = end
            if label == OTHERWISE and order == "nsp":
                wanted = target - (first[1] - first[0])
                second = _from_elsewhere(starts, bounds, chosen, document, wanted, rng)
                at = middle  # what was not used comes next
            first, second = _cut_two(first, second, target, rng)
            if label == OTHERWISE and order == "sop":
                first, second = second, first
            spans.append((*first, *second))
            orders.append(label)
    return Rows(
        spans=np.array(spans, dtype=np.int64).reshape(-1, 4),
        orders=np.array(orders, dtype=np.int64),
    )


def _from_elsewhere(
    starts: list[int],
    bounds: list[int],
    chosen: NDArray[np.int64],
    document: int,
    wanted: int,
    rng: np.random.Generator,
) -> tuple[int, int]:
    """Sentences of another document, from a random one on."""
    other = document
    while other == document:
        other = int(chosen[rng.integers(len(chosen))])
    at = int(rng.integers(bounds[other], bounds[other + 1]))
    end = at + 1
    while end < bounds[other + 1] and starts[end] - starts[at] < wanted:
        end += 1
    return starts[at], starts[end]


def _cut_one(begin: int, end: int, room: int, rng: np.random.Generator) -> tuple[int, int]:
    """Take pieces from either end until the segment fits."""
    excess = max(0, end - begin - room)
    front = int(rng.binomial(excess, 0.5)) if excess else 0
    return begin + front, end - (excess - front)


def _cut_two(
    first: tuple[int, int], second: tuple[int, int], room: int, rng: np.random.Generator
) -> tuple[tuple[int, int], tuple[int, int]]:
    """Take pieces from the longer segment until both fit; each keeps one at least."""
    n_first, n_second = first[1] - first[0], second[1] - second[0]
    if n_first + n_second <= room:
        return first, second
    half = room // 2
    if n_first <= half:
        keep = (n_first, room - n_first)
    elif n_second <= room - half:
        keep = (room - n_second, n_second)
    else:
        keep = (half, room - half)
    return _cut_one(*first, keep[0], rng), _cut_one(*second, keep[1], rng)
