"""A peer as a contestant: a script in a process of its own, told to go round after round.

In:  a peer's script, what it is told, the Python that has its libraries.
Out: a contestant, and what the peer said of the text.
"""

import json
import os
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from limbeck.errors import StageError

SCRIPTS = Path(__file__).parent / "peers"
MARK = "@limbeck "


class PeerAbsentError(StageError):
    """A peer's library is not installed in its Python."""


class Peer:
    """Alive between `with` and its end; `run` does all texts once."""

    def __init__(self, script: str, told: Mapping[str, object], *, python: str) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  closed with the peer
        with tempfile.NamedTemporaryFile("w", suffix=".json", delete=False) as file:
            json.dump(dict(told), file)
        self._told = Path(file.name)
        threads = str(told["n_threads"])
        self._process = subprocess.Popen(
            [python, str(SCRIPTS / f"{script}.py"), str(self._told)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            env={
                **os.environ,
                # the same threads for everyone, whatever library does the work
                "OMP_NUM_THREADS": threads,
                "OPENBLAS_NUM_THREADS": threads,
                "MKL_NUM_THREADS": threads,
                "TOKENIZERS_PARALLELISM": "true" if threads != "1" else "false",
                "RAYON_NUM_THREADS": threads,
                "HF_HUB_OFFLINE": "1",
            },
        )

    def __enter__(self) -> Self:
        try:
            self.versions: dict[str, str] = self._heard()["versions"]
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        failure: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end()

    def run(self) -> None:
        self._ask("go")

    def said(self) -> list[Any]:
        """What the last run found, one value for each text."""
        found: list[Any] = self._ask("say")["said"]
        return found

    def _ask(self, word: str) -> dict[str, Any]:
        if self._process.stdin is None:
            raise StageError("a peer takes no orders")
        try:
            self._process.stdin.write(word + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # it has ended: its last words say why
        return self._heard()

    def _heard(self) -> dict[str, Any]:
        for line in self._process.stdout or ():
            if line.startswith(MARK):
                heard: dict[str, Any] = json.loads(line.removeprefix(MARK))
                return heard
        self._process.wait()
        self._errors.seek(0)
        last = (self._errors.read().decode(errors="replace").strip().splitlines() or [""])[-1]
        if last.startswith(("ModuleNotFoundError", "ImportError")):
            raise PeerAbsentError(last)
        raise StageError(f"a peer ended: {last}")

    def _end(self) -> None:
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
        self._errors.close()
        self._told.unlink(missing_ok=True)
