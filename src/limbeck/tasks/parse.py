"""Codec of dependencies: a head and a relation for each word, together a tree.

In:  arcs of words; for each record (n_words, n_words + 1) arc scores, and logits of relations.
Out: ids for training; trees with a single root.
How a tree is found: trees.py.
"""

from collections.abc import Sequence

import numpy as np

from limbeck.data.records import Arc, Labels
from limbeck.errors import InputError
from limbeck.tasks.arrays import chosen_probabilities, cut, name_array
from limbeck.tasks.base import MISSING, Floats, Ids, Scores, TaskKind, Words
from limbeck.tasks.labels import word_arcs
from limbeck.tasks.trees import Matrix, are_trees, single_root_tree

ROOT = "root"


class DepCodec:
    """Heads and relations. The law holds for trees with a single root, related to it by `root`."""

    kind: TaskKind = "dep"

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self.n_outputs = len(self.names)
        self._ids = {name: i for i, name in enumerate(self.names)}
        self._array = name_array(self.names)
        self._root = self._ids.get(ROOT)

    def encode(self, words: Words, labels: Labels) -> Ids:
        targets = np.full((len(words), 2), MISSING, dtype=np.int64)
        for i, arc in enumerate(word_arcs(labels, len(words))):
            if arc is None:
                continue
            if not 0 <= arc.head <= len(words):
                raise InputError(f"head {arc.head} of word {i + 1} in a record of {len(words)}")
            targets[i] = arc.head, self._ids.get(arc.relation, MISSING)
        return targets

    def decode(self, scores: Scores, words: Sequence[Words]) -> list[Labels]:
        heads = tree_heads(scores.arcs)
        relations = self._array.take(self._relations(scores.main, heads))
        return [*cut(list(map(Arc, heads.tolist(), relations.tolist())), words)]

    def probabilities(self, scores: Scores, words: Sequence[Words]) -> list[object]:
        """The probability of the head; that of the relation is left out."""
        heads = np.split(tree_heads(scores.arcs), np.cumsum([len(w) for w in words])[:-1])
        return [
            tuple(chosen_probabilities(arcs, own).tolist())
            for arcs, own in zip(scores.arcs, heads, strict=True)
        ]

    def to_json(self) -> dict[str, object]:
        return {"kind": self.kind, "names": list(self.names)}

    def _relations(self, logits: Floats, heads: Ids) -> Ids:
        """Best relations; the word on the root is its root, and no other word is."""
        if self._root is None:
            best: Ids = logits.argmax(axis=1)
            return best
        others = logits.copy()
        others[:, self._root] = -np.inf
        return np.where(heads == 0, self._root, others.argmax(axis=1))


def tree_heads(arcs: Sequence[Floats]) -> Ids:
    """Heads of all words; a search only for the records whose likeliest heads are no tree."""
    heads = np.concatenate([np.zeros(0, dtype=np.int64), *(a.argmax(axis=1) for a in arcs)])
    n_words = [len(a) for a in arcs]
    ends = np.cumsum(n_words, dtype=np.int64)
    for i in np.flatnonzero(~are_trees(heads, n_words)).tolist():
        heads[ends[i] - n_words[i] : ends[i]] = single_root_tree(log_softmax(arcs[i]))
    return heads


def log_softmax(arcs: Floats) -> Matrix:
    """Per word, so that a tree's score is the logarithm of its probability."""
    shifted = arcs.astype(np.float64)
    shifted -= shifted.max(axis=1, keepdims=True)
    shifted -= np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return shifted
