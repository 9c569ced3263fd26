"""Masks: which pieces are to be predicted, and what stands in their place.

In:  the pieces of one row, which of them open a word, a generator.
Out: positions, and the row with 80 % of them hidden, 10 % replaced, 10 % as they were.
Stretches of n whole words with p proportional to 1/n, as ALBERT's (Lan et al., 2020, after Joshi et
al., 2019). Single pieces are words of one piece. A row that is masked again is masked anew.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

HIDDEN, REPLACED = 0.8, 0.1  # Devlin et al., 2019; the rest stays
TRIES = 12  # places tried for one stretch; a row is never more than a fraction full


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """Where the words of a row begin and end; special pieces are in none."""

    starts: NDArray[np.int64]
    stops: NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """Words next to each other that are predicted together."""

    first: int
    n_words: int


def find_words(opens: NDArray[np.bool_], is_text: NDArray[np.bool_]) -> Words:
    """Group pieces into words; the first piece after a special one opens a word in any case."""
    before = np.concatenate(([False], is_text[:-1]))
    begins = is_text & (opens | ~before)
    starts = np.flatnonzero(begins)
    edges = np.append(np.flatnonzero(begins | ~is_text), len(opens))
    return Words(starts=starts, stops=edges[np.searchsorted(edges, starts, side="right")])


def stretch_odds(longest: int) -> NDArray[np.float64]:
    """Cumulative probability of 1, 2, ... words."""
    weights = 1 / np.arange(1, longest + 1)
    return np.asarray(np.cumsum(weights / weights.sum()), dtype=np.float64)


def n_to_predict(n_pieces: int, share: float) -> int:
    """At least one of each row."""
    return max(1, round(n_pieces * share))


def choose_stretches(
    words: Words, *, budget: int, odds: NDArray[np.float64], rng: np.random.Generator
) -> list[Stretch]:
    """Choose words until `budget` pieces are taken, never more; but always one word at least.

    A length is drawn first and a free place for it second, so that long stretches do not lose to
    short ones as the row fills; only the last one may be shortened to the budget.
    """
    starts, stops = words.starts.tolist(), words.stops.tolist()
    n_words = len(starts)
    is_taken = [False] * n_words
    chosen: list[Stretch] = []
    left = budget
    while left > 0:
        n = 1 + int(np.searchsorted(odds, rng.random(), side="right"))
        found = None
        for first in rng.integers(0, n_words, size=TRIES).tolist():
            last = first + n
            if last > n_words or any(is_taken[first:last]):
                continue
            if any(starts[i + 1] != stops[i] for i in range(first, last - 1)):
                continue  # a special piece lies between
            while last > first and stops[last - 1] - starts[first] > left:
                last -= 1
            if last > first:
                found = Stretch(first=first, n_words=last - first)
                break
        if found is None:
            break
        for i in range(found.first, found.first + found.n_words):
            is_taken[i] = True
            left -= stops[i] - starts[i]
        chosen.append(found)
    if not chosen:  # all words tried are longer than the budget
        shortest = int(np.argmin(words.stops - words.starts))
        chosen.append(Stretch(first=shortest, n_words=1))
    return chosen


def positions_of(words: Words, chosen: list[Stretch]) -> NDArray[np.int64]:
    """Pieces of the chosen words, in the order of the row."""
    ends = [(int(words.starts[s.first]), int(words.stops[s.first + s.n_words - 1])) for s in chosen]
    return np.concatenate([np.arange(begin, end) for begin, end in sorted(ends)])


def hidden(
    ids: NDArray[np.int64],
    positions: NDArray[np.int64],
    *,
    mask_id: int,
    ordinary: NDArray[np.int64],
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """Put the mask, another piece or the same one at each position of a copy of `ids`."""
    shown = ids.copy()
    draws = rng.random(len(positions))
    shown[positions[draws < HIDDEN]] = mask_id
    replaced = positions[(draws >= HIDDEN) & (draws < HIDDEN + REPLACED)]
    shown[replaced] = rng.choice(ordinary, size=len(replaced))
    return shown
