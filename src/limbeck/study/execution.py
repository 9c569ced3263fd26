"""Execution of a study that trains: arm after arm, each a stage on disk.

In:  a plan.
Out: a row for each arm, in the plan's order. A finished arm is read, not run again; one that was
killed goes on from its last checkpoint, and the seconds of all its parts are its budget.
"""

import json
import time
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

from limbeck.environment import environment
from limbeck.errors import InputError
from limbeck.pretrain.loop import Clock
from limbeck.pretrain.pipeline import Finished, perform_stages
from limbeck.progress import Progress
from limbeck.runs.lock import locked
from limbeck.runs.stages import perform, read_json
from limbeck.study.arm_rows import ArmRow, CurvePoint, arm_row, row_name
from limbeck.study.downstream import tune
from limbeck.study.estimate import ASSUMED_RATE, measured_rate, training_operations
from limbeck.study.measuring import Measured, measure_arm
from limbeck.study.planning import Planned, StudyPlan
from limbeck.study.row_file import read_rows, write_rows

CHECKPOINT_MINUTES = 1.0  # an arm takes minutes, and a kill should not cost most of it
ROW = "row.json"


def run_study(
    plan: StudyPlan,
    progress: Progress,
    *,
    rows: Path,
    command: str,
    clock: Clock = time.monotonic,
    checkpoint_minutes: float = CHECKPOINT_MINUTES,
) -> list[ArmRow]:
    """Do what is not done yet; `rows` holds each arm's row as soon as there is one."""
    with locked(plan.asked.run):
        kept = {row_name(row): row for row in read_rows(rows, row_name)}
        found: list[ArmRow] = []
        left = [it for it in plan.arms if not it.is_done]
        for it in plan.arms:
            if it in left:
                _announce(plan, it, left, found, progress)
                left = left[1:]
            folder = perform(
                it.stage,
                plan.asked.run,
                lambda folder, scratch, it=it: _do(  # type: ignore[misc]  # mypy knows no defaults
                    plan, it, folder, scratch, progress,
                    command=command, clock=clock, checkpoint_minutes=checkpoint_minutes,
                ),
            )  # fmt: skip
            row = arm_row(read_json(folder / ROW), where=str(folder / ROW))
            found.append(row)
            kept[row_name(row.to_json())] = row.to_json()
            write_rows(rows, list(kept.values()))
    return found


def rate_of(plan: StudyPlan, found: Sequence[ArmRow]) -> float:
    """Operations a second of the arms that are done, or what is assumed before there is one."""
    recipes = {(it.arm.name, it.seed): it.prepared.recipe for it in plan.arms}
    return measured_rate(
        (training_operations(recipes[row.arm, row.seed], row.n_pieces), row.seconds)
        for row in found
    )


def done_rows(plan: StudyPlan) -> list[ArmRow]:
    """Rows of the arms that earlier runs have finished."""
    paths = [plan.asked.run / it.stage.folder_name / ROW for it in plan.arms if it.is_done]
    return [arm_row(read_json(path), where=str(path)) for path in paths]


def _announce(
    plan: StudyPlan,
    it: Planned,
    left: Sequence[Planned],
    found: Sequence[ArmRow],
    progress: Progress,
) -> None:
    rate = rate_of(plan, found) if found else ASSUMED_RATE
    seconds = sum(plan.seconds(other, rate=rate) for other in left)
    number = plan.arms.index(it) + 1
    progress.say(
        f"study {plan.study.name}: arm {number} of {len(plan.arms)} ({it.label}), "
        f"about {seconds / 60:.0f} min left in all"
    )


def _do(
    plan: StudyPlan,
    it: Planned,
    folder: Path,
    scratch: Path,
    progress: Progress,
    *,
    command: str,
    clock: Clock,
    checkpoint_minutes: float,
) -> None:
    try:
        trained = perform_stages(
            it.prepared, progress, command=command, clock=clock,
            checkpoint_minutes=checkpoint_minutes,
        )  # fmt: skip
        progress.say(f"{it.label}: asking held-out text")
        measured = measure_arm(plan, it, trained, clock=clock)
    except InputError as failure:  # hints there speak of a recipe's file, and here there is none
        raise InputError(
            f"{', '.join(Path(name).name for name in plan.asked.text)}: {failure}",
            hint="--documents says what ends a document; else give more text",
        ) from failure
    tuned = [
        one
        for labelled in plan.labelled
        for one in tune(
            trained.folder, labelled, epochs=plan.asked.scale.tuned_epochs, seed=it.seed,
            scratch=scratch, label=it.label, progress=progress,
        )
    ]  # fmt: skip
    row = _row(plan, it, trained, measured, tuned=tuple(tuned), command=command)
    (folder / ROW).write_text(json.dumps(row.to_json(), indent=1) + "\n", encoding="utf-8")


def _row(
    plan: StudyPlan,
    it: Planned,
    trained: Finished,
    measured: Measured,
    *,
    tuned: tuple[Any, ...],
    command: str,
) -> ArmRow:
    import torch

    about, recipe = trained.about, it.prepared.recipe
    return ArmRow(
        study=plan.study.name,
        scale=plan.asked.scale.name,
        arm=it.arm.name,
        seed=it.seed,
        key=it.stage.key,
        order=it.arm.order,
        model=it.arm.model.model_dump(),
        n_parameters=about["n_parameters"],
        n_steps=about["n_steps"],
        n_pieces=about["n_pieces"],
        seconds=about["seconds"],
        epochs=about["epochs"],
        held_out=measured.held_out,
        frequencies=measured.frequencies,
        order_fits=measured.order_fits,
        step_cost=measured.step_cost,
        tuned=tuned,
        curve=_curve(trained.curves),
        text={
            "files": [Path(name).name for name in recipe.text.files],
            "n_documents": about["n_documents"],
            "n_pieces": about["n_text_pieces"],
        },
        training=recipe.training.model_dump(),
        date=date.today().isoformat(),
        command=command,
        environment=environment(n_threads=torch.get_num_threads()),
    )


def _curve(path: Path) -> tuple[CurvePoint, ...]:
    rows = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
    return tuple(
        CurvePoint(step=row["step"], seconds=row["seconds"], piece_accuracy=row["piece_accuracy"])
        for row in rows
        if row["kind"] == "probe"
    )
