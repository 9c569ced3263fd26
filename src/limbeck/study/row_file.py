"""Row files of studies: one JSON object a line, written whole.

In:  a path, what names a row.
Out: the rows that are there; or the file with rows added, those of the same name replaced.
"""

import json
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from limbeck.artefacts import atomic_file
from limbeck.errors import ConfigError

Row = Mapping[str, Any]  # plain JSON
KeyOf = Callable[[Row], Hashable]


def read_rows(path: Path, key_of: KeyOf) -> Iterator[dict[str, Any]]:
    """Read what a study wrote; another file's lines are refused."""
    if not path.is_file():
        return
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            row = json.loads(line)
            key_of(row)
        except (ValueError, KeyError, TypeError) as failure:
            raise ConfigError(
                f"{path}:{number}: no row of this study", hint="name another --rows file"
            ) from failure
        yield row


def write_rows(path: Path, rows: Sequence[Row]) -> None:
    """Write all rows."""
    with atomic_file(path) as file:
        file.writelines((json.dumps(row) + "\n").encode("utf-8") for row in rows)
