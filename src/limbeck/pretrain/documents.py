"""Documents: text files -> documents -> sentences, one document in memory at a time.

In:  paths of text files, plain, .gz or .zst.
Out: the sentences of each document, in order. A document without a sentence is none.
"""

from collections.abc import Iterator, Sequence
from itertools import islice

from limbeck.data.files import numbered_lines, sound
from limbeck.data.raw import sentence_texts
from limbeck.pretrain.config import DocumentStyle

Sentences = list[str]


def documents(
    files: Sequence[str], style: DocumentStyle, *, limit: int | None = None
) -> Iterator[Sentences]:
    """Read the documents of all files."""
    return islice((document for file in files for document in _of_file(file, style)), limit)


def _of_file(file: str, style: DocumentStyle) -> Iterator[Sentences]:
    lines = (list(sentence_texts(sound(line))) for _, line in numbered_lines(file))
    match style:
        case "lines":
            yield from filter(None, lines)
        case "blank-lines":
            document: Sentences = []
            for sentences in lines:
                if sentences:
                    document += sentences
                elif document:
                    yield document
                    document = []
            if document:
                yield document
