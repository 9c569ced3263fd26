"""Floors: outcomes are metrics, equal models keep any share, a higher floor is never cheaper."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toys import KINDS, toy_records

from limbeck.data.records import Labels
from limbeck.errors import ConfigError
from limbeck.search.bisect import choose, nearest, next_to_try
from limbeck.search.floor import Floor, floors_of, halves, judge, make_draws, parse_floor
from limbeck.search.front import dominates, fronts, promote
from limbeck.search.outcomes import Ratio, all_once, outcome
from limbeck.search.rungs import rung_text
from limbeck.tasks.metrics import main_metric_of, score_task

names = st.sampled_from(list(KINDS))


def labels_of(name: str, seed: int, n: int) -> list[Labels]:
    return [record.labels[name] for record in toy_records(n, seed=seed)]


def said_of(gold: list[Labels], seed: int) -> list[Labels]:
    """Labels with mistakes: some records get those of another of the same length."""
    rng = random.Random(seed)
    said: list[Labels] = []
    for label in gold:
        others = [
            o for o in gold if not isinstance(o, tuple) or not isinstance(label, tuple)
            or len(o) == len(label)
        ]  # fmt: skip
        said.append(rng.choice(others) if rng.random() < 0.5 else label)
    return said


@given(names, st.integers(0, 99), st.integers(2, 30))
@settings(deadline=None)
def test_an_outcome_on_all_records_is_the_metric(name: str, seed: int, n: int) -> None:
    gold = labels_of(name, seed, n)
    said = said_of(gold, seed)
    kind = KINDS[name]
    found = outcome(name, kind, gold, said).of(all_once(n))
    assert found[0] == pytest.approx(
        score_task(name, kind, gold, said)[main_metric_of(name, kind)], abs=1e-9
    )


@given(names, st.integers(0, 99), st.integers(2, 30))
@settings(deadline=None, max_examples=40)
def test_the_ensemble_itself_keeps_any_share_and_misses_more_than_it_has(
    name: str, seed: int, n: int
) -> None:
    gold = labels_of(name, seed, n)
    it = outcome(name, KINDS[name], gold, said_of(gold, seed))
    draws = make_draws(n, seed=1)[:50]
    for text in ("100%", "99%", "-0", "-0.5"):
        verdict = judge(parse_floor(text, where=""), it, it, confidence=0.95, draws=draws)
        assert verdict.keeps
    above = Floor(kind="absolute", value=float(it.of(all_once(n))[0]) + 0.1, text="above")
    assert not judge(above, it, it, confidence=0.95, draws=draws).keeps


def test_confidence_needs_more_than_a_lucky_mean() -> None:
    rng = np.random.default_rng(0)
    ones = np.ones(200)
    ensemble = Ratio(points=np.where(rng.random(200) < 0.9, 100.0, 0.0), weights=ones)
    student = Ratio(points=ensemble.points.copy(), weights=ones)
    flipped = rng.permutation(200)[:40]
    student.points[flipped] = 100 - student.points[flipped]
    floor = Floor(kind="loss", value=ensemble.of(all_once(200))[0] - student.of(all_once(200))[0]
                  + 0.5, text="")  # fmt: skip
    draws = make_draws(200, seed=1)
    verdict = judge(floor, ensemble, student, confidence=0.95, draws=draws)
    assert verdict.margin == pytest.approx(0.5)
    assert not verdict.keeps  # half a point is well within the noise of 200 records
    margins = student.of(draws) - floor.needed(ensemble.of(draws))
    assert np.mean(margins < verdict.low - 1e-6) <= 0.05 <= np.mean(margins <= verdict.low + 1e-6)


costs_and_values = st.dictionaries(
    st.text("abcdef", min_size=1, max_size=3),
    st.tuples(st.floats(0.1, 99), st.floats(0, 100)),
    min_size=1,
)


@given(costs_and_values, st.floats(0, 100), st.floats(0, 100))
def test_a_higher_floor_never_yields_a_cheaper_choice(
    found: dict[str, tuple[float, float]], a: float, b: float
) -> None:
    low, high = sorted((a, b))
    costs = {name: cost for name, (cost, _) in found.items()}
    easy = choose(costs, {name: value >= low for name, (_, value) in found.items()})
    hard = choose(costs, {name: value >= high for name, (_, value) in found.items()})
    if hard is not None:
        assert easy is not None
        assert costs[easy] <= costs[hard]
        assert found[hard][1] >= high  # one below the floor is never chosen


@given(st.integers(1, 40), st.integers(0, 40))
def test_bisection_finds_the_cheapest_in_few_trials(n: int, first: int) -> None:
    by_cost = [f"c{i}" for i in range(n)]
    keeps: dict[str, bool] = {}
    while (name := next_to_try(by_cost, keeps)) is not None:
        assert name not in keeps
        keeps[name] = int(name[1:]) >= first
    assert len(keeps) <= n.bit_length()
    assert choose({name: int(name[1:]) for name in by_cost}, keeps) == (
        f"c{first}" if first < n else None
    )


points = st.lists(st.tuples(st.floats(0, 100), st.floats(0, 100)), min_size=1, max_size=30)


@given(points, st.integers(1, 30))
def test_nobody_is_promoted_before_one_that_beats_it(
    found: list[tuple[float, float]], n: int
) -> None:
    taken = promote(found, n)
    assert len(taken) == len(set(taken)) == min(n, len(found))
    assert sorted(i for front in fronts(found) for i in front) == list(range(len(found)))
    for i in taken:
        beaten_by = [j for j in range(len(found)) if dominates(found[j], found[i])]
        if beaten_by and len(fronts(found)[0]) <= n:
            assert any(j in taken for j in beaten_by)


@given(st.floats(0.01, 1), st.integers(1, 9), st.integers(1, 200))
def test_a_rung_reads_no_more_than_its_share(share: float, epochs: int, n: int) -> None:
    records = toy_records(1) * n
    text = rung_text(records, share=share, epochs=epochs, seed=1)
    assert text.epochs * len(text.records) <= max(1, share * epochs * n + 1e-6)


@given(st.integers(0, 200), st.integers(0, 9))
def test_halves_share_nothing(n: int, seed: int) -> None:
    a, b = halves(n, seed=seed)
    assert sorted(a + b) == list(range(n))
    assert 0 <= len(a) - len(b) <= 1


@pytest.mark.parametrize("text", ["110%", "0%", "99", "-101", "x", "", "-5%", ">= 101", "--1"])
def test_a_floor_that_is_none_is_refused_with_the_forms(text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_floor(text, where="floor.dep")
    assert "99%" in caught.value.hint


def test_a_floor_for_a_task_that_is_not_there_is_refused() -> None:
    with pytest.raises(ConfigError, match="no such task"):
        floors_of({"default": "99%", "sentiment": "98%"}, ["dep"])
    assert floors_of({"default": "99%", "dep": "-0.5"}, ["dep", "upos"])["dep"].value == 0.5
    assert nearest({"a": -3.0, "b": -1.0}) == "b"
