"""The loop: goes on exactly where it was killed, adds batches up, ends by steps or by time."""

import json
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch
from killing import KillAfter, Killed
from raw_text import RECIPE, prepared, write_toy
from safetensors.torch import load_file

from limbeck.errors import StageError
from limbeck.pretrain.loop import backward, pretrain
from limbeck.pretrain.pipeline import Finished, execute, make_feed, make_networks
from limbeck.pretrain.plan import Prepared
from limbeck.pretrain.schedule import is_due, rate_share
from limbeck.pretrain.text import read_text
from limbeck.pretrain.vocabulary import read_alphabet
from limbeck.progress import NoProgress

CPU = torch.device("cpu")


def run(it: Prepared, progress: NoProgress | None = None) -> Finished:
    return execute(it, progress or NoProgress(), command="test", checkpoint_minutes=0.0)


@pytest.mark.parametrize(("optimizer", "n_before"), [("adamw", 1), ("adamw", 13), ("lamb", 5)])
def test_a_killed_run_ends_with_the_very_weights_of_one_that_was_not(
    optimizer: str, n_before: int, tmp_path: Path
) -> None:
    # dropout, so that random numbers are drawn in training too; more steps than an epoch has
    recipe = RECIPE.replace("steps = 6", f'steps = 14\naccumulate = 2\noptimizer = "{optimizer}"')
    recipe = recipe.replace("embedding = 16", "embedding = 16\ndropout = 0.1")
    write_toy(tmp_path, n_documents=24)
    whole = run(prepared(tmp_path, recipe, run="whole"))
    assert whole.about["epochs"] > 1
    with pytest.raises(Killed):
        run(prepared(tmp_path, recipe, run="killed"), KillAfter(n_before))
    assert not (tmp_path / "killed" / "model").exists()
    half = run(prepared(tmp_path, recipe, run="killed"))
    wanted = load_file(whole.folder / "model.safetensors")
    found = load_file(half.folder / "model.safetensors")
    assert wanted.keys() == found.keys()
    for name, tensor in wanted.items():
        assert torch.equal(tensor, found[name]), name
    assert rows_of(whole) == rows_of(half)
    assert whole.about["probe"] == half.about["probe"]
    # the text is there, so nothing is done again
    assert run(prepared(tmp_path, recipe, run="killed"), KillAfter(1)).folder == half.folder


def rows_of(finished: Finished) -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in finished.curves.read_text("utf-8").splitlines()]
    return [{key: value for key, value in row.items() if key != "seconds"} for row in rows]


KINDS = {
    "albert, adamw": RECIPE,
    "albert, lamb": RECIPE.replace("rate = 2e-3", 'optimizer = "lamb"\nrate = 2e-2'),
    "xlnet": RECIPE.replace("albert-base", "xlnet-base")
    .replace("embedding = 16\n", "")
    .replace("length = 32", 'length = 32\norder = "none"'),
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_loss_falls_and_the_curve_says_so(kind: str, tmp_path: Path) -> None:
    write_toy(tmp_path, n_documents=60)
    recipe = KINDS[kind].replace("steps = 6", "steps = 60")
    finished = execute(prepared(tmp_path, recipe), NoProgress(), command="test")
    rows = rows_of(finished)
    losses = [row for row in rows if row["kind"] == "loss"]
    first, last = losses[0]["loss"], losses[-1]["loss"]
    assert [row["step"] for row in losses] == list(range(1, 61))
    for row in losses:
        parts = row["pieces"] + row.get("orders", 0.0)
        assert row["loss"] == pytest.approx(parts, abs=1e-4)
    assert last < 0.8 * first
    probes = [row for row in rows if row["kind"] == "probe"]
    assert [row["step"] for row in probes] == [30, 60]
    assert probes[1]["piece_loss"] < probes[0]["piece_loss"]
    assert (probes[1]["order_accuracy"] is None) == (kind == "xlnet")


def test_two_batches_of_a_step_have_the_gradient_of_one(tmp_path: Path) -> None:
    write_toy(tmp_path)
    it = prepared(tmp_path)
    finished = run(it)
    tokenizer = tmp_path / "run" / it.vocabulary.folder_name / "tokenizer.json"
    alphabet = read_alphabet(tokenizer, masks=True)
    text = read_text(finished.folder.parent / it.text.folder_name)

    def gradients(split: Callable[[list[int]], list[list[int]]]) -> tuple[torch.Tensor, ...]:
        network, _ = make_networks(it, alphabet)
        feed = make_feed(it, text, alphabet)
        epoch = feed.epoch(0)
        epoch.steps[0] = split(epoch.steps[0][0])
        network.train()
        network.backbone.use_plain_attention()
        backward(network, None, feed.batches(epoch, 0), CPU, "fp32")
        return tuple(p.grad.clone() for p in network.parameters() if p.grad is not None)

    whole = gradients(lambda rows: [rows])
    halves = gradients(lambda rows: [rows[:3], rows[3:]])
    assert len(whole) == len(halves) > 10
    for one, other in zip(whole, halves, strict=True):
        assert torch.allclose(one, other, atol=1e-6, rtol=1e-4)


def test_time_ends_a_run_and_the_time_of_all_its_parts_counts(tmp_path: Path) -> None:
    write_toy(tmp_path)
    recipe = RECIPE.replace("steps = 6", "minutes = 0.5")

    def ticks() -> Iterator[float]:
        now = 0.0
        while True:
            yield now
            now += 2.0

    def go(progress: NoProgress) -> Finished:
        clock = ticks()
        return execute(
            prepared(tmp_path, recipe),
            progress,
            command="test",
            clock=lambda: next(clock),
            checkpoint_minutes=0.0,
        )

    with pytest.raises(Killed):
        go(KillAfter(16))
    finished = go(NoProgress())
    assert finished.about["seconds"] == 30.0
    assert finished.about["n_steps"] == 15  # two seconds a step by this clock


def test_a_loss_that_is_no_number_stops_the_run(tmp_path: Path) -> None:
    write_toy(tmp_path)
    it = prepared(tmp_path)
    finished = run(it)
    run_folder = finished.folder.parent
    alphabet = read_alphabet(run_folder / it.vocabulary.folder_name / "tokenizer.json", masks=True)
    network, _ = make_networks(it, alphabet)
    with torch.no_grad():
        network.piece_head.bias[0] = float("nan")
    from limbeck.pretrain.curves import Curves

    with pytest.raises(StageError, match="no number at step 1"):
        pretrain(
            network,
            make_feed(it, read_text(run_folder / it.text.folder_name), alphabet),
            it.recipe,
            teacher=None,
            device=CPU,
            folder=tmp_path / "none",
            curves=Curves(tmp_path / "c.jsonl", board=tmp_path / "board"),
            progress=NoProgress(),
            clock=lambda: 0.0,
        )


def test_the_rate_goes_up_and_down_in_lines_and_what_is_due_comes_once() -> None:
    assert [rate_share(p, 0.1) for p in (0.05, 0.1, 0.55, 1.0)] == pytest.approx([0.5, 1, 0.5, 0])
    moments = [i / 7 for i in range(8)]
    due = [is_due(a, b, 3) for a, b in pairwise(moments)]
    assert sum(due) == 3
    assert due[-1]
    assert is_due(0.9, 1.7, 3)
