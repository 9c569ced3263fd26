"""The lock of a run folder: two runs in one would undo each other's stages.

In:  the run folder.
Out: a context in which no other process works in it; the system lets go of it when we end.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from limbeck.errors import InputError

LOCK = ".lock"


@contextmanager
def locked(run: Path) -> Iterator[None]:
    """Make the folder if need be and hold it."""
    try:
        run.mkdir(parents=True, exist_ok=True)
        handle = os.open(run / LOCK, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as failure:
        raise InputError(
            f"{run}: cannot be a run folder ({failure.strerror})", hint="name another --out"
        ) from failure
    try:
        _take(handle, run)
        yield
    finally:
        os.close(handle)


def _take(handle: int, run: Path) -> None:
    try:
        import fcntl
    except ImportError:  # not a POSIX system: nobody is kept out
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as failure:
        raise InputError(
            f"{run}: another limbeck works there", hint="wait for it, or name another --out"
        ) from failure
