"""The service: from a request's texts to a job in the line, within the limits.

In:  texts or words, a model's name, what to show.
Out: a `Waiter` for as long as the request lives; when it ends, for whatever reason, what is left of
its job leaves the line. No route goes round it. Knows no HTTP.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial
from typing import TypeVar

from limbeck.bundle import Bundle
from limbeck.data.records import Record
from limbeck.runtime.annotate import Annotator
from limbeck.serve.decoding import View
from limbeck.serve.dispatcher import Dispatcher
from limbeck.serve.limits import Limits
from limbeck.serve.line import Job
from limbeck.serve.metrics import Metrics
from limbeck.serve.refusals import (
    no_model,
    not_found,
    too_many_pieces,
    too_many_texts,
    took_too_long,
    wrong,
)
from limbeck.serve.waiter import Waiter
from limbeck.tasks.base import TEXT_KINDS, Task

T = TypeVar("T")
MAX_INLINE_LETTERS = 20_000  # about 5 ms of cutting; more would keep other requests waiting


class Service:
    """What all routes share."""

    def __init__(self, dispatcher: Dispatcher, limits: Limits, metrics: Metrics) -> None:
        self.dispatcher = dispatcher
        self.limits = limits
        self.metrics = metrics
        self._aside = ThreadPoolExecutor(1, thread_name_prefix="aside")

    def annotator(self, model: str | None) -> tuple[str, Annotator]:
        """A bundle by name; the first where none is named."""
        known = self.dispatcher.annotators
        name = model if model is not None else next(iter(known))
        if name not in known:
            raise no_model(name, list(known))
        return name, known[name]

    def check_open(self) -> None:
        """Refuse before the body is read: under a flood, reading is most of a refusal's cost."""
        self.dispatcher.line.check_room(1)

    @asynccontextmanager
    async def asking(
        self, model: str, view: View, records: Sequence[Record]
    ) -> AsyncIterator[Waiter]:
        """Put a request's texts into the line, until it is answered or given up."""
        annotator = self.dispatcher.annotators[model]
        waiter = Waiter(len(records))
        if not records:
            yield waiter
            return
        if len(records) > self.limits.texts:
            raise too_many_texts(len(records), self.limits.texts)
        self.dispatcher.line.check_room(len(records))
        n_letters = sum(len(w) for r in records for text in (r.words, r.pair) for w in text)
        rows = await self.aside(n_letters, partial(annotator.cut, records))
        budget = annotator.choice.max_padded_pieces
        n_pieces = [sum(len(row.ids) for row in record) for record in rows]
        for position, n in enumerate(n_pieces):
            if n > self.limits.pieces:
                raise too_many_pieces(position, n, self.limits.pieces)
        waiter.n_pieces = sum(n_pieces)
        job = Job(
            model=model,
            view=view,
            records=records,
            rows=rows,
            costs=[n / budget for n in n_pieces],
            listener=waiter,
            joined=time.perf_counter(),
        )
        self.dispatcher.line.join(job)
        self.metrics.texts.labels(model).inc(len(records))
        try:
            async with asyncio.timeout(self.limits.seconds):
                yield waiter
        except TimeoutError as late:
            raise took_too_long(self.limits.seconds) from late
        finally:
            n_dropped = self.dispatcher.line.leave(job)
            if n_dropped:
                self.metrics.dropped.inc(n_dropped)

    async def aside(self, n_letters: int, work: Callable[[], T]) -> T:
        """Do a request's work here, or in a thread where other requests would feel it."""
        if n_letters <= MAX_INLINE_LETTERS:
            return work()
        return await asyncio.get_running_loop().run_in_executor(self._aside, work)

    def close(self) -> None:
        self._aside.shutdown(wait=False, cancel_futures=True)


def choose_tasks(
    bundle: Bundle, wanted: Sequence[str] | None, records: Sequence[Record]
) -> list[Task]:
    """Tasks by name, in the bundle's order. The words of a pair have no labels of their own."""
    known = [task.name for task in bundle.tasks]
    for name in wanted or ():
        if name not in known:
            raise not_found(f"no task {name!r} in this model; there are {', '.join(known)}")
    tasks = [task for task in bundle.tasks if wanted is None or task.name in wanted]
    if not any(record.pair for record in records):
        return tasks
    of_text = [task for task in tasks if task.kind in TEXT_KINDS]
    if wanted is not None and len(of_text) < len(tasks):
        raise wrong("a pair of texts has labels of the whole alone, not of its words")
    if tasks and not of_text:
        raise not_found("this model has no task for pairs of texts")
    return of_text
