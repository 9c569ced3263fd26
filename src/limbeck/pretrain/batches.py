"""Batches: planned rows -> padded arrays with pieces hidden and what is to be predicted.

In:  the text, rows, a vocabulary's alphabet, settings.
Out: `Batch`, of few distinct shapes (see `train/steady.py`). The same seed, epoch and row give the
same batch whenever it is made, so that a run that was killed goes on with the very same ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from limbeck.data.vocabulary import Template
from limbeck.pretrain.config import MasksConfig
from limbeck.pretrain.masks import (
    choose_stretches,
    find_words,
    hidden,
    n_to_predict,
    positions_of,
    stretch_odds,
)
from limbeck.pretrain.segments import Rows
from limbeck.pretrain.text import Text
from limbeck.pretrain.vocabulary import Alphabet
from limbeck.tasks.base import MISSING
from limbeck.train.steady import N_ROW_STEPS, steady_length

SLOT_STEP = 32  # the product with the vocabulary is large: few distinct sizes, little padding


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Padded rows. Rows and slots that only fill a shape have MISSING for a label."""

    piece_ids: NDArray[np.int64]  # (n_rows, n_pieces) as the network sees them
    mask: NDArray[np.int64]  # (n_rows, n_pieces) 1 piece, 0 padding
    type_ids: NDArray[np.int64]  # (n_rows, n_pieces)
    slots: NDArray[np.int64]  # (n_slots,) row x n_pieces + position of what is to be predicted
    labels: NDArray[np.int64]  # (n_slots,) the pieces that stood there
    cls_at: NDArray[np.int64]  # (n_rows,) position of the piece for the whole row
    orders: NDArray[np.int64]  # (n_rows,) see `Rows`
    ranks: NDArray[np.float32]  # (n_rows, n_pieces) order in which XLNet sees the slots
    n_real_rows: int  # the others only fill the shape

    @property
    def n_slots(self) -> int:
        return int((self.labels != MISSING).sum())

    @property
    def n_orders(self) -> int:
        return int((self.orders != MISSING).sum())

    @property
    def n_real(self) -> int:
        """Pieces that are not padding."""
        return int(self.mask[: self.n_real_rows].sum())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    ids: NDArray[np.int64]
    type_ids: NDArray[np.int64]
    positions: NDArray[np.int64]
    labels: NDArray[np.int64]
    cls_at: int
    ranks: NDArray[np.float32]


class BatchMaker:
    """Makes batches of one text with one vocabulary."""

    def __init__(
        self,
        text: Text,
        alphabet: Alphabet,
        masks: MasksConfig,
        *,
        max_padded_pieces: int,
        seed: int,
        hides: bool,
    ) -> None:
        """`hides` is false for XLNet, which predicts pieces by what it may see of the others."""
        self._text, self._alphabet, self._masks = text, alphabet, masks
        self._odds = stretch_odds(masks.longest if masks.unit == "words" else 1)
        self._max_padded_pieces = max_padded_pieces
        self._seed, self._hides = seed, hides

    def n_special(self, rows: Rows) -> NDArray[np.int64]:
        """Special pieces of each row."""
        is_pair = rows.spans[:, 3] > rows.spans[:, 2]
        return np.where(is_pair, self._alphabet.pair.n_special, self._alphabet.single.n_special)

    def make(self, rows: Rows, positions: Sequence[int], *, epoch: int) -> Batch:
        """Make the batch of some rows of an epoch."""
        made = [self._row(rows.spans[i], i, epoch) for i in positions]
        longest = max(len(row.ids) for row in made)
        length = steady_length(longest)
        n_rows = _steady_rows(len(made), max(1, self._max_padded_pieces // length))
        shape = (n_rows, length)
        piece_ids = np.full(shape, self._alphabet.pad_id, dtype=np.int64)
        mask, type_ids = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
        ranks = np.zeros(shape, dtype=np.float32)
        mask[len(made) :, 0] = 1  # attention must see something
        cls_at, orders = np.zeros(n_rows, dtype=np.int64), np.full(n_rows, MISSING, dtype=np.int64)
        n = sum(len(row.positions) for row in made)
        slots = np.zeros(-(-n // SLOT_STEP) * SLOT_STEP, dtype=np.int64)
        labels = np.full(len(slots), MISSING, dtype=np.int64)
        at = 0
        for i, row in enumerate(made):
            piece_ids[i, : len(row.ids)] = row.ids
            mask[i, : len(row.ids)] = 1
            type_ids[i, : len(row.ids)] = row.type_ids
            ranks[i, : len(row.ids)] = row.ranks
            slots[at : at + len(row.positions)] = i * length + row.positions
            labels[at : at + len(row.positions)] = row.labels
            at += len(row.positions)
            cls_at[i] = row.cls_at
        orders[: len(made)] = rows.orders[list(positions)]
        return Batch(
            piece_ids=piece_ids,
            mask=mask,
            type_ids=type_ids,
            slots=slots,
            labels=labels,
            cls_at=cls_at,
            orders=orders,
            ranks=ranks,
            n_real_rows=len(made),
        )

    def _row(self, span: NDArray[np.int64], number: int, epoch: int) -> _Row:
        alphabet = self._alphabet
        rng = np.random.default_rng([self._seed, epoch, number])
        begin, end, second_begin, second_end = span.tolist()
        first = self._text.pieces[begin:end].astype(np.int64)
        second = self._text.pieces[second_begin:second_end].astype(np.int64)
        template = alphabet.pair if len(second) else alphabet.single
        ids, type_ids, is_text = _framed(template, first, second)
        opens = alphabet.opens_word[ids] if self._masks.unit == "words" else is_text
        words = find_words(opens, is_text)
        chosen = choose_stretches(
            words,
            budget=n_to_predict(len(first) + len(second), self._masks.share),
            odds=self._odds,
            rng=rng,
        )
        positions = positions_of(words, chosen)
        shown = ids
        if self._hides:
            shown = hidden(
                ids, positions, mask_id=alphabet.mask_id, ordinary=alphabet.ordinary, rng=rng
            )
        special = np.flatnonzero(~is_text)
        return _Row(
            ids=shown,
            type_ids=type_ids,
            positions=positions,
            labels=ids[positions],
            cls_at=int(special[ids[special] == alphabet.cls_id][0]),
            ranks=rng.random(len(ids), dtype=np.float32),
        )


def _framed(
    template: Template, first: NDArray[np.int64], second: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """Put special pieces around one segment or two: ids, types, and which are text."""
    kinds = template.text_types
    parts: list[tuple[ArrayLike, ArrayLike]] = [
        (template.before, template.before_types),
        (first, np.full(len(first), kinds[0])),
        (template.between, template.between_types),
        (second, np.full(len(second), kinds[1])),
        (template.after, template.after_types),
    ]
    ids = np.concatenate([np.asarray(part, dtype=np.int64) for part, _ in parts])
    types = np.concatenate([np.asarray(types, dtype=np.int64) for _, types in parts])
    is_text = np.zeros(len(ids), dtype=np.bool_)
    begin = len(template.before)
    is_text[begin : begin + len(first)] = True
    begin += len(first) + len(template.between)
    is_text[begin : begin + len(second)] = True
    return ids, types, is_text


def _steady_rows(n_rows: int, full: int) -> int:
    if n_rows > full:
        return n_rows
    step = max(1, full // N_ROW_STEPS)
    return min(full, -(-n_rows // step) * step)
