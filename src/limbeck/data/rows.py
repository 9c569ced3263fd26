"""Rows of tables as JSON objects, so that what was in other columns is not lost on the way.

In:  a row: CSV's texts, or the values that Parquet and the hub have.
Out: JSON. What JSON has no form for: dates as ISO 8601, bytes as base64, decimals and all else as
text; NaN and the infinities become null.
"""

import base64
import json
import math
from collections.abc import Mapping
from datetime import date, time


def row_text(row: Mapping[str, object]) -> str:
    """One line of JSON."""
    return json.dumps(_plain(row), ensure_ascii=False)


def _plain(value: object) -> object:
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else None
        case Mapping():
            return {str(key): _plain(inner) for key, inner in value.items()}
        case list() | tuple():
            return [_plain(inner) for inner in value]
        case bytes():
            return base64.b64encode(value).decode("ascii")
        case date() | time():  # a datetime is a date
            return value.isoformat()
        case _:
            return str(value)
