"""What would stop a run hours in is told before it starts; a damaged stage says so."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from backbones import tiny_model, write_checkpoint
from toys import KINDS, random_scores, toy_records, toy_tasks

from limbeck.config import StudentModel, parse_recipe
from limbeck.errors import ConfigError, StageError
from limbeck.progress import NoProgress
from limbeck.runs.pipeline import Prepared, prepare
from limbeck.search.planning import plan_search
from limbeck.tasks.codecs import codec_hash
from limbeck.train import hub_models
from limbeck.train.devices import pick_device
from limbeck.train.fits import check_student
from limbeck.train.targets import TargetStore, soft_targets, write_index, write_shard

# soft targets

HASHES = {task.name: codec_hash(task.codec) for task in toy_tasks()}


@pytest.fixture
def store(tmp_path: Path) -> Path:
    folder = tmp_path / "targets-1"
    folder.mkdir()
    records = list({r.words: r for r in toy_records(12)}.values())
    for number, part in enumerate((records[:5], records[5:])):
        targets = [soft_targets(random_scores(record, 0), KINDS) for record in part]
        states = [np.ones((len(record.words), 4), np.float16) for record in part]
        write_shard(folder, number, part, targets, states)
    write_index(folder, KINDS, HASHES)
    assert len(TargetStore(folder, HASHES)) == len(records)
    return folder


def refuses(folder: Path) -> None:
    with pytest.raises(StageError, match="damaged") as caught:
        TargetStore(folder, HASHES)
    assert f"delete {folder} " in caught.value.hint
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "name", ["keys", "word_ends", "states", "upos.ids", "dep.arcs.probs", "mood.probs"]
)
@pytest.mark.parametrize("kept", [0, 5, 60, -1])
def test_targets_that_were_cut_short_say_what_to_delete(store: Path, name: str, kept: int) -> None:
    path = store / "shard-00001" / f"{name}.npy"
    path.write_bytes(path.read_bytes()[:kept])
    refuses(store)


@pytest.mark.parametrize("name", ["keys", "word_ends", "states", "upos.probs", "topics.ids"])
def test_targets_of_another_length_are_not_used(store: Path, name: str) -> None:
    path = store / "shard-00000" / f"{name}.npy"
    np.save(path, np.load(path)[:-1])
    refuses(store)


@pytest.mark.parametrize("gone", ["shard-00001", "shard-00000/upos.ids.npy", "index.json"])
def test_targets_that_are_gone_are_missed(store: Path, gone: str) -> None:
    path = store / gone
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()
    refuses(store)


@pytest.mark.parametrize("text", ["", "{}", "[1]", "[" * 100_000])
def test_a_broken_index_is_told(store: Path, text: str) -> None:
    (store / "index.json").write_text(text)
    refuses(store)


# devices and students


@pytest.mark.parametrize("name", ["gpu", "cuda:99", "meta", "cpu:x", "", "xla"])
def test_a_device_that_is_not_here_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="no such device") as caught:
        pick_device(name)
    assert "auto" in caught.value.hint


def test_devices_that_are_here_are_taken() -> None:
    assert pick_device("cpu") == torch.device("cpu")
    assert pick_device("auto").type in ("cpu", "cuda")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"layers": 3}, "3 layers asked of a backbone with 2"),
        ({"layers": [0, 2]}, "the backbone has layers 0 to 1"),
        ({"layers": [1, 1]}, "the same layer twice"),
        ({"width": 5}, "must be a multiple"),
        ({"width": 4_096}, "at most"),
        ({"ffn": 100_000}, "at most"),
        ({"body": "shared", "embedding": 4_096}, "at most"),
    ],
    ids=str,
)
def test_a_student_that_its_start_is_too_small_for_is_refused(
    settings: dict[str, object], message: str
) -> None:
    student = StudentModel.model_validate({"name": "s", "model": "x", **settings})
    with pytest.raises(ConfigError, match=f"student s: .*{message}"):
        check_student(student, tiny_model("bert").config)


def test_a_family_that_cannot_be_cut_so_is_refused() -> None:
    config = tiny_model("xlnet").config
    for settings in ({"width": 16}, {"body": "shared"}):
        student = StudentModel.model_validate({"name": "s", "model": "x", **settings})
        with pytest.raises(ConfigError, match="xlnet: its"):
            check_student(student, config)


RECIPE = """
name = "r"
[[corpus]]
train = "mood.tsv"
dev_share = 0.5
columns = { text = 1, mood = 2 }
tasks = ["mood"]
[[teacher]]
model = "bert"
[student]
[[student.ladder]]
name = "s"
model = "teacher:bert-s1"
layers = 1
"""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("world")
    rows = [f"{' '.join(r.words)}\t{r.labels['mood']}\n" for r in toy_records(40, seed=3)]
    (folder / "mood.tsv").write_text("".join(rows))
    write_checkpoint("bert", folder / "bert")
    return folder


def prepared(world: Path, recipe: str) -> Prepared:
    (world / "r.toml").write_text(recipe)
    return prepare(
        world / "r.toml", root=None, models=None, run=world / "run", progress=NoProgress()
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("layers = 1", "layers = 3", "student s: 3 layers asked"),
        ("layers = 1", "layers = [7]", "student s: layers"),
        ("layers = 1", "layers = 1\nstates = 1.0", "without .targets. states"),
        ("layers = 1", "width = 7", "student s: width 7"),
        ("layers = 1", 'layers = [1]\npick = "first"', "'pick' chooses among"),
        ('name = "r"', 'name = "r"\ndevice = "cuda:99"', "no such device"),
        ('name = "s"\nmodel = "teacher:bert-s1"', 'name = "s"\nmodel = "none"', "reachable"),
    ],
)
def test_it_is_told_before_any_work(
    old: str, new: str, message: str, world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    assert old in RECIPE
    with pytest.raises(ConfigError, match=message):
        prepared(world, RECIPE.replace(old, new))
    floor = RECIPE.replace("[student]\n", '[student]\nfloor = { default = "50%" }\n')
    with pytest.raises(ConfigError, match=message):
        plan_search(prepared(world, floor.replace(old, new)), trials=None, budget_seconds=None)


def test_what_finished_stages_no_longer_need_is_not_asked_for(
    world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    recipe = RECIPE.replace('"bert"', '"nobody/bert"')
    with pytest.raises(ConfigError, match="nobody/bert"):
        prepared(world, recipe)
    run = world / "run"
    monkeypatch.setattr("limbeck.runs.pipeline.check_work", lambda *_: None)
    plan = prepared(world, recipe).plan
    monkeypatch.undo()
    for stage in plan.stages():
        (run / stage.folder_name).mkdir(parents=True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    assert prepared(world, recipe).plan == plan
    shutil.rmtree(run)


def test_recipes_take_pick_with_a_number_alone() -> None:
    with pytest.raises(ConfigError, match="'pick'"):
        parse_recipe(RECIPE.replace("layers = 1", 'pick = "first"'), where="r.toml")


# models of the hub


def test_the_hub_is_asked_once_for_what_is_not_in_the_cache(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[bool] = []

    def load(is_local: bool) -> str:
        asked.append(is_local)
        if is_local:
            raise OSError("not in the cache")
        return "found"

    def nobody(self: object, reference: str, timeout: float) -> None:
        raise ConnectionError("no route\nto host")

    monkeypatch.setattr("huggingface_hub.HfApi.model_info", nobody)
    with pytest.raises(ConfigError, match=r"neither a folder nor reachable .*no route") as caught:
        hub_models.load_named("nobody/nothing", load)
    assert asked == [True]
    assert "\n" not in str(caught.value)
    monkeypatch.setattr("huggingface_hub.HfApi.model_info", lambda *_, **__: None)
    assert hub_models.load_named("somebody/something", load) == "found"
    assert asked == [True, True, False]


def test_a_model_that_cannot_be_reached_is_told_in_one_line(world: Path) -> None:
    (world / "hub.toml").write_text(RECIPE.replace('"bert"', '"nobody/bert"'))
    done = subprocess.run(
        [sys.executable, "-m", "limbeck", "run", str(world / "hub.toml"), "--dry-run"],
        capture_output=True, text=True, check=False,
        # nobody listens there
        env={**os.environ, "HF_ENDPOINT": "http://127.0.0.1:9", "HF_HOME": str(world / "cache")},
    )  # fmt: skip
    assert done.returncode == 2
    error, hint = done.stderr.splitlines()
    assert error.startswith("error: model 'nobody/bert' is neither a folder nor reachable")
    assert hint.startswith("hint: offline: copy the model's folder")
    assert done.stdout == ""
