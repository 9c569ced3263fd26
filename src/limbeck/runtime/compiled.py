"""Compiled graphs: an engine's ready-made form of a graph, kept in the user's cache.

In:  what the form depends on: the bundle, the engine's version and settings, the processor.
Out: a file to load in place of compiling, which takes most of the time that a start takes.
Losing the cache loses time alone; a file that cannot be written is not missed.
"""

import hashlib
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from limbeck.artefacts import atomic_file

MAX_KEPT_BYTES = 1 << 30  # of all compiled graphs together; the least recently made go first


def cache_folder(name: str) -> Path:
    """A folder of limbeck's in the user's cache; it may not exist yet."""
    root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(root) / "limbeck" / name


def compiled_path(parts: Sequence[str]) -> Path:
    """Where the form that depends on these parts is kept."""
    key = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]
    return cache_folder("compiled") / f"{key}.blob"


def keep_compiled(path: Path, content: bytes) -> None:
    """Keep a compiled graph, readable by its user alone, and make room for it."""
    with suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with atomic_file(path) as file:
            file.write(content)
        _make_room(path)


def _make_room(newest: Path) -> None:
    kept = sorted(newest.parent.glob("*.blob"), key=lambda path: path.stat().st_mtime, reverse=True)
    n_bytes = newest.stat().st_size
    for path in kept:
        if path == newest:
            continue
        n_bytes += path.stat().st_size
        if n_bytes > MAX_KEPT_BYTES:
            path.unlink()
