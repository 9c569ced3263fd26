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
from typing import Protocol

from limbeck.data.records import Record
from limbeck.errors import LimbeckError
from limbeck.runtime.annotate import Annotator
from limbeck.runtime.batching import plan_batches
from limbeck.serve.decoding import Answer, View, decode_answers
from limbeck.serve.line import Line, Portion, Timing
from limbeck.serve.refusals import engine_failed, leaving
from limbeck.tasks.scores import BatchScores, RecordScores

Post = Callable[[Callable[[], None]], object]
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


class Observer(Protocol):
    """Who counts. Called by workers."""

    def batch_done(self, report: BatchReport) -> None: ...

    def portion_taken(self, waited_seconds: float) -> None: ...

    def worker_replaced(self) -> None: ...


class Dispatcher:
    """`n_workers` threads that take rounds from one line."""

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
        self._n_workers = n_workers
        self._post = post
        self._observer = observer
        self._clock = clock
        self._threads: dict[int, threading.Thread] = {}
        self._busy_since: dict[int, float] = {}  # by worker

    def start(self) -> None:
        for number in range(self._n_workers):
            self._start_worker(number)

    def stop(self, *, seconds: float) -> None:
        """Serve what waits, then end the workers; what is left after that time is refused."""
        self.line.close()
        until = time.monotonic() + seconds
        for number in range(self._n_workers):
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
        while (portions := self.line.take()) is not None:
            self._busy_since[number] = self._clock()
            for model, own in _by_model(portions).items():
                try:
                    self._serve(model, own)
                except Exception as failure:  # noqa: BLE001  the waiters hear of it
                    self._refuse(model, own, failure)
                    self._replace(model)
            self._busy_since.pop(number, None)

    def _serve(self, model: str, portions: Sequence[Portion]) -> None:
        """Score and decode a round of one bundle, then tell the listeners all at once."""
        annotator = self.annotators[model]
        taken = self._clock()
        for portion in portions:
            self._observer.portion_taken(taken - portion.job.joined)
        records = [r for p in portions for r in p.job.records[p.start : p.stop]]
        scores = self._score(model, annotator, portions)
        scored = self._clock()
        answers = _decode(annotator, portions, records, scores)
        calls = [
            partial(
                portion.job.listener.deliver,
                portion.start,
                own,
                Timing(
                    waited_seconds=taken - portion.job.joined,
                    engine_seconds=scored - taken,
                ),
            )
            for portion, own in zip(portions, answers, strict=True)
        ]
        self._post(partial(_call_all, calls))

    def _score(
        self, model: str, annotator: Annotator, portions: Sequence[Portion]
    ) -> list[RecordScores]:
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
        return annotator.join(windows, scored)

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
