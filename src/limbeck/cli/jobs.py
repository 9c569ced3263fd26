"""`limbeck run` and `limbeck demo`: the main job from the command line.

In:  a recipe and where things are.
Out: a table of what was measured, or one JSON object.
"""

import json
import logging
import os
import sys
from pathlib import Path

from limbeck.cli.bars import make_progress
from limbeck.cli.report import leave_report
from limbeck.config import read_recipe
from limbeck.data.corpora import corpus_files
from limbeck.errors import ConfigError, StageError
from limbeck.runs.table import result_table


def quiet_libraries() -> None:
    """Our own progress is enough; theirs would break it. Only ever called by a command."""
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    os.environ.setdefault("HF_HUB_VERBOSITY", "error")  # it tells of every attempt
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    logging.getLogger("nncf").setLevel(logging.ERROR)


def run_recipe(
    recipe: Path,
    *,
    out: Path | None,
    data: Path | None,
    models: Path | None,
    until: str,
    budget: str | None,
    trials: int | None,
    is_dry: bool,
    as_json: bool,
) -> int:
    """Run a recipe, or show its plan."""
    quiet_libraries()
    # before torch: mistakes are told at once, and where it is not installed too
    corpus_files(read_recipe(recipe), data or recipe.parent)
    from limbeck.runs.pipeline import bundle_of, execute, planned, prepare

    prepared = prepare(recipe, root=data, models=models, run=out, progress=make_progress())
    if prepared.job.recipe.student.floor and until in ("students", "bundles", "results"):
        from limbeck.cli.seek import seek_smallest

        return seek_smallest(
            prepared, budget=budget, trials=trials, is_dry=is_dry, as_json=as_json,
            command=f"limbeck run {recipe.name}",
        )  # fmt: skip
    if budget is not None or trials is not None:
        raise ConfigError(
            "--budget and --trials go with a search, and this recipe has none",
            hint='[student] floor = { default = "99%" }',
        )
    if is_dry:
        stages = planned(prepared)
        if as_json:
            rows = [{"name": s.name, "folder": s.folder, "is_done": s.is_done} for s in stages]
            sys.stdout.write(json.dumps({"run": str(prepared.run), "stages": rows}) + "\n")
        else:
            for stage in stages:
                sys.stdout.write(f"{'done' if stage.is_done else 'to do':6} {stage.name}\n")
        return 0
    rows_done = execute(prepared, until=until, command=f"limbeck run {recipe.name}")  # type: ignore[arg-type]
    if as_json:
        found = {"run": str(prepared.run), "rows": [row.to_json() for row in rows_done]}
        sys.stdout.write(json.dumps(found) + "\n")
    else:
        sys.stdout.write(result_table(rows_done))
        for student in prepared.plan.students:
            if (bundle := bundle_of(prepared, student)) is not None:
                sys.stdout.write(f"bundle: {bundle}\n")
        if rows_done:
            sys.stdout.write(f"report: {leave_report(prepared.run)}\n")
    return 0


def run_demo(out: Path, *, as_json: bool) -> int:
    """Run the built-in recipe, then annotate three sentences with what came of it."""
    quiet_libraries()
    from limbeck.demo.sentences import SENTENCES, show_annotated
    from limbeck.runs.pipeline import bundle_of, execute, prepare

    recipe = Path(__file__).parent.parent / "demo" / "demo.toml"
    prepared = prepare(recipe, root=recipe.parent, models=None, run=out, progress=make_progress())
    rows = execute(prepared, until="results", command="limbeck demo")
    (student,) = prepared.plan.students
    bundle = bundle_of(prepared, student)
    if bundle is None:
        raise StageError(f"{out}: the demo has made no bundle")
    if as_json:
        found = {"bundle": str(bundle), "rows": [row.to_json() for row in rows]}
        sys.stdout.write(json.dumps(found) + "\n")
        return 0
    sys.stdout.write(result_table(rows))
    sys.stdout.write(f"\nbundle: {bundle}\nreport: {leave_report(out)}\n\n")
    sys.stdout.write(show_annotated(bundle, SENTENCES))
    return 0
