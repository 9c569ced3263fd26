"""How a peer talks to the race: run by the peers' scripts, which stand beside this file."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any


def job() -> dict[str, Any]:
    """What to do: texts, threads and the peer's own settings."""
    told: dict[str, Any] = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    return told


def records(path: str) -> list[dict[str, Any]]:
    """One object a line: "words", and "label" where the text has one."""
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def serve(run: Callable[[], list[Any]], versions: dict[str, str]) -> None:
    """Obey until the race ends."""
    # libraries print to stdout as they please; the race reads only what starts with the mark
    _tell({"ready": True, "versions": versions})
    said: list[Any] = []
    for line in sys.stdin:
        match line.strip():
            case "go":
                said = run()
                _tell({"done": True})
            case "say":
                _tell({"said": said})


def _tell(value: dict[str, Any]) -> None:
    sys.stdout.write("\n@limbeck " + json.dumps(value) + "\n")
    sys.stdout.flush()
