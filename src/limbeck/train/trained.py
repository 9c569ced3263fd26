"""Trained networks on disk: a folder that says what it is and rebuilds itself.

In:  a network, its tokenizer and tasks.
Out: backbone/ (loads with transformers), heads.safetensors, tokenizer.json, network.json.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from transformers import AutoModel

from limbeck.data.pieces import Piecer
from limbeck.data.vocabulary import load_tokenizer
from limbeck.errors import InputError
from limbeck.tasks.base import Task
from limbeck.tasks.codecs import codec_from_json
from limbeck.train.backbones import Backbone, make_piecer
from limbeck.train.devices import Precision
from limbeck.train.network import HeadPlan, Network
from limbeck.train.predict import Predictor


@dataclass(frozen=True, slots=True, kw_only=True)
class Trained:
    """A network with everything needed to use it."""

    network: Network
    tokenizer: Tokenizer
    tasks: tuple[Task, ...]

    def piecer(self) -> Piecer:
        return make_piecer(self.tokenizer, self.network.backbone.config)

    def predictor(self, *, device: torch.device, precision: Precision) -> Predictor:
        return Predictor(
            network=self.network.to(device),
            piecer=self.piecer(),
            kinds={task.name: task.kind for task in self.tasks},
            device=device,
            precision=precision,
        )


def plans_of(tasks: Sequence[Task]) -> tuple[HeadPlan, ...]:
    """Heads for tasks, in their order."""
    return tuple(
        HeadPlan(name=task.name, kind=task.kind, n_outputs=task.codec.n_outputs) for task in tasks
    )


def save_trained(folder: Path, trained: Trained, *, dropout: float) -> None:
    """Write into an existing folder."""
    trained.network.backbone.model.save_pretrained(folder / "backbone")
    heads = {
        name: tensor.contiguous()
        for name, tensor in trained.network.state_dict().items()
        if not name.startswith("backbone.")
    }
    save_file(heads, folder / "heads.safetensors")
    trained.tokenizer.save(str(folder / "tokenizer.json"))
    about = {
        "format": 1,
        "dropout": dropout,
        "tasks": [{"name": task.name, "codec": task.codec.to_json()} for task in trained.tasks],
    }
    (folder / "network.json").write_text(json.dumps(about), encoding="utf-8")


def load_trained(folder: Path) -> Trained:
    """Read what `save_trained` wrote."""
    try:
        return _load(folder)
    except (OSError, ValueError, KeyError, TypeError, SafetensorError) as failure:
        raise InputError(
            f"{folder}: damaged, or not a trained network ({failure})",
            hint=f"delete {folder} to have it trained again",
        ) from failure


def _load(folder: Path) -> Trained:
    about = json.loads((folder / "network.json").read_text(encoding="utf-8"))
    heads = load_file(folder / "heads.safetensors")
    tasks = tuple(
        Task(name=task["name"], codec=codec_from_json(task["codec"])) for task in about["tasks"]
    )
    model = AutoModel.from_pretrained(
        folder / "backbone", trust_remote_code=False, use_safetensors=True, dtype=torch.float32
    )
    network = Network(Backbone(model), plans_of(tasks), dropout=about["dropout"])
    missing, unexpected = network.load_state_dict(heads, strict=False)
    if unexpected or any(not name.startswith("backbone.") for name in missing):
        raise InputError(f"{folder}: heads.safetensors does not fit network.json")
    return Trained(
        network=network, tokenizer=load_tokenizer(folder / "tokenizer.json"), tasks=tasks
    )
