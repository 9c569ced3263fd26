"""Text as piece ids on disk: cut once, then read as one long array.

In:  documents and a vocabulary.
Out: a folder: pieces.bin, where sentences and documents end, counts. Memory stays that of a block
of documents, however long the text.
"""

import json
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from limbeck.data.vocabulary import Vocabulary
from limbeck.pretrain.documents import Sentences
from limbeck.progress import Progress

BLOCK_DOCUMENTS = 256
SMALL = 1 << 16  # ids below this fit two bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """All documents end to end, memory-mapped."""

    pieces: NDArray[np.unsignedinteger]  # (n_pieces,)
    sentences: NDArray[np.int64]  # (n_sentences + 1,) where each begins in `pieces`, and the end
    documents: NDArray[np.int64]  # (n_documents + 1,) the same, in `sentences`

    @property
    def n_documents(self) -> int:
        return len(self.documents) - 1


def write_text(
    folder: Path, documents: Iterable[Sentences], vocabulary: Vocabulary, progress: Progress
) -> None:
    """Cut all documents into pieces, into an existing folder."""
    kind = np.uint16 if vocabulary.tokenizer.get_vocab_size() < SMALL else np.uint32
    sentences, ends = array("q", [0]), array("q", [0])
    n_pieces = 0
    stream = iter(documents)
    with (folder / "pieces.bin").open("wb") as file:
        while block := list(islice(stream, BLOCK_DOCUMENTS)):
            for document in _cut(block, vocabulary):
                for ids in document:
                    n_pieces += len(ids)
                    sentences.append(n_pieces)
                    file.write(np.array(ids, dtype=kind).tobytes())
                ends.append(len(sentences) - 1)
            if (len(ends) - 1) % (40 * BLOCK_DOCUMENTS) == 0:
                progress.say(f"text: {len(ends) - 1} documents, {n_pieces} pieces")
    np.save(folder / "sentences.npy", np.frombuffer(sentences, dtype=np.int64))
    np.save(folder / "documents.npy", np.frombuffer(ends, dtype=np.int64))
    about = {"kind": np.dtype(kind).name, "n_pieces": n_pieces}
    (folder / "text.json").write_text(json.dumps(about), encoding="utf-8")


def _cut(block: list[Sentences], vocabulary: Vocabulary) -> Iterator[list[list[int]]]:
    split = [[sentence.split() for sentence in document] for document in block]
    known = vocabulary.learn(word for doc in split for words in doc for word in words)
    for document in split:
        yield [[i for word in words for i in known[word].ids] for words in document if words]


def read_text(folder: Path) -> Text:
    """Open what `write_text` left."""
    about = json.loads((folder / "text.json").read_text(encoding="utf-8"))
    path = folder / "pieces.bin"
    pieces: NDArray[np.unsignedinteger] = (
        np.memmap(path, dtype=about["kind"], mode="r")
        if about["n_pieces"]
        else np.zeros(0, dtype=about["kind"])  # an empty file cannot be mapped
    )
    return Text(
        pieces=pieces,
        sentences=np.load(folder / "sentences.npy", allow_pickle=False),
        documents=np.load(folder / "documents.npy", allow_pickle=False),
    )
