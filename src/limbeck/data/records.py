"""Records: one input each, with the gold labels that its corpus gives.

In:  nothing; readers of every format build these.
Out: frozen values. Nothing past this seam knows a file format.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, NamedTuple


class Arc(NamedTuple):
    """A dependency: `head` counts words from 1, 0 is the root of the sentence."""

    head: int
    relation: str


# A text label is a str (one class), a float (regression) or a tuple (several classes); word labels
# are a tuple with one entry for each word, None where the corpus has none.
WordLabels = tuple[str | None, ...] | tuple[Arc | None, ...]
Labels = str | float | WordLabels

# What `raw` is. Told by the reader: a plain line may look like a line of any other format.
RawKind = Literal["text", "conllu", "bio", "object"]

NO_LABELS: Mapping[str, Labels] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One input text, or a pair of texts, as words.

    A text is split at white space; the pieces of a model do not depend on who split it, so
    texts and pre-split sentences take the same path.
    """

    words: tuple[str, ...]
    pair: tuple[str, ...] = ()  # the words of the second text, empty for a single text
    labels: Mapping[str, Labels] = field(
        default_factory=lambda: NO_LABELS
    )  # task name -> gold labels
    raw: str = ""  # as it stood in the file; its format's writer copies what it does not annotate
    raw_kind: RawKind = "text"
    where: str = ""  # "file:line", for messages


def record_key(record: Record) -> str:
    """Name a record by its words alone: 16 hex digits, equal wherever the text is equal."""
    digest = hashlib.blake2b(digest_size=8)
    for words in (record.words, record.pair):
        for word in words:
            digest.update(word.encode("utf-8", "surrogatepass"))
            digest.update(b"\x1f")
        digest.update(b"\x1e")
    return digest.hexdigest()
