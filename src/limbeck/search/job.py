"""The search from Python: `find_smallest(recipe)`, the same as `limbeck run` with a floor."""

import time
from pathlib import Path

from limbeck.progress import NoProgress, Progress
from limbeck.runs.lock import locked
from limbeck.runs.pipeline import Prepared, execute, prepare
from limbeck.search.conclude import conclude
from limbeck.search.planning import SearchPlan, plan_search
from limbeck.search.rows import CandidateRow
from limbeck.search.search import Found, search


def find_smallest(
    recipe: str | Path,
    *,
    out: str | Path | None = None,
    data: str | Path | None = None,
    models: str | Path | None = None,
    budget_seconds: float | None = None,
    trials: int | None = None,
) -> tuple[Found, list[CandidateRow]]:
    """Teachers, targets, then the search; rows are also in the run folder's candidates.jsonl.

    The bundle is in the run folder's `chosen`; `Found.keeps` tells whether it keeps the floor.
    """
    progress: Progress = NoProgress()
    prepared = prepare(
        Path(recipe),
        root=Path(data) if data is not None else None,
        models=Path(models) if models is not None else None,
        run=Path(out) if out is not None else None,
        progress=progress,
    )
    plan = plan_search(prepared, trials=trials, budget_seconds=budget_seconds)
    command = f"limbeck.find_smallest({Path(recipe).name!r})"
    return seek(prepared, plan, budget_seconds=budget_seconds, command=command)


def seek(
    prepared: Prepared, plan: SearchPlan, *, budget_seconds: float | None, command: str
) -> tuple[Found, list[CandidateRow]]:
    """Do what is not done yet of a planned search."""
    execute(prepared, until="targets", command=command)
    made = time.strftime("%Y-%m-%d")
    with locked(prepared.run):
        found = search(prepared, plan, budget_seconds=budget_seconds, made=made)
        return found, conclude(prepared, plan, found, command=command)
