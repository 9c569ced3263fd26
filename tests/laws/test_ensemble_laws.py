"""Laws of the ensemble."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from limbeck.tasks.base import Floats
from limbeck.tasks.scores import RecordScores
from limbeck.train.ensemble import choose_weights, mean_scores, mix, reorder, softmax

seeds = st.integers(0, 10_000)


def scores_of(seed: int, n: int = 4, n_outputs: int = 5) -> RecordScores:
    rng = np.random.default_rng(seed)
    return RecordScores(
        main={"t": rng.normal(size=(n, n_outputs)).astype(np.float32)},
        arcs={"t": rng.normal(size=(n, n + 1)).astype(np.float32)},
    )


@given(seeds)
def test_one_member_alone_keeps_its_probabilities(seed: int) -> None:
    own = scores_of(seed)
    main, arcs = mean_scores([own], [1.0], "t", "dep")
    assert np.allclose(softmax(main), softmax(own.main["t"]), atol=1e-5)
    assert arcs is not None
    assert np.allclose(softmax(arcs), softmax(own.arcs["t"]), atol=1e-5)


@given(seeds, seeds, st.floats(0.1, 5), st.floats(0.1, 5))
def test_mixtures_are_probabilities_between_the_members(
    a: int, b: int, weight_a: float, weight_b: float
) -> None:
    members = [scores_of(a), scores_of(b)]
    mixed, _ = mean_scores(members, [weight_a, weight_b], "t", "tag")
    p = softmax(mixed)
    low = np.minimum(*(softmax(m.main["t"]) for m in members))
    high = np.maximum(*(softmax(m.main["t"]) for m in members))
    assert np.allclose(p.sum(axis=1), 1, atol=1e-5)
    assert ((p >= low - 1e-5) & (p <= high + 1e-5)).all()


@given(seeds, seeds)
def test_a_member_without_weight_changes_nothing(a: int, b: int) -> None:
    alone = mix([scores_of(a)], {"t": [1.0]}, {"t": "dep"})
    beside = mix([scores_of(a), scores_of(b)], {"t": [1.0, 0.0]}, {"t": "dep"})
    assert np.allclose(alone.main["t"], beside.main["t"], atol=1e-5)
    assert np.allclose(alone.arcs["t"], beside.arcs["t"], atol=1e-5)


@given(st.permutations(list("abcde")), seeds)
def test_members_with_other_label_orders_are_put_in_order(order: list[str], seed: int) -> None:
    wanted = scores_of(seed).main["t"]
    own: Floats = wanted[:, ["abcde".index(name) for name in order]]
    assert np.array_equal(reorder(own, order, "abcde"), wanted)


def test_a_label_that_a_member_lacks_gets_no_chance() -> None:
    found = reorder(np.zeros((1, 2), np.float32), ["a", "b"], ["a", "x", "b"])
    assert softmax(found)[0, 1] < 1e-9


@given(st.lists(st.floats(0, 1), min_size=1, max_size=4))
def test_chosen_weights_are_never_worse_than_any_member(quality: list[float]) -> None:
    def score(weights: "list[float]") -> float:
        return sum(w * q for w, q in zip(weights, quality, strict=True))

    chosen = choose_weights(len(quality), score)  # type: ignore[arg-type]
    assert sum(chosen) == pytest.approx(1)
    assert score(chosen) >= max(quality) - 1e-9


def test_a_weak_member_helps_a_strong_one_with_a_small_share() -> None:
    """Half of it would spoil the mixture: picking whole members would leave it out."""

    def score(weights: Sequence[float]) -> float:
        return 1 - (weights[1] - 0.15) ** 2

    chosen = choose_weights(2, score)
    assert score(chosen) > score([1.0, 0.0]) > score([0.5, 0.5])
    assert 0.1 < chosen[1] < 0.25
