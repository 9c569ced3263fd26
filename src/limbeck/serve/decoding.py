"""Decoding: scores of many requests' texts -> answers, one pass for all that want the same.

In:  records, their scores, and what a request wants to see.
Out: an `Answer` for each record, in order. Knows no HTTP.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from limbeck.data.records import Labels, Record
from limbeck.runtime.annotate import Annotator
from limbeck.tasks.base import Floats, Task
from limbeck.tasks.classify import class_probabilities
from limbeck.tasks.scores import RecordScores, stack


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What a request wants to see; equal views are decoded together."""

    tasks: tuple[str, ...]
    has_probabilities: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a bundle says of one text."""

    record: Record
    labels: Mapping[str, Labels]
    probabilities: Mapping[str, object] | None  # one for each word; of a text's label, all labels
    vector: Floats | None  # of the whole text, where the bundle gives it


def decode_answers(
    annotator: Annotator,
    records: Sequence[Record],
    scores: Sequence[RecordScores],
    view: View,
) -> list[Answer]:
    """Answers in the order of the records."""
    tasks = [task for task in annotator.bundle.tasks if task.name in view.tasks]
    found = annotator.decode(records, scores, tasks=tasks, probabilities=view.has_probabilities)
    if not view.has_probabilities:
        return [
            Answer(record=a.record, labels=a.labels, probabilities=None, vector=s.vector)
            for a, s in zip(found, scores, strict=True)
        ]
    spread = _spread(tasks, scores)
    return [
        Answer(
            record=a.record,
            labels=a.labels,
            probabilities={
                **{name: p for name, p in (a.probabilities or {}).items() if p is not None},
                **{name: column[i] for name, column in spread.items()},
            },
            vector=scores[i].vector,
        )
        for i, a in enumerate(found)
    ]


def _spread(
    tasks: Sequence[Task], scores: Sequence[RecordScores]
) -> dict[str, list[dict[str, float]]]:
    """For each task of whole texts that has classes: the probability of each class."""
    classes = [task for task in tasks if task.kind in ("classify", "classify_many")]
    stacked = stack(scores, {task.name: task.kind for task in classes})
    return {task.name: class_probabilities(task.codec, stacked[task.name]) for task in classes}
