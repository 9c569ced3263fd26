"""Gold labels from JSON values: each kind of task has one shape, and nothing else passes for it.

In:  the value under a task's key, as JSON or Parquet give it.
Out: `Labels`, or a refusal that names the task and the place.
"""

import reprlib
from collections.abc import Sequence
from typing import assert_never

from limbeck.data.arcs import check_tree
from limbeck.data.records import Arc, Labels
from limbeck.data.tags import check_tag
from limbeck.errors import InputError
from limbeck.tasks.base import TaskKind


def gold_label(
    given: object, kind: TaskKind | None, *, task: str, n_words: int, where: str
) -> Labels:
    """Labels of one record; a kind that nobody told is taken from the shape."""
    what = f"{where}: {task!r}"
    match kind:
        case None:
            if not isinstance(given, list):
                return _name(given, what)
            has_arcs = any(isinstance(label, list) for label in given)
            return _arcs(given, n_words, what) if has_arcs else _names(given, n_words, what)
        case "classify":
            return _name(given, what)
        case "classify_many":
            if not isinstance(given, list):
                raise InputError(f"{what} must be a list of labels (found {reprlib.repr(given)})")
            return tuple(_name(label, what) for label in given)
        case "regress":
            return number(given, task, where)
        case "tag" | "lemma":
            return _names(_of_words(given, n_words, what), n_words, what)
        case "spans":
            tags = _names(_of_words(given, n_words, what), n_words, what)
            for tag in tags:
                if tag is not None:
                    check_tag(tag, what)
            return tags
        case "dep":
            return _arcs(_of_words(given, n_words, what), n_words, what)
        case _:
            assert_never(kind)


def number(given: object, task: str, where: str) -> float:
    """A label that must be a finite number."""
    try:
        value = float(str(given))
    except (ValueError, RecursionError) as failure:
        raise InputError(f"{where}: {task!r} is {reprlib.repr(given)}, not a number") from failure
    if value != value or value in (float("inf"), float("-inf")):
        raise InputError(f"{where}: {task!r} is {given!r}, not a finite number")
    return value


def _name(given: object, what: str) -> str:
    """One label; classes are often numbered."""
    if not isinstance(given, str | int | float):
        raise InputError(f"{what} holds {reprlib.repr(given)} where a label is due")
    return str(given)


def _of_words(given: object, n_words: int, what: str) -> Sequence[object]:
    if not isinstance(given, list):
        raise InputError(
            f"{what} must be a list with one label for each of {n_words} words "
            f"(found {reprlib.repr(given)})"
        )
    return given


def _check_length(given: Sequence[object], n_words: int, what: str) -> None:
    if len(given) != n_words:
        raise InputError(f"{what} has {len(given)} labels for {n_words} words")


def _names(given: Sequence[object], n_words: int, what: str) -> tuple[str | None, ...]:
    _check_length(given, n_words, what)
    return tuple(None if label is None else _name(label, what) for label in given)


def _arcs(given: Sequence[object], n_words: int, what: str) -> tuple[Arc | None, ...]:
    _check_length(given, n_words, what)
    arcs = tuple(_arc(label, i, n_words, what) for i, label in enumerate(given, 1))
    if arcs and None not in arcs:
        check_tree([arc.head for arc in arcs if arc is not None], what)
    return arcs


def _arc(label: object, i: int, n_words: int, what: str) -> Arc | None:
    match label:
        case None:
            return None
        case [int() as head, str() as relation] if not isinstance(head, bool):
            if 0 <= head <= n_words and head != i:
                return Arc(head, relation)
    raise InputError(
        f"{what}: {reprlib.repr(label)} of word {i} is no [head, relation] with another word's "
        f"number as head, or 0, up to {n_words}"
    )
