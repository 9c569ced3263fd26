"""Progress of long work: how far, how long still.

In:  a label, a total, and steps done.
Out: calls on whatever the front end shows: a bar, log lines, nothing.
"""

from typing import Protocol


class Progress(Protocol):
    """Law: `start` before `advance`; `finish` ends what `start` began.

    `n_before` steps were done by an earlier run and say nothing of this one's speed.
    """

    def start(self, label: str, total: int, *, n_before: int = 0) -> None: ...
    def advance(self, n_done: int, note: str = "") -> None: ...
    def finish(self, note: str = "") -> None: ...
    def say(self, line: str) -> None: ...


class NoProgress:
    """Shows nothing."""

    def start(self, label: str, total: int, *, n_before: int = 0) -> None: ...
    def advance(self, n_done: int, note: str = "") -> None: ...
    def finish(self, note: str = "") -> None: ...
    def say(self, line: str) -> None: ...
