"""Forms: answers -> what a client reads: JSON, JSON lines, CoNLL-U, classes, tensors.

In:  answers with the place of the text that each belongs to.
Out: plain values and text. Knows neither the line nor HTTP, but for the names of media types.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from limbeck.data.formats import open_format_writer
from limbeck.data.records import Labels
from limbeck.errors import InputError
from limbeck.serve.decoding import Answer
from limbeck.serve.refusals import wrong
from limbeck.tasks.base import TEXT_KINDS, Task

Form = Literal["json", "lines", "conllu"]
MEDIA_TYPES: dict[Form, str] = {
    "json": "application/json",
    "lines": "application/jsonl",
    "conllu": "text/x-conllu; charset=utf-8",
}
_BY_NAME: dict[str, Form] = {
    "application/jsonl": "lines",
    "application/x-ndjson": "lines",
    "text/x-conllu": "conllu",
}
N_DIGITS = 4


def pick_form(accept: str) -> Form:
    """The first type of an Accept header that there is; JSON where none is."""
    for part in accept.split(","):
        form = _BY_NAME.get(part.partition(";")[0].strip().lower())
        if form is not None:
            return form
    return "json"


def to_text(value: object) -> str:
    """Compact JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def json_of(
    model: str,
    answers: Sequence[Answer],
    places: Sequence[int],
    shape: Callable[[Answer, int], dict[str, object]],
) -> str:
    """The whole answer of a request."""
    return to_text({"model": model, "results": [*map(shape, answers, places)]})


def result_of(answer: Answer, place: int) -> dict[str, object]:
    """One text as JSON has it."""
    result: dict[str, object] = {
        "input": place,
        "words": answer.record.words,
        "labels": answer.labels,
    }
    if answer.probabilities is not None:
        result["probabilities"] = {t: rounded(p) for t, p in answer.probabilities.items()}
    return result


def rounded(chances: object) -> object:
    """Digits that mean something."""
    if isinstance(chances, Mapping):
        return {label: round(float(p), N_DIGITS) for label, p in chances.items()}
    if isinstance(chances, tuple):
        return [round(float(p), N_DIGITS) for p in chances]
    return round(float(chances), N_DIGITS)  # type: ignore[arg-type]


def conllu_of(answers: Sequence[Answer], tasks: Sequence[Task]) -> str:
    """Sentences as CoNLL-U; a text without words has none."""
    text_tasks = frozenset(task.name for task in tasks if task.kind in TEXT_KINDS)
    write = open_format_writer("conllu", text_tasks=text_tasks)
    try:
        return "".join(write(a.record, a.labels, None) for a in answers)
    except InputError as failure:
        raise wrong(str(failure).lstrip(": ")) from failure


def classified(answer: Answer, place: int) -> dict[str, object]:
    """The classes of one text, the likeliest first."""
    chances = answer.probabilities or {}
    classes: dict[str, list[dict[str, Any]]] = {}
    values: dict[str, Labels] = {}
    chosen: dict[str, Labels] = {}
    for task, label in answer.labels.items():
        spread = chances.get(task)
        if isinstance(spread, Mapping):
            classes[task] = [
                {"label": name, "probability": round(p, N_DIGITS)} for name, p in spread.items()
            ]
            chosen[task] = label
        else:
            values[task] = label
    return {"input": place, "classes": classes, "chosen": chosen, "values": values}


def tensor_of(task: Task, labels: Sequence[Labels]) -> dict[str, object]:
    """A task's labels of all texts as one array: numbers, names, or lists written as JSON."""
    if task.kind == "regress":
        return {"name": task.name, "shape": [len(labels)], "datatype": "FP64", "data": [*labels]}
    data = [label if isinstance(label, str) else to_text(label) for label in labels]
    return {"name": task.name, "shape": [len(labels)], "datatype": "BYTES", "data": data}
