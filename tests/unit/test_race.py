"""The race is fair, and its numbers follow from the times."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from limbeck.bench.race import Contestant, Finish, pairwise_ratio, race
from limbeck.progress import NoProgress


def contestant(name: str, run: Callable[[], None], *, n_threads: int = 2) -> Contestant:
    return Contestant(
        name=name, what="", run=run, n_records=100, n_words=1_000, n_threads=n_threads
    )


def test_all_run_in_every_round_and_another_begins_each_time() -> None:
    order: list[str] = []
    field = [contestant(name, lambda name=name: order.append(name)) for name in "abc"]  # type: ignore[misc]
    finishes = race(field, n_rounds=4, progress=NoProgress())
    assert "".join(order) == "abc" + "abc" + "bca" + "cab" + "abc"
    assert [len(finish.seconds) for finish in finishes] == [4, 4, 4]


def test_times_are_those_of_the_clock_and_the_warm_up_is_not_among_them() -> None:
    now = 0.0

    def work() -> None:
        nonlocal now
        now += 2.0

    (finish,) = race([contestant("a", work)], n_rounds=3, progress=NoProgress(), clock=lambda: now)
    assert finish.seconds == (2.0, 2.0, 2.0)
    assert finish.records_per_second == 50
    assert finish.words_per_second == 500


def test_different_numbers_of_threads_are_refused() -> None:
    field = [contestant("a", lambda: None), contestant("b", lambda: None, n_threads=4)]
    with pytest.raises(ValueError, match="threads"):
        race(field, n_rounds=1, progress=NoProgress())


@given(st.lists(st.floats(0.01, 10), min_size=1, max_size=7), st.floats(0.1, 20))
def test_a_slow_machine_does_not_change_a_ratio(times: list[float], factor: float) -> None:
    first = Finish(contestant=contestant("a", lambda: None), seconds=tuple(times))
    second = Finish(
        contestant=contestant("b", lambda: None), seconds=tuple(factor * t for t in times)
    )
    assert pairwise_ratio(first, second) == pytest.approx(factor)
    assert pairwise_ratio(second, first) == pytest.approx(1 / factor)


def test_longer_records_are_no_slower_ones() -> None:
    """A part of the text is compared by its words: its records may be longer than the rest."""
    whole = contestant("whole", lambda: None)
    part = Contestant(
        name="part", what="", run=lambda: None, n_records=10, n_words=1_000, n_threads=2
    )
    first, second = (Finish(contestant=c, seconds=(2.0, 2.0)) for c in (whole, part))
    assert pairwise_ratio(first, second) == pytest.approx(1)
