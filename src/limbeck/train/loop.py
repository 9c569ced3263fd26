"""The training loop: batches, AdamW, warm-up, early stop, exact continuation after a kill.

In:  a network, rows that give batches, a way to score dev, settings.
Out: the network with its best weights, and the history of each epoch.
Knows no file format and no task but through the objective.
"""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn

from limbeck.progress import Progress
from limbeck.tasks.base import Task
from limbeck.train.checkpoints import (
    Checkpoint,
    load_newest,
    optimizer_tensors,
    restore_optimizer,
    save_checkpoint,
)
from limbeck.train.devices import Precision, autocast
from limbeck.train.losses import state_loss
from limbeck.train.network import Network, to_tensors
from limbeck.train.objective import LossWeights, total_loss
from limbeck.train.rows import TrainingRow, collate_rows, shuffled_batches
from limbeck.train.steady import real_logits, steady_batch


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainConfig:
    """How a network is trained."""

    epochs: int = 4
    rate: float = 1e-4  # of the backbone
    head_rate: float = 2e-3  # of everything that starts from nothing
    warmup: float = 0.06  # share of all steps
    weight_decay: float = 0.01
    max_norm: float = 1.0
    dropout: float = 0.2  # in heads; the backbone keeps its own
    max_padded_pieces: int = 1_024  # budget of a batch
    patience: int = 2  # epochs without a better dev mean before the end
    seed: int = 1
    precision: Precision = "auto"
    device: str = "auto"
    checkpoint_minutes: float = 5.0
    freeze: Literal["nothing", "embeddings"] = "nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Epoch:
    """One line of history."""

    epoch: int
    loss: float
    seconds: float
    metrics: dict[str, float]
    mean: float  # of the main metrics, in percent


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """The outcome; the network itself holds the best weights."""

    best: Epoch
    history: tuple[Epoch, ...]
    n_steps: int


Evaluate = Callable[[], tuple[dict[str, float], float]]


def fit(
    network: Network,
    rows: Sequence[TrainingRow],
    tasks: Sequence[Task],
    *,
    pad_id: int,
    evaluate: Evaluate,
    config: TrainConfig,
    weights: LossWeights,
    device: torch.device,
    folder: Path,
    label: str,
    progress: Progress,
    state_projection: nn.Linear | None = None,
) -> Fitted:
    """Train, keep the best epoch by the dev mean, and go on from `folder` if it holds a start."""
    network.to(device)
    if device.type == "cpu":
        network.backbone.use_plain_attention()
    if config.freeze == "embeddings":
        network.backbone.model.get_input_embeddings().requires_grad_(False)
    torch.manual_seed(config.seed)
    n_pieces = [len(row.pieces.ids) for row in rows]
    plan = [
        shuffled_batches(
            n_pieces,
            max_padded_pieces=config.max_padded_pieces,
            rng=np.random.default_rng([config.seed, epoch]),
        )
        for epoch in range(config.epochs)
    ]
    n_steps = sum(len(batches) for batches in plan)
    modules = nn.ModuleDict({"network": network})
    if state_projection is not None:
        modules["state_projection"] = state_projection.to(device)
    optimizer = make_optimizer(modules, config)
    base_rates = [float(group["lr"]) for group in optimizer.param_groups]
    run = _Run(modules, optimizer)
    saved = load_newest(folder)
    if saved is not None:
        run.restore(saved)
    parameters = [p for p in modules.parameters() if p.requires_grad]
    progress.start(label, n_steps, n_before=run.step)
    last_save = time.monotonic()
    done_before = sum(len(batches) for batches in plan[: run.epoch])
    for epoch in range(run.epoch, config.epochs):
        if _is_over(run.history, config.patience):
            break
        began = time.monotonic()
        network.train()
        for positions in plan[epoch][run.step - done_before :]:
            batch, targets = collate_rows([rows[i] for i in positions], tasks, pad_id=pad_id)
            steady = steady_batch(batch, max_padded_pieces=config.max_padded_pieces, pad_id=pad_id)
            tensors = to_tensors(steady, device)
            with autocast(device, config.precision):
                states = network.states(tensors)
                logits = network.score(states, tensors, targets.heads)
            loss = total_loss(
                real_logits(logits, batch, tasks),
                targets,
                tasks,
                weights,
                present=tensors.word_grid[: len(batch.n_words)] >= 0,
            )
            if state_projection is not None and targets.states is not None and weights.states > 0:
                # projected with the padding, cut after: one kernel for all batches
                words = state_projection(states[-1].float().flatten(0, 1)[tensors.word_at])
                known = targets.states.abs().sum(dim=-1) > 0
                loss = loss + weights.states * state_loss(
                    words[: len(known)][known], targets.states[known]
                )
            share = _rate(run.step, n_steps, config.warmup)
            for group, base in zip(optimizer.param_groups, base_rates, strict=True):
                group["lr"] = base * share
            if loss.requires_grad:  # not where no record of the batch has a target that counts
                optimizer.zero_grad(set_to_none=True)
                loss.backward()  # type: ignore[no-untyped-call]
                nn.utils.clip_grad_norm_(parameters, config.max_norm)
                optimizer.step()
            run.step += 1
            run.loss_sum += float(loss.detach())
            run.loss_count += 1
            run.seconds += time.monotonic() - began
            began = time.monotonic()
            progress.advance(1)
            if time.monotonic() - last_save > 60 * config.checkpoint_minutes:
                save_checkpoint(folder, run.step, run.snapshot())
                last_save = time.monotonic()
        metrics, mean = evaluate()
        run.close_epoch(epoch, metrics, mean)
        done_before += len(plan[epoch])
        progress.say(_line(label, run.history[-1]))
        save_checkpoint(folder, run.step, run.snapshot())
        last_save = time.monotonic()
    run.load_best()
    best = max(run.history, key=lambda e: e.mean)
    progress.finish()
    return Fitted(best=best, history=tuple(run.history), n_steps=run.step)


def make_optimizer(modules: nn.ModuleDict, config: TrainConfig) -> torch.optim.AdamW:
    """Two rates, and no decay on biases and norms."""
    groups: dict[tuple[bool, bool], list[nn.Parameter]] = {}
    for name, parameter in modules.named_parameters():
        if not parameter.requires_grad:
            continue
        key = (name.startswith("network.backbone."), parameter.ndim > 1)
        groups.setdefault(key, []).append(parameter)
    return torch.optim.AdamW(
        [
            {
                "params": parameters,
                "lr": config.rate if is_backbone else config.head_rate,
                "weight_decay": config.weight_decay if is_matrix else 0.0,
            }
            for (is_backbone, is_matrix), parameters in groups.items()
        ],
        fused=True,
    )


def _rate(step: int, n_steps: int, warmup: float) -> float:
    n_warm = max(1, int(n_steps * warmup))
    if step < n_warm:
        return (step + 1) / n_warm
    return max(0.0, (n_steps - step) / max(1, n_steps - n_warm))


def _is_over(history: Sequence[Epoch], patience: int) -> bool:
    if not history:
        return False
    best = max(range(len(history)), key=lambda i: history[i].mean)
    return len(history) - 1 - best >= patience


def _line(label: str, epoch: Epoch) -> str:
    parts = " ".join(f"{name} {value:.2f}" for name, value in epoch.metrics.items())
    return (
        f"{label}: epoch {epoch.epoch + 1}, {epoch.seconds:.0f} s, loss {epoch.loss:.3f}, "
        f"dev {epoch.mean:.2f} ({parts})"
    )


class _Run:
    """Everything that changes while training, with its way to and from a checkpoint."""

    def __init__(self, modules: nn.ModuleDict, optimizer: torch.optim.AdamW) -> None:
        self.modules = modules
        self.optimizer = optimizer
        self.epoch = 0
        self.step = 0
        self.loss_sum = 0.0
        self.loss_count = 0
        self.seconds = 0.0
        self.history: list[Epoch] = []
        self.best: dict[str, Tensor] = {}

    def close_epoch(self, epoch: int, metrics: dict[str, float], mean: float) -> None:
        if not math.isfinite(mean):
            mean = -math.inf
        if not self.history or mean > max(e.mean for e in self.history):
            self.best = {k: v.detach().clone() for k, v in self.modules.state_dict().items()}
        self.history.append(
            Epoch(
                epoch=epoch,
                loss=self.loss_sum / max(1, self.loss_count),
                seconds=self.seconds,
                metrics=metrics,
                mean=mean,
            )
        )
        self.epoch = epoch + 1
        self.loss_sum, self.loss_count, self.seconds = 0.0, 0, 0.0

    def load_best(self) -> None:
        if self.best:
            self.modules.load_state_dict(self.best)

    def snapshot(self) -> Checkpoint:
        tensors = {f"now.{k}": v.clone() for k, v in self.modules.state_dict().items()}
        tensors |= {f"best.{k}": v.clone() for k, v in self.best.items()}
        for name, value in optimizer_tensors(self.optimizer).items():
            tensors[f"optimizer.{name}"] = value.clone()
        tensors["rng"] = torch.get_rng_state()
        return Checkpoint(
            tensors=tensors,
            state={
                "epoch": self.epoch,
                "step": self.step,
                "loss_sum": self.loss_sum,
                "loss_count": self.loss_count,
                "seconds": self.seconds,
                "history": [
                    {
                        "epoch": e.epoch,
                        "loss": e.loss,
                        "seconds": e.seconds,
                        "metrics": e.metrics,
                        "mean": e.mean,
                    }
                    for e in self.history
                ],
            },
        )

    def restore(self, saved: Checkpoint) -> None:
        parts: dict[str, dict[str, Tensor]] = {"now": {}, "best": {}, "optimizer": {}}
        for name, tensor in saved.tensors.items():
            head, _, rest = name.partition(".")
            if head in parts:
                parts[head][rest] = tensor
        self.modules.load_state_dict(parts["now"])
        self.best = parts["best"]
        restore_optimizer(self.optimizer, parts["optimizer"])
        torch.set_rng_state(saved.tensors["rng"])
        state = saved.state
        self.epoch, self.step = int(state["epoch"]), int(state["step"])  # type: ignore[call-overload]
        self.loss_sum, self.seconds = float(state["loss_sum"]), float(state["seconds"])  # type: ignore[arg-type]
        self.loss_count = int(state["loss_count"])  # type: ignore[call-overload]
        self.history = [Epoch(**e) for e in state["history"]]  # type: ignore[attr-defined]
