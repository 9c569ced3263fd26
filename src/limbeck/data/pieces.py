"""Pieces: words -> piece ids of a model's vocabulary, with the way back to the words.

In:  records, and the tokenizer.json of a model.
Out: one `Pieces` row for each window of each record; `collate` joins rows into a padded `Batch`.
The same code in training and at run time, so there is no skew. No torch, no transformers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from limbeck.data.records import Record
from limbeck.data.shape import mark_first
from limbeck.data.vocabulary import Template, Vocabulary, Word
from limbeck.data.windows import WordWindow, split_words
from limbeck.errors import InputError


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


class Piecer:
    """Cuts records into the pieces of one vocabulary."""

    def __init__(self, tokenizer: Tokenizer, *, max_pieces: int, pad_id: int) -> None:
        self.max_pieces = max_pieces
        self.pad_id = pad_id
        self.vocabulary = Vocabulary(tokenizer)
        self._room = max_pieces - self.vocabulary.single.n_special
        if max_pieces < self.vocabulary.pair.n_special + 8:
            raise InputError(f"{max_pieces} positions are too few for a text")

    def __call__(self, records: Sequence[Record]) -> list[tuple[Pieces, ...]]:
        """Give the rows of each record, in order: one, or several for a long record."""
        known = self.vocabulary.learn(
            word for record in records for text in (record.words, record.pair) for word in text
        )
        return [
            self._pair(record, known) if record.pair else self._single(record.words, known)
            for record in records
        ]

    def _single(self, words: Sequence[str], known: Mapping[str, Word]) -> tuple[Pieces, ...]:
        text = [known[word] for word in words]
        n_pieces = [min(len(word.ids), self._room) for word in text]
        if sum(n_pieces) <= self._room:
            window = WordWindow(start=0, stop=len(text), own_start=0, own_stop=len(text))
            return (self._row(text, window),)
        windows = split_words(n_pieces, max_pieces=self._room)
        return tuple(self._row(text[w.start : w.stop], w) for w in windows)

    def _row(self, text: Sequence[Word], window: WordWindow) -> Pieces:
        template = self.vocabulary.single
        ids = list(template.before)
        first_piece: list[int] = []
        shapes: list[int] = []
        for word in text:
            first_piece.append(len(ids))
            ids += word.ids[: self._room]  # a word that would fill a window loses its end
            shapes += word.shape
        types = np.full(len(ids) + len(template.after), template.text_types[0], dtype=np.int64)
        types[: len(template.before)] = template.before_types
        types[len(ids) :] = template.after_types
        ids += template.after
        return Pieces(
            ids=np.array(ids, dtype=np.int64),
            type_ids=types,
            first_piece=np.array(first_piece, dtype=np.int64),
            shapes=mark_first(
                np.array(shapes, dtype=np.int64).reshape(-1, 3), opens_record=window.start == 0
            ),
            window=window,
        )

    def _pair(self, record: Record, known: Mapping[str, Word]) -> tuple[Pieces, ...]:
        """Cut both texts into windows of half the room each; the shorter repeats its last one."""
        template = self.vocabulary.pair
        sides = [[known[word].ids for word in text] for text in (record.words, record.pair)]
        n_words = len(record.words)
        if sum(len(ids) for side in sides for ids in side) + template.n_special <= self.max_pieces:
            first, second = ([i for ids in side for i in ids] for side in sides)
            return (_pair_row(template, first, second, n_words),)
        room = (self.max_pieces - template.n_special) // 2
        first_parts, second_parts = (_parts(side, room) for side in sides)
        return tuple(
            _pair_row(
                template,
                first_parts[min(i, len(first_parts) - 1)],
                second_parts[min(i, len(second_parts) - 1)],
                n_words,
            )
            for i in range(max(len(first_parts), len(second_parts)))
        )


def _parts(words: Sequence[Sequence[int]], room: int) -> list[list[int]]:
    """Windows of one text of a pair, as ids."""
    fitting = [list(ids[:room]) for ids in words]
    windows = split_words([len(ids) for ids in fitting], max_pieces=room)
    return [[i for ids in fitting[w.start : w.stop] for i in ids] for w in windows]


def _pair_row(
    template: Template, first: Sequence[int], second: Sequence[int], n_words: int
) -> Pieces:
    ids = [*template.before, *first, *template.between, *second, *template.after]
    types = [
        *template.before_types,
        *[template.text_types[0]] * len(first),
        *template.between_types,
        *[template.text_types[1]] * len(second),
        *template.after_types,
    ]
    return Pieces(
        ids=np.array(ids, dtype=np.int64),
        type_ids=np.array(types, dtype=np.int64),
        first_piece=np.zeros(0, dtype=np.int64),
        shapes=np.zeros((0, 3), dtype=np.int64),
        window=WordWindow(start=0, stop=n_words, own_start=0, own_stop=n_words),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchSize:
    """How large the arrays of a batch are."""

    n_rows: int
    n_pieces: int  # of each row
    n_words: int  # of all rows
    n_grid: int  # words of each row in the grid


def least_size(rows: Sequence[Pieces]) -> BatchSize:
    """The size that just holds these rows."""
    counts = [len(row.first_piece) for row in rows]
    return BatchSize(
        n_rows=len(rows),
        n_pieces=max(len(row.ids) for row in rows),
        n_words=sum(counts),
        # a row without words still needs a column for the root's arc scores to exist
        n_grid=max(1, *counts),
    )


def collate(rows: Sequence[Pieces], *, pad_id: int, size: BatchSize | None = None) -> Batch:
    """Pad rows to the longest, or into a batch of more than they need; lay their words end to end.

    `n_words` counts real rows and real words alone, so that nobody reads what comes of the others.
    """
    if size is None:
        size = least_size(rows)
    piece_ids = np.full((size.n_rows, size.n_pieces), pad_id, dtype=np.int64)
    mask = np.zeros_like(piece_ids)
    mask[len(rows) :, 0] = 1  # attention to nothing at all is no number
    type_ids = np.zeros_like(piece_ids)
    word_at = np.zeros(size.n_words, dtype=np.int64)  # words to spare are first pieces
    shapes = np.zeros((size.n_words, 3), dtype=np.int64)
    word_grid = np.full((size.n_rows, size.n_grid), -1, dtype=np.int64)
    n_words = np.array([len(row.first_piece) for row in rows], dtype=np.int64)
    begin = 0
    for i, row in enumerate(rows):
        piece_ids[i, : len(row.ids)] = row.ids
        mask[i, : len(row.ids)] = 1
        type_ids[i, : len(row.ids)] = row.type_ids
        end = begin + len(row.first_piece)
        word_at[begin:end] = row.first_piece + i * size.n_pieces
        shapes[begin:end] = row.shapes
        word_grid[i, : end - begin] = np.arange(begin, end)
        begin = end
    return Batch(
        piece_ids=piece_ids,
        mask=mask,
        type_ids=type_ids,
        word_at=word_at,
        shapes=shapes,
        word_grid=word_grid,
        n_words=n_words,
    )
