"""Curves: losses and probes as they come, in a .jsonl file, and in TensorBoard where installed.

In:  rows of numbers, each with its step.
Out: a file that holds each step once, also after a run that was killed went on from before it.
"""

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from limbeck.artefacts import atomic_file


class Curves:
    """Appends rows; drops those that a continued run makes again."""

    def __init__(self, path: Path, *, board: Path) -> None:
        self._path, self._board = path, board
        self._writer: Any = None  # tensorboard is untyped, and not always there
        self.rows: list[dict[str, Any]] = []

    def begin(self, step: int) -> None:
        """Keep what is there up to a step."""
        lines = self._path.read_text(encoding="utf-8").splitlines() if self._path.is_file() else []
        self.rows = []
        for line in lines:
            try:
                row = json.loads(line)
            except ValueError:  # cut off by the kill
                break
            if row["step"] <= step:
                self.rows.append(row)
        with atomic_file(self._path) as file:
            file.writelines(_line(row) for row in self.rows)
        if find_spec("tensorboard") is not None:
            from torch.utils.tensorboard import SummaryWriter

            self._writer = SummaryWriter(str(self._board), purge_step=step + 1)

    def add(self, row: dict[str, Any]) -> None:
        """Write a row at once: a kill loses none."""
        self.rows.append(row)
        with self._path.open("ab") as file:
            file.write(_line(row))
        if self._writer is not None:
            for key, value in row.items():
                if isinstance(value, float):
                    self._writer.add_scalar(f"{row['kind']}/{key}", value, row["step"])

    def end(self) -> None:
        if self._writer is not None:
            self._writer.close()

    def last_of(self, kind: str) -> dict[str, Any] | None:
        """The newest row of a kind."""
        return next((row for row in reversed(self.rows) if row["kind"] == kind), None)


def _line(row: dict[str, Any]) -> bytes:
    return (json.dumps(row) + "\n").encode("utf-8")
