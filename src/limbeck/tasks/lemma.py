"""Codec of lemmas: each label is an edit script, so that unseen words get lemmas too.

In:  forms and lemmas; logits (n_words of all records, n_scripts).
Out: ids of scripts for training; lemmas from forms and logits.
What a script is and how one is found: edits.py.
"""

from collections.abc import Sequence

import numpy as np

from limbeck.data.records import Labels
from limbeck.errors import BundleError
from limbeck.tasks.arrays import chosen_probabilities, cut
from limbeck.tasks.base import MISSING, Floats, Ids, Scores, TaskKind, Words
from limbeck.tasks.edits import IDENTITY, apply_script, script_name, script_named, script_of
from limbeck.tasks.labels import word_labels

NO_LEMMA = "_"  # CoNLL-U's word without a lemma of its own; scored, but nothing to learn
MAX_CACHED = 200_000  # lemmas remembered; some 40 MB, far more than a language's frequent forms


class LemmaCodec:
    """Lemmas as edit scripts; one that training did not keep is MISSING.

    Where the likeliest script does not fit the word, the next best that does is taken; identity is
    always among the names and fits every word.
    """

    kind: TaskKind = "lemma"

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self.n_outputs = len(self.names)
        try:
            self._scripts = [script_named(name) for name in self.names]
        except ValueError as broken:  # learning makes no such name, so a bundle is damaged
            raise BundleError(f"lemma scripts: {broken}") from broken
        self._ids = {script: i for i, script in enumerate(self._scripts)}
        if IDENTITY not in self._ids:
            raise BundleError(f"lemma scripts lack {script_name(IDENTITY)}, which fits every word")
        self._lemmas: dict[tuple[int, str], str] = {}

    def encode(self, words: Words, labels: Labels) -> Ids:
        ids = np.full(len(words), MISSING, dtype=np.int64)
        pairs = zip(words, word_labels(labels, len(words)), strict=True)
        for i, (form, lemma) in enumerate(pairs):
            if lemma is not None and lemma != NO_LEMMA:
                ids[i] = self._ids.get(script_of(form, lemma), MISSING)
        return ids

    def decode(self, scores: Scores, words: Sequence[Words]) -> list[Labels]:
        _, lemmas = self._choose(scores.main, words)
        return [*cut(lemmas, words)]

    def probabilities(self, scores: Scores, words: Sequence[Words]) -> list[object]:
        ids, _ = self._choose(scores.main, words)
        return [*cut(chosen_probabilities(scores.main, ids).tolist(), words)]

    def to_json(self) -> dict[str, object]:
        return {"kind": self.kind, "names": list(self.names)}

    def _choose(self, logits: Floats, words: Sequence[Words]) -> tuple[Ids, list[str]]:
        """Scripts and lemmas of all words. Text repeats its words, so most are in the cache."""
        ids: Ids = logits.argmax(axis=1)
        forms = [form for record_words in words for form in record_words]
        found = list(map(self._lemmas.get, zip(ids.tolist(), forms, strict=True)))
        lemmas: list[str] = []
        for i, lemma in enumerate(found):
            if lemma is None:
                ids[i], lemma = self._first_fitting(logits[i], int(ids[i]), forms[i])
            lemmas.append(lemma)
        return ids, lemmas

    def _first_fitting(self, logits: Floats, likeliest: int, form: str) -> tuple[int, str]:
        lemma = self._lemma(likeliest, form)
        if lemma is not None:
            return likeliest, lemma
        for i in np.argsort(-logits, kind="stable").tolist():
            lemma = self._lemma(i, form)
            if lemma is not None:
                return i, lemma
        raise AssertionError("identity fits every word")

    def _lemma(self, script_id: int, form: str) -> str | None:
        lemma = apply_script(self._scripts[script_id], form)
        if lemma is not None:
            if len(self._lemmas) >= MAX_CACHED:
                self._lemmas.clear()  # rarer than once in a million words; no order to keep
            self._lemmas[script_id, form] = lemma
        return lemma
