"""Data sets of the hub, by id: "hub:ID:SPLIT" or "hub:ID/CONFIG:SPLIT" with three path parts.

In:  such a name.
Out: (where, object). Class labels come as their names. Streams; needs the network or a local cache.
"""

from collections.abc import Iterator

from limbeck.errors import InputError


def objects(name: str) -> Iterator[tuple[str, dict[str, object]]]:
    """Stream the rows of a split."""
    identifier, _, split = name.removeprefix("hub:").partition(":")
    try:
        from datasets import ClassLabel, load_dataset
    except ModuleNotFoundError as missing:
        raise InputError(
            f"{name}: hub data sets need the datasets package", hint="pip install 'limbeck[data]'"
        ) from missing
    parts = identifier.split("/")
    path, config = ("/".join(parts[:2]), parts[2]) if len(parts) > 2 else (identifier, None)
    try:
        rows = load_dataset(path, config, split=split or "train", streaming=True)
    except Exception as failure:
        first = str(failure).splitlines()[:1]
        raise InputError(
            f"{name}: no such data set can be reached ({' '.join(first)})",
            hint="download it and name the files",
        ) from failure
    names = {
        key: feature.names
        for key, feature in (rows.features or {}).items()
        if isinstance(feature, ClassLabel)
    }
    for n, row in enumerate(rows, 1):
        value = {k: names[k][v] if k in names and v is not None else v for k, v in row.items()}
        yield f"{name}:row {n}", value
