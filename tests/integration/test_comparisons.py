"""`limbeck study same-time`, `depth`, `sharing`, `sop`, with bodies of sixteen dimensions."""

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import commands
import numpy as np
import pytest
from killing import Killed
from raw_text import PLENTY, toy_text

from limbeck.errors import InputError
from limbeck.pretrain.holdout import divide
from limbeck.pretrain.text import read_text
from limbeck.progress import NoProgress
from limbeck.study.arms import STUDY_NAMES, StudyName
from limbeck.study.execution import run_study
from limbeck.study.held_out import divide_for_all
from limbeck.study.planning import Asked, StudyPlan, plan_study
from limbeck.study.scales import SCALES
from limbeck.study.writing import write_study

PROBE = """
name = "moods"
[[corpus]]
train = "moods.jsonl"
dev_share = 0.3
tasks = ["mood"]
[[teacher]]
model = "unused"
[student]
[[student.ladder]]
name = "unused"
model = "unused"
"""


def write_inputs(folder: Path) -> None:
    (folder / "text.txt").write_text(toy_text(120, n_sentences=8), encoding="utf-8")
    moods = [
        {"text": f"the cat is {word}", "pair": "a dog runs", "mood": word}
        for word in ("red", "big") * 20
    ]
    (folder / "moods.jsonl").write_text(
        "".join(json.dumps(it) + "\n" for it in moods), encoding="utf-8"
    )
    (folder / "moods.toml").write_text(PROBE, encoding="utf-8")


def plan_of(folder: Path, name: StudyName, *, probes: tuple[str, ...] = ()) -> StudyPlan:
    asked = Asked(
        name=name,
        scale=SCALES["tiny"],
        text=(str(folder / "text.txt"),),
        run=folder / "run",
        probes=tuple(folder / probe for probe in probes),
    )
    return plan_study(asked, free_bytes=PLENTY)


def ticks(step: float) -> Iterator[float]:
    now = 0.0
    while True:
        yield now
        now += step


@pytest.mark.parametrize("name", STUDY_NAMES)
def test_a_study_ends_in_rows_a_table_and_a_plot(name: StudyName, tmp_path: Path) -> None:
    write_inputs(tmp_path)
    plan = plan_of(tmp_path, name, probes=("moods.toml",) if name == "sop" else ())
    rows_file = tmp_path / "rows.jsonl"
    clock = ticks(1 / 16)
    rows = run_study(plan, NoProgress(), rows=rows_file, command="test", clock=lambda: next(clock))
    assert [row.arm for row in rows] == [arm.name for arm in plan.study.arms]
    assert len(rows_file.read_text("utf-8").splitlines()) == len(rows)
    for row in rows:
        assert row.n_parameters > 0
        assert row.own.n_slots == rows[0].own.n_slots or name == "sop"  # the same rows for all
        assert row.environment["cpu"]
        assert set(row.held_out) == set(plan.study.orders)
        assert (row.step_cost is None) == ("step cost" not in plan.study.extras)
    if name == "same-time":  # as many ticks of the clock for each
        assert {row.seconds for row in rows} == {1.0}
    if name == "sop":
        assert {row.tuned[0].name for row in rows} == {"moods: mood.accuracy"}
        assert all(set(row.order_fits) == {"nsp", "sop"} for row in rows)
        assert rows[0].held_out["sop"].order_accuracy is None
        assert rows[1].held_out["sop"].order_accuracy is not None
    written = write_study(plan.study, rows, tmp_path)
    assert all(arm.name in written.text for arm in plan.study.arms)
    assert written.plot.read_text("utf-8").startswith("<svg")


class KillInSecondArm(NoProgress):
    """Raises in the middle of the second arm's training."""

    def __init__(self, n_looks: int) -> None:
        self.n_arms, self.n_left = 0, n_looks

    def start(self, label: str, total: int, *, n_before: int = 0) -> None:
        self.n_arms += label.startswith("same-time-")

    def advance(self, n_done: int, note: str = "") -> None:
        if self.n_arms == 2:
            self.n_left -= 1
            if not self.n_left:
                raise Killed


def test_a_killed_study_goes_on_in_its_arm_and_keeps_to_its_seconds(tmp_path: Path) -> None:
    write_inputs(tmp_path)
    rows_file = tmp_path / "rows.jsonl"

    def go(progress: NoProgress) -> list[tuple[str, float, int]]:
        clock = ticks(1 / 16)
        found = run_study(
            plan_of(tmp_path, "same-time"),
            progress,
            rows=rows_file,
            command="test",
            clock=lambda: next(clock),
            checkpoint_minutes=0.0,
        )
        return [(row.arm, round(row.seconds, 2), row.n_steps) for row in found]

    seconds_left = plan_of(tmp_path, "same-time").seconds_left()
    with pytest.raises(Killed):
        go(KillInSecondArm(8))
    done = plan_of(tmp_path, "same-time")
    assert [it.is_done for it in done.arms] == [True, False, False, False]
    assert done.seconds_left() < seconds_left
    first = tmp_path / "run" / done.arms[0].stage.folder_name / "row.json"
    before = first.read_bytes()
    found = go(NoProgress())
    assert first.read_bytes() == before
    # 16 steps of a sixteenth of a second, in one part or in two
    assert {(seconds, n_steps) for _, seconds, n_steps in found} == {(1.0, 16)}
    assert len(rows_file.read_text("utf-8").splitlines()) == 4


def test_no_arm_was_trained_on_what_all_are_asked(tmp_path: Path) -> None:
    """Also where documents of one sentence shift what each kind of run holds out."""
    lone = "".join("The cat sees.\n" for _ in range(60))
    write_inputs(tmp_path)
    text_file = tmp_path / "text.txt"
    text_file.write_text(lone + text_file.read_text("utf-8"), encoding="utf-8")
    plan = plan_of(tmp_path, "sop")
    rows = run_study(plan, NoProgress(), rows=tmp_path / "rows.jsonl", command="test")
    assert len(rows) == 3
    text = read_text(tmp_path / "run" / plan.arms[0].prepared.text.folder_name)
    share = plan.arms[0].prepared.recipe.text.held_out
    for seed in range(5):
        common = divide_for_all(text, share=share, orders=plan.study.orders, seed=seed)
        for order in plan.study.orders:
            own = divide(text, share=share, order=order, seed=seed)
            assert not np.intersect1d(common.held_out, own.train).size
            assert np.isin(common.train, own.train).all()


def test_text_that_cannot_be_divided_is_refused_by_name(tmp_path: Path) -> None:
    write_inputs(tmp_path)
    (tmp_path / "text.txt").write_text("The cat sees. A dog runs.\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"text.txt: one document only") as caught:
        run_study(
            plan_of(tmp_path, "depth"), NoProgress(), rows=tmp_path / "r.jsonl", command="test"
        )
    assert "--documents" in caught.value.hint


def test_word_tasks_are_refused_as_probes(tmp_path: Path) -> None:
    write_inputs(tmp_path)
    (tmp_path / "moods.jsonl").write_text(
        '{"words": ["a", "b"], "mood": ["x", "y"]}\n' * 10, encoding="utf-8"
    )
    (tmp_path / "moods.toml").write_text(PROBE + '[tasks]\nmood = "tag"\n', encoding="utf-8")
    with pytest.raises(InputError, match="labels words"):
        plan_of(tmp_path, "sop", probes=("moods.toml",))


limbeck = partial(commands.limbeck, "study")


def test_the_command_plans_runs_and_tells(tmp_path: Path) -> None:
    write_inputs(tmp_path)
    where = ("depth", "--text", tmp_path / "text.txt", "--scale", "tiny", "--out", tmp_path / "run")
    plan = limbeck(*where, "--dry-run", "--json")
    assert plan.returncode == 0, plan.stderr
    about = json.loads(plan.stdout)
    assert [arm["is_done"] for arm in about["arms"]] == [False] * 5
    assert about["estimated_seconds_left"] > 0
    assert not (tmp_path / "run").exists()
    done = limbeck(*where)
    assert done.returncode == 0, done.stderr
    assert "| layers-12 |" in done.stdout
    assert "arm 2 of 5" in done.stderr
    assert (tmp_path / "run" / "depth.svg").is_file()
    assert str(tmp_path) not in (tmp_path / "run" / "rows.jsonl").read_text("utf-8")
    again = limbeck(*where, "--json")
    assert json.loads(again.stdout)["rows"][0]["study"] == "depth"
    assert "arm 1" not in again.stderr
    wrong = limbeck("sop", "--text", tmp_path / "none.txt", "--scale", "tiny")
    assert wrong.returncode == 2
    assert wrong.stderr.startswith("error: ")
    assert limbeck(*where, "--seeds", "one").returncode == 2
