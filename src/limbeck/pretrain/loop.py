"""The loop of pretraining: steps until the end, curves, checkpoints, exact continuation.

In:  a network, a feed, settings, a clock.
Out: the network as it is at the end, and its last probe. Where a run ends by steps, one that was
killed ends with the very weights of one that was not; where it ends by time, with the same order of
text, the time of all its parts added up.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from limbeck.errors import StageError
from limbeck.pretrain.batches import Batch
from limbeck.pretrain.config import DistilConfig, PretrainRecipe, TrainingConfig
from limbeck.pretrain.curves import Curves
from limbeck.pretrain.feed import Epoch, Feed
from limbeck.pretrain.lamb import Lamb
from limbeck.pretrain.network import PretrainNetwork
from limbeck.pretrain.objective import count, own_losses, teacher_losses, total
from limbeck.pretrain.probe import Probe, probe
from limbeck.pretrain.schedule import is_due, progress_at, rate_share
from limbeck.progress import Progress
from limbeck.train.checkpoints import (
    Checkpoint,
    load_newest,
    optimizer_tensors,
    restore_optimizer,
    save_checkpoint,
)
from limbeck.train.devices import Precision, autocast

LOSS_ROWS = 200  # rows of the loss curve of a whole run
CHECKPOINT_MINUTES = 5.0
ADAM_EPSILON = 1e-6  # as ALBERT's and BERT's authors have it

Clock = Callable[[], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Teacher:
    """Who is asked, and how much what it says weighs."""

    network: PretrainNetwork
    config: DistilConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of a run."""

    n_steps: int
    n_pieces: int  # read in training, again and again where there were several epochs
    seconds: float  # of training alone
    epochs: float
    probe: Probe


def pretrain(
    network: PretrainNetwork,
    feed: Feed,
    recipe: PretrainRecipe,
    *,
    teacher: Teacher | None,
    device: torch.device,
    folder: Path,
    curves: Curves,
    progress: Progress,
    clock: Clock,
    checkpoint_minutes: float = CHECKPOINT_MINUTES,
) -> Outcome:
    """Train to the end, from `folder` on if it holds a start."""
    config, precision = recipe.training, recipe.precision
    network.to(device).train()
    if device.type == "cpu":
        network.backbone.use_plain_attention()
    torch.manual_seed(recipe.seed)
    run = _Run(network, make_optimizer(network, config))
    saved = load_newest(folder)
    if saved is not None:
        run.restore(saved)
    curves.begin(run.step)
    probes = feed.probes()
    bar = _Bar(progress, recipe)
    bar.start(run)
    parameters = [p for p in network.parameters() if p.requires_grad]
    last_save = clock()
    epoch: Epoch | None = None
    while run.progress(config) < 1:
        if epoch is None:
            epoch = feed.epoch(run.epoch)
        if run.step_of_epoch == len(epoch.steps):
            run.epoch, run.step_of_epoch = run.epoch + 1, 0
            epoch = feed.epoch(run.epoch)
        began = clock()
        before = run.progress(config)
        rate = config.peak_rate * rate_share(run.middle_of_step(config), config.warmup)
        for group in run.optimizer.param_groups:
            group["lr"] = rate
        batches = feed.batches(epoch, run.step_of_epoch)
        losses = backward(network, teacher, batches, device, precision)
        if not all(math.isfinite(loss) for loss in losses.values()):
            raise StageError(
                f"the loss is no number at step {run.step + 1}",
                hint='lower [training] rate, or set precision = "fp32"',
            )
        nn.utils.clip_grad_norm_(parameters, config.max_norm)
        run.optimizer.step()
        run.optimizer.zero_grad(set_to_none=True)
        run.close_step(losses, n_pieces=count(batches).n_real, seconds=clock() - began)
        after = run.progress(config)
        bar.advance(run)
        if is_due(before, after, LOSS_ROWS):
            curves.add(run.loss_row(rate))
        if is_due(before, after, config.probes):
            found = probe(network, probes, precision=precision)
            curves.add(run.probe_row(found))
            progress.say(f"{recipe.name}: step {run.step}, {found.line()}")
        if after < 1 and clock() - last_save > 60 * checkpoint_minutes:
            save_checkpoint(folder, run.step, run.snapshot())
            last_save = clock()
    save_checkpoint(folder, run.step, run.snapshot())
    progress.finish()
    curves.end()
    return _outcome(run, feed, epoch, curves)


def make_optimizer(network: nn.Module, config: TrainingConfig) -> Optimizer:
    """Decay on matrices, none on biases and norms."""
    parameters = [p for p in network.parameters() if p.requires_grad]
    groups: list[dict[str, Any]] = [
        {
            "params": [p for p in parameters if p.ndim > 1],
            "lr": config.peak_rate,
            "weight_decay": config.weight_decay,
        },
        {
            "params": [p for p in parameters if p.ndim <= 1],
            "lr": config.peak_rate,
            "weight_decay": 0.0,
        },
    ]
    match config.optimizer:
        case "adamw":
            return torch.optim.AdamW(groups, eps=ADAM_EPSILON, fused=True)
        case "lamb":
            return Lamb(groups, eps=ADAM_EPSILON)


def backward(
    network: PretrainNetwork,
    teacher: Teacher | None,
    batches: Sequence[Batch],
    device: torch.device,
    precision: Precision,
) -> dict[str, float]:
    """Gradients of the step's mean loss; gives its parts."""
    counts = count(batches)
    sums: dict[str, float] = {}
    for batch in batches:
        with autocast(device, precision):
            scores = network(batch)
        losses = own_losses(scores, batch, counts)
        if teacher is not None:
            with torch.no_grad(), autocast(device, precision):
                said = teacher.network(batch)
            losses |= teacher_losses(scores, said, batch, counts, teacher.config)
        loss = total(losses, teacher.config if teacher is not None else None)
        loss.backward()  # type: ignore[no-untyped-call]
        for name, part in {"loss": loss, **losses}.items():
            sums[name] = sums.get(name, 0.0) + float(part.detach())
    return sums


def _outcome(run: "_Run", feed: Feed, epoch: Epoch | None, curves: Curves) -> Outcome:
    last = curves.last_of("probe")
    assert last is not None  # a probe is due at the end of every run
    steps = (epoch or feed.epoch(run.epoch)).steps
    names = [field.name for field in fields(Probe)]
    return Outcome(
        n_steps=run.step,
        n_pieces=run.n_pieces,
        seconds=round(run.seconds, 2),
        epochs=round(run.epoch + run.step_of_epoch / len(steps), 3),
        probe=Probe(**{name: last[name] for name in names}),
    )


class _Bar:
    """Progress in steps, or in seconds where time ends the run."""

    def __init__(self, progress: Progress, recipe: PretrainRecipe) -> None:
        self._progress, self._config, self._name = progress, recipe.training, recipe.name
        self._shown = 0

    def start(self, run: "_Run") -> None:
        self._shown = self._done(run)
        total = self._config.steps or math.ceil(60 * (self._config.minutes or 0))
        unit = "steps" if self._config.steps else "seconds"
        self._progress.start(f"{self._name}, {unit}", total, n_before=self._shown)

    def advance(self, run: "_Run") -> None:
        done = self._done(run)
        self._progress.advance(done - self._shown)
        self._shown = done

    def _done(self, run: "_Run") -> int:
        return run.step if self._config.steps else int(run.seconds)


class _Run:
    """Everything that changes, with its way to and from a checkpoint."""

    def __init__(self, network: PretrainNetwork, optimizer: Optimizer) -> None:
        self.network, self.optimizer = network, optimizer
        self.epoch = self.step_of_epoch = self.step = self.n_pieces = 0
        self.seconds = 0.0
        self.sums: dict[str, float] = {}  # of losses since the last row
        self.n_summed = 0

    def progress(self, config: TrainingConfig) -> float:
        return progress_at(config, n_steps=self.step, seconds=self.seconds)

    def middle_of_step(self, config: TrainingConfig) -> float:
        """So that neither the first step nor the last has a rate of nothing."""
        half = self.seconds / self.step / 2 if self.step else 0.0
        return progress_at(config, n_steps=self.step + 0.5, seconds=self.seconds + half)

    def close_step(self, losses: dict[str, float], *, n_pieces: int, seconds: float) -> None:
        self.step += 1
        self.step_of_epoch += 1
        self.n_pieces += n_pieces
        self.seconds += seconds
        for name, loss in losses.items():
            self.sums[name] = self.sums.get(name, 0.0) + loss
        self.n_summed += 1

    def loss_row(self, rate: float) -> dict[str, Any]:
        """Mean losses since the last row."""
        means = {name: round(value / self.n_summed, 5) for name, value in self.sums.items()}
        self.sums, self.n_summed = {}, 0
        return {"kind": "loss", **self._where(), "rate": rate, **means}

    def probe_row(self, found: Probe) -> dict[str, Any]:
        return {"kind": "probe", **self._where(), **asdict(found)}

    def _where(self) -> dict[str, Any]:
        return {
            "step": self.step,
            "epoch": self.epoch,
            "n_pieces": self.n_pieces,
            "seconds": round(self.seconds, 2),
        }

    def snapshot(self) -> Checkpoint:
        tensors: dict[str, Tensor] = {
            f"network.{name}": p.detach() for name, p in self.network.named_parameters()
        }
        for name, value in optimizer_tensors(self.optimizer).items():
            tensors[f"optimizer.{name}"] = value
        tensors["rng"] = torch.get_rng_state()
        return Checkpoint(
            tensors=tensors,
            state={
                "epoch": self.epoch,
                "step_of_epoch": self.step_of_epoch,
                "step": self.step,
                "n_pieces": self.n_pieces,
                "seconds": self.seconds,
                "sums": self.sums,
                "n_summed": self.n_summed,
            },
        )

    def restore(self, saved: Checkpoint) -> None:
        memory: dict[str, Tensor] = {}
        parameters = dict(self.network.named_parameters())
        with torch.no_grad():
            for name, tensor in saved.tensors.items():
                head, _, rest = name.partition(".")
                if head == "network":
                    parameters[rest].copy_(tensor)
                elif head == "optimizer":
                    memory[rest] = tensor
        restore_optimizer(self.optimizer, memory)
        torch.set_rng_state(saved.tensors["rng"])
        state: dict[str, Any] = dict(saved.state)
        self.epoch, self.step_of_epoch = state["epoch"], state["step_of_epoch"]
        self.step, self.n_pieces = state["step"], state["n_pieces"]
        self.seconds, self.sums = state["seconds"], state["sums"]
        self.n_summed = state["n_summed"]
