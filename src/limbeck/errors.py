"""One exception tree: what was wrong, where, and how to mend it.

In:  a message that names file, line or key, and a hint with the remedy.
Out: exceptions that the command line narrates; it alone knows about terminals.
"""

from enum import IntEnum


class ExitCode(IntEnum):
    """What the shell sees."""

    DONE = 0
    FAILED = 1
    WRONG_INPUT = 2
    INTERRUPTED = 130
    TERMINATED = 143


class LimbeckError(Exception):
    """Base of all errors that limbeck raises on purpose."""

    exit_code = ExitCode.FAILED

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


def first_line(failure: BaseException) -> str:
    """What another library said, in one line."""
    return (str(failure).splitlines() or [type(failure).__name__])[0]


class InputError(LimbeckError):
    """The user's text, labels or files are not what was expected: `file:line: what`."""

    exit_code = ExitCode.WRONG_INPUT


class ConfigError(LimbeckError):
    """A recipe or an option is wrong."""

    exit_code = ExitCode.WRONG_INPUT


class BundleError(LimbeckError):
    """A bundle is damaged, incomplete or too new."""

    exit_code = ExitCode.WRONG_INPUT


class EngineError(LimbeckError):
    """An engine is missing or cannot run this graph on this machine."""

    exit_code = ExitCode.WRONG_INPUT


class StageError(LimbeckError):
    """A stage of a run could not be completed."""
