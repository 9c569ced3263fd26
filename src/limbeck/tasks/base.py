"""What a task is: a name, a kind, and a codec between labels and ids.

In:  labels of records.
Out: ids for training, labels from scores at run time; numpy only.
No torch, no engine, no file format.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from limbeck.data.records import Labels

TaskKind = Literal["classify", "classify_many", "regress", "tag", "spans", "lemma", "dep"]
TASK_KINDS: tuple[TaskKind, ...] = get_args(TaskKind)
TEXT_KINDS: tuple[TaskKind, ...] = ("classify", "classify_many", "regress")
WORD_KINDS: tuple[TaskKind, ...] = ("tag", "spans", "lemma", "dep")

MISSING = -100  # the id of a label that the corpus does not give or the codec does not know

Words = tuple[str, ...]
Floats = NDArray[np.float32]
Ids = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """Logits of one task for several records, without padding.

    Text tasks: `main` is (n_records, n_outputs). Word tasks: `main` is (n_words of all records,
    n_outputs), records one after another. dep: `main` holds the relations at the likeliest head of
    each word, and `arcs` one (n_words, n_words + 1) matrix for each record, column 0 the root.
    """

    main: Floats
    arcs: tuple[Floats, ...] = ()


class Codec(Protocol):
    """Law: decoding scores that put all weight on the encoded ids gives the labels back."""

    @property
    def kind(self) -> TaskKind: ...

    @property
    def n_outputs(self) -> int:
        """How many logits a word or a text has (for dep: relations)."""

    @property
    def names(self) -> tuple[str, ...]:
        """The label that each output stands for, in order; what an ensemble aligns by."""

    def encode(self, words: Words, labels: Labels) -> NDArray[np.generic]:
        """Turn gold labels into targets.

        classify: () int64. classify_many: (n_outputs,) float32 of 0 and 1. regress: () float32.
        tag, spans, lemma: (n_words,) int64. dep: (n_words, 2) int64, head and relation.
        MISSING where there is no label or it was never seen in training.
        """

    def decode(self, scores: Scores, words: Sequence[Words]) -> list[Labels]:
        """Turn scores of several records into labels, one entry for each record."""

    def probabilities(self, scores: Scores, words: Sequence[Words]) -> list[object]:
        """Probability of each decoded label, for output: floats, or one float for each word."""

    def to_json(self) -> dict[str, object]:
        """Everything needed to rebuild the codec, as plain JSON values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One annotation layer."""

    name: str
    codec: Codec

    @property
    def kind(self) -> TaskKind:
        return self.codec.kind


DEFAULT_KINDS: dict[str, TaskKind] = {
    "upos": "tag",
    "xpos": "tag",
    "feats": "tag",
    "lemma": "lemma",
    "dep": "dep",
    "ner": "spans",
}


def default_kind(task: str) -> TaskKind:
    """Names of the CoNLL-U columns mean what they mean there; any other name is a text class."""
    return DEFAULT_KINDS.get(task, "classify")
