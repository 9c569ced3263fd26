"""Pieces: words -> piece ids of a model's vocabulary, with the way back to the words.

In:  records, and the tokenizer.json of a model.
Out: one `Pieces` row for each window of each record; `collate` joins rows into a padded `Batch`.
The same code in training and at run time, so there is no skew. No torch, no transformers.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from limbeck.data.records import Record
from limbeck.data.shape import word_shapes
from limbeck.data.windows import WordWindow, split_words
from limbeck.errors import InputError

# A longer word is cut before it is split: the vector of a word is that of its first piece, and
# WordPiece gives up at 100 letters anyway. The record keeps the whole word.
MAX_WORD_LETTERS = 64
# Stands for a word that leaves no piece: control characters, lone marks that the vocabulary drops.
UNREADABLE = "?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pieces:
    """One row of a batch: a record, or one window of a long one."""

    ids: NDArray[np.int64]  # (n_pieces,)
    type_ids: NDArray[np.int64]  # (n_pieces,) 0 first text, 1 second
    first_piece: NDArray[np.int64]  # (n_words,) where each word begins in `ids`; empty for pairs
    shapes: NDArray[np.int64]  # (n_words, 3)
    window: WordWindow


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Rows padded to the longest; words of all rows one after another, not padded."""

    piece_ids: NDArray[np.int64]  # (n_rows, n_pieces)
    mask: NDArray[np.int64]  # (n_rows, n_pieces) 1 piece, 0 padding
    type_ids: NDArray[np.int64]  # (n_rows, n_pieces)
    word_at: NDArray[np.int64]  # (n_words,) row x n_pieces + position of the first piece
    shapes: NDArray[np.int64]  # (n_words, 3)
    word_grid: NDArray[np.int64]  # (n_rows, longest row in words) position in `word_at`, -1 padding
    n_words: NDArray[np.int64]  # (n_rows,)


def load_tokenizer(path: Path) -> Tokenizer:
    """Read a tokenizer.json so that pre-split words get the pieces they have inside a text."""
    try:
        return tokenizer_from_text(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as failure:
        raise InputError(f"{path}: no readable tokenizer ({failure})") from failure


def tokenizer_from_text(text: str) -> Tokenizer:
    """As `load_tokenizer`, from the text of a tokenizer.json."""
    settings: dict[str, Any] = json.loads(text)
    _open_words_with_space(settings.get("pre_tokenizer"))
    tokenizer = Tokenizer.from_str(json.dumps(settings))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    tokenizer.encode_special_tokens = True  # input is data: "[SEP]" in a text is just letters
    return tokenizer


def _open_words_with_space(pre_tokenizer: dict[str, Any] | None) -> None:
    """Byte-level vocabularies mark a word by the space before it, which splitting took away."""
    if pre_tokenizer is None:
        return
    if pre_tokenizer["type"] == "ByteLevel":
        pre_tokenizer["add_prefix_space"] = True
    for part in pre_tokenizer.get("pretokenizers", ()):
        _open_words_with_space(part)


class Piecer:
    """Cuts words into the pieces of one vocabulary."""

    def __init__(self, tokenizer: Tokenizer, *, max_pieces: int, pad_id: int) -> None:
        self.tokenizer = tokenizer
        self.max_pieces = max_pieces
        self.pad_id = pad_id
        self._n_special = tokenizer.num_special_tokens_to_add(False)
        self._n_special_pair = tokenizer.num_special_tokens_to_add(True)
        if max_pieces < self._n_special_pair + 8:
            raise InputError(f"{max_pieces} positions are too few for a text")

    def __call__(self, records: Sequence[Record]) -> list[tuple[Pieces, ...]]:
        """Give the rows of each record, in order: one, or several for a long record."""
        rows: list[tuple[Pieces, ...]] = [()] * len(records)
        single = [i for i, record in enumerate(records) if not record.pair]
        texts = [[self._readable(w) for w in records[i].words] for i in single]
        for i, text, encoding in zip(single, texts, self._encode(texts), strict=True):
            rows[i] = self._single(text, encoding)
        for i, record in enumerate(records):
            if record.pair:
                rows[i] = self._pair(record)
        return rows

    def _readable(self, word: str) -> str:
        return word[:MAX_WORD_LETTERS] if len(word) > MAX_WORD_LETTERS else word

    def _encode(self, texts: Sequence[Sequence[str]]) -> list[Encoding]:
        encodings: list[Encoding] = self.tokenizer.encode_batch(list(texts), is_pretokenized=True)
        for i, (text, encoding) in enumerate(zip(texts, encodings, strict=True)):
            seen = set(encoding.word_ids)
            seen.discard(None)
            if len(seen) < len(text):  # a word of control characters only leaves no piece
                filled = [w if j in seen else UNREADABLE for j, w in enumerate(text)]
                encodings[i] = self.tokenizer.encode(filled, is_pretokenized=True)
        return encodings

    def _single(self, text: list[str], encoding: Encoding) -> tuple[Pieces, ...]:
        if len(encoding.ids) <= self.max_pieces:
            window = WordWindow(start=0, stop=len(text), own_start=0, own_stop=len(text))
            return (_row(encoding, text, window),)
        text, windows = self._windows(text, encoding, room=self.max_pieces - self._n_special)
        texts = [text[w.start : w.stop] for w in windows]
        return tuple(
            _row(encoding, part, window)
            for encoding, part, window in zip(self._encode(texts), texts, windows, strict=True)
        )

    def _windows(
        self, text: list[str], encoding: Encoding, *, room: int
    ) -> tuple[list[str], list[WordWindow]]:
        """Cut a text into windows; a word that would fill one alone loses its end first."""
        n_pieces = _pieces_of_words(encoding, len(text))
        text = list(text)
        for i in np.flatnonzero(n_pieces > room).tolist():
            while n_pieces[i] > room:
                text[i] = text[i][: max(1, len(text[i]) // 2)]
                (shorter,) = self._encode([[text[i]]])
                if len(text[i]) == 1 and len(shorter.ids) - self._n_special > room:
                    text[i] = UNREADABLE  # one letter of many bytes
                    (shorter,) = self._encode([[text[i]]])
                n_pieces[i] = len(shorter.ids) - self._n_special
        return text, split_words(n_pieces.tolist(), max_pieces=room)

    def _pair(self, record: Record) -> tuple[Pieces, ...]:
        """Cut both texts into windows of half the room each; the shorter repeats its last one."""
        first = [self._readable(w) for w in record.words]
        second = [self._readable(w) for w in record.pair]
        encoding = self.tokenizer.encode(first, second, is_pretokenized=True)
        if len(encoding.ids) <= self.max_pieces:
            return (_pair_row(encoding, len(first)),)
        room = (self.max_pieces - self._n_special_pair) // 2
        sides = [self._parts(text, room) for text in (first, second)]
        n_rows = max(len(parts) for parts in sides)
        rows = []
        for i in range(n_rows):
            a, b = (parts[min(i, len(parts) - 1)] for parts in sides)
            rows.append(_pair_row(self.tokenizer.encode(a, b, is_pretokenized=True), len(first)))
        return tuple(rows)

    def _parts(self, text: list[str], room: int) -> list[list[str]]:
        (encoding,) = self._encode([text])
        text, windows = self._windows(text, encoding, room=room)
        return [text[w.start : w.stop] for w in windows]


def _pieces_of_words(encoding: Encoding, n_words: int) -> NDArray[np.int64]:
    word_ids = np.array([w for w in encoding.word_ids if w is not None], dtype=np.int64)
    return np.bincount(word_ids, minlength=n_words).astype(np.int64)


def _row(encoding: Encoding, text: Sequence[str], window: WordWindow) -> Pieces:
    word_ids = np.array([-1 if w is None else w for w in encoding.word_ids], dtype=np.int64)
    begins = np.flatnonzero((word_ids >= 0) & (word_ids != np.concatenate(([-1], word_ids[:-1]))))
    return Pieces(
        ids=np.array(encoding.ids, dtype=np.int64),
        type_ids=np.array(encoding.type_ids, dtype=np.int64),
        first_piece=begins,
        shapes=word_shapes(text, opens_record=window.start == 0),
        window=window,
    )


def _pair_row(encoding: Encoding, n_words: int) -> Pieces:
    return Pieces(
        ids=np.array(encoding.ids, dtype=np.int64),
        type_ids=np.array(encoding.type_ids, dtype=np.int64),
        first_piece=np.zeros(0, dtype=np.int64),
        shapes=np.zeros((0, 3), dtype=np.int64),
        window=WordWindow(start=0, stop=n_words, own_start=0, own_stop=n_words),
    )


def collate(rows: Sequence[Pieces], *, pad_id: int) -> Batch:
    """Pad rows to the longest and lay their words end to end."""
    longest = max(len(row.ids) for row in rows)
    n_words = np.array([len(row.first_piece) for row in rows], dtype=np.int64)
    piece_ids = np.full((len(rows), longest), pad_id, dtype=np.int64)
    mask = np.zeros_like(piece_ids)
    type_ids = np.zeros_like(piece_ids)
    # a row without words still needs a column for the root's arc scores to exist
    word_grid = np.full((len(rows), max(1, int(n_words.max()))), -1, dtype=np.int64)
    begin = 0
    for i, row in enumerate(rows):
        piece_ids[i, : len(row.ids)] = row.ids
        mask[i, : len(row.ids)] = 1
        type_ids[i, : len(row.ids)] = row.type_ids
        word_grid[i, : n_words[i]] = np.arange(begin, begin + n_words[i])
        begin += int(n_words[i])
    return Batch(
        piece_ids=piece_ids,
        mask=mask,
        type_ids=type_ids,
        word_at=np.concatenate([row.first_piece + i * longest for i, row in enumerate(rows)]),
        shapes=np.concatenate([row.shapes for row in rows]),
        word_grid=word_grid,
        n_words=n_words,
    )
