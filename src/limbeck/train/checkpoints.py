"""Checkpoints: training state on disk that a kill cannot half-write.

In:  tensors and a small JSON state.
Out: a folder `step-00001200`, complete by an atomic rename, each file with its hash. Loading takes
the newest whose hashes hold and falls back to the one before. No pickle.
"""

import hashlib
import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from safetensors.torch import load_file, save_file
from torch import Tensor
from torch.optim import Optimizer

from limbeck.artefacts import sync_path, sync_tree

KEPT = 2  # the newest may be damaged by a full disk; the one before it is the way back


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """What is needed to go on exactly."""

    tensors: Mapping[str, Tensor]
    state: Mapping[str, object]


def save_checkpoint(folder: Path, step: int, checkpoint: Checkpoint) -> Path:
    """Write a checkpoint whole or not at all, then drop the oldest."""
    folder.mkdir(parents=True, exist_ok=True)
    for stale in folder.glob(".step-*"):
        shutil.rmtree(stale)
    target = folder / f"step-{step:08d}"
    staged = folder / f".{target.name}"
    staged.mkdir()
    save_file(
        {name: tensor.detach().contiguous() for name, tensor in checkpoint.tensors.items()},
        staged / "tensors.safetensors",
    )
    state = {"sha256": _sha256(staged / "tensors.safetensors"), "state": dict(checkpoint.state)}
    (staged / "state.json").write_text(json.dumps(state), encoding="utf-8")
    sync_tree(staged)
    if target.exists():
        shutil.rmtree(target)
    staged.rename(target)
    sync_path(folder)
    for old in sorted(folder.glob("step-*"))[:-KEPT]:
        shutil.rmtree(old)
    return target


def load_newest(folder: Path) -> Checkpoint | None:
    """Load the newest sound checkpoint, or None."""
    for path in sorted(folder.glob("step-*"), reverse=True):
        try:
            state = json.loads((path / "state.json").read_text(encoding="utf-8"))
            if state["sha256"] != _sha256(path / "tensors.safetensors"):
                continue
            return Checkpoint(tensors=load_file(path / "tensors.safetensors"), state=state["state"])
        except (OSError, ValueError, KeyError):
            continue  # damaged: the one before it will do
    return None


def optimizer_tensors(optimizer: Optimizer) -> dict[str, Tensor]:
    """What an optimizer remembers of each parameter, named by the parameter's place."""
    return {
        f"{i}.{key}": value
        for i, parameter in enumerate(_parameters(optimizer))
        for key, value in optimizer.state.get(parameter, {}).items()
    }


def restore_optimizer(optimizer: Optimizer, tensors: Mapping[str, Tensor]) -> None:
    """Give an optimizer its memory back."""
    parameters = _parameters(optimizer)
    for name, tensor in tensors.items():
        i, _, key = name.partition(".")
        optimizer.state[parameters[int(i)]][key] = tensor


def _parameters(optimizer: Optimizer) -> list[Tensor]:
    return [p for group in optimizer.param_groups for p in group["params"]]


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
