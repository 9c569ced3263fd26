"""Texts: what a request holds -> records, each with the place of the text that it came from.

In:  checked bodies.
Out: `Asked`. No text is changed; splitting into sentences may give none or several for one text.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from limbeck.data.raw import sentences
from limbeck.data.records import Record
from limbeck.serve.wire import (
    AnnotateText,
    AnnotateTexts,
    AnnotateWords,
    ClassifyText,
    ClassifyTexts,
    Split,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Records of a request."""

    records: Sequence[Record]
    inputs: Sequence[int]  # for each record: which of the request's texts


Body = AnnotateText | AnnotateTexts | AnnotateWords | ClassifyText | ClassifyTexts


def n_letters_of(body: Body) -> int:
    """How much work a body will be."""
    match body:
        case AnnotateText() | ClassifyText():
            return len(body.text) + len(body.pair or "")
        case AnnotateTexts() | ClassifyTexts():
            return sum(map(len, body.texts))
        case AnnotateWords():
            return sum(len(word) for words in body.words for word in words)
        case _:
            assert_never(body)


def asked_of(body: Body) -> Asked:
    """The records of a body."""
    match body:
        case AnnotateText():
            if body.pair is not None:
                return _whole([Record(words=_words(body.text), pair=_words(body.pair))])
            return split_texts([body.text], body.split)
        case AnnotateTexts():
            return split_texts(body.texts, body.split)
        case AnnotateWords():
            return _whole([Record(words=tuple(words)) for words in body.words])
        case ClassifyText():
            return _whole([Record(words=_words(body.text), pair=_words(body.pair or ""))])
        case ClassifyTexts():
            return split_texts(body.texts, "space")
        case _:
            assert_never(body)


def split_texts(texts: Sequence[str], split: Split) -> Asked:
    """Words at white space, or by the rules for English, as one record or as sentences."""
    match split:
        case "space":
            return _whole([Record(words=_words(text)) for text in texts])
        case "words":
            cut = [tuple(w for words in sentences(text) for w in words) for text in texts]
            return _whole([Record(words=words) for words in cut])
        case "sentences":
            found = [(i, words) for i, text in enumerate(texts) for words in sentences(text)]
            return Asked(
                records=[Record(words=words) for _, words in found], inputs=[i for i, _ in found]
            )
        case _:
            assert_never(split)


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def _whole(records: Sequence[Record]) -> Asked:
    return Asked(records=records, inputs=range(len(records)))
