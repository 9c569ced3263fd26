"""Tuning finds the fastest choice, keeps to its time, and its choice is used and never trusted."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from limbeck.bundle import Bundle, load_bundle
from limbeck.errors import ConfigError
from limbeck.runtime import choices
from limbeck.runtime.annotate import AnnotateConfig, Annotator
from limbeck.runtime.choices import DEFAULT_PIECES, Choice, choice_path, settle, store_choice
from limbeck.runtime.tuning import BUDGETS, MIN_ROUNDS, tune, worker_counts


@pytest.fixture
def bundle(toy_bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bundle:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(choices, "pick_threads", lambda asked: asked or 2)
    return load_bundle(toy_bundle)


def settled(bundle: Bundle, **asked: object) -> Choice:
    nothing = {"engine": "auto", "n_threads": None, "n_workers": None, "max_padded_pieces": None}
    return settle(bundle, **(nothing | asked))  # type: ignore[arg-type]


def a_machine(best: Choice, cost: float) -> tuple[Callable[[Choice], float], Callable[[], float]]:
    """One that is fastest with `best`, and whose clock moves by `cost` for each pass."""
    now = 0.0

    def measure(choice: Choice) -> float:
        nonlocal now
        now += cost
        same = [
            choice.engine == best.engine,
            choice.n_workers == best.n_workers,
            choice.max_padded_pieces == best.max_padded_pieces,
        ]
        return 100.0 + 10 * same[0] + 10 * same[1] + 5 * same[2]

    return measure, lambda: now


@given(
    st.sampled_from(["ort", "openvino"]),
    st.integers(1, 12),
    st.sampled_from(BUDGETS),
    st.data(),
)
def test_the_fastest_choice_comes_first(
    engine: str, n_threads: int, budget: int, data: st.DataObject
) -> None:
    n_workers = data.draw(st.sampled_from(worker_counts(n_threads)))
    best = Choice(
        engine=engine,  # type: ignore[arg-type]
        n_threads=n_threads,
        n_workers=n_workers,
        max_padded_pieces=budget,
    )
    measure, clock = a_machine(best, 0.1)
    trials = tune(
        measure, engines=("openvino", "ort"), n_threads=n_threads, seconds=20, clock=clock
    )
    assert trials[0].choice == best
    tried = [trial.choice for trial in trials]
    assert len(set(tried)) == len(tried)


@pytest.mark.parametrize("cost", [0.01, 0.4, 3.0])
def test_it_keeps_to_its_time_but_for_the_rounds_that_a_median_needs(cost: float) -> None:
    best = Choice(engine="ort", n_threads=2, n_workers=2, max_padded_pieces=512)
    measure, clock = a_machine(best, cost)
    tune(measure, engines=("openvino", "ort"), n_threads=2, seconds=20, clock=clock)
    n_first, n_second = 4, len(BUDGETS)
    least = (MIN_ROUNDS + 1) * (n_first + n_second) * cost
    assert clock() <= max(20 + max(n_first, n_second) * cost, least + 1e-6)


@pytest.mark.parametrize(
    ("n_threads", "wanted"), [(1, [1]), (2, [1, 2]), (6, [1, 2, 6]), (8, [1, 2, 4, 8])]
)
def test_workers_share_threads_evenly(n_threads: int, wanted: list[int]) -> None:
    assert worker_counts(n_threads) == wanted


def test_what_was_stored_is_used_and_what_was_asked_for_goes_first(bundle: Bundle) -> None:
    plain = settled(bundle)
    assert (plain.n_workers, plain.max_padded_pieces) == (1, DEFAULT_PIECES)
    tuned = Choice(engine="ort", n_threads=2, n_workers=2, max_padded_pieces=512)
    store_choice(bundle, tuned)
    assert settled(bundle) == tuned
    assert settled(bundle, n_workers=1).n_workers == 1
    assert settled(bundle, max_padded_pieces=64).max_padded_pieces == 64
    # found for another engine or other threads: no word on these
    assert settled(bundle, engine="openvino").n_workers == 1
    assert settled(bundle, n_threads=1).max_padded_pieces == DEFAULT_PIECES
    annotator = Annotator(bundle, AnnotateConfig())
    assert annotator.choice == tuned
    assert annotator.engine.name == "ort"


GOOD = {"engine": "ort", "n_threads": 2, "n_workers": 1, "max_padded_pieces": 64}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "3",
        json.dumps(GOOD | {"engine": "magic"}),
        json.dumps(GOOD | {"n_workers": 0}),
        json.dumps(GOOD | {"max_padded_pieces": -1}),
        json.dumps(GOOD | {"n_threads": "two"}),
        json.dumps({"engine": "ort"}),
        "\udcff",
    ],
)
def test_a_damaged_choice_is_as_good_as_none(bundle: Bundle, text: str) -> None:
    path = choice_path(bundle)
    path.parent.mkdir(parents=True)
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    assert settled(bundle) == settled(bundle, n_workers=1, max_padded_pieces=DEFAULT_PIECES)


def test_another_machine_does_not_find_it(bundle: Bundle, monkeypatch: pytest.MonkeyPatch) -> None:
    store_choice(bundle, Choice(engine="ort", n_threads=2, n_workers=2, max_padded_pieces=512))
    monkeypatch.setattr(choices, "cpu_model", lambda: "another")
    assert settled(bundle).n_workers == 1


def test_threads_that_the_machine_does_not_have_are_refused(toy_bundle: Path) -> None:
    for n_threads in (0, 1_000):
        with pytest.raises(ConfigError, match=f"--threads {n_threads}"):
            Annotator(load_bundle(toy_bundle), AnnotateConfig(n_threads=n_threads))
