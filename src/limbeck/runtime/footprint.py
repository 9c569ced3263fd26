"""Footprint: the largest memory of a process that annotates.

In:  a bundle's folder and lines of text.
Out: megabytes, as the system counted them for the whole process; 1 MB is 10^6 bytes.

Linux charges a process with the largest memory of the one that started it, and whoever measures is
large: it trains or holds engines. So `python -m limbeck.runtime.footprint FOLDER`, which is small,
stands between the two.
"""

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from limbeck.errors import StageError


def peak_memory_mb(folder: Path, lines: Iterable[bytes]) -> float:
    """Annotate the lines in a process of its own, and give its largest resident memory."""
    process = subprocess.Popen(
        [sys.executable, "-m", "limbeck.runtime.footprint", str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    if process.stdin is None or process.stdout is None:
        raise StageError("annotate took no input")
    try:
        with process.stdin as pipe:
            for line in lines:
                pipe.write(line)
    except BrokenPipeError:
        pass  # it has ended: its exit code tells
    with process.stdout as told:
        answer = told.read()
    if process.wait() != 0:
        raise StageError(f"annotating with {folder.name} ended with {process.returncode}")
    return float(answer)


def resident_mb(process: int | None = None) -> float:
    """Resident memory now, in MB, of a process by its number or of this one.

    Where the system does not tell (no /proc), the largest so far of this one.
    """
    status = Path(f"/proc/{process or 'self'}/status")
    if status.is_file() or process is not None:
        found = status.read_text().partition("VmRSS:")[2]
        return int(found.split()[0]) * 1_024 / 1e6
    import resource

    return _in_mb(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def _annotate(folder: str) -> int:
    """Annotate what comes in, print the megabytes that it took, and give its exit code."""
    process = subprocess.Popen(
        [sys.executable, "-m", "limbeck", "annotate", folder, "-", "--format", "lines"],
        stdout=subprocess.DEVNULL,
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    sys.stdout.write(f"{_in_mb(used.ru_maxrss)}\n")
    return process.returncode


def _in_mb(maxrss: int) -> float:
    """The system's count of resident memory in MB: Linux counts KiB, macOS bytes."""
    return maxrss * (1_024 if sys.platform == "linux" else 1) / 1e6


if __name__ == "__main__":
    sys.exit(_annotate(sys.argv[1]))
