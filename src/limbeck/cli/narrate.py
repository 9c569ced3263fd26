"""Errors, signals and exit codes: what happens at the edge of every command.

In:  a function that does a command's work.
Out: an exit code; one clear line and a hint on stderr where something was wrong.
"""

import os
import signal
import sys
from collections.abc import Callable
from types import FrameType

from limbeck.errors import ExitCode, LimbeckError


class _Terminated(BaseException):
    """SIGTERM came; unwinds as KeyboardInterrupt does, so that half-written files are removed."""


def _on_term(_signal: int, _frame: FrameType | None) -> None:
    raise _Terminated


def narrated(work: Callable[[], int | None]) -> int:
    """Run a command's work and turn every outcome into an exit code."""
    signal.signal(signal.SIGTERM, _on_term)
    try:
        return int(work() or ExitCode.DONE)
    except LimbeckError as failure:
        _complain(str(failure), failure.hint)
        return failure.exit_code
    except KeyboardInterrupt:
        _complain("interrupted", "")
        return ExitCode.INTERRUPTED
    except _Terminated:
        _complain("terminated", "")
        return ExitCode.TERMINATED
    except BrokenPipeError:
        # the reader had enough: not a failure of ours; stdout must not be flushed again at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.DONE
    except OSError as failure:
        _complain(f"{failure.filename or 'a file'}: {failure.strerror or failure}", "")
        return ExitCode.FAILED
    except ImportError as failure:
        _complain(str(failure), _remedy(failure))
        return ExitCode.WRONG_INPUT


def _remedy(failure: ImportError) -> str:
    name = (failure.name or "").partition(".")[0]
    training = ("torch", "transformers", "safetensors", "onnx", "onnxscript", "nncf", "pydantic")
    if name in (*training, "huggingface_hub", "optuna"):
        return "pip install 'limbeck[train]'"
    if name in ("pyarrow", "zstandard", "datasets"):
        return "pip install 'limbeck[data]'"
    if name in ("jinja2", "markupsafe"):
        return "pip install 'limbeck[report]'"
    if name in ("fastapi", "starlette", "uvicorn", "httptools", "uvloop", "prometheus_client"):
        return "pip install 'limbeck[serve]'"
    if name == "openvino":
        return "pip install 'limbeck[openvino]'"
    return ""


def _complain(message: str, hint: str) -> None:
    sys.stderr.write(f"error: {one_line(message)}\n")
    if hint:
        sys.stderr.write(f"hint: {one_line(hint)}\n")


def one_line(text: str) -> str:
    """What was quoted from a file may hold line ends, or orders to the terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
