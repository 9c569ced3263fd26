"""The search with toy teachers: the smallest that keeps the floor, refusals, and a kill."""

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
from limbeck.cli.seek import parse_budget
from limbeck.errors import LimbeckError
from limbeck.progress import NoProgress
from limbeck.runs.pipeline import prepare
from limbeck.search.planning import plan_search

RECIPE = """
name = "toy"
[[corpus]]
train = "mood.tsv"
dev = "dev.tsv"
columns = {{ text = 1, mood = 2 }}
tasks = ["mood"]
[[teacher]]
model = "bert"
epochs = 1
rate = 1e-3
max_padded_pieces = 256
[student]
ladder = "auto"
floor = {{ {floor} }}
epochs = 1
trials = 3
rate = 1e-3
[compress]
calibration = 10
precision = "fp32"
"""


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "limbeck", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
    )


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("world")
    for name, seed, n in (("mood", 3, 200), ("dev", 4, 60)):
        rows = [f"{' '.join(r.words)}\t{r.labels['mood']}\n" for r in toy_records(n, seed=seed)]
        (folder / f"{name}.tsv").write_text("".join(rows))
    write_checkpoint("bert", folder / "bert")
    for name, floor in (("easy", 'default = "-50"'), ("strict", 'mood = ">= 100"')):
        (folder / f"{name}.toml").write_text(RECIPE.format(floor=floor))
    return folder


@pytest.fixture(scope="module")
def easy(world: Path) -> dict[str, object]:
    """A search, killed once some candidates are done, and started again."""
    arguments = ["run", str(world / "easy.toml"), "--out", str(world / "run"), "--json"]
    first = subprocess.Popen(
        [sys.executable, "-m", "limbeck", *arguments],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    deadline = time.monotonic() + 200
    while not list((world / "run").glob("bundle-*")) and time.monotonic() < deadline:
        time.sleep(0.05)
    first.send_signal(signal.SIGTERM)
    first.wait()
    assert first.returncode == 143
    done = {path.name: path.stat().st_mtime_ns for path in (world / "run").glob("*-*")}
    assert any(name.startswith("bundle-") for name in done)
    second = command(*arguments)
    assert second.returncode == 0, second.stderr
    for name, stamp in done.items():
        if name.partition("-")[0] in ("teacher", "targets", "candidate", "bundle"):
            assert (world / "run" / name).stat().st_mtime_ns == stamp
    found: dict[str, object] = json.loads(second.stdout)
    return found


def plan(recipe: Path, run: Path, budget: str | None) -> None:
    prepared = prepare(recipe, root=None, models=None, run=run, progress=NoProgress())
    plan_search(prepared, trials=None, budget_seconds=parse_budget(budget))


def rows_of(run: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (run / "candidates.jsonl").read_text().splitlines()]


def test_it_ends_in_the_smallest_that_keeps_the_floor(world: Path, easy: dict[str, object]) -> None:
    rows = rows_of(world / "run")
    assert easy["candidates"] == rows
    kept = [row for row in rows if row["verdict"] == "keeps"]
    (chosen,) = (row for row in rows if row["chosen"])
    assert chosen["name"] == easy["best"] == min(kept, key=lambda r: r["size_mb"])["name"]  # type: ignore[arg-type,return-value]
    assert {floor["half"] for floor in chosen["floors"]} == {"search", "verdict"}  # type: ignore[attr-defined]
    assert chosen["twin"]
    for row in rows:
        assert row["family"] in ("cut", "shared", "static")
        assert row["latency_p50_ms"] > 0  # type: ignore[operator]
        assert row["peak_memory_mb"] > 1  # type: ignore[operator]
    (page,) = (world / "run").glob("report.html")
    assert str(chosen["name"]) in page.read_text(encoding="utf-8")
    said = command(
        "annotate", str(world / "run" / "chosen"), str(world / "dev.tsv"), "--format", "lines"
    )
    assert said.returncode == 0, said.stderr


def test_python_finds_what_the_command_found(world: Path, easy: dict[str, object]) -> None:
    found, rows = limbeck.find_smallest(world / "easy.toml", out=world / "run")
    assert found.keeps
    assert found.best == easy["best"]
    assert {row.name for row in rows} == {row["name"] for row in rows_of(world / "run")}
    with pytest.raises(LimbeckError, match="has a floor"):
        limbeck.run(world / "easy.toml", out=world / "run")


def test_the_plan_is_shown_without_work(world: Path) -> None:
    shown = command("run", str(world / "easy.toml"), "--out", str(world / "new"), "--dry-run")
    assert shown.returncode == 0, shown.stderr
    assert "min" in shown.stdout
    assert "static-" in shown.stdout
    assert not (world / "new").exists()


def test_a_floor_that_nothing_keeps_is_told_and_the_nearest_left(
    world: Path, easy: dict[str, object]
) -> None:
    """Also: the same targets serve another floor, so no teacher is trained or asked again."""
    stamps = {p: p.stat().st_mtime_ns for p in (world / "run").glob("t[ea]*-*")}
    assert len(stamps) == 2
    strict = command("run", str(world / "strict.toml"), "--out", str(world / "run"))
    assert strict.returncode == 1, strict.stderr
    assert "nearest" in strict.stdout
    assert not any(row["chosen"] for row in rows_of(world / "run"))
    assert (world / "run" / "chosen" / "bundle.json").is_file()
    assert {p: p.stat().st_mtime_ns for p in stamps} == stamps


@pytest.mark.parametrize(
    ("old", "new", "budget", "message"),
    [
        ('default = "-50"', 'intent = "-50"', None, "no such task"),
        ('default = "-50"', 'default = "110%"', None, "110%"),
        ("", "", "1s", "too small"),
        ("", "", "soon", "90s, 60m or 2h"),
        ('ladder = "auto"', 'ladder = "auto"\nbase = "nowhere/x/y"', None, "nowhere"),
        ('ladder = "auto"', 'ladder = "auto"\nbase = "teacher:cat"', None, "bert-s1"),
        ('dev = "dev.tsv"\n', "", None, "dev"),
        ('floor = { default = "-50" }\n', "", None, "floor"),
        ('floor = { default = "-50" }\n', "floor = {}\n", None, "floor"),
        ('ladder = "auto"', 'ladder = "auto"\nstates = 1.0', None, "[student]: states"),
    ],
)
def test_bad_input_is_refused_before_any_training(
    world: Path, tmp_path: Path, old: str, new: str, budget: str | None, message: str
) -> None:
    text = (world / "easy.toml").read_text()
    assert old in text
    (world / "bad.toml").write_text(text.replace(old, new, 1))
    with pytest.raises(LimbeckError) as caught:
        plan(world / "bad.toml", tmp_path / "run", budget)
    assert caught.value.exit_code == 2
    assert message in f"{caught.value} {caught.value.hint}"
    assert not (tmp_path / "run").exists()
