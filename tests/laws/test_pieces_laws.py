"""Pieces and windows: every word has a vector, exactly one window owns it, nothing is dropped."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toys import toy_tokenizer
from vocabularies import KINDS

from limbeck.data.pieces import Piecer, collate
from limbeck.data.raw import sentences
from limbeck.data.records import Record
from limbeck.data.shape import SHAPE_SIZES, mark_first, word_shape
from limbeck.data.vocabulary import UNREADABLE
from limbeck.data.windows import split_words

MAX_PIECES = 24
PIECER = Piecer(toy_tokenizer(), max_pieces=MAX_PIECES, pad_id=0)
words = st.lists(st.text(min_size=1, max_size=80), max_size=40)


@given(st.lists(st.integers(1, 10), max_size=80), st.integers(10, 40))
def test_windows_cover_all_words_and_each_word_has_one_owner(
    n_pieces: list[int], max_pieces: int
) -> None:
    windows = split_words(n_pieces, max_pieces=max_pieces)
    owned = [i for w in windows for i in range(w.own_start, w.own_stop)]
    assert owned == list(range(len(n_pieces)))
    for w in windows:
        assert w.start <= w.own_start <= w.own_stop <= w.stop
        assert sum(n_pieces[w.start : w.stop]) <= max_pieces


@given(st.lists(words, min_size=1, max_size=4))
@settings(deadline=None)
def test_any_text_has_one_first_piece_for_each_word(texts: list[list[str]]) -> None:
    records = [Record(words=tuple(text)) for text in texts]
    for record, rows in zip(records, PIECER(records), strict=True):
        n_owned = 0
        for row in rows:
            window = row.window
            assert len(row.first_piece) == len(row.shapes) == window.stop - window.start
            assert (row.first_piece[1:] > row.first_piece[:-1]).all()
            n_owned += window.own_stop - window.own_start
        assert n_owned == len(record.words)


@given(words, words)
@settings(deadline=None)
def test_pairs_fit_the_positions_however_long(first: list[str], second: list[str]) -> None:
    piecer = Piecer(toy_tokenizer(), max_pieces=140, pad_id=0)
    (rows,) = piecer([Record(words=tuple(first), pair=tuple(second))])
    assert rows
    assert all(len(row.ids) <= 140 for row in rows)


@given(st.lists(words, min_size=1, max_size=4))
@settings(deadline=None)
def test_a_batch_points_every_word_at_its_first_piece(texts: list[list[str]]) -> None:
    rows = [r for rows in PIECER([Record(words=tuple(text)) for text in texts]) for r in rows]
    batch = collate(rows, pad_id=0)
    flat = batch.piece_ids.reshape(-1)
    wanted = [int(row.ids[i]) for row in rows for i in row.first_piece]
    assert flat[batch.word_at].tolist() == wanted
    assert batch.mask.sum() == sum(len(row.ids) for row in rows)
    for row, grid in zip(rows, batch.word_grid, strict=True):
        assert (grid >= 0).sum() == len(row.first_piece)


short_words = st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=8)


@pytest.mark.parametrize("kind", KINDS)
@given(first=short_words, second=st.lists(st.text(min_size=1, max_size=12), max_size=8))
@settings(deadline=None)
def test_a_word_is_cut_as_it_is_in_its_text(kind: str, first: list[str], second: list[str]) -> None:
    tokenizer = KINDS[kind]
    # what a tokenizer drops stands as a question mark here
    first, second = (
        [w if tokenizer.encode([w], is_pretokenized=True, add_special_tokens=False).ids
         else UNREADABLE for w in text]
        for text in (first, second)
    )  # fmt: skip
    piecer = Piecer(tokenizer, max_pieces=512, pad_id=0)
    ((row,),) = piecer([Record(words=tuple(first), pair=tuple(second))])
    wanted = tokenizer.encode(first, second or None, is_pretokenized=True)
    assert row.ids.tolist() == wanted.ids
    assert row.type_ids.tolist() == wanted.type_ids
    if not second:
        begins = [wanted.word_ids.index(i) for i in range(len(first))]
        assert row.first_piece.tolist() == begins


def test_forgetting_words_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("limbeck.data.vocabulary.MAX_KNOWN_WORDS", 3)
    piecer = Piecer(toy_tokenizer(), max_pieces=MAX_PIECES, pad_id=0)
    for text in (["the", "cat", "sees"], ["a", "dog", "not", "the", "bird"], ["the"]):
        record = Record(words=tuple(text))
        ((row,),), ((wanted,),) = piecer([record]), PIECER([record])
        assert row.ids.tolist() == wanted.ids.tolist()


@given(words)
def test_shapes_stay_in_their_tables(text: list[str]) -> None:
    for opens in (True, False):
        shapes = np.array([word_shape(word) for word in text], dtype=np.int64).reshape(-1, 3)
        marked = mark_first(shapes, opens_record=opens)
        assert ((marked >= 0) & (marked < SHAPE_SIZES)).all()


def test_special_pieces_in_a_text_are_only_letters() -> None:
    (rows,) = PIECER([Record(words=("[SEP]", "cat"))])
    separator = PIECER.vocabulary.tokenizer.token_to_id("[SEP]")
    assert rows[0].ids.tolist().count(separator) == 1


@given(st.text())
def test_splitting_raw_text_loses_no_letter(text: str) -> None:
    kept = "".join(word for sentence in sentences(text) for word in sentence)
    bare = "".join(text.split())
    if "<" not in text:
        assert kept == bare


def test_raw_text_is_split_as_treebanks_do() -> None:
    text = "Mr. Smith can't pay $3.50 at 10:30.<br />He'd won it's 5th U.S. prize! Really?"
    assert [" ".join(sentence) for sentence in sentences(text)] == [
        "Mr. Smith ca n't pay $ 3.50 at 10:30 .",
        "He 'd won it 's 5th U.S. prize !",
        "Really ?",
    ]


HOSTILE = [
    "a-" * 100_000,
    "a@" * 100_000,
    "A. " * 70_000,
    "1." * 100_000,
    '."' * 100_000,
    "<br " * 50_000,
]


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: text[:4])
def test_no_text_takes_squared_time_to_split(text: str) -> None:
    """Each takes well under a second; what took squared time would outlive the whole test run."""
    kept = "".join(word for sentence in sentences(text) for word in sentence)
    assert "<" in text or kept == "".join(text.split())
