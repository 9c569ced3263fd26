"""`limbeck run` with a floor: search for the smallest student that keeps it.

In:  a prepared run whose recipe has a floor.
Out: the plan before it starts; then a table of candidates and a verdict. Exit 1 where none keeps
the floor: the nearest one's bundle is left all the same.
"""

import json
import re
import sys
from collections.abc import Sequence

from limbeck.cli.report import leave_report
from limbeck.columns import in_columns
from limbeck.errors import ConfigError, ExitCode
from limbeck.runs.pipeline import Prepared, planned
from limbeck.search.conclude import CHOSEN
from limbeck.search.job import seek
from limbeck.search.ladder import rung_shares
from limbeck.search.planning import SearchPlan, plan_search
from limbeck.search.rows import CandidateRow
from limbeck.search.search import Found

_UNITS = {"s": 1, "m": 60, "h": 3_600}


def parse_budget(text: str | None) -> float | None:
    """Read "90s", "60m" or "2h" as seconds."""
    if text is None:
        return None
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([smh])", text)
    if found is None or float(found.group(1)) == 0:
        raise ConfigError(f"--budget {text!r} is no time", hint="give it as 90s, 60m or 2h")
    return float(found.group(1)) * _UNITS[found.group(2)]


def seek_smallest(
    prepared: Prepared, *, budget: str | None, trials: int | None, is_dry: bool, as_json: bool,
    command: str,
) -> int:  # fmt: skip
    """Plan, distil, search, conclude."""
    seconds = parse_budget(budget)
    plan = plan_search(prepared, trials=trials, budget_seconds=seconds)
    if is_dry:
        return _show_plan(prepared, plan, as_json=as_json)
    prepared.job.progress.say(
        f"search: {len(plan.ladder)} candidates, about {plan.seconds / 60:.0f} min"
        + (f", at most {seconds / 60:.0f} min" if seconds else "")
    )
    found, rows = seek(prepared, plan, budget_seconds=seconds, command=command)
    page = leave_report(prepared.run)
    if as_json:
        about = {
            "run": str(prepared.run),
            "report": str(page),
            "keeps": found.keeps,
            "best": found.best,
            "bundle": str(prepared.run / CHOSEN),
            "candidates": [row.to_json() for row in rows],
        }
        sys.stdout.write(json.dumps(about) + "\n")
    else:
        sys.stdout.write(candidate_table(rows))
        sys.stdout.write(verdict_text(found, rows))
        sys.stdout.write(f"bundle: {prepared.run / CHOSEN}\n")
        sys.stdout.write(f"report: {page}\n")
    return ExitCode.DONE if found.keeps else ExitCode.FAILED


def _show_plan(prepared: Prepared, plan: SearchPlan, *, as_json: bool) -> int:
    stages = planned(prepared)
    rungs = [{"share": share, "candidates": n} for share, n in rung_shares(len(plan.ladder))]
    if as_json:
        about = {
            "run": str(prepared.run),
            "stages": [{"name": s.name, "folder": s.folder, "is_done": s.is_done} for s in stages],
            "candidates": [s.name for s in plan.ladder],
            "rungs": rungs,
            "search_minutes": round(plan.seconds / 60, 1),
        }
        sys.stdout.write(json.dumps(about) + "\n")
        return ExitCode.DONE
    for stage in stages:
        sys.stdout.write(f"{'done' if stage.is_done else 'to do':6} {stage.name}\n")
    for task, floor in plan.floors.items():
        sys.stdout.write(f"floor  {task}: {floor.text}\n")
    sys.stdout.write(f"search {', '.join(s.name for s in plan.ladder)}\n")
    for rung in rungs:
        sys.stdout.write(f"       {rung['candidates']} at {rung['share']:.0%} of their training\n")
    sys.stdout.write(f"       about {plan.seconds / 60:.0f} min\n")
    return ExitCode.DONE


def candidate_table(rows: Sequence[CandidateRow]) -> str:
    """From the largest to the smallest; what was not measured is blank."""
    measured = sorted((r for r in rows if r.size_mb is not None), key=lambda r: -(r.size_mb or 0))
    metrics = [floor.metric for floor in measured[0].floors if floor.half == "search"]
    header = ["", *metrics, "margin", "MB", "records/s", "p50 ms", "memory MB", "verdict"]
    lines = [header]
    for row in measured:
        margins = [f.found - f.needed for f in row.floors if f.half == "search"]
        lines.append(
            [
                ("* " if row.chosen else "  ") + row.name,
                *(f"{row.metrics[metric]:.2f}" for metric in metrics),
                f"{min(margins):+.2f}",
                f"{row.size_mb:.1f}",
                f"{row.sentences_per_second:.0f}",
                f"{row.latency_p50_ms:.1f}",
                f"{row.peak_memory_mb:.0f}",
                row.verdict,
            ]
        )
    text = in_columns(lines)
    for row in rows:
        if row.verdict == "failed":
            text += f"  {row.name}: left out: {row.reason}\n"
    return text


def verdict_text(found: Found, rows: Sequence[CandidateRow]) -> str:
    """What the search ends in, in words."""
    text = ""
    (best,) = (row for row in rows if row.name == found.best)
    for floor in best.floors:
        text += (
            f"{floor.metric} on the {floor.half} half of dev: {floor.found:.2f}, needed "
            f"{floor.needed:.2f} ({floor.wanted}), at least {floor.low:.2f} for sure: "
            f"{'kept' if floor.keeps else 'missed'}\n"
        )
    if found.keeps:
        text += f"{found.best} is the smallest that keeps the floor\n"
    elif found.keeps_search:
        text += f"{found.best} keeps the floor on the search half of dev, not on the verdict half\n"
    else:
        text += f"no candidate keeps the floor; {found.best} is the nearest\n"
    if found.unfinished:
        text += "the budget ended before the search did: a smaller one may keep the floor\n"
    return text
