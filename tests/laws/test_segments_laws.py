"""Rows: half of the pairs are swapped, a tenth is short, nothing is from where it may not be."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from limbeck.pretrain.config import OrderTask
from limbeck.pretrain.segments import AS_WRITTEN, OTHERWISE, Rows, plan_rows
from limbeck.pretrain.text import Text
from limbeck.tasks.base import MISSING


def text_of(documents: list[list[int]]) -> Text:
    """Sentences of so many pieces."""
    lengths = [n for document in documents for n in document]
    return Text(
        pieces=np.arange(sum(lengths), dtype=np.uint32),
        sentences=np.concatenate(([0], np.cumsum(lengths))).astype(np.int64),
        documents=np.concatenate(([0], np.cumsum([len(d) for d in documents]))).astype(np.int64),
    )


def planned(
    text: Text, order: OrderTask, *, room: int = 60, short: float = 0.1, seed: int = 0
) -> Rows:
    return plan_rows(
        text,
        np.arange(text.n_documents),
        order=order,
        room=room,
        short=short,
        rng=np.random.default_rng(seed),
    )


def document_at(text: Text, piece: int) -> int:
    sentence = np.searchsorted(text.sentences, piece, side="right") - 1
    return int(np.searchsorted(text.documents, sentence, side="right") - 1)


texts = st.lists(st.lists(st.integers(1, 50), min_size=1, max_size=12), min_size=2, max_size=6).map(
    text_of
)


@given(texts, st.sampled_from(["sop", "nsp", "none"]), st.integers(8, 80), st.integers(0, 99))
@settings(max_examples=150, deadline=None)
def test_rows_fit_and_their_segments_are_of_the_right_documents(
    text: Text, order: OrderTask, room: int, seed: int
) -> None:
    rows = planned(text, order, room=room, seed=seed)
    assert (rows.n_pieces <= room).all()
    for span, label in zip(rows.spans.tolist(), rows.orders.tolist(), strict=True):
        begin, end, second_begin, second_end = span
        assert begin < end
        first = document_at(text, begin)
        assert document_at(text, end - 1) == first
        if label == MISSING:
            assert second_begin == second_end
            continue
        assert second_begin < second_end
        second = document_at(text, second_begin)
        assert document_at(text, second_end - 1) == second
        assert (second != first) == (order == "nsp" and label == OTHERWISE)
        if order == "sop":
            assert (begin > second_begin) == (label == OTHERWISE)
        elif label == AS_WRITTEN:
            assert begin < second_begin


@given(texts, st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_a_pass_reads_no_piece_twice_and_all_where_rows_are_long(text: Text, seed: int) -> None:
    orders: tuple[OrderTask, ...] = ("sop", "none")
    for order in orders:
        rows = planned(text, order, seed=seed)
        read = [i for a, b, c, d in rows.spans.tolist() for i in [*range(a, b), *range(c, d)]]
        assert len(set(read)) == len(read)
        whole = planned(text, order, room=10_000, short=0.0, seed=seed)
        assert int(whole.n_pieces.sum()) == len(text.pieces)
        assert len(whole.spans) == text.n_documents


def test_half_of_the_pairs_are_swapped_and_both_halves_stay_next_to_each_other() -> None:
    text = text_of([[5] * 40] * 200)
    rows = planned(text, "sop", short=0.0)
    labels = rows.orders[rows.orders != MISSING]
    assert len(labels) > 400
    assert labels.mean() == pytest.approx(0.5, abs=3 * 0.5 / np.sqrt(len(labels)))
    for a, b, c, d in rows.spans.tolist():
        if d > c:
            assert b == c or d == a  # twelve sentences of five fill a row: nothing is cut


def test_half_of_the_second_segments_are_from_elsewhere_in_next_sentence_prediction() -> None:
    rows = planned(text_of([[5] * 40] * 200), "nsp", short=0.0)
    labels = rows.orders[rows.orders != MISSING]
    assert labels.mean() == pytest.approx(0.5, abs=3 * 0.5 / np.sqrt(len(labels)))


@pytest.mark.parametrize("order", ["sop", "none"])
def test_a_tenth_of_the_rows_is_short_on_purpose(order: OrderTask) -> None:
    text = text_of([[1] * 300_000])
    rows = planned(text, order, room=100)
    n_short = int((rows.n_pieces < 100).sum())
    share = n_short / len(rows.spans)
    # 1 in 99 of the drawn lengths is the full one
    assert share == pytest.approx(0.1, abs=3 * 0.3 / np.sqrt(len(rows.spans)) + 0.002)
    assert rows.n_pieces.min() >= 2
    assert (planned(text, order, room=100, short=0.0).n_pieces == 100).mean() > 0.999


def test_a_long_pair_is_cut_evenly_and_at_both_ends() -> None:
    text = text_of([[90, 90]] * 300)
    rows = planned(text, "sop", short=0.0)
    assert (rows.n_pieces == 60).all()
    begins = np.sort(rows.spans[:, [0, 2]], axis=1) % 180
    assert (rows.spans[:, 1] - rows.spans[:, 0] == 30).all()
    assert 20 < begins[:, 0].mean() < 40  # of the sixty pieces too many, half at the front
