"""`limbeck pretrain`: from toy text to a folder that transformers and a recipe load."""

import json
from functools import partial
from pathlib import Path

import commands
import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from raw_text import RECIPE, prepared, write_toy
from safetensors.torch import load_file, save_file
from torch.nn.functional import cross_entropy
from transformers import (
    AutoModel,
    AutoModelForMaskedLM,
    AutoModelForPreTraining,
    AutoTokenizer,
    XLNetLMHeadModel,
)

from limbeck.pretrain.permutation import permuted
from limbeck.pretrain.pipeline import Finished, execute, make_feed, make_networks
from limbeck.pretrain.plan import prepare
from limbeck.pretrain.students import student_and_teacher
from limbeck.pretrain.text import read_text
from limbeck.pretrain.vocabulary import read_alphabet
from limbeck.progress import NoProgress
from limbeck.tasks.base import MISSING
from limbeck.train.backbones import load_pretrained, resolve_model

NO_ORDER = RECIPE.replace("length = 32", 'length = 32\norder = "none"').replace(
    "embedding = 16\n", ""
)


def run(folder: Path, recipe: str, name: str = "run") -> Finished:
    return execute(prepared(folder, recipe, run=name), NoProgress(), command="test")


def sized(recipe: str, architecture: str, more: str = "") -> str:
    return recipe.replace('"albert-base"', f'"{architecture}"\n{more}')


MADE = {
    "albert": RECIPE,
    "albert, groups": sized(RECIPE, "albert-base", "groups = 2"),
    "albert, partly shared": sized(RECIPE, "albert-base", 'sharing = "attention"'),
    "bert, nsp": sized(RECIPE.replace("embedding = 16\n", ""), "bert-base").replace(
        "length = 32", 'length = 32\norder = "nsp"'
    ),
    "bert, single pieces": sized(NO_ORDER, "bert-base").replace(
        "[training]", '[masks]\nunit = "pieces"\n[training]\noptimizer = "lamb"'
    ),
    "distilbert": sized(NO_ORDER, "distilbert"),
    "xlnet": sized(NO_ORDER, "xlnet-base").replace(
        'file = "words"', 'kind = "unigram"\nsize = 100'
    ),
}


@pytest.mark.parametrize("kind", MADE)
def test_what_is_saved_loads_everywhere_and_is_what_was_trained(kind: str, tmp_path: Path) -> None:
    write_toy(tmp_path)
    finished = run(tmp_path, MADE[kind])
    pretrained = load_pretrained(resolve_model("run/model", relative_to=tmp_path))
    n = sum(p.numel() for p in pretrained.backbone.model.parameters())
    assert finished.about["n_parameters"] == n
    encoded = pretrained.tokenizer.encode("the cat sees a dog")
    ids = torch.tensor([encoded.ids])
    ones = torch.ones_like(ids)
    states = pretrained.backbone.eval()(ids, ones, torch.zeros_like(ids))
    body = AutoModel.from_pretrained(finished.folder).eval()
    with torch.no_grad():
        assert torch.allclose(body(ids, ones).last_hidden_state, states[-1], atol=1e-5)
    names = {path.name for path in finished.folder.iterdir()}
    assert {"config.json", "model.safetensors", "tokenizer.json", "pretraining.json"} <= names
    assert AutoTokenizer.from_pretrained(finished.folder)("the cat").input_ids == (
        pretrained.tokenizer.encode("the cat").ids
    )
    if "partly" in kind:
        return  # transformers knows its encoder only
    probe = finished.about["probe"]
    if kind == "xlnet":
        whole = XLNetLMHeadModel
    else:
        whole = AutoModelForMaskedLM if probe["order_loss"] is None else AutoModelForPreTraining
    found, info = whole.from_pretrained(finished.folder, output_loading_info=True)
    assert not info["missing_keys"]
    pieces, orders = theirs(found.eval(), finished, tmp_path)
    assert pieces == pytest.approx(probe["piece_loss"], abs=2e-4)
    assert orders == pytest.approx(probe["order_loss"], abs=2e-4)


def theirs(model: torch.nn.Module, finished: Finished, folder: Path) -> tuple[float, float | None]:
    """Losses of the probes' batches by transformers' own heads."""
    it = prepare(folder / "toy.toml", root=None, models=None, run=folder / "run", free_bytes=10**12)
    run_folder = finished.folder.parent
    tokenizer = run_folder / it.vocabulary.folder_name / "tokenizer.json"
    alphabet = read_alphabet(tokenizer, masks=it.family != "xlnet")
    feed = make_feed(it, read_text(run_folder / it.text.folder_name), alphabet)
    pieces: list[torch.Tensor] = []
    orders: list[torch.Tensor] = []
    for batch in feed.probes():
        arguments = {
            "input_ids": torch.from_numpy(batch.piece_ids),
            "attention_mask": torch.from_numpy(batch.mask).float(),
        }
        slots = batch.slots
        if it.family != "distilbert":
            arguments["token_type_ids"] = torch.from_numpy(batch.type_ids)
        if it.family == "xlnet":
            order = permuted(batch)
            slots = order.state_at
            arguments["perm_mask"] = torch.from_numpy(order.unseen)
            arguments["target_mapping"] = torch.from_numpy(order.targets)
        with torch.no_grad():
            out = model(**arguments)
        logits = out.get("prediction_logits", out.get("logits")).flatten(0, 1)
        pieces.append(each_loss(logits[torch.from_numpy(slots)], batch.labels))
        asked = out.get("sop_logits", out.get("seq_relationship_logits"))
        if asked is not None:
            orders.append(each_loss(asked, batch.orders))
    return float(torch.cat(pieces).mean()), float(torch.cat(orders).mean()) if orders else None


def each_loss(logits: torch.Tensor, labels: NDArray[np.int64]) -> torch.Tensor:
    known = torch.from_numpy(labels != MISSING)
    return cross_entropy(logits[known], torch.from_numpy(labels)[known], reduction="none")


DISTIL = """
name = "small"
precision = "fp32"
[text]
files = ["text.txt"]
held_out = 0.1
[distil]
teacher = "teacher/model"
dropout = 0.0
hard = 0.0
[segments]
length = 32
order = "none"
[training]
steps = 30
rate = 1e-3
max_padded_pieces = 256
probes = 1
"""


@pytest.mark.parametrize("architecture", ["bert-base", "distilbert"])
def test_a_student_starts_from_every_other_layer_and_comes_to_say_what_its_teacher_says(
    architecture: str, tmp_path: Path
) -> None:
    write_toy(tmp_path)
    teacher_recipe = sized(NO_ORDER, architecture).replace("layers = 2", "layers = 4")
    weights = run(tmp_path, teacher_recipe, "teacher").folder / "model.safetensors"
    # so little training leaves layers that do nothing: make each of them matter
    louder = {name: 6 * t if t.ndim > 1 else t for name, t in load_file(weights).items()}
    save_file(louder, weights, metadata={"format": "pt"})
    it = prepared(tmp_path, DISTIL)
    assert it.teacher is not None
    pair = student_and_teacher(it.recipe, it.teacher)
    teacher, student = (dict(n.named_parameters()) for n in (pair.teacher, pair.student))
    assert pair.student.backbone.n_layers == 2
    for name, parameter in student.items():
        layer = {".layer.0.": ".layer.0.", ".layer.1.": ".layer.2."}
        source = name
        for own, theirs in layer.items():
            if own in name:
                source = name.replace(own, theirs)
                break
        assert torch.equal(parameter, teacher[source]), name
    finished = execute(it, NoProgress(), command="test")
    rows = [json.loads(line) for line in finished.curves.read_text("utf-8").splitlines()]
    first, last = rows[0], [row for row in rows if row["kind"] == "loss"][-1]
    assert last["soft"] < 0.7 * first["soft"]
    assert last["states"] < 0.7 * first["states"]
    assert load_pretrained(str(finished.folder)).backbone.n_layers == 2


limbeck = partial(commands.limbeck, "pretrain")


def test_the_command_plans_and_pretrains(tmp_path: Path) -> None:
    write_toy(tmp_path)
    (tmp_path / "toy.toml").write_text(RECIPE, encoding="utf-8")
    where = (tmp_path / "toy.toml", "--out", tmp_path / "run")
    plan = limbeck(*where, "--dry-run", "--json")
    assert plan.returncode == 0, plan.stderr
    about = json.loads(plan.stdout)
    assert [stage["is_done"] for stage in about["stages"]] == [False] * 3
    assert not (tmp_path / "run").exists()
    done = limbeck(*where, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["n_parameters"] == about["n_parameters"]
    assert found["n_steps"] == 6
    assert Path(found["model"], "config.json").is_file()
    assert "held-out loss" in done.stderr


def test_networks_of_one_seed_are_one(tmp_path: Path) -> None:
    write_toy(tmp_path)
    it = prepared(tmp_path)
    alphabet = read_alphabet(tmp_path / "words" / "tokenizer.json", masks=True)
    one, other = (make_networks(it, alphabet)[0].state_dict() for _ in range(2))
    assert all(torch.equal(one[name], other[name]) for name in one)
