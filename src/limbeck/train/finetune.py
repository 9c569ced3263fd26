"""Fine-tuning: a pretrained backbone becomes a network for the recipe's tasks.

In:  where to start, records of train and dev, soft targets where there are any, settings.
Out: a `Trained` folder, written whole, and its history. Teachers, students and their twins without
distillation all pass through here; what differs is data and weights.
"""

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import torch
from torch import nn

from limbeck.data.records import Record
from limbeck.environment import environment
from limbeck.progress import Progress
from limbeck.tasks.base import Task
from limbeck.train.backbones import Pretrained
from limbeck.train.devices import pick_device
from limbeck.train.evaluate import evaluate_network
from limbeck.train.loop import Fitted, TrainConfig, fit
from limbeck.train.network import Network
from limbeck.train.objective import LossWeights
from limbeck.train.predict import Predictor
from limbeck.train.rows import make_rows
from limbeck.train.targets import TargetStore
from limbeck.train.trained import Trained, plans_of, save_trained

N_SPEED_RECORDS = 256  # of dev: enough batches for a rate, seconds even for a large teacher


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """What a network learns from."""

    train: Sequence[Record]
    dev: Sequence[Record]
    tasks: tuple[Task, ...]
    store: TargetStore | None  # soft targets of the records, if a teacher speaks
    weights: LossWeights


def fine_tune(
    start: Pretrained,
    lesson: Lesson,
    config: TrainConfig,
    *,
    folder: Path,
    checkpoints: Path,
    label: str,
    progress: Progress,
) -> Fitted:
    """Train and write the best network into `folder` (which exists and is empty)."""
    torch.manual_seed(config.seed)
    device = pick_device(config.device)
    network = Network(start.backbone, plans_of(lesson.tasks), dropout=config.dropout)
    trained = Trained(network=network, tokenizer=start.tokenizer, tasks=lesson.tasks)
    predictor = trained.predictor(device=device, precision=config.precision)
    store = lesson.store
    uses_states = store is not None and lesson.weights.states > 0
    states = [store.states(r) for r in lesson.train] if store is not None and uses_states else None
    rows = make_rows(
        lesson.train,
        lesson.tasks,
        predictor.piecer,
        soft=[store.soft(record) for record in lesson.train] if store is not None else None,
        states=states,
    )
    width = next((s.shape[1] for s in states or () if s is not None), 0)
    projection = nn.Linear(start.backbone.hidden_size, width) if width else None
    fitted = fit(
        network,
        rows,
        lesson.tasks,
        pad_id=predictor.piecer.pad_id,
        evaluate=lambda: evaluate_network(predictor, lesson.dev, lesson.tasks),
        config=config,
        weights=lesson.weights,
        device=device,
        folder=checkpoints,
        label=label,
        progress=progress,
        state_projection=projection,
    )
    save_trained(folder, trained, dropout=config.dropout)
    history = {
        "n_steps": fitted.n_steps,
        "epochs": [asdict(e) for e in fitted.history],
        "sentences_per_second": fp32_rate(predictor, lesson.dev),
        "environment": environment(n_threads=torch.get_num_threads()),
    }
    (folder / "history.json").write_text(json.dumps(history, indent=1), encoding="utf-8")
    return fitted


def fp32_rate(predictor: Predictor, records: Sequence[Record]) -> float:
    """Records/s of the network in fp32, sorted by length: what a user has before any of this."""
    measured = records[:N_SPEED_RECORDS]
    exact = replace(predictor, precision="fp32")
    exact.scores(measured[:32])  # the first batches pay for allocations
    began = time.perf_counter()
    exact.scores(measured)
    return len(measured) / (time.perf_counter() - began)
