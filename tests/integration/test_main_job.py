"""From text to bundle to annotation with toy teachers; nothing leaves the machine."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from backbones import write_checkpoint
from toys import toy_records

import limbeck
from limbeck.data.formats import open_format_writer

RECIPE = """
name = "toy"
[[corpus]]
train = "train.conllu"
dev = "dev.conllu"
tasks = ["upos", "lemma", "dep", "ner"]
[[corpus]]
train = "mood.tsv"
dev_share = 0.3
columns = { text = 1, mood = 2 }
tasks = ["mood"]
[unlabelled]
files = ["more.txt"]
limit = 20
min_words = 1
[[teacher]]
model = "bert"
seeds = [1, 2]
epochs = 1
max_padded_pieces = 128
[[teacher]]
model = "xlnet"
epochs = 1
max_padded_pieces = 128
[targets]
states = "bert-s1"
[student]
[[student.ladder]]
name = "small"
model = "teacher:bert-s1"
layers = 1
epochs = 1
states = 0.5
max_padded_pieces = 128
[compress]
max_loss = 100
calibration = 10
vectors = true
"""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("world")
    writer = open_format_writer("conllu")
    for name, seed, n in (("train", 1, 30), ("dev", 2, 10)):
        text = "".join(
            writer(r, {t: r.labels[t] for t in ("upos", "lemma", "dep", "ner")}, None)
            for r in toy_records(n, seed=seed)
        )
        (folder / f"{name}.conllu").write_text(text)
    rows = [f"{' '.join(r.words)}\t{r.labels['mood']}\n" for r in toy_records(40, seed=3)]
    (folder / "mood.tsv").write_text("".join(rows))
    lines = [f"{' '.join(r.words)}\n" for r in toy_records(60, seed=4)]
    (folder / "more.txt").write_text("".join(lines))
    (folder / "toy.toml").write_text(RECIPE)
    write_checkpoint("bert", folder / "bert")
    write_checkpoint("xlnet", folder / "xlnet")
    return folder


def command(*arguments: str, text: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "limbeck", *arguments],
        input=text,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
    )


@pytest.fixture(scope="module")
def finished(world: Path) -> dict[str, object]:
    """The job, killed in the middle, started again as far as its bundles, then to its end."""
    run = world / "run"
    arguments = ["run", str(world / "toy.toml"), "--out", str(run), "--json"]
    plan = command(*arguments[:-1], "--dry-run", "--json")
    assert plan.returncode == 0, plan.stderr
    stages = json.loads(plan.stdout)["stages"]
    assert [stage["is_done"] for stage in stages] == [False] * len(stages)
    first = subprocess.Popen([sys.executable, "-m", "limbeck", *arguments], stdout=subprocess.PIPE)
    deadline = time.monotonic() + 200
    while not list(run.glob("teacher-*")) and time.monotonic() < deadline:
        time.sleep(0.05)
    first.send_signal(signal.SIGTERM)
    first.communicate()
    assert first.returncode == 143
    assert not list(run.glob("bundle-*"))
    done = {path.name: path.stat().st_mtime_ns for path in run.glob("teacher-*")}
    assert done
    bundles = command(*arguments, "--until", "bundles")
    assert bundles.returncode == 0, bundles.stderr
    assert list(run.glob("bundle-*"))
    assert not list(run.glob("twin-*"))  # a baseline of the results, asked for or not at all
    second = command(*arguments)
    assert second.returncode == 0, second.stderr
    for name, stamp in done.items():  # what was finished was not done again
        assert (run / name).stat().st_mtime_ns == stamp
    found: dict[str, object] = json.loads(second.stdout)
    return found


def test_every_model_has_its_row(finished: dict[str, object]) -> None:
    rows = finished["rows"]
    assert isinstance(rows, list)
    assert [(row["kind"], row["name"]) for row in rows] == [
        ("teacher", "bert-s1"),
        ("teacher", "bert-s2"),
        ("teacher", "xlnet-s1"),
        ("ensemble", "ensemble"),
        ("twin", "small"),
        ("student", "small"),
        ("bundle", "small"),
    ]
    for row in rows:
        assert {"UPOS", "Lemmas", "UAS", "LAS", "ner.f1", "mood.accuracy"} <= set(row["metrics"])
    ensemble = rows[3]["metrics"]
    for name in ("UPOS", "Lemmas", "LAS", "mood.accuracy"):
        assert ensemble[name] >= max(row["metrics"][name] for row in rows[:3]) - 1e-6
    assert rows[-1]["size_mb"] > 0
    assert rows[-1]["sentences_per_second"] > 0
    assert rows[-1]["environment"]["cpu"]
    assert [row["notes"]["seed"] for row in rows] == [1, 2, 1, 1, 1, 1, 1]
    assert len({row["notes"]["recipe_hash"] for row in rows}) == 1
    assert rows[-1]["notes"]["reference"].keys() == rows[-1]["metrics"].keys()


def test_the_bundles_card_has_the_numbers_of_its_row(
    world: Path, finished: dict[str, object]
) -> None:
    (bundle,) = (world / "run").glob("bundle-*")
    rows = finished["rows"]
    assert isinstance(rows, list)
    card = (bundle / "README.md").read_text()
    for name, value in rows[-1]["metrics"].items():
        assert f"| {name} | {value:.2f} |" in card


def test_a_report_can_be_written_of_the_run(world: Path, finished: dict[str, object]) -> None:
    rows = finished["rows"]
    assert isinstance(rows, list)
    told = command("report", str(world / "run"), "--json")
    assert told.returncode == 0, told.stderr
    page = Path(json.loads(told.stdout)["html"]).read_text()
    for row in rows:
        assert row["name"] in page
        assert row["notes"]["recipe_hash"] in page


def test_a_finished_run_does_nothing_again(world: Path, finished: dict[str, object]) -> None:
    run = world / "run"
    stamps = {path: path.stat().st_mtime_ns for path in run.iterdir() if path.is_dir()}
    again = command("run", str(world / "toy.toml"), "--out", str(run), "--json")
    assert json.loads(again.stdout) == finished
    assert stamps == {path: path.stat().st_mtime_ns for path in run.iterdir() if path.is_dir()}


def test_the_bundle_annotates_and_scores_as_its_row_says(
    world: Path, finished: dict[str, object]
) -> None:
    (bundle,) = (world / "run").glob("bundle-*")
    rows = finished["rows"]
    assert isinstance(rows, list)
    scored = command("evaluate", str(bundle), str(world / "dev.conllu"), "--json")
    assert scored.returncode == 0, scored.stderr
    metrics = json.loads(scored.stdout)["metrics"]
    assert metrics["LAS"] == pytest.approx(rows[-1]["metrics"]["LAS"], abs=0.01)
    dev = world / "dev.conllu"
    annotated = command("annotate", str(bundle), str(dev))
    assert annotated.returncode == 0, annotated.stderr
    n_sentences = annotated.stdout.count("# mood = ")  # a label of the text is a comment
    assert n_sentences == 10
    assert annotated.stdout.count("\n") == dev.read_text().count("\n") + n_sentences
    assert command("annotate", str(bundle), str(dev)).stdout == annotated.stdout
    assert (world / "run" / "small").resolve() == bundle.resolve()
    annotator = limbeck.load(world / "run" / "small")
    one = annotator("the cat sees a dog")
    assert len(one.labels["upos"]) == 5
    assert one.labels["mood"] in ("positive", "negative")
    assert annotator.vectors([one.record]).shape == (1, annotator.bundle.vector_size)


def test_the_bundles_backbone_loads_with_transformers(
    world: Path, finished: dict[str, object]
) -> None:
    from transformers import AutoModel

    (bundle,) = (world / "run").glob("bundle-*")
    assert AutoModel.from_pretrained(bundle / "backbone").config.num_hidden_layers == 1
