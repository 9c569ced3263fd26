"""The conclusion: the best candidate's twin without distillation, and a row for every candidate.

In:  what the search found.
Out: candidates.jsonl in the run folder, and the bundle under a name of its own.
"""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from limbeck.artefacts import sync_tree
from limbeck.environment import environment
from limbeck.runs import work
from limbeck.runs.pipeline import Prepared
from limbeck.runs.plan import recipe_hash
from limbeck.runs.stages import Stage, perform, read_json
from limbeck.runtime.threads import pick_threads
from limbeck.search.candidates import ensemble_labels, search_job
from limbeck.search.confusions import Confusion, added_confusions
from limbeck.search.floor import Verdict, halves
from limbeck.search.planning import SearchPlan
from limbeck.search.rows import CandidateRow, floor_rows, write_candidates
from limbeck.search.search import Found, Judged
from limbeck.tasks.metrics import main_metric

CANDIDATES = "candidates.jsonl"
CHOSEN = "chosen"  # the bundle that the search ends in, whether or not the floor is kept


def conclude(
    prepared: Prepared, plan: SearchPlan, found: Found, *, command: str
) -> list[CandidateRow]:
    """Train the twin, write the rows, copy the bundle."""
    job = prepared.job
    steering, _ = halves(len(job.corpora.dev), seed=job.recipe.seed)
    best = found.judged[found.best]
    twin = _twin_metrics(prepared, plan, best, steering)
    confusions: list[Confusion] = []
    theirs = ensemble_labels(prepared)
    for task in job.tasks:
        if task.name in plan.floors:
            confusions += added_confusions(
                job.corpora.dev, theirs, best.measured.labels, task.name, main_metric(task)
            )
    confusions.sort(key=lambda c: -c.n_more)
    about = {
        "command": command,
        "environment": environment(n_threads=pick_threads(None)),
        "seed": job.recipe.seed,
        "recipe_hash": recipe_hash(prepared.recipe_text),
    }
    rows = [
        _row(
            judged,
            chosen=name == found.best and found.keeps,
            final=found.final if name == found.best else {},
            twin=twin if name == found.best else None,
            confusions=confusions[:3] if name == found.best else [],
            about=about,
        )
        for name, judged in found.judged.items()
    ]
    rows += [
        _failed_row(config, found.failed[config.name], about)
        for config in plan.ladder
        if config.name in found.failed
    ]
    write_candidates(prepared.run / CANDIDATES, rows)
    _copy_whole(best.measured.bundle, prepared.run / CHOSEN)
    return rows


def _twin_metrics(
    prepared: Prepared, plan: SearchPlan, best: Judged, steering: Sequence[int]
) -> dict[str, float]:
    """The same student on gold labels alone, from the ladder's own start, for as many steps."""
    job = search_job(prepared, steering)
    start = plan.starts[best.config.model]
    config = best.config
    settings = config.model_dump(exclude={"model", "name", "hard", "soft", "temperature", "states"})
    stage = Stage(
        name=f"twin-{config.name}",
        inputs={
            "targets": prepared.plan.targets.key,  # for the text and the labels that it covers
            "student": settings,
            "start": start.key,
            "seed": job.recipe.seed,
            "dev": "half",
        },
    )
    folder = perform(
        stage,
        prepared.run,
        lambda folder, scratch: work.train_twin(job, config, start.reference, folder, scratch),
    )
    history = read_json(folder / "history.json")
    metrics: dict[str, float] = max(history["epochs"], key=lambda e: e["mean"])["metrics"]
    return metrics


def _row(
    judged: Judged,
    *,
    chosen: bool,
    final: Mapping[str, Verdict],
    twin: Mapping[str, float] | None,
    confusions: Sequence[Confusion],
    about: Mapping[str, Any],
) -> CandidateRow:
    evidence = read_json(judged.measured.bundle / "bundle.json")["evidence"]
    costs = judged.measured.costs
    in_full = judged.share == 1
    return CandidateRow(
        name=judged.config.name,
        kind="candidate",
        family=judged.config.body,
        precision=evidence["shipped"],
        metrics=evidence["metrics"],
        intervals={metric: v.interval for metric, v in judged.verdicts.items()},
        twin=twin,
        fp32_metrics=evidence["reference"],
        size_mb=costs.size_mb,
        n_parameters=evidence["n_parameters"],
        latency_p50_ms=costs.latency_p50_ms,
        latency_p95_ms=costs.latency_p95_ms,
        sentences_per_second=costs.sentences_per_second,
        peak_memory_mb=costs.peak_memory_mb,
        epochs=judged.share * judged.config.epochs,
        verdict=("keeps" if judged.keeps else "misses") if in_full else "pruned",
        reason="" if in_full else f"not trained further than {judged.share:.0%}",
        floors=(*floor_rows(judged.verdicts, "search"), *floor_rows(final, "verdict")),
        chosen=chosen,
        confusions=tuple(confusions),
        **about,
    )


def _failed_row(config: Any, reason: str, about: Mapping[str, Any]) -> CandidateRow:
    return CandidateRow(
        name=config.name,
        kind="candidate",
        family=config.body,
        precision=None,
        metrics={},
        intervals={},
        twin=None,
        fp32_metrics=None,
        size_mb=None,
        n_parameters=None,
        latency_p50_ms=None,
        latency_p95_ms=None,
        sentences_per_second=None,
        peak_memory_mb=None,
        epochs=0.0,
        verdict="failed",
        reason=reason,
        floors=(),
        chosen=False,
        confusions=(),
        **about,
    )


def _copy_whole(source: Path, target: Path) -> None:
    """Copy a bundle beside the stages, replacing an earlier one only when the copy is whole."""
    staged = target.with_name(f".{target.name}")
    shutil.rmtree(staged, ignore_errors=True)
    shutil.copytree(source, staged)
    sync_tree(staged)
    shutil.rmtree(target, ignore_errors=True)
    staged.rename(target)
