"""Saved labels: what a model said of records, kept for later comparison.

In:  labels by task, for each record.
Out: plain JSON values, and the labels back.
"""

from collections.abc import Mapping, Sequence

from limbeck.data.records import Arc, Labels
from limbeck.tasks.base import TaskKind

Json = object


def labels_to_json(said: Sequence[Mapping[str, Labels]]) -> list[dict[str, Json]]:
    """One object for each record."""
    return [
        {
            task: list(labels) if isinstance(labels, tuple) else labels
            for task, labels in one.items()
        }
        for one in said
    ]


def labels_from_json(
    saved: Sequence[Mapping[str, Json]], kinds: Mapping[str, TaskKind]
) -> list[dict[str, Labels]]:
    """The reverse; arcs were written as pairs."""
    return [{task: _label(kinds[task], value) for task, value in one.items()} for one in saved]


def _label(kind: TaskKind, value: Json) -> Labels:
    match kind:
        case "classify":
            return str(value)
        case "regress":
            return float(value)  # type: ignore[arg-type]
        case "dep":
            arcs = value if isinstance(value, list) else []
            return tuple(None if a is None else Arc(int(a[0]), str(a[1])) for a in arcs)
        case "classify_many" | "tag" | "spans" | "lemma":
            return tuple(value) if isinstance(value, list) else ()
