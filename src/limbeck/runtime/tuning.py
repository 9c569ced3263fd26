"""Tuning: which choice annotates fastest here, found by trying.

In:  a way to time a choice, the engines and threads there are, a limit in seconds.
Out: trials, the fastest first. Pure but for the clock: tests give their own.
"""

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from limbeck.runtime.choices import DEFAULT_PIECES, Choice
from limbeck.runtime.engines import EngineName

BUDGETS = (512, 1_024, 2_048, 4_096, 8_192)
MIN_ROUNDS = 3  # a median needs them, whatever the limit says
MAX_ROUNDS = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A choice and its median speed."""

    choice: Choice
    records_per_second: float
    n_rounds: int


Measure = Callable[[Choice], float]  # records a second of one pass
Clock = Callable[[], float]


def tune(
    measure: Measure,
    *,
    engines: Sequence[EngineName],
    n_threads: int,
    seconds: float,
    clock: Clock = time.perf_counter,
) -> list[Trial]:
    """Try engines and workers first, then budgets for the best; half of the time for each."""
    began = clock()
    first = [
        Choice(engine=engine, n_threads=n_threads, n_workers=n, max_padded_pieces=DEFAULT_PIECES)
        for engine in engines
        for n in worker_counts(n_threads)
    ]
    trials = _rounds(measure, first, until=began + seconds / 2, clock=clock)
    best = trials[0].choice
    second = [replace(best, max_padded_pieces=budget) for budget in BUDGETS]
    later = _rounds(measure, second, until=began + seconds, clock=clock)
    seen = {trial.choice for trial in later}  # the best one was tried again, among its rivals
    return later + [trial for trial in trials if trial.choice not in seen]


def worker_counts(n_threads: int) -> list[int]:
    """Workers that share the threads evenly: 1, 2, 4, and so on up to one thread each."""
    counts = []
    n = 1
    while n <= n_threads:
        if n_threads % n == 0:
            counts.append(n)
        n *= 2
    return counts if counts[-1] == n_threads else [*counts, n_threads]


def _rounds(
    measure: Measure, choices: Sequence[Choice], *, until: float, clock: Clock
) -> list[Trial]:
    """Time all choices in turn, again and again, so that a slow moment falls on all of them."""
    rates: dict[Choice, list[float]] = {choice: [] for choice in choices}
    for choice in choices:
        measure(choice)  # loads and warms up
    n = 0
    while n < MIN_ROUNDS or (n < MAX_ROUNDS and clock() < until):
        for choice in choices:
            rates[choice].append(measure(choice))
        n += 1
    trials = [
        Trial(choice=choice, records_per_second=statistics.median(found), n_rounds=n)
        for choice, found in rates.items()
    ]
    return sorted(trials, key=lambda trial: -trial.records_per_second)
