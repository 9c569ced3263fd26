"""The waiter: an asyncio task's side of a job.

In:  answers from the dispatcher, portion by portion and in any order of portions.
Out: all answers at once, or portions in the order of the texts; or the refusal.
Lives in the event loop's thread, so it needs no lock.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence

from limbeck.serve.decoding import Answer
from limbeck.serve.line import Timing
from limbeck.serve.refusals import Refusal


class Waiter:
    """A `Listener` that can be awaited."""

    def __init__(self, n_texts: int) -> None:
        self._answers: list[Answer | None] = [None] * n_texts
        self._n_missing = n_texts
        self._refusal: Refusal | None = None
        self._changed = asyncio.Event()
        self.n_pieces = 0  # of all texts
        self.waited_seconds = 0.0  # of the last portion
        self.engine_seconds = 0.0  # of all portions

    def deliver(self, start: int, answers: Sequence[Answer], timing: Timing) -> None:
        self._answers[start : start + len(answers)] = answers
        self._n_missing -= len(answers)
        self.waited_seconds = timing.waited_seconds
        self.engine_seconds += timing.engine_seconds
        self._changed.set()

    def fail(self, refusal: Refusal) -> None:
        self._refusal = refusal
        self._changed.set()

    async def whole(self) -> list[Answer]:
        """All answers, in order."""
        while self._n_missing and self._refusal is None:
            self._changed.clear()
            await self._changed.wait()
        if self._refusal is not None:
            raise self._refusal
        return [answer for answer in self._answers if answer is not None]

    async def portions(self) -> AsyncIterator[list[Answer]]:
        """Answers in order, as soon as all before them are there; each is forgotten once given."""
        begin = 0
        while begin < len(self._answers):
            ready: list[Answer] = []
            while begin < len(self._answers) and (answer := self._answers[begin]) is not None:
                ready.append(answer)
                self._answers[begin] = None
                begin += 1
            if ready:
                yield ready
                continue
            if self._refusal is not None:
                raise self._refusal
            self._changed.clear()
            await self._changed.wait()
