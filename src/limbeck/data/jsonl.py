"""JSON lines: one object a record, labels under the tasks' names.

In:  {"text": ...} or {"words": [...]}, perhaps "pair".
Out: records; the writer adds to the object that came in, keys in their order.
"""

import json
from collections.abc import Mapping
from typing import Any

from limbeck.data.options import ReadOptions
from limbeck.data.records import Arc, Labels, Record
from limbeck.errors import InputError

TEXT_KEYS = ("text", "words", "pair")


def read_object(value: object, where: str, raw: str, options: ReadOptions) -> Record:
    """Make a record of one object."""
    if not isinstance(value, dict):
        raise InputError(f"{where}: not a JSON object")
    names = {key: str(options.columns.get(key, key)) for key in TEXT_KEYS}
    words = _words(value, names, where)
    pair = value.get(names["pair"], "")
    if not isinstance(pair, str):
        raise InputError(f"{where}: {names['pair']!r} must be a text")
    labels: dict[str, Labels] = {}
    for task in options.tasks or ():
        key = str(options.columns.get(task, task))
        if value.get(key) is not None:
            labels[task] = _label(value[key], task, words, where, options)
    return Record(words=words, pair=tuple(pair.split()), labels=labels, raw=raw, where=where)


def _words(value: dict[str, Any], names: Mapping[str, str], where: str) -> tuple[str, ...]:
    words = value.get(names["words"])
    if words is not None:
        if not isinstance(words, list) or not all(isinstance(w, str) for w in words):
            raise InputError(f"{where}: {names['words']!r} must be a list of texts")
        if not all(words):
            raise InputError(f"{where}: empty word")
        return tuple(words)
    text = value.get(names["text"])
    if not isinstance(text, str):
        raise InputError(
            f"{where}: neither a text {names['text']!r} nor a list {names['words']!r}",
            hint=f"keys here: {', '.join(map(str, value))}",
        )
    return tuple(text.split())


def _label(
    given: Any,
    task: str,
    words: tuple[str, ...],
    where: str,
    options: ReadOptions,
) -> Labels:
    if any(isinstance(label, dict) for label in (given if isinstance(given, list) else [given])):
        raise InputError(f"{where}: {task!r} holds an object where a label is due")
    if task in options.numeric:
        return number(given, task, where)
    if task in options.many:
        if not isinstance(given, list):
            raise InputError(f"{where}: {task!r} must be a list of labels")
        return tuple(str(label) for label in given)
    if not isinstance(given, list):
        return str(given)
    if len(given) != len(words):
        raise InputError(f"{where}: {len(given)} labels of {task!r} for {len(words)} words")
    if any(isinstance(label, list) for label in given):
        return tuple(_arc(label, task, len(words), where) for label in given)
    return tuple(None if label is None else str(label) for label in given)


def _arc(label: object, task: str, n_words: int, where: str) -> Arc | None:
    if label is None:
        return None
    if (
        not isinstance(label, list)
        or len(label) != 2
        or not isinstance(label[0], int)
        or not 0 <= label[0] <= n_words
    ):
        raise InputError(
            f"{where}: {label!r} of {task!r} is no [head, relation] with a head from 0 to {n_words}"
        )
    return Arc(label[0], str(label[1]))


def number(given: object, task: str, where: str) -> float:
    """A label that must be a finite number."""
    try:
        value = float(str(given))
    except ValueError as failure:
        raise InputError(f"{where}: {task!r} is {given!r}, not a number") from failure
    if value != value or value in (float("inf"), float("-inf")):
        raise InputError(f"{where}: {task!r} is {given!r}, not a finite number")
    return value


def write_jsonl(
    record: Record, predicted: Mapping[str, Labels], probabilities: Mapping[str, object] | None
) -> str:
    """The object that came in, or one made of the words, with the predictions added."""
    value = _own_object(record) or _new_object(record)
    value |= predicted
    for task, chances in (probabilities or {}).items():
        if chances is not None:
            value[f"{task}_probability"] = _rounded(chances)
    return json.dumps(value, ensure_ascii=False) + "\n"


def _own_object(record: Record) -> dict[str, object] | None:
    """The object that the record was read from; a plain text may begin with a brace too."""
    if not record.raw.startswith("{"):
        return None
    try:
        value = json.loads(record.raw)
    except ValueError:
        return None
    # which keys hold the text is the reader's option, so look for one that does
    is_own = any(
        tuple(v.split() if isinstance(v, str) else v) == record.words
        for v in value.values()
        if isinstance(v, (str, list))
    )
    return value if is_own else None


def _new_object(record: Record) -> dict[str, object]:
    text = record.raw.rstrip("\r\n")
    is_text = record.raw and "\n" not in text and tuple(text.split()) == record.words
    value: dict[str, object] = {"text": text} if is_text else {"words": list(record.words)}
    if record.pair:
        value["pair"] = " ".join(record.pair)
    return value


def _rounded(chances: object) -> object:
    if isinstance(chances, tuple):
        return [round(float(chance), 4) for chance in chances]
    return round(float(chances), 4)  # type: ignore[arg-type]
