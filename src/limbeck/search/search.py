"""The search: the smallest student of a ladder that keeps the floor, measured on this machine.

In:  a run whose soft targets are written, floors, a ladder.
Out: `Found`: the chosen candidate, or the nearest where none keeps the floor, and a row for each.
Short training for all, longer for a third of them, full training by bisection; one half of dev
steers, the other gives the final verdict.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from limbeck.config import StudentModel
from limbeck.data.records import Labels, Record
from limbeck.errors import InputError, LimbeckError, first_line
from limbeck.runs.pipeline import Prepared
from limbeck.search.bisect import choose, nearest, next_to_try
from limbeck.search.candidates import Measured, Start, ensemble_labels, search_job, try_candidate
from limbeck.search.floor import Floor, Verdict, halves, judge, make_draws
from limbeck.search.front import promote
from limbeck.search.ladder import rung_shares
from limbeck.search.outcomes import outcome
from limbeck.search.planning import SearchPlan
from limbeck.search.study import Failed, Rung, Tried
from limbeck.tasks.base import Task
from limbeck.tasks.metrics import main_metric

JOURNAL = "search.journal"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A candidate after its longest training so far."""

    config: StudentModel
    share: float
    measured: Measured
    verdicts: Mapping[str, Verdict]  # by metric, on the half of dev that steers

    @property
    def margin(self) -> float:
        """Of the worst floor, in points."""
        return min(v.margin for v in self.verdicts.values())

    @property
    def keeps(self) -> bool:
        return all(v.keeps for v in self.verdicts.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The end of a search."""

    best: str  # the chosen one, or the nearest
    keeps_search: bool  # on the half that steered
    final: Mapping[str, Verdict]  # of the best, on the other half
    judged: Mapping[str, Judged]
    failed: Mapping[str, str]  # name -> reason
    unfinished: bool  # the budget ended before the bisection did

    @property
    def keeps(self) -> bool:
        """Tell whether both halves agree that the floor is kept."""
        return self.keeps_search and all(v.keeps for v in self.final.values())


def search(
    prepared: Prepared,
    plan: SearchPlan,
    *,
    budget_seconds: float | None,
    made: str,
    clock: Callable[[], float] = time.monotonic,
) -> Found:
    """Search; candidates that fail are noted with the reason, and the rest goes on."""
    began = clock()
    recipe, job = prepared.job.recipe, prepared.job
    steering, deciding = halves(len(job.corpora.dev), seed=recipe.seed)
    theirs = ensemble_labels(prepared)
    half = search_job(prepared, steering)
    judged: dict[str, Judged] = {}
    failed: dict[str, str] = {}

    def verdicts(labels: Sequence[Mapping[str, Labels]], part: Sequence[int]) -> dict[str, Verdict]:
        return _verdicts(
            plan.floors, job.tasks, job.corpora.dev, theirs, labels, part,
            confidence=recipe.student.confidence, seed=recipe.seed,
        )  # fmt: skip

    def attempt(config: StudentModel, share: float, rung: Rung) -> None:
        start = _start(plan, config, [j for j in judged.values() if j.share >= share])
        known = rung.found().get(config.name)
        if isinstance(known, Failed):
            failed[config.name] = known.reason
            judged.pop(config.name, None)
            return
        number = rung.begin(config.name) if known is None else None
        try:
            measured = try_candidate(prepared, half, start, share=share, made=made)
            own = Judged(
                config=config,
                share=share,
                measured=measured,
                verdicts=verdicts(measured.labels, steering),
            )
        except (LimbeckError, RuntimeError, MemoryError) as failure:
            failed[config.name] = first_line(failure)
            judged.pop(config.name, None)
            if number is not None:
                rung.end(number, Failed(name=config.name, reason=failed[config.name]))
            job.progress.say(f"{config.name}: left out: {failed[config.name]}")
            return
        judged[config.name] = own
        cost = measured.costs.of(recipe.student.minimise)
        if number is not None:
            rung.end(number, Tried(name=config.name, margin=own.margin, cost=cost))
        job.progress.say(
            f"{config.name}: {share:.0%} of its training, margin {own.margin:+.2f} points, "
            f"{measured.costs.size_mb:.1f} MB, {measured.costs.sentences_per_second:.0f} records/s"
        )

    def time_is_up(share_of_budget: float) -> bool:
        return budget_seconds is not None and clock() - began > share_of_budget * budget_seconds

    names = [config.name for config in plan.ladder]
    going = list(plan.ladder)
    shares = rung_shares(len(plan.ladder))
    # earlier rungs may take half of the budget, so that something is trained in full
    for i, (share, n) in enumerate(shares[:-1]):
        rung = Rung(prepared.run / JOURNAL, f"{plan.key}-{share:.2f}", names)
        going = _promoted(going, judged, recipe.student.minimise, n) if i else going
        for config in going:
            if judged and time_is_up(0.5):
                break
            attempt(config, share, rung)
    last = Rung(prepared.run / JOURNAL, f"{plan.key}-1.00", names)
    unfinished = False
    keeps: dict[str, bool] = {}
    going = [c for c in going if c.name in judged]
    costs = {c.name: judged[c.name].measured.costs.of(recipe.student.minimise) for c in going}
    by_cost = sorted(costs, key=lambda name: (costs[name], name))
    configs = {c.name: c for c in going}
    while (name := next_to_try(by_cost, keeps)) is not None:
        if keeps and time_is_up(1.0):
            unfinished = True
            break
        attempt(configs[name], 1.0, last)
        # one that failed is out of the question, as if it missed, but says nothing of the others
        if name in failed:
            by_cost.remove(name)
        else:
            keeps[name] = judged[name].keeps
    if not keeps:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in failed.items())
        raise InputError(f"no candidate could be trained ({reasons})")
    full_costs = {n: judged[n].measured.costs.of(recipe.student.minimise) for n in keeps}
    best = choose(full_costs, keeps) or nearest({n: judged[n].margin for n in keeps})
    return Found(
        best=best,
        keeps_search=keeps[best],
        final=verdicts(judged[best].measured.labels, deciding),
        judged=judged,
        failed=failed,
        unfinished=unfinished,
    )


def _promoted(
    going: Sequence[StudentModel], judged: Mapping[str, Judged], minimise: str, n: int
) -> list[StudentModel]:
    alive = [c for c in going if c.name in judged]
    points = [(judged[c.name].margin, judged[c.name].measured.costs.of(minimise)) for c in alive]
    return [alive[i] for i in promote(points, n)]


def _start(plan: SearchPlan, config: StudentModel, done: Sequence[Judged]) -> Start:
    """Begin with the next larger candidate of the same width, if it has been trained; else with
    the encoder that the ladder is made from.
    """
    base = plan.starts[config.model]
    if config.body == "cut" and isinstance(config.layers, int) and config.pick == "first":
        larger = [
            j
            for j in done
            if j.config.body == "cut"
            and j.config.model == config.model
            and j.config.width == config.width
            and j.config.ffn == config.ffn
            and j.config.name != config.name
            and plan.depth_of(j.config) > config.layers
        ]
        if larger:
            nearest_one = min(larger, key=lambda j: plan.depth_of(j.config))
            # its width is cut already
            own = config.model_copy(update={"width": None, "ffn": None})
            return Start(
                reference=nearest_one.measured.trained, key=nearest_one.measured.key, config=own
            )
    return Start(reference=base.reference, key=base.key, config=config)


def _verdicts(
    floors: Mapping[str, Floor],
    tasks: Sequence[Task],
    dev: Sequence[Record],
    ensemble: Sequence[Mapping[str, Labels]],
    student: Sequence[Mapping[str, Labels]],
    part: Sequence[int],
    *,
    confidence: float,
    seed: int,
) -> dict[str, Verdict]:
    """Judge every task that has a floor on the records of a half that carry its labels."""
    found: dict[str, Verdict] = {}
    for task in tasks:
        if task.name not in floors:
            continue
        own = [i for i in part if task.name in dev[i].labels]
        if not own:
            raise InputError(
                f"floor of {task.name!r}: a half of dev has no record with its labels",
                hint="give more dev text",
            )
        gold = [dev[i].labels[task.name] for i in own]
        found[main_metric(task)] = judge(
            floors[task.name],
            outcome(task.name, task.kind, gold, [ensemble[i][task.name] for i in own]),
            outcome(task.name, task.kind, gold, [student[i][task.name] for i in own]),
            confidence=confidence,
            draws=make_draws(len(own), seed=seed),
        )
    return found
