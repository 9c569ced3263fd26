"""Codecs of words: one tag for each word, or tags that spell out spans.

In:  tags of words; logits (n_words of all records, n_outputs).
Out: ids for training; the likeliest tags, for spans the likeliest legal ones.
Span tags are O, B-TYPE and I-TYPE; other schemes are refused.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from limbeck.data.records import Labels
from limbeck.errors import InputError
from limbeck.tasks.arrays import chosen_probabilities, cut, name_array
from limbeck.tasks.base import MISSING, Floats, Ids, Scores, TaskKind, Words
from limbeck.tasks.labels import word_labels


class TagCodec:
    """One tag for each word, chosen by itself."""

    kind: TaskKind = "tag"

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self.n_outputs = len(self.names)
        self._ids = {name: i for i, name in enumerate(self.names)}
        self._array = name_array(self.names)

    def encode(self, words: Words, labels: Labels) -> Ids:
        return encode_tags(self._ids, words, labels)

    def decode(self, scores: Scores, words: Sequence[Words]) -> list[Labels]:
        return [*cut(self._array.take(scores.main.argmax(axis=1)).tolist(), words)]

    def probabilities(self, scores: Scores, words: Sequence[Words]) -> list[object]:
        ids = scores.main.argmax(axis=1)
        return [*cut(chosen_probabilities(scores.main, ids).tolist(), words)]

    def to_json(self) -> dict[str, object]:
        return {"kind": self.kind, "names": list(self.names)}


class SpanCodec:
    """Spans as BIO tags. The law holds for legal sequences: decoding gives no others."""

    kind: TaskKind = "spans"

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self.n_outputs = len(self.names)
        self._ids = {name: i for i, name in enumerate(self.names)}
        self._array = name_array(self.names)
        self._legal = legal_transitions(self.names)

    def encode(self, words: Words, labels: Labels) -> Ids:
        return encode_tags(self._ids, words, labels)

    def decode(self, scores: Scores, words: Sequence[Words]) -> list[Labels]:
        ids = likeliest_legal(scores.main, [len(w) for w in words], self._legal)
        return [*cut(self._array.take(ids).tolist(), words)]

    def probabilities(self, scores: Scores, words: Sequence[Words]) -> list[object]:
        """The tag's own probability, not that of its span."""
        ids = likeliest_legal(scores.main, [len(w) for w in words], self._legal)
        return [*cut(chosen_probabilities(scores.main, ids).tolist(), words)]

    def to_json(self) -> dict[str, object]:
        return {"kind": self.kind, "names": list(self.names)}


def encode_tags(ids: dict[str, int], words: Words, labels: Labels) -> Ids:
    """Look tags up; None and tags never seen are MISSING."""
    tags = word_labels(labels, len(words))
    known = (MISSING if tag is None else ids.get(tag, MISSING) for tag in tags)
    return np.fromiter(known, dtype=np.int64, count=len(tags))


def legal_transitions(names: Sequence[str]) -> NDArray[np.bool_]:
    """Tell which tag may follow which: (n_tags + 1, n_tags), the last row for the first word."""
    known = set(names)
    for name in names:
        if name != "O" and not name.startswith(("B-", "I-")):
            raise InputError(f"{name!r} is not a span tag", hint="tags are O, B-TYPE and I-TYPE")
        if name.startswith("I-") and f"B-{name[2:]}" not in known:
            raise InputError(
                f"spans of type {name[2:]!r} have tags I- but never B-",
                hint="each span begins with B-; convert IOB1 tags to BIO",
            )
    begins = np.array([not name.startswith("I-") for name in names])
    before = (*names, "O")
    continues = [
        [after.startswith("I-") and name[:1] in "BI" and name[2:] == after[2:] for after in names]
        for name in before
    ]
    legal: NDArray[np.bool_] = np.array(continues, dtype=np.bool_) | begins
    return legal


def likeliest_legal(logits: Floats, n_words: Sequence[int], legal: NDArray[np.bool_]) -> Ids:
    """Choose the best legal tags of every record; a search only where plain argmax is illegal.

    A trained model seldom breaks the scheme, so nearly all records take one vectorised check.
    """
    ids: Ids = logits.argmax(axis=1)
    ends = np.cumsum(n_words, dtype=np.int64)
    starts = ends - np.asarray(n_words, dtype=np.int64)
    previous = np.empty_like(ids)
    previous[1:] = ids[:-1]
    previous[starts[starts < ends]] = len(legal) - 1
    broken = np.unique(np.searchsorted(ends, np.flatnonzero(~legal[previous, ids]), side="right"))
    sizes = np.asarray(n_words, dtype=np.int64)[broken]
    # records of like length together, so that padding at most doubles them
    magnitudes = np.frexp(sizes)[1]
    for magnitude in np.unique(magnitudes).tolist():
        own = magnitudes == magnitude
        words = starts[broken[own], None] + np.arange(sizes[own].max())
        found = viterbi(logits[np.minimum(words, len(logits) - 1)], sizes[own], legal)
        is_word = words < ends[broken[own], None]
        ids[words[is_word]] = found[is_word]
    return ids


def viterbi(logits: Floats, n_words: Ids, legal: NDArray[np.bool_]) -> Ids:
    """Find the legal tags with the largest sum of logits, for many records at once.

    `logits` (n_records, longest, n_tags), of which `n_words` (n_records,), at least one, count;
    gives (n_records, longest). After its last word a record stays on the tag that it has.
    """
    penalty = np.where(legal, 0.0, -np.inf)
    follow = penalty[:-1].T.copy()  # (n_tags, n_tags): to each tag, from each tag
    best = logits[:, 0] + penalty[-1]
    every = np.arange(len(logits))
    came_from = np.zeros(logits.shape, dtype=np.int64)
    came_from[:] = np.arange(logits.shape[2])
    for i in range(1, logits.shape[1]):
        going_on = np.flatnonzero(i < n_words)
        paths = follow + best[going_on, None, :]
        came_from[going_on, i] = paths.argmax(axis=2)
        best[going_on] = paths.max(axis=2) + logits[going_on, i]
    ids = np.empty(logits.shape[:2], dtype=np.int64)
    ids[:, -1] = best.argmax(axis=1)
    for i in range(logits.shape[1] - 1, 0, -1):
        ids[:, i - 1] = came_from[every, i, ids[:, i]]
    return ids
