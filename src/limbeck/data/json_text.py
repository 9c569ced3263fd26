"""JSON as it is written: read strictly, taken apart without changing a letter of what is kept.

In:  one line of text.
Out: its value, or the members of its object each as it stands. A value that went through Python's
numbers would come out as another text (1e400, -0, twenty digits); no record, no labels here.
"""

import json
import re
from typing import Any, NamedTuple

from limbeck.errors import InputError

MAX_DEPTH = 200  # far below what Python's own parser can bear on any thread's stack
MAX_DIGITS = 4_300  # of an integer that Python converts; longer ones matter only as text

_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"')
_BRACKET = re.compile(r"[\[\]{}]")
_SPACE = re.compile(r"[ \t\n\r]*")


class Member(NamedTuple):
    """`"key": value` of an object."""

    key: str
    text: str  # both, and what stands between them


class _RefusedError(ValueError):
    """JSON that Python would take and that would lose something."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


def parse_json(text: str, where: str) -> Any:
    """The value of a line; what is no JSON, or cannot be kept as it is, is refused."""
    try:
        if _is_deeper(text, MAX_DEPTH):
            raise _RefusedError(f"nested deeper than {MAX_DEPTH} levels", "take the record apart")
        value = _DECODER.decode(text)
    except _RefusedError as refused:
        raise InputError(f"{where}: {refused}", hint=refused.hint) from refused
    except json.JSONDecodeError as failure:
        raise InputError(
            f"{where}: not JSON ({failure.msg} at character {failure.pos + 1})",
            hint="one object a line; if this is plain text, say --format lines",
        ) from failure
    if "\\u" in text:  # JSON can spell half of a surrogate pair, which no UTF-8 can hold
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError as failure:
            raise InputError(
                f"{where}: half of a surrogate pair (\\u{ord(failure.object[failure.start]):04x})",
                hint="the text was cut within a character",
            ) from failure
    return value


def members(text: str) -> list[Member]:
    """The members of an object that `parse_json` took, in their order."""
    found: list[Member] = []
    at = text.index("{") + 1
    while True:
        begin = _after_space(text, at)
        if text[begin] == "}":
            return found
        key, colon = _DECODER.raw_decode(text, begin)
        colon = _after_space(text, colon)
        _, end = _DECODER.raw_decode(text, _after_space(text, colon + 1))
        found.append(Member(key, text[begin:end]))
        at = _after_space(text, end)
        at += text[at] == ","


def _after_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    assert found is not None
    return found.end()


def _is_deeper(text: str, limit: int) -> bool:
    """Counted without recursion; almost all lines have too few brackets to be looked at closely."""
    if text.count("[") + text.count("{") <= limit:
        return False
    depth = 0
    for bracket in _BRACKET.finditer(_STRING.sub("", text)):
        depth += 1 if bracket.group() in "[{" else -1
        if depth > limit:
            return True
    return False


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise _RefusedError(
            f"the key {twice!r} stands twice in one object", "rename one of them, or take it out"
        )
    return value


def _no_number(name: str) -> float:
    raise _RefusedError(f"{name} is no JSON", 'write null, or a text: "NaN"')


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= MAX_DIGITS else float(digits)


_DECODER = json.JSONDecoder(
    object_pairs_hook=_unique, parse_constant=_no_number, parse_int=_integer
)
