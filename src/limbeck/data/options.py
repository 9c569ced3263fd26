"""How to read a file, and what was left out of it.

In:  settings from a recipe or the command line.
Out: `ReadOptions`, and `Skipped`, which counts what `skip` passed over.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from limbeck.tasks.base import TaskKind

FormatName = Literal["conllu", "bio", "jsonl", "csv", "tsv", "parquet", "lines", "hub"]
FORMATS: tuple[FormatName, ...] = get_args(FormatName)
MAX_LISTED = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """What of a file becomes a record."""

    format: FormatName | None = None  # None: by the file's name, then by its first lines
    tasks: tuple[str, ...] | None = None  # whose labels to read; None: all that the format names
    columns: Mapping[str, str | int] = field(default_factory=dict)
    header: bool | None = None  # tables; None: there is one if a column is given by name
    strip_prefix: str = ""
    kinds: Mapping[str, TaskKind] = field(default_factory=dict)  # of tasks; else by the shape
    on_missing: Literal["stop", "leave"] = "stop"  # a table without the column of a task
    on_error: Literal["stop", "skip"] = "stop"


@dataclass(slots=True, kw_only=True)
class Skipped:
    """Records passed over by request: how many, and the first of them."""

    n_records: int = 0
    reasons: list[str] = field(default_factory=list)

    def note(self, reason: str) -> None:
        self.n_records += 1
        if len(self.reasons) < MAX_LISTED:
            self.reasons.append(reason)

    def join(self, other: "Skipped") -> None:
        """Add what was passed over elsewhere."""
        self.n_records += other.n_records
        self.reasons = [*self.reasons, *other.reasons][:MAX_LISTED]
