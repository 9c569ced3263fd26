"""The race: contestants in turn, round after round, so that a slow moment falls on all of them.

In:  contestants, each a function that does a known amount of work.
Out: their times; medians, spread and ratios come from these.
"""

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from limbeck.progress import Progress


@dataclass(frozen=True, slots=True, kw_only=True)
class Contestant:
    """Something that annotates, or part of it."""

    name: str
    what: str  # one line for a reader of the table
    run: Callable[[], None]
    n_records: int  # of one run
    n_words: int
    n_threads: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Finish:
    """A contestant's times, in the order in which they were taken."""

    contestant: Contestant
    seconds: tuple[float, ...]

    @property
    def records_per_second(self) -> float:
        return self.contestant.n_records / statistics.median(self.seconds)

    @property
    def words_per_second(self) -> float:
        return self.contestant.n_words / statistics.median(self.seconds)

    @property
    def spread(self) -> float:
        """Slowest over fastest run."""
        return max(self.seconds) / min(self.seconds)


def race(
    contestants: Sequence[Contestant],
    *,
    n_rounds: int,
    progress: Progress,
    clock: Callable[[], float] = time.perf_counter,
) -> list[Finish]:
    """Warm everyone up once, then time all of them in each round, starting with another each time.

    All must use the same number of threads: a race of two threads against four says nothing.
    """
    threads = {contestant.n_threads for contestant in contestants}
    if len(threads) > 1:
        raise ValueError(f"contestants use different numbers of threads: {sorted(threads)}")
    progress.start("bench", (n_rounds + 1) * len(contestants))
    for contestant in contestants:
        contestant.run()
        progress.advance(1, contestant.name)
    seconds: dict[str, list[float]] = {contestant.name: [] for contestant in contestants}
    for n in range(n_rounds):
        turn = n % len(contestants)
        for contestant in (*contestants[turn:], *contestants[:turn]):
            began = clock()
            contestant.run()
            seconds[contestant.name].append(clock() - began)
            progress.advance(1, contestant.name)
    progress.finish()
    return [Finish(contestant=c, seconds=tuple(seconds[c.name])) for c in contestants]


def pairwise_ratio(first: Finish, second: Finish) -> float:
    """How many times as fast `first` is: the median over rounds, each round by itself.

    By words: a contestant that is given some of the records may be given longer ones.
    """
    rates = (
        (first.contestant.n_words / a) / (second.contestant.n_words / b)
        for a, b in zip(first.seconds, second.seconds, strict=True)
    )
    return statistics.median(rates)
