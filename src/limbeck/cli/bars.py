"""Progress shown: a bar on a terminal, a line now and then elsewhere. Always on stderr.

In:  calls of `Progress`.
Out: what a person sees, with the time left.
"""

import sys
import time
from typing import TYPE_CHECKING

from limbeck.progress import Progress

if TYPE_CHECKING:
    from rich.progress import TaskID

SECONDS_BETWEEN_LINES = 30.0


def make_progress() -> Progress:
    """Bars where stderr is a terminal."""
    if sys.stderr.isatty():
        return Bars()
    return Lines()


class Bars:
    """One rich bar at a time."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        self._console = Console(stderr=True)
        self._bars = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=self._console,
        )
        self._tasks: list[TaskID] = []

    def start(self, label: str, total: int, *, n_before: int = 0) -> None:
        self._bars.start()
        self._tasks.append(self._bars.add_task(label, total=total, completed=n_before))

    def advance(self, n_done: int, note: str = "") -> None:
        self._bars.advance(self._tasks[-1], n_done)

    def finish(self, note: str = "") -> None:
        self._bars.stop()

    def say(self, line: str) -> None:
        self._console.print(line, highlight=False, markup=False)


class Lines:
    """A line at the start, then one every half minute."""

    def __init__(self) -> None:
        self._label = ""
        self._total = 0
        self._n_done = 0
        self._n_before = 0
        self._began = 0.0
        self._last = 0.0

    def start(self, label: str, total: int, *, n_before: int = 0) -> None:
        self._label, self._total, self._n_done = label, total, n_before
        self._n_before = n_before
        self._began = self._last = time.monotonic()
        self.say(f"{label}: goes on at {n_before} of {total}" if n_before else f"{label} ...")

    def advance(self, n_done: int, note: str = "") -> None:
        self._n_done += n_done
        now = time.monotonic()
        n_now = self._n_done - self._n_before
        if now - self._last < SECONDS_BETWEEN_LINES or not n_now:
            return
        self._last = now
        left = (now - self._began) / n_now * (self._total - self._n_done)
        self.say(f"{self._label}: {self._n_done} of {self._total}, {left:.0f} s left")

    def finish(self, note: str = "") -> None:
        self.say(f"{self._label}: done in {time.monotonic() - self._began:.0f} s")

    def say(self, line: str) -> None:
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()
