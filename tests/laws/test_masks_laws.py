"""Masks: their shares and lengths are those of the papers, and words are hidden whole."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from limbeck.pretrain.masks import (
    choose_stretches,
    find_words,
    hidden,
    n_to_predict,
    positions_of,
    stretch_odds,
)

MASK, N_PIECES = 4, 1_000
ORDINARY = np.arange(5, N_PIECES)


def row_of(lengths: list[int]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """[CLS], words of so many pieces, [SEP], the same words again, [SEP]."""
    opens = [i == 0 for n in lengths for i in range(n)]
    text = [True] * len(opens)
    return (
        np.array([False, *opens, False, *opens, False]),
        np.array([False, *text, False, *text, False]),
    )


words_of_a_row = st.lists(st.integers(1, 6), min_size=1, max_size=60)


@given(words_of_a_row, st.integers(1, 4), st.floats(0.05, 0.5), st.integers(0, 10**6))
@settings(max_examples=150, deadline=None)
def test_words_are_hidden_whole_within_the_budget_and_special_pieces_never(
    lengths: list[int], longest: int, share: float, seed: int
) -> None:
    opens, is_text = row_of(lengths)
    words = find_words(opens, is_text)
    assert (words.stops - words.starts).tolist() == lengths * 2
    budget = n_to_predict(int(is_text.sum()), share)
    rng = np.random.default_rng(seed)
    chosen = choose_stretches(words, budget=budget, odds=stretch_odds(longest), rng=rng)
    positions = positions_of(words, chosen)
    assert len(set(positions.tolist())) == len(positions) > 0
    assert is_text[positions].all()
    assert len(positions) <= max(budget, min(lengths))
    assert all(1 <= s.n_words <= longest for s in chosen)
    taken = np.zeros(len(opens), dtype=bool)
    taken[positions] = True
    for start, stop in zip(words.starts, words.stops, strict=True):
        assert taken[start:stop].all() or not taken[start:stop].any()
    for stretch in chosen:  # no stretch reaches across a special piece
        ends = words.stops[stretch.first : stretch.first + stretch.n_words - 1]
        begins = words.starts[stretch.first + 1 : stretch.first + stretch.n_words]
        assert (ends == begins).all()


@pytest.mark.parametrize("longest", [1, 2, 3])
def test_the_length_of_a_stretch_has_p_proportional_to_one_over_n(longest: int) -> None:
    n = 4_000
    is_text = np.ones(n, dtype=np.bool_)
    words = find_words(np.ones(n, dtype=np.bool_), is_text)
    counts = np.zeros(longest + 1)
    for seed in range(20):
        chosen = choose_stretches(
            words,
            budget=n_to_predict(n, 0.15),
            odds=stretch_odds(longest),
            rng=np.random.default_rng(seed),
        )
        for stretch in chosen:
            counts[stretch.n_words] += 1
    wanted = 1 / np.arange(1, longest + 1)
    found = counts[1:] / counts.sum()
    # some 7,000 stretches: three standard errors are below 0.02
    assert found == pytest.approx(wanted / wanted.sum(), abs=0.02)


def test_the_share_of_what_is_predicted_is_the_one_asked_for() -> None:
    rng = np.random.default_rng(1)
    n_hidden = n_all = 0
    for _ in range(300):
        opens, is_text = row_of(rng.integers(1, 4, size=30).tolist())
        words = find_words(opens, is_text)
        chosen = choose_stretches(
            words, budget=n_to_predict(int(is_text.sum()), 0.15), odds=stretch_odds(3), rng=rng
        )
        n_hidden += len(positions_of(words, chosen))
        n_all += int(is_text.sum())
    assert 0.14 <= n_hidden / n_all <= 0.152


def test_every_place_is_as_likely_as_any_other() -> None:
    n = 40
    words = find_words(np.ones(n, dtype=np.bool_), np.ones(n, dtype=np.bool_))
    counts = np.zeros(n)
    for seed in range(3_000):
        chosen = choose_stretches(
            words, budget=6, odds=stretch_odds(1), rng=np.random.default_rng(seed)
        )
        counts[positions_of(words, chosen)] += 1
    expected = 3_000 * 6 / n
    assert np.abs(counts - expected).max() < 5 * np.sqrt(expected)


def test_eight_in_ten_are_hidden_one_replaced_and_one_left() -> None:
    rng = np.random.default_rng(2)
    ids = rng.integers(5, N_PIECES, size=20_000)
    positions = np.arange(0, 20_000, 2)
    shown = hidden(ids, positions, mask_id=MASK, ordinary=ORDINARY, rng=rng)
    assert (shown[1::2] == ids[1::2]).all()
    is_mask = shown[positions] == MASK
    is_same = shown[positions] == ids[positions]
    assert is_mask.mean() == pytest.approx(0.8, abs=0.015)
    assert is_same.mean() == pytest.approx(0.1, abs=0.012)
    replaced = shown[positions][~is_mask & ~is_same]
    assert len(replaced) / len(positions) == pytest.approx(0.1, abs=0.012)
    assert replaced.min() >= 5  # never a special piece
    assert len(np.unique(replaced)) > 500


def test_the_same_draw_gives_the_same_mask_and_another_another() -> None:
    opens, is_text = row_of([1, 2, 1, 1, 3, 1, 1, 2] * 4)
    words = find_words(opens, is_text)

    def draw(seed: list[int]) -> list[int]:
        rng = np.random.default_rng(seed)
        chosen = choose_stretches(words, budget=12, odds=stretch_odds(3), rng=rng)
        return [int(i) for i in positions_of(words, chosen)]

    assert draw([1, 0, 7]) == draw([1, 0, 7])
    assert draw([1, 0, 7]) != draw([1, 1, 7])
    assert draw([1, 0, 7]) != draw([1, 0, 8])
