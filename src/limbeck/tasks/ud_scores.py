"""Scores of Universal Dependencies on gold words, by the definitions of the CoNLL 2018 task.

In:  gold and predicted columns of all words.
Out: percentages. Relations are compared without subtypes, features without language-specific ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass

# The features that the shared task compares; all others are ignored.
UNIVERSAL_FEATURES = frozenset(
    (
        "PronType",
        "NumType",
        "Poss",
        "Reflex",
        "Foreign",
        "Abbr",
        "Gender",
        "Animacy",
        "Number",
        "Case",
        "Definite",
        "Degree",
        "VerbForm",
        "Mood",
        "Tense",
        "Aspect",
        "Voice",
        "Evident",
        "Polarity",
        "Person",
        "Polite",
    )
)
CONTENT_RELATIONS = frozenset(
    (
        "nsubj",
        "obj",
        "iobj",
        "csubj",
        "ccomp",
        "xcomp",
        "obl",
        "vocative",
        "expl",
        "dislocated",
        "advcl",
        "advmod",
        "discourse",
        "nmod",
        "appos",
        "nummod",
        "acl",
        "amod",
        "conj",
        "fixed",
        "flat",
        "compound",
        "list",
        "parataxis",
        "orphan",
        "goeswith",
        "reparandum",
        "root",
        "dep",
    )
)
FUNCTION_RELATIONS = frozenset(("aux", "cop", "mark", "det", "clf", "case", "cc"))


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeWord:
    """A word's columns, as far as they are known."""

    upos: str | None
    feats: str | None
    lemma: str | None
    head: int | None  # position in the sentence from 1, 0 the root
    relation: str | None


Sentence = Sequence[TreeWord]


def universal(feats: str | None) -> str:
    """Sort out what is compared of a FEATS column."""
    if feats in (None, "_"):
        return ""
    assert feats is not None
    return "|".join(sorted(f for f in feats.split("|") if f.split("=", 1)[0] in UNIVERSAL_FEATURES))


def _base(relation: str | None) -> str:
    return (relation or "").split(":")[0]


def percent(n_right: int, n_gold: int, n_found: int) -> float:
    """F1 in percent."""
    total = n_gold + n_found
    return 200.0 * n_right / total if total else 0.0


def clas(gold: Sequence[Sentence], found: Sequence[Sentence]) -> dict[str, float]:
    """CLAS, MLAS and BLEX: content words, with morphology and function words, with lemmas."""
    n_gold = n_found = n_clas = n_mlas = n_blex = 0
    for a, b in zip(gold, found, strict=True):
        a_children, b_children = _function_children(a), _function_children(b)
        for i, (left, right) in enumerate(zip(a, b, strict=True)):
            if left.relation is None:
                continue  # no gold arc: the word does not count
            is_content = _base(left.relation) in CONTENT_RELATIONS
            n_gold += is_content
            n_found += _base(right.relation) in CONTENT_RELATIONS
            if not is_content:
                continue
            if left.head != right.head or _base(left.relation) != _base(right.relation):
                continue
            n_clas += 1
            same_lemma = left.lemma == right.lemma or left.lemma == "_"
            n_blex += same_lemma
            n_mlas += (
                left.upos == right.upos
                and universal(left.feats) == universal(right.feats)
                and _described(a, a_children[i]) == _described(b, b_children[i])
            )
    return {
        "CLAS": percent(n_clas, n_gold, n_found),
        "MLAS": percent(n_mlas, n_gold, n_found),
        "BLEX": percent(n_blex, n_gold, n_found),
    }


def _function_children(sentence: Sentence) -> list[list[int]]:
    children: list[list[int]] = [[] for _ in sentence]
    for i, word in enumerate(sentence):
        if word.head and _base(word.relation) in FUNCTION_RELATIONS and word.head <= len(sentence):
            children[word.head - 1].append(i)
    return children


def _described(sentence: Sentence, positions: Sequence[int]) -> list[tuple[int, str, str, str]]:
    return [
        (
            i,
            _base(sentence[i].relation),
            sentence[i].upos or "",
            universal(sentence[i].feats),
        )
        for i in positions
    ]
