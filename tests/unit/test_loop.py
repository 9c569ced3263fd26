"""The training loop learns, stops early, and goes on exactly where it was killed."""

from pathlib import Path

import pytest
import torch
from killing import KillAfter, Killed
from toys import toy_pretrained, toy_records, toy_tasks

from limbeck.progress import NoProgress
from limbeck.tasks.base import Task
from limbeck.train.backbones import make_piecer
from limbeck.train.checkpoints import Checkpoint, load_newest, save_checkpoint
from limbeck.train.loop import Fitted, TrainConfig, fit
from limbeck.train.network import Network
from limbeck.train.objective import LossWeights
from limbeck.train.rows import make_rows
from limbeck.train.trained import plans_of

CPU = torch.device("cpu")


def train(
    folder: Path,
    *,
    progress: NoProgress,
    dev_means: list[float] | None = None,
    epochs: int = 2,
    checkpoint_minutes: float = 0.0,
) -> tuple[Network, Fitted]:
    torch.manual_seed(1)
    tasks: tuple[Task, ...] = toy_tasks()
    pretrained = toy_pretrained()
    network = Network(pretrained.backbone, plans_of(tasks), dropout=0.2)
    piecer = make_piecer(pretrained.tokenizer, pretrained.backbone.config)
    means = iter(dev_means or [float(i) for i in range(epochs)])
    fitted = fit(
        network,
        make_rows(toy_records(20), tasks, piecer),
        tasks,
        pad_id=0,
        evaluate=lambda: ({}, next(means)),
        config=TrainConfig(
            epochs=epochs,
            max_padded_pieces=64,
            checkpoint_minutes=checkpoint_minutes,
            precision="fp32",
            patience=2,
        ),
        weights=LossWeights(),
        device=CPU,
        folder=folder,
        label="toy",
        progress=progress,
    )
    return network, fitted


def test_a_killed_run_ends_with_the_very_weights_of_one_that_was_not(tmp_path: Path) -> None:
    whole, fitted = train(tmp_path / "whole", progress=NoProgress())
    n_steps = fitted.n_steps
    with pytest.raises(Killed):
        train(tmp_path / "killed", progress=KillAfter(n_steps // 2 + 1))
    # the epochs before the kill were scored already: dev means go on where they were
    half, again = train(tmp_path / "killed", progress=NoProgress(), dev_means=[1.0, 2.0, 3.0, 4.0])
    assert again.n_steps == n_steps
    for name, tensor in whole.state_dict().items():
        assert torch.equal(tensor, half.state_dict()[name]), name


def test_the_loss_falls(tmp_path: Path) -> None:
    _, fitted = train(tmp_path, progress=NoProgress(), epochs=6, checkpoint_minutes=9)
    assert fitted.history[-1].loss < 0.7 * fitted.history[0].loss


def test_it_stops_when_dev_no_longer_gains_and_keeps_the_best(tmp_path: Path) -> None:
    _, fitted = train(
        tmp_path, progress=NoProgress(), epochs=6, dev_means=[1.0, 5.0, 4.0, 3.0, 9.0, 9.0]
    )
    assert [epoch.mean for epoch in fitted.history] == [1.0, 5.0, 4.0, 3.0]
    assert fitted.best.epoch == 1


def test_a_damaged_checkpoint_gives_way_to_the_one_before(tmp_path: Path) -> None:
    for step in (1, 2, 3):
        tensors = {"a": torch.full((3,), float(step))}
        save_checkpoint(tmp_path, step, Checkpoint(tensors=tensors, state={"step": step}))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["step-00000002", "step-00000003"]
    newest = tmp_path / "step-00000003" / "tensors.safetensors"
    newest.write_bytes(newest.read_bytes()[:-1])
    found = load_newest(tmp_path)
    assert found is not None
    assert found.state == {"step": 2}
    assert load_newest(tmp_path / "none") is None


def test_a_checkpoint_that_was_never_completed_is_not_seen(tmp_path: Path) -> None:
    save_checkpoint(tmp_path, 1, Checkpoint(tensors={"a": torch.zeros(1)}, state={}))
    (tmp_path / "step-00000001").rename(tmp_path / ".step-00000002")
    assert load_newest(tmp_path) is None


def test_text_without_a_target_that_counts_changes_nothing(tmp_path: Path) -> None:
    torch.manual_seed(1)
    tasks = toy_tasks()
    pretrained = toy_pretrained()
    network = Network(pretrained.backbone, plans_of(tasks), dropout=0.2)
    before = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    fitted = fit(
        network,
        make_rows(toy_records(5), tasks, pretrained.piecer()),
        tasks,
        pad_id=0,
        evaluate=lambda: ({}, 1.0),
        config=TrainConfig(epochs=1, max_padded_pieces=64, precision="fp32"),
        weights=LossWeights(hard=0.0, soft=1.0),  # and no soft target anywhere
        device=CPU,
        folder=tmp_path,
        label="toy",
        progress=NoProgress(),
    )
    assert fitted.n_steps > 0
    for name, tensor in network.state_dict().items():
        assert torch.equal(tensor, before[name]), name
