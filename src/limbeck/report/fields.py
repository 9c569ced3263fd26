"""One JSON object, read field by field: a wrong type or an unknown key is refused with its place.

In:  a value that JSON gave, and where it stood.
Out: typed values; null is None, an empty mapping or an empty tuple. Knows no row.
"""

import difflib
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from limbeck.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class Fields:
    """An object's fields and the place to name when one of them is wrong."""

    values: Mapping[str, object]
    where: str

    def text(self, key: str) -> str:
        value = self.values.get(key)
        if not isinstance(value, str) or not value.strip():
            raise InputError(f"{self.where}: {key!r} must be a text, found {_shown(value)}")
        return printable(value)

    def text_or_none(self, key: str) -> str | None:
        return None if self.values.get(key) in (None, "") else self.text(key)

    def choice_or_none(self, key: str, choices: Collection[str]) -> str | None:
        value = self.text_or_none(key)
        if value is not None and value not in choices:
            near = difflib.get_close_matches(value, choices, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(choices)}"
            raise InputError(f"{self.where}: unknown {key} {value!r}", hint=hint)
        return value

    def number_or_none(self, key: str) -> float | None:
        value = self.values.get(key)
        return None if value is None else _number(value, key, self.where)

    def amount_or_none(self, key: str) -> float | None:
        """A number of something: never below 0."""
        value = self.number_or_none(key)
        if value is not None and value < 0:
            raise InputError(f"{self.where}: {key!r} is {value:g}, below 0")
        return value

    def count_or_none(self, key: str) -> int | None:
        value = self.values.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int):
            raise InputError(f"{self.where}: {key!r} must be a whole number, found {_shown(value)}")
        return value

    def truth_or_none(self, key: str) -> bool | None:
        value = self.values.get(key)
        if value is not None and not isinstance(value, bool):
            raise InputError(f"{self.where}: {key!r} must be true or false, found {_shown(value)}")
        return value

    def mapping(self, key: str) -> Mapping[str, object]:
        value = self.values.get(key)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise InputError(f"{self.where}: {key!r} must be an object, found {_shown(value)}")
        return {printable(name): inner for name, inner in value.items()}

    def scores(self, key: str) -> Mapping[str, float]:
        """Named numbers; a name whose value is null was not measured and is left out."""
        return {
            name: _number(value, f"{key}.{name}", self.where)
            for name, value in self.mapping(key).items()
            if value is not None
        }

    def intervals(self, key: str) -> Mapping[str, tuple[float, float]]:
        found: dict[str, tuple[float, float]] = {}
        for name, value in self.mapping(key).items():
            if value is None:
                continue
            if not isinstance(value, list) or len(value) != 2:
                raise InputError(
                    f"{self.where}: {key}.{name} must be [low, high], found {_shown(value)}"
                )
            low, high = (_number(bound, f"{key}.{name}", self.where) for bound in value)
            if low > high:
                raise InputError(f"{self.where}: {key}.{name}: {low:g} is above {high:g}")
            found[name] = (low, high)
        return found

    def texts(self, key: str) -> tuple[str, ...]:
        values = self.values.get(key)
        if values is None:
            return ()
        if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
            raise InputError(f"{self.where}: {key!r} must be a list of texts")
        return tuple(printable(value) for value in values)

    def objects(self, key: str) -> "tuple[Fields, ...]":
        values = self.values.get(key)
        if values is None:
            return ()
        if not isinstance(values, list):
            raise InputError(f"{self.where}: {key!r} must be a list, found {_shown(values)}")
        return tuple(
            fields_of(value, where=f"{self.where}: {key}[{i}]") for i, value in enumerate(values)
        )


def fields_of(value: object, *, where: str) -> Fields:
    """Open an object."""
    if not isinstance(value, dict):
        raise InputError(f"{where}: not a JSON object, found {_shown(value)}")
    return Fields(values=value, where=where)


def check_keys(fields: Fields, known: Collection[str]) -> None:
    """Every key must be there, and no other."""
    for key in fields.values:
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}"
            raise InputError(f"{fields.where}: unknown key {printable(key)!r}", hint=hint)
    for key in known:
        if key not in fields.values:
            raise InputError(
                f"{fields.where}: {key!r} is missing", hint="write null for what was not measured"
            )


def printable(text: str) -> str:
    """Replace what no page can hold: control characters and halves of surrogate pairs."""
    return "".join(
        " " if c in "\t\n\r" else "\ufffd" if _is_unprintable(ord(c)) else c for c in text
    )


def _is_unprintable(code: int) -> bool:
    return (
        code < 0x20
        or 0x7F <= code < 0xA0
        or 0xD800 <= code < 0xE000
        or 0xFDD0 <= code < 0xFDF0
        or code & 0xFFFE == 0xFFFE
    )


def _number(value: object, key: str, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InputError(f"{where}: {key!r} must be a number, found {_shown(value)}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise InputError(f"{where}: {key!r} is not a finite number")
    return number


def _shown(value: object) -> str:
    text = printable(repr(value))
    return text if len(text) <= 60 else f"{text[:60]}..."
