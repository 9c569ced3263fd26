"""Array steps that the codecs share: names of ids, probabilities of ids, cutting by record.

In:  logits and ids of all words of a batch, end to end.
Out: one tuple for each record.
Knows no kind of task.
"""

from collections.abc import Iterator, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from limbeck.tasks.base import Floats, Ids, Words

T = TypeVar("T")


def name_array(names: Sequence[str]) -> NDArray[np.object_]:
    """Names to `.take` ids from; objects, so that nothing is copied or padded."""
    array = np.empty(len(names), dtype=np.object_)
    array[:] = names
    return array


def cut(flat: Sequence[T], words: Sequence[Words]) -> Iterator[tuple[T, ...]]:
    """Cut what belongs to words, end to end, into one tuple for each record."""
    begin = 0
    for record_words in words:
        end = begin + len(record_words)
        yield tuple(flat[begin:end])
        begin = end


def chosen_probabilities(logits: Floats, ids: Ids) -> NDArray[np.float64]:
    """Softmax probability of one id in each row."""
    shifted = logits.astype(np.float64)
    shifted -= shifted.max(axis=1, keepdims=True)
    np.exp(shifted, out=shifted)
    chosen: NDArray[np.float64] = shifted[np.arange(len(ids)), ids] / shifted.sum(axis=1)
    return chosen
