"""Parquet: rows as objects, read batch by batch.

In:  a path.
Out: (where, object), as JSON lines would give.
"""

from collections.abc import Iterator

from limbeck.errors import InputError

BATCH_ROWS = 1_024


def objects(path: str) -> Iterator[tuple[str, dict[str, object]]]:
    """Stream the rows of a file."""
    try:
        import pyarrow.parquet as pq
        from pyarrow import ArrowInvalid
    except ModuleNotFoundError as missing:
        raise InputError(
            f"{path}: reading Parquet needs pyarrow", hint="pip install 'limbeck[data]'"
        ) from missing
    n = 0
    try:
        file = pq.ParquetFile(path)
        names = file.schema_arrow.names
        for name in names:
            if names.count(name) > 1:
                raise InputError(f"{path}: two columns are called {name!r}", hint="rename one")
        for batch in file.iter_batches(batch_size=BATCH_ROWS):
            for value in batch.to_pylist():
                n += 1
                yield f"{path}:row {n}", value
    except (OSError, ArrowInvalid) as failure:
        raise InputError(f"{path}:row {n + 1}: no readable Parquet ({failure})") from failure
