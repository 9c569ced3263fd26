"""Footprint: the largest memory of a process that annotates.

In:  a bundle's folder and lines of text.
Out: megabytes, as the system counted them for the whole process.
"""

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from limbeck.errors import StageError


def peak_memory_mb(folder: Path, lines: Iterable[bytes]) -> float:
    """Annotate the lines in a process of its own; 1 MB is 10^6 bytes."""
    process = subprocess.Popen(
        [sys.executable, "-m", "limbeck", "annotate", str(folder), "-", "--format", "lines"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    if process.stdin is None:
        raise StageError("annotate took no input")
    try:
        with process.stdin as pipe:
            for line in lines:
                pipe.write(line)
    except BrokenPipeError:
        pass  # it has ended: its exit code tells
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise StageError(f"annotating with {folder.name} ended with {process.returncode}")
    return in_mb(used.ru_maxrss)


def in_mb(maxrss: int) -> float:
    """The system's count of resident memory in MB: Linux counts KiB, macOS bytes."""
    return maxrss * (1_024 if sys.platform == "linux" else 1) / 1e6
