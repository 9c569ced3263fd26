"""JSON lines: one object a record, labels under the tasks' names.

In:  {"text": ...} or {"words": [...]}, perhaps "pair".
Out: records; the writer adds to the object that came in, all else in it as it was written.
"""

import json
from collections.abc import Mapping
from typing import Any

from limbeck.data.gold import gold_label
from limbeck.data.json_text import members
from limbeck.data.options import ReadOptions
from limbeck.data.records import Labels, Record
from limbeck.errors import InputError
from limbeck.tasks.base import WORD_KINDS

TEXT_KEYS = ("text", "words", "pair")
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)


def read_object(value: object, where: str, raw: str, options: ReadOptions) -> Record:
    """Make a record of one object."""
    if not isinstance(value, dict):
        raise InputError(f"{where}: not a JSON object")
    names = {key: str(options.columns.get(key, key)) for key in TEXT_KEYS}
    words = _words(value, names, where)
    pair = value.get(names["pair"])
    if not isinstance(pair, str | None):
        raise InputError(f"{where}: {names['pair']!r} must be a text")
    labels: dict[str, Labels] = {}
    for task in options.tasks or ():
        key = str(options.columns.get(task, task))
        if value.get(key) is not None:
            kind = options.kinds.get(task)
            if pair and kind in WORD_KINDS:
                raise InputError(f"{where}: {task!r} labels words, and a pair has none of its own")
            labels[task] = gold_label(value[key], kind, task=task, n_words=len(words), where=where)
    return Record(
        words=words,
        pair=tuple((pair or "").split()),
        labels=labels,
        raw=raw,
        raw_kind="object",
        where=where,
    )


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
            hint=f"keys here: {', '.join(list(map(str, value))[:20])}",
        )
    return tuple(text.split())


def write_jsonl(
    record: Record, predicted: Mapping[str, Labels], probabilities: Mapping[str, object] | None
) -> str:
    """The object that came in, or one made of the words, with the predictions added."""
    added: dict[str, object] = dict(predicted)
    for task, chances in (probabilities or {}).items():
        if chances is not None:
            added[f"{task}_probability"] = _rounded(chances)
    if record.raw_kind == "object" and record.raw:
        return _with_members(record, added) + "\n"
    return _encoded(_new_object(record) | added, record) + "\n"


def _with_members(record: Record, added: Mapping[str, object]) -> str:
    """The record's own object as it was written, with members set."""
    own = record.raw
    if not added:
        return own
    # mostly nothing is replaced, and then nothing needs to be taken apart
    if "\\u" not in own and not any(f'"{key}"' in own for key in added):
        return f"{own[:-1].rstrip()}, {_encoded(added, record)[1:]}"
    texts = {member.key: member.text for member in members(own)}
    for key, value in added.items():
        texts[key] = _encoded({key: value}, record)[1:-1]
    return "{" + ", ".join(texts.values()) + "}"


def _new_object(record: Record) -> dict[str, object]:
    is_text = record.raw_kind == "text" and tuple(record.raw.split()) == record.words
    value: dict[str, object] = {"text": record.raw} if is_text else {"words": record.words}
    if record.pair:
        value["pair"] = " ".join(record.pair)
    return value


def _encoded(value: Mapping[str, object], record: Record) -> str:
    try:
        return _ENCODER.encode(value)
    except ValueError as failure:
        raise InputError(
            f"{record.where}: a label is no finite number, which JSON cannot hold"
        ) from failure


def _rounded(chances: object) -> object:
    if isinstance(chances, tuple):
        return [round(float(chance), 4) for chance in chances]
    return round(float(chances), 4)  # type: ignore[arg-type]
