"""The command line as a user calls it: a process of its own, its words and its exit code."""

import subprocess
import sys


def limbeck(*arguments: object, text: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run `limbeck` with these arguments and this text on standard input."""
    return subprocess.run(
        [sys.executable, "-m", "limbeck", *map(str, arguments)],
        input=text, capture_output=True, text=True, check=False,
    )  # fmt: skip
