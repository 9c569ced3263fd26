"""The line gives each accepted text to exactly one round, in order, and refuses when full."""

import threading
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from limbeck.data.records import Record
from limbeck.serve.decoding import Answer, View
from limbeck.serve.line import ROUND_BATCHES, Job, Line, Timing, plan_round
from limbeck.serve.refusals import Refusal

costs_of_jobs = st.lists(st.lists(st.floats(0.01, 3.0), min_size=1, max_size=12), max_size=12)


class Silent:
    """A listener that nobody tells anything."""

    def deliver(self, start: int, answers: Sequence[Answer], timing: Timing) -> None:
        raise AssertionError("not by the line")

    def fail(self, refusal: Refusal) -> None:
        raise AssertionError("not by the line")


def job_of(costs: Sequence[float]) -> Job:
    return Job(
        model="toy",
        view=View(tasks=(), has_probabilities=False),
        records=[Record(words=())] * len(costs),
        rows=[()] * len(costs),
        costs=costs,
        listener=Silent(),
        joined=0.0,
    )


def drain(line: Line) -> list[tuple[Job, int]]:
    """Every text that rounds take, in the order in which they take them."""
    line.close()
    taken: list[tuple[Job, int]] = []
    while (portions := line.take()) is not None:
        assert portions
        assert len({id(p.job) for p in portions}) == len(portions)
        for portion in portions:
            taken += [(portion.job, i) for i in range(portion.start, portion.stop)]
    return taken


@given(costs_of_jobs)
def test_every_text_is_taken_once_and_in_order(costs: list[list[float]]) -> None:
    line = Line(max_waiting=1_000)
    jobs = [job_of(own) for own in costs]
    for job in jobs:
        line.join(job)
    assert line.n_waiting == sum(map(len, costs))
    taken = drain(line)
    for job in jobs:
        assert [i for other, i in taken if other is job] == list(range(len(job.records)))
    assert len(taken) == sum(map(len, costs))
    assert line.n_waiting == 0


@given(costs_of_jobs)
def test_a_round_overfills_its_room_by_one_portion_at_most(costs: list[list[float]]) -> None:
    portions = plan_round([job_of(own) for own in costs])
    sizes = [sum(p.job.costs[p.start : p.stop]) for p in portions]
    assert sum(sizes[:-1]) < ROUND_BATCHES
    for portion, size in zip(portions, sizes, strict=True):
        assert portion.stop - portion.start == 1 or size <= 1.0 + 1e-9


def test_a_small_request_is_in_the_round_after_a_huge_ones_first() -> None:
    line = Line(max_waiting=10_000)
    huge, small = job_of([0.5] * 1_000), job_of([0.01])
    line.join(huge)
    assert line.take() is not None
    line.join(small)
    portions = line.take()
    assert portions is not None
    assert small in [portion.job for portion in portions]


def test_huge_requests_in_front_do_not_keep_a_small_one_waiting_for_ever() -> None:
    line = Line(max_waiting=100_000)
    for _ in range(20):
        line.join(job_of([1.0] * 500))
    small = job_of([0.01])
    line.join(small)
    n_rounds = 0
    while small.n_left:
        line.take()
        n_rounds += 1
    assert n_rounds <= 6


@given(costs_of_jobs, st.data())
def test_who_leaves_is_taken_no_more(costs: list[list[float]], data: st.DataObject) -> None:
    line = Line(max_waiting=1_000)
    jobs = [job_of(own) for own in costs]
    for job in jobs:
        line.join(job)
    n_before = sum(p.stop - p.start for p in (line.take() or [])) if jobs else 0
    gone = [job for job in jobs if data.draw(st.booleans())]
    n_left = [line.leave(job) for job in gone]
    assert [line.leave(job) for job in gone] == [0] * len(gone)
    assert line.n_waiting == sum(map(len, costs)) - n_before - sum(n_left)
    taken = drain(line)
    assert not [job for job, _ in taken if job in gone]
    assert len(taken) == sum(map(len, costs)) - n_before - sum(n_left)


@given(st.lists(st.integers(1, 5), max_size=20), st.integers(5, 20))
def test_a_full_line_refuses_and_keeps_what_it_has(sizes: list[int], max_waiting: int) -> None:
    line = Line(max_waiting=max_waiting)
    n_accepted = 0
    for n in sizes:
        if n_accepted + n <= max_waiting:
            line.join(job_of([0.1] * n))
            n_accepted += n
            continue
        with pytest.raises(Refusal, match=f"{max_waiting} texts") as refused:
            line.join(job_of([0.1] * n))
        assert refused.value.status == 429
        assert refused.value.retry_after
    assert len(drain(line)) == n_accepted


def test_a_closed_line_refuses_and_serves_what_waits() -> None:
    line = Line(max_waiting=10)
    line.join(job_of([0.1]))
    line.close()
    with pytest.raises(Refusal, match="shutting down") as refused:
        line.join(job_of([0.1]))
    assert refused.value.status == 503
    assert len(drain(line)) == 1


def test_takers_share_the_work_between_them() -> None:
    line = Line(max_waiting=10_000)
    taken: list[tuple[int, int]] = []

    def work() -> None:
        while (portions := line.take()) is not None:
            taken.extend((id(p.job), i) for p in portions for i in range(p.start, p.stop))

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    jobs = [job_of([0.3] * 7) for _ in range(200)]
    for job in jobs:
        line.join(job)
    line.close()
    for thread in threads:
        thread.join(20)
    assert sorted(taken) == sorted((id(job), i) for job in jobs for i in range(7))
