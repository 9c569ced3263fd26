"""`limbeck study same-time`, `depth`, `sharing` and `sop`: encoders trained side by side.

In:  raw text, a scale, perhaps recipes with labelled text.
Out: a page with the paper's figures beside, a plot, rows in a .jsonl file.
"""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from limbeck.cli.bars import make_progress
from limbeck.cli.jobs import quiet_libraries
from limbeck.cli.study import free_memory
from limbeck.errors import ConfigError

if TYPE_CHECKING:
    from limbeck.pretrain.config import DocumentStyle
    from limbeck.study.arms import StudyName
    from limbeck.study.planning import StudyPlan
    from limbeck.study.scales import ScaleName


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The options of a study that trains."""

    name: "StudyName"
    text: tuple[str, ...]
    documents: "DocumentStyle"
    scale: "ScaleName"
    probes: tuple[Path, ...]
    data: Path | None
    seeds: str
    out: Path | None
    rows: Path | None
    is_dry: bool
    as_json: bool


def compare(it: Comparison) -> int:
    """Run a study, or show what it would do."""
    quiet_libraries()
    from limbeck.study.execution import run_study
    from limbeck.study.planning import Asked, plan_study
    from limbeck.study.scales import SCALES
    from limbeck.study.writing import write_study

    run = it.out if it.out is not None else Path("runs") / f"study-{it.name}-{it.scale}"
    asked = Asked(
        name=it.name,
        scale=SCALES[it.scale],
        text=it.text,
        run=run,
        documents=it.documents,
        probes=it.probes,
        data=it.data,
        seeds=_seeds(it.seeds),
    )
    plan = plan_study(asked, free_bytes=free_memory())
    if it.is_dry:
        _show_plan(plan, as_json=it.as_json)
        return 0
    rows = it.rows if it.rows is not None else run / "rows.jsonl"
    found = run_study(plan, make_progress(), rows=rows, command=_command(it))
    written = write_study(plan.study, found, run)
    if it.as_json:
        about = {
            "page": str(written.page),
            "plot": str(written.plot),
            "rows_file": str(rows),
            "rows": [row.to_json() for row in found],
        }
        sys.stdout.write(json.dumps(about) + "\n")
        return 0
    sys.stdout.write(f"{written.text}\npage: {written.page}\nplot: {written.plot}\nrows: {rows}\n")
    return 0


def _seeds(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError as failure:
        raise ConfigError(
            f"--seeds {text}: not a list of numbers", hint="--seeds 1,2,3"
        ) from failure


def _command(it: Comparison) -> str:
    """What to type to have it again; folders of this machine are left out."""
    words = [f"limbeck study {it.name} --scale {it.scale}"]
    words += [f"--text {Path(name).name}" for name in it.text]
    words += [f"--documents {it.documents}"] if it.documents != "lines" else []
    words += [f"--probe {path.name}" for path in it.probes]
    words += [f"--seeds {it.seeds}"] if it.seeds != "1" else []
    return " ".join(words)


def _show_plan(plan: "StudyPlan", *, as_json: bool) -> None:
    from limbeck.study.estimate import ASSUMED_RATE
    from limbeck.study.execution import done_rows, rate_of

    done = done_rows(plan)
    rate = rate_of(plan, done) if done else ASSUMED_RATE
    left = plan.seconds_left(rate=rate)
    budget = plan.study.budget
    if as_json:
        about = {
            "run": str(plan.asked.run),
            "steps": budget.steps,
            "seconds": budget.seconds,
            "arms": [
                {
                    "name": it.arm.name,
                    "seed": it.seed,
                    "is_done": it.is_done,
                    "n_parameters": it.prepared.n_parameters,
                    "memory_bytes": it.prepared.memory.total,
                    "estimated_seconds": round(plan.seconds(it, rate=rate)),
                }
                for it in plan.arms
            ],
            "estimated_seconds_left": round(left),
        }
        sys.stdout.write(json.dumps(about) + "\n")
        return
    end = f"{budget.steps} steps" if budget.steps else f"{budget.seconds:g} s of training"
    sys.stdout.write(f"{plan.study.question}\n")
    for it in plan.arms:
        sys.stdout.write(
            f"{'done' if it.is_done else 'to do':6} {it.label:32} "
            f"{it.prepared.n_parameters / 1e6:7.2f} million parameters, {end}, about "
            f"{plan.seconds(it, rate=rate) / 60:.1f} min\n"
        )
    sys.stdout.write(f"about {left / 60:.0f} min left in all\n")
