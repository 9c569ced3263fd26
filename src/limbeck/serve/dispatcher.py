"""The dispatcher: owns the line and the engines, and lets every waiter hear.

In:  jobs from the HTTP side.
Out: answers or a refusal to each job's listener, by way of `post`, which hands calls over to the
thread that listeners live in. A worker whose engine fails refuses what it had in hand and is
replaced, engine and all. Knows no HTTP.
"""

import logging
import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol, TypeVar

from limbeck.data.records import Record
from limbeck.errors import LimbeckError
from limbeck.runtime.annotate import Annotator
from limbeck.runtime.batching import plan_batches
from limbeck.serve.decoding import Answer, View, decode_answers
from limbeck.serve.line import Line, Portion, Timing
from limbeck.serve.refusals import engine_failed, leaving
from limbeck.tasks.scores import BatchScores, RecordScores

Post = Callable[[Callable[[], None]], object]
T = TypeVar("T")
Clock = Callable[[], float]
log = logging.getLogger("limbeck.serve")


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchReport:
    """One batch that went through an engine."""

    model: str
    n_rows: int
    n_pieces: int
    n_padded_pieces: int  # computed, padding included
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scored:
    """A round of one bundle that went through its engine."""

    model: str
    annotator: Annotator
    portions: Sequence[Portion]
    scores: Sequence[RecordScores]
    taken: float  # by the clock, when the engine began
    done: float


class Observer(Protocol):
    """Who counts. Called by workers."""

    def batch_done(self, report: BatchReport) -> None: ...

    def portion_taken(self, waited_seconds: float) -> None: ...

    def worker_replaced(self) -> None: ...


class Dispatcher:
    """Threads that take rounds from one line; `n_workers` are in an engine at once."""

    def __init__(
        self,
        annotators: Mapping[str, Annotator],
        line: Line,
        *,
        n_workers: int,
        post: Post,
        observer: Observer,
        clock: Clock = time.perf_counter,
    ) -> None:
        self.annotators = dict(annotators)
        self.line = line
        self._engines = threading.Semaphore(n_workers)
        self._n_threads = n_workers + 1  # one decodes while the others have engines
        self._post = post
        self._observer = observer
        self._clock = clock
        self._threads: dict[int, threading.Thread] = {}
        self._busy_since: dict[int, float] = {}  # by worker

    def start(self) -> None:
        for number in range(self._n_threads):
            self._start_worker(number)

    def stop(self, *, seconds: float) -> None:
        """Serve what waits, then end the workers; what is left after that time is refused."""
        self.line.close()
        until = time.monotonic() + seconds
        for number in range(self._n_threads):
            # a worker that is replaced meanwhile leaves another in its place
            while (thread := self._threads[number]).is_alive() and time.monotonic() < until:
                thread.join(max(0.0, until - time.monotonic()))
        for job in self.line.clear():
            self._post(partial(job.listener.fail, leaving()))

    def longest_run_seconds(self) -> float:
        """For how long the busiest worker has been at its round."""
        now = self._clock()
        return max((now - began for began in list(self._busy_since.values())), default=0.0)

    def _start_worker(self, number: int) -> None:
        # a daemon: an engine that hangs for ever must not keep the process from ending
        thread = threading.Thread(
            target=self._work, args=(number,), name=f"engine-{number}", daemon=True
        )
        self._threads[number] = thread
        thread.start()

    def _work(self, number: int) -> None:
        while True:
            # a round is taken when an engine is free for it, not before: meanwhile more texts come
            # to be batched together. While one thread decodes, another has the engine.
            with self._engines:
                portions = self.line.take()
                if portions is None:
                    return
                self._busy_since[number] = self._clock()
                scored = [
                    self._attempt(model, own, partial(self._score, model, own))
                    for model, own in _by_model(portions).items()
                ]
            for one in scored:
                if one is not None:
                    self._attempt(one.model, one.portions, partial(self._answer, one))
            self._busy_since.pop(number, None)

    def _attempt(self, model: str, portions: Sequence[Portion], work: Callable[[], T]) -> T | None:
        """Do it; or refuse those who wait for it, and replace the engine."""
        try:
            return work()
        except Exception as failure:  # noqa: BLE001  the waiters hear of it
            self._refuse(model, portions, failure)
            self._replace(model)
            return None

    def _answer(self, scored: _Scored) -> None:
        """Decode a round of one bundle and tell the listeners all at once."""
        records = [r for p in scored.portions for r in p.job.records[p.start : p.stop]]
        answers = _decode(scored.annotator, scored.portions, records, scored.scores)
        calls = [
            partial(
                portion.job.listener.deliver,
                portion.start,
                own,
                Timing(
                    waited_seconds=scored.taken - portion.job.joined,
                    engine_seconds=scored.done - scored.taken,
                ),
            )
            for portion, own in zip(scored.portions, answers, strict=True)
        ]
        self._post(partial(_call_all, calls))

    def _score(self, model: str, portions: Sequence[Portion]) -> _Scored:
        """Run a round of one bundle through its engine."""
        annotator = self.annotators[model]
        taken = self._clock()
        for portion in portions:
            self._observer.portion_taken(taken - portion.job.joined)
        windows = [w for p in portions for w in p.job.rows[p.start : p.stop]]
        rows = [row for record in windows for row in record]
        n_pieces = [len(row.ids) for row in rows]
        plan = plan_batches(n_pieces, max_padded_pieces=annotator.choice.max_padded_pieces)
        scored: list[tuple[list[int], BatchScores]] = []
        for positions in plan:
            began = self._clock()
            scores = annotator.score_batch([rows[i] for i in positions])
            scored.append((positions, scores))
            self._observer.batch_done(
                BatchReport(
                    model=model,
                    n_rows=len(positions),
                    n_pieces=sum(n_pieces[i] for i in positions),
                    n_padded_pieces=scores.n_pieces,
                    seconds=self._clock() - began,
                )
            )
        return _Scored(
            model=model,
            annotator=annotator,
            portions=portions,
            scores=annotator.join(windows, scored),
            taken=taken,
            done=self._clock(),
        )

    def _refuse(self, model: str, portions: Sequence[Portion], failure: Exception) -> None:
        # neither the message nor its arguments: they may hold the user's text
        at = traceback.extract_tb(failure.__traceback__)[-1]
        log.error("%s: %s in %s:%s", model, type(failure).__name__, at.name, at.lineno)
        for portion in portions:
            self.line.leave(portion.job)
        refusal = engine_failed(model)
        self._post(partial(_call_all, [partial(p.job.listener.fail, refusal) for p in portions]))

    def _replace(self, model: str) -> None:
        """A new engine in the place of one that failed; nobody knows what state that one is in."""
        self._observer.worker_replaced()
        try:
            self.annotators[model] = self.annotators[model].reopened()
        except (LimbeckError, OSError) as failure:  # the next round fails too, and tries again
            log.error("%s: no new engine (%s)", model, type(failure).__name__)


def _by_model(portions: Sequence[Portion]) -> dict[str, list[Portion]]:
    found: dict[str, list[Portion]] = {}
    for portion in portions:
        found.setdefault(portion.job.model, []).append(portion)
    return found


def _decode(
    annotator: Annotator,
    portions: Sequence[Portion],
    records: Sequence[Record],
    scores: Sequence[RecordScores],
) -> list[list[Answer]]:
    """Answers of each portion; portions with equal views are decoded in one pass."""
    places: dict[View, list[int]] = {}
    begin = 0
    spans: list[range] = []
    for portion in portions:
        spans.append(range(begin, begin + portion.stop - portion.start))
        places.setdefault(portion.job.view, []).extend(spans[-1])
        begin = spans[-1].stop
    by_place: dict[int, Answer] = {}
    for view, own in places.items():
        answers = decode_answers(
            annotator, [records[i] for i in own], [scores[i] for i in own], view
        )
        by_place.update(zip(own, answers, strict=True))
    return [[by_place[i] for i in span] for span in spans]


def _call_all(calls: Sequence[Callable[[], None]]) -> None:
    for call in calls:
        call()
