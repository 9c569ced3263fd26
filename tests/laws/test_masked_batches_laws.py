"""Batches: nothing but the chosen pieces is touched, and the same place gives the same batch."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from limbeck.data.vocabulary import Template
from limbeck.pretrain.batches import Batch, BatchMaker
from limbeck.pretrain.config import MasksConfig, OrderTask
from limbeck.pretrain.segments import OTHERWISE, Rows, plan_rows
from limbeck.pretrain.text import Text
from limbeck.pretrain.vocabulary import Alphabet
from limbeck.tasks.base import MISSING
from limbeck.train.steady import steady_length

PAD, CLS, SEP, MASK = 0, 2, 3, 4
N_TEXT = 3_000  # every piece of the text is another one, so that it tells where it is from


def frame(*, is_pair: bool) -> Template:
    return Template(
        before=(CLS,),
        between=(SEP,) if is_pair else (),
        after=(SEP,),
        before_types=(0,),
        between_types=(0,) if is_pair else (),
        after_types=(1,) if is_pair else (0,),
        text_types=(0, 1) if is_pair else (0, 0),
    )


ALPHABET = Alphabet(
    n_pieces=N_TEXT + 5,
    pad_id=PAD,
    mask_id=MASK,
    cls_id=CLS,
    opens_word=np.arange(N_TEXT + 5) % 3 != 0,
    ordinary=np.arange(5, N_TEXT + 5),
    single=frame(is_pair=False),
    pair=frame(is_pair=True),
)
TEXT = Text(
    pieces=np.arange(5, N_TEXT + 5, dtype=np.uint16),
    sentences=np.arange(0, N_TEXT + 1, 10),
    documents=np.arange(0, N_TEXT // 10 + 1, 15),
)


@cache
def rows_of(order: OrderTask) -> Rows:
    return plan_rows(
        TEXT,
        np.arange(TEXT.n_documents),
        order=order,
        room=61,
        short=0.2,
        rng=np.random.default_rng(1),
    )


def make(order: OrderTask, positions: list[int], *, epoch: int = 0, hides: bool = True) -> Batch:
    maker = BatchMaker(TEXT, ALPHABET, MasksConfig(), max_padded_pieces=512, seed=7, hides=hides)
    return maker.make(rows_of(order), positions, epoch=epoch)


N_ROWS = min(len(rows_of(order).spans) for order in ("sop", "nsp", "none"))
some_rows = st.lists(st.integers(0, N_ROWS - 1), min_size=1, max_size=8, unique=True)


@given(some_rows, st.sampled_from(["sop", "nsp", "none"]), st.integers(0, 5))
@settings(max_examples=80, deadline=None)
def test_a_batch_is_its_rows_but_for_what_is_to_be_predicted(
    positions: list[int], order: OrderTask, epoch: int
) -> None:
    rows = rows_of(order)
    batch = make(order, positions, epoch=epoch)
    assert batch.n_real_rows == len(positions)
    assert (batch.mask[len(positions) :].sum(axis=1) == 1).all()
    known = batch.labels != MISSING
    whole = batch.piece_ids.copy()
    whole.reshape(-1)[batch.slots[known]] = batch.labels[known]
    for i, position in enumerate(positions):
        a, b, c, d = rows.spans[position].tolist()
        first, second = TEXT.pieces[a:b].tolist(), TEXT.pieces[c:d].tolist()
        wanted = [CLS, *first, SEP, *second, SEP] if second else [CLS, *first, SEP]
        n = len(wanted)
        assert whole[i, :n].tolist() == wanted
        assert (whole[i, n:] == PAD).all()
        assert batch.mask[i].tolist() == [1] * n + [0] * (batch.mask.shape[1] - n)
        types = [0] * (len(first) + 2) + [1] * (len(second) + 1) if second else [0] * n
        assert batch.type_ids[i, :n].tolist() == types
        assert batch.piece_ids[i, batch.cls_at[i]] == CLS
        assert batch.orders[i] == rows.orders[position]
        if order == "sop" and second:
            assert (first[0] > second[0]) == (batch.orders[i] == OTHERWISE)
    assert (batch.labels[known] >= 5).all()
    assert len(set(batch.slots[known].tolist())) == int(known.sum()) == batch.n_slots
    assert batch.piece_ids.shape[1] == steady_length(
        int((rows.n_pieces[positions] + 2 + (rows.orders[positions] != MISSING)).max())
    )


@pytest.mark.parametrize("hides", [True, False])
def test_the_same_place_gives_the_same_batch_and_another_epoch_other_masks(hides: bool) -> None:
    one, again = (make("sop", [3, 1, 4], hides=hides) for _ in range(2))
    other = make("sop", [3, 1, 4], epoch=1, hides=hides)
    for name in ("piece_ids", "slots", "labels", "ranks", "orders"):
        assert np.array_equal(getattr(one, name), getattr(again, name))
    assert not np.array_equal(one.slots, other.slots)
    # a row's masks do not depend on the company that it is in
    alone = make("sop", [1], hides=hides)
    n = int(alone.mask[0].sum())
    assert np.array_equal(alone.piece_ids[0, :n], one.piece_ids[1, :n])
    if not hides:
        assert MASK not in one.piece_ids
