"""Artefacts on disk: written whole or not at all.

In:  a target path and whatever fills it.
Out: the target, complete and synced, or what was there before.
"""

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def atomic_file(target: Path) -> Iterator[BinaryIO]:
    """Fill a sibling file, then rename it over the target; on error leave what was there.

    A link is followed, a file keeps its permissions. A pipe or a device has nothing to be kept
    and is written to as it stands.
    """
    target = target.resolve()
    if target.exists() and not target.is_file() and not target.is_dir():
        with target.open("wb") as stream:
            yield stream
        return
    mode = stat.S_IMODE(target.stat().st_mode) if target.is_file() else 0o666 & ~_umask()
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}-")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, mode)
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def sync_tree(folder: Path) -> None:
    """Make sure that every file below has reached the disk."""
    for path in folder.rglob("*"):
        if path.is_file():
            sync_path(path)


def sync_path(path: Path) -> None:
    """Make sure that one file, or the entries of one folder, have reached the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def give_name(folder: Path, name: str) -> Path:
    """Let `name`, beside the folder, be a link to it; the folder itself where no link can be."""
    link, staged = folder.parent / name, folder.parent / f".{name}"
    if link.exists() and not link.is_symlink():
        return folder
    try:
        staged.unlink(missing_ok=True)
        staged.symlink_to(folder.name)
        staged.replace(link)
    except OSError:  # not every file system has links
        return folder
    return link


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
