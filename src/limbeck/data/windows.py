"""Windows: cut a record that is longer than the model's positions into overlapping rows.

In:  how many pieces each word has, and how many fit.
Out: word ranges to read and word ranges to keep; every word is kept by exactly one window.
Integers only: no tokenizer, no text.
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class WordWindow:
    """Words `start:stop` are read; the vectors of `own_start:own_stop` are kept."""

    start: int
    stop: int
    own_start: int
    own_stop: int


def split_words(n_pieces: Sequence[int], *, max_pieces: int) -> list[WordWindow]:
    """Cover all words with windows of at most `max_pieces`, a quarter of each shared with the next.

    Half of a shared stretch goes to either side, so that every kept word has context on both.
    No single word may have more than `max_pieces`.
    """
    n_words = len(n_pieces)
    if any(n > max_pieces for n in n_pieces):
        raise ValueError(f"a word of {max(n_pieces)} pieces does not fit {max_pieces}")
    if sum(n_pieces) <= max_pieces:
        return [WordWindow(start=0, stop=n_words, own_start=0, own_stop=n_words)]
    ranges: list[tuple[int, int]] = []
    start = 0
    while True:
        stop, used = start, 0
        while stop < n_words and used + n_pieces[stop] <= max_pieces:
            used += n_pieces[stop]
            stop += 1
        ranges.append((start, stop))
        if stop == n_words:
            break
        following, shared = stop, 0
        while following - 1 > start and shared + n_pieces[following - 1] <= max_pieces // 4:
            following -= 1
            shared += n_pieces[following]
        start = following
    windows: list[WordWindow] = []
    own_start = 0
    for i, (start, stop) in enumerate(ranges):
        own_stop = (ranges[i + 1][0] + stop + 1) // 2 if i + 1 < len(ranges) else n_words
        windows.append(WordWindow(start=start, stop=stop, own_start=own_start, own_stop=own_stop))
        own_start = own_stop
    return windows
