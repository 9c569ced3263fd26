"""Codecs of whole texts: one class, several classes, a number.

In:  the label, the labels or the value of a text; logits (n_records, n_outputs).
Out: targets for training, labels from logits.
No words: a text's pieces are the model's business.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from limbeck.data.records import Labels
from limbeck.tasks.arrays import chosen_probabilities, name_array
from limbeck.tasks.base import MISSING, Codec, Ids, Scores, TaskKind, Words
from limbeck.tasks.labels import text_label, text_labels, text_value


class ClassifyCodec:
    """One class for each text; a class that training never saw is MISSING."""

    kind: TaskKind = "classify"

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self.n_outputs = len(self.names)
        self._ids = {name: i for i, name in enumerate(self.names)}
        self._array = name_array(self.names)

    def encode(self, words: Words, labels: Labels) -> Ids:
        return np.array(self._ids.get(text_label(labels), MISSING), dtype=np.int64)

    def decode(self, scores: Scores, words: Sequence[Words]) -> list[Labels]:
        return [*self._array.take(scores.main.argmax(axis=1)).tolist()]

    def probabilities(self, scores: Scores, words: Sequence[Words]) -> list[object]:
        return [*chosen_probabilities(scores.main, scores.main.argmax(axis=1)).tolist()]

    def to_json(self) -> dict[str, object]:
        return {"kind": self.kind, "names": list(self.names)}


class ClassifyManyCodec:
    """Any number of classes for each text, each by itself: those with a probability above 0.5.

    The law holds for labels in the order of `names`, which is also the order that decoding gives.
    A class that training never saw has no output and is left out of the targets.
    """

    kind: TaskKind = "classify_many"

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self.n_outputs = len(self.names)
        self._ids = {name: i for i, name in enumerate(self.names)}

    def encode(self, words: Words, labels: Labels) -> NDArray[np.float32]:
        targets = np.zeros(self.n_outputs, dtype=np.float32)
        targets[[self._ids[label] for label in text_labels(labels) if label in self._ids]] = 1
        return targets

    def decode(self, scores: Scores, words: Sequence[Words]) -> list[Labels]:
        chosen: list[list[str]] = [[] for _ in range(len(scores.main))]
        for record, label in np.argwhere(scores.main > 0).tolist():  # sigmoid(0) = 0.5
            chosen[record].append(self.names[label])
        return [tuple(labels) for labels in chosen]

    def probabilities(self, scores: Scores, words: Sequence[Words]) -> list[object]:
        """One tuple for each text, as long as its decoded labels."""
        chosen: list[list[float]] = [[] for _ in range(len(scores.main))]
        # only logits above 0 are taken, so the exponential cannot overflow
        above = np.maximum(scores.main, 0).astype(np.float64)
        p: NDArray[np.float64] = 1 / (1 + np.exp(-above))
        for record, label in np.argwhere(scores.main > 0).tolist():
            chosen[record].append(float(p[record, label]))
        return [tuple(values) for values in chosen]

    def to_json(self) -> dict[str, object]:
        return {"kind": self.kind, "names": list(self.names)}


class RegressCodec:
    """A number for each text; targets have mean 0 and deviation 1 over the training labels.

    Without scaling, squared errors of a 0-100 rating drown every other task's loss.
    """

    kind: TaskKind = "regress"
    names = ("value",)
    n_outputs = 1

    def __init__(self, *, mean: float, std: float) -> None:
        self.mean = mean
        self.std = std

    def encode(self, words: Words, labels: Labels) -> NDArray[np.float32]:
        return np.array((text_value(labels) - self.mean) / self.std, dtype=np.float32)

    def decode(self, scores: Scores, words: Sequence[Words]) -> list[Labels]:
        return [*(scores.main[:, 0].astype(np.float64) * self.std + self.mean).tolist()]

    def probabilities(self, scores: Scores, words: Sequence[Words]) -> list[object]:
        """None for each text: a value has no probability."""
        return [None] * len(scores.main)

    def to_json(self) -> dict[str, object]:
        return {"kind": self.kind, "mean": self.mean, "std": self.std}


def class_probabilities(codec: Codec, scores: Scores) -> list[dict[str, float]]:
    """For each text the probability of every class, the likeliest first.

    One class of several: they sum to 1. Any number of classes: each is by itself.
    """
    logits = scores.main.astype(np.float64)
    if codec.kind == "classify":
        chances = np.exp(logits - logits.max(axis=1, keepdims=True))
        chances /= chances.sum(axis=1, keepdims=True)
    else:
        chances = 0.5 * (1 + np.tanh(logits / 2))  # the logistic function, without overflow
    order = np.argsort(-chances, axis=1, kind="stable")
    return [
        {codec.names[j]: float(row[j]) for j in likeliest}
        for row, likeliest in zip(chances, order.tolist(), strict=True)
    ]
