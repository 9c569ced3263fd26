"""Stages: one folder for each finished piece of work, named by a hash of all that went in.

In:  a name, the inputs that decide the outcome, and a function that fills a folder.
Out: the folder; filled now, or found finished. A stage that is killed leaves no folder under its
name, only its own checkpoints, from which it goes on.
"""

import hashlib
import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from limbeck.artefacts import sync_tree
from limbeck.errors import StageError

# Raise it when a stage computes something else from the same settings.
STAGE_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A unit of work; equal keys mean equal outcomes."""

    name: str  # "teacher-mpnet-1", also the folder's name before the hash
    inputs: Mapping[str, object]  # plain JSON values

    @property
    def key(self) -> str:
        text = json.dumps(
            {"version": STAGE_VERSION, "inputs": dict(self.inputs)}, sort_keys=True, default=str
        )
        return hashlib.blake2b(text.encode(), digest_size=6).hexdigest()

    @property
    def folder_name(self) -> str:
        return f"{self.name}-{self.key}"


def is_done(stage: Stage, run: Path) -> bool:
    """Tell whether the stage's folder stands under its final name."""
    return (run / stage.folder_name).is_dir()


def read_json(path: Path) -> Any:
    """What a finished stage wrote; one that was edited or cut short is to be done again."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as failure:
        raise StageError(
            f"{path}: damaged ({failure})", hint=f"delete {path.parent} to have it done again"
        ) from failure


def perform(stage: Stage, run: Path, fill: Callable[[Path, Path], None]) -> Path:
    """Give the stage's folder; call `fill(folder, scratch)` if it is not there yet.

    `scratch` outlives a kill and is deleted on success: checkpoints and shards go there.
    """
    target = run / stage.folder_name
    if target.is_dir():
        return target
    scratch = run / f".scratch-{stage.folder_name}"
    staged = run / f".{stage.folder_name}"
    try:
        shutil.rmtree(staged, ignore_errors=True)
        staged.mkdir(parents=True)
        scratch.mkdir(parents=True, exist_ok=True)
        fill(staged, scratch)
        (staged / "stage.json").write_text(
            json.dumps({"name": stage.name, "inputs": dict(stage.inputs)}, indent=1, default=str),
            encoding="utf-8",
        )
        sync_tree(staged)
        staged.rename(target)
    except OSError as failure:
        shutil.rmtree(staged, ignore_errors=True)
        raise StageError(
            f"stage {stage.name}: {failure.strerror or failure} ({failure.filename or run})",
            hint="free some room and run the same command again; finished stages are kept",
        ) from failure
    except BaseException:
        shutil.rmtree(staged, ignore_errors=True)
        raise
    shutil.rmtree(scratch, ignore_errors=True)
    return target
