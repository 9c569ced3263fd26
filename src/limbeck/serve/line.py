"""The line: requests that wait for the engine, and what of them goes next.

In:  jobs, each with the texts of one request.
Out: rounds: portions of jobs that are batched together. A lone job is a round at once; while the
engine is busy, jobs pile up and the next round takes from all of them.
Knows neither HTTP nor an engine.
"""

import threading
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from limbeck.data.pieces import Pieces
from limbeck.data.records import Record
from limbeck.serve.decoding import Answer, View
from limbeck.serve.refusals import Refusal, leaving, queue_full

# Enough texts to sort by length and fill the batches, few enough that a newcomer gets its turn soon
ROUND_BATCHES = 4.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """Where the time of a portion went."""

    waited_seconds: float
    engine_seconds: float


class Listener(Protocol):
    """Who waits for a job. Law: either all answers come, each once, or one refusal."""

    def deliver(self, start: int, answers: Sequence[Answer], timing: Timing) -> None: ...

    def fail(self, refusal: Refusal) -> None: ...


@dataclass(slots=True, kw_only=True, eq=False)
class Job:
    """The texts of one request. The line alone writes `n_taken`."""

    model: str
    view: View
    records: Sequence[Record]
    rows: Sequence[tuple[Pieces, ...]]  # of each record
    costs: Sequence[float]  # of each record, in batches
    listener: Listener
    joined: float
    n_taken: int = 0

    @property
    def n_left(self) -> int:
        return len(self.records) - self.n_taken


@dataclass(frozen=True, slots=True, kw_only=True)
class Portion:
    """Some texts of a job, in order."""

    job: Job
    start: int
    stop: int


class Line:
    """Jobs in order of arrival, bounded. All threads may call it."""

    def __init__(self, *, max_waiting: int) -> None:
        self.max_waiting = max_waiting
        self._jobs: deque[Job] = deque()
        self._n_waiting = 0
        self._is_closed = False
        self._changed = threading.Condition()

    @property
    def n_waiting(self) -> int:
        """Texts that no round has taken yet."""
        return self._n_waiting

    def check_room(self, n: int) -> None:
        """Refuse now what would be refused later, before any work on it."""
        if self._is_closed:
            raise leaving()
        if self._n_waiting + n > self.max_waiting:
            raise queue_full(self.max_waiting)

    def join(self, job: Job) -> None:
        with self._changed:
            self.check_room(len(job.records))
            self._jobs.append(job)
            self._n_waiting += len(job.records)
            self._changed.notify()

    def leave(self, job: Job) -> int:
        """Take out what is left of a job; how many texts that was."""
        with self._changed:
            n = job.n_left
            if n:
                self._jobs.remove(job)
                self._n_waiting -= n
                job.n_taken = len(job.records)
            return n

    def take(self) -> list[Portion] | None:
        """Wait for jobs and take a round; None when the line is closed and nothing is left."""
        with self._changed:
            while not self._jobs:
                if self._is_closed:
                    return None
                self._changed.wait()
            portions = plan_round(self._jobs)
            for portion in portions:
                portion.job.n_taken = portion.stop
                self._n_waiting -= portion.stop - portion.start
                self._jobs.popleft()
            # who still has texts goes to the end, so that a large request holds up nobody
            self._jobs.extend(p.job for p in portions if p.job.n_left)
            if self._jobs:
                self._changed.notify()
            return portions

    def clear(self) -> list[Job]:
        """Take out all jobs."""
        with self._changed:
            jobs = list(self._jobs)
            self._jobs.clear()
            self._n_waiting = 0
            for job in jobs:
                job.n_taken = len(job.records)
            return jobs

    def close(self) -> None:
        """Let nobody join any more; what waits is still served."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()


def plan_round(jobs: Iterable[Job], *, room: float = ROUND_BATCHES) -> list[Portion]:
    """Take from each job, the oldest first, up to one batch's worth, until the room is used.

    Each portion has at least one text, however large.
    """
    portions: list[Portion] = []
    used = 0.0
    for job in jobs:
        if portions and used >= room:
            break
        start = stop = job.n_taken
        own = 0.0
        while stop < len(job.records) and (stop == start or own + job.costs[stop] <= 1.0):
            own += job.costs[stop]
            stop += 1
        portions.append(Portion(job=job, start=start, stop=stop))
        used += own
    return portions
