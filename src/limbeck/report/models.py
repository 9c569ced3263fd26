"""Models: rows of both files as one list, each with its twin and its fp32 self beside it.

In:  `RunRows`.
Out: `Model`s in reading order: the chosen, what it is measured against, the rest.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from limbeck.report.rows import Attempt, Candidate, Confusion, Floor, ModelRow, RunRows, Verdict
from limbeck.report.wording import counted, quantity

Standing = Literal["chosen", "nearest", "other"]
ModelKind = Literal["teacher", "ensemble", "twin", "student", "bundle", "candidate"]

# these refine another metric of the same task; `run.table` leaves the same ones out
REFINING_ENDS = (".macro_f1", ".matthews", ".pearson")
REFINING = ("CLAS", "MLAS", "BLEX")


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """One measured network, whatever file its row came from."""

    number: int  # names it within the page
    label: str
    kind: ModelKind
    about: str  # family and precision
    metrics: Mapping[str, float]
    intervals: Mapping[str, tuple[float, float]]
    twin: Mapping[str, float]
    fp32_metrics: Mapping[str, float]
    is_int8: bool
    attempts: tuple[Attempt, ...]
    size_mb: float | None
    n_parameters: int | None
    latency_p50_ms: float | None
    latency_p95_ms: float | None
    sentences_per_second: float | None
    peak_memory_mb: float | None
    training: str | None  # how long it learnt
    verdict: Verdict | None
    reason: str
    floors: tuple[Floor, ...]
    standing: Standing  # "nearest": nothing keeps the floor, and this misses it by least
    confusions: tuple[Confusion, ...]
    environment: Mapping[str, object]

    @property
    def keeps(self) -> bool:
        """A verdict that one of its own floors contradicts is not believed."""
        return self.verdict == "keeps" and all(floor.keeps is not False for floor in self.floors)


def models_of(rows: RunRows) -> tuple[Model, ...]:
    """Join and order all rows but those of whole commands."""
    of = {(row.kind, row.name): row for row in rows.models}
    found = [
        _from_row(
            row,
            twin=of.get(("twin", row.name)),
            student=of.get(("student", row.name)),
        )
        for row in rows.models
        if row.kind != "run"
    ]
    found += [_from_candidate(candidate) for candidate in rows.candidates]
    ordered = sorted(found, key=_place)
    return tuple(replace(model, number=i) for i, model in enumerate(ordered, 1))


def main_metrics(models: Sequence[Model]) -> tuple[str, ...]:
    """What counts: the metrics that have a floor, else one or two a task."""
    floored = dict.fromkeys(floor.metric for model in models for floor in model.floors)
    return tuple(floored) or tuple(
        name
        for name in all_metrics(models)
        if not name.endswith(REFINING_ENDS) and name not in REFINING
    )


def all_metrics(models: Sequence[Model]) -> tuple[str, ...]:
    """Names in the order in which rows bring them."""
    return tuple(dict.fromkeys(name for model in models for name in model.metrics))


def quality(model: Model, names: Sequence[str]) -> float | None:
    """The mean over the named metrics; a model that lacks one has none, for it is another mean."""
    found = [model.metrics[name] for name in names if name in model.metrics]
    return sum(found) / len(found) if found and len(found) == len(names) else None


def largest_teacher(models: Sequence[Model]) -> Model | None:
    """What ratios are measured against; of equally large ones the fastest."""
    teachers = [model for model in models if model.kind == "teacher" and model.size_mb]
    key = lambda model: (model.size_mb or 0.0, model.sentences_per_second or 0.0)  # noqa: E731
    return max(teachers, key=key, default=None)


def _place(model: Model) -> tuple[int, float]:
    """Sorts: the chosen, teachers, ensemble, bundles with what they come from, candidates."""
    if model.standing == "chosen":
        return (0, 0.0)
    match model.kind:
        case "teacher":
            return (1, 0.0)
        case "ensemble":
            return (2, 0.0)
        case "twin" | "student" | "bundle":
            return (3, 0.0)
        case "candidate":
            size = model.size_mb if model.size_mb is not None else float("inf")
            if model.keeps:
                return (4, size)
            last = {"pruned": 6, "failed": 7}
            return (last.get(model.verdict or "", 5), size)


def _from_row(row: ModelRow, *, twin: ModelRow | None, student: ModelRow | None) -> Model:
    is_small = row.kind in ("student", "bundle")
    fp32 = row.reference or (student.metrics if student is not None else {})
    return Model(
        number=0,
        label=_label(row),
        kind=row.kind if row.kind != "run" else "bundle",
        about=f"bundle, {row.shipped}" if row.shipped else row.kind,
        metrics=row.metrics,
        intervals={},
        twin=twin.metrics if twin is not None and is_small else {},
        fp32_metrics=fp32 if row.kind == "bundle" else {},
        is_int8=(row.shipped or "").startswith("int8"),
        attempts=row.attempts,
        size_mb=row.size_mb,
        n_parameters=row.n_parameters,
        latency_p50_ms=row.latency_p50_ms,
        latency_p95_ms=row.latency_p95_ms,
        sentences_per_second=row.sentences_per_second,
        peak_memory_mb=row.peak_memory_mb,
        training=None if row.seconds is None else f"{quantity(row.seconds)} s",
        verdict=None,
        reason="",
        floors=(),
        standing="other",
        confusions=(),
        environment=row.environment,
    )


def _label(row: ModelRow) -> str:
    match row.kind:
        case "teacher":
            return f"teacher {row.name}"
        case "twin":
            return f"{row.name}, not distilled"
        case "student":
            return f"{row.name}, distilled"
        case "bundle":
            return f"{row.name}, bundle"
        case _:
            return row.name


def _from_candidate(row: Candidate) -> Model:
    about = [word for word in (row.family, row.precision) if word]
    return Model(
        number=0,
        label=row.name,
        kind="candidate",
        about=", ".join(about) or "candidate",
        metrics=row.metrics,
        intervals=row.intervals,
        twin=row.twin,
        fp32_metrics=row.fp32_metrics,
        is_int8=(row.precision or "").startswith("int8"),
        attempts=(),
        size_mb=row.size_mb,
        n_parameters=row.n_parameters,
        latency_p50_ms=row.latency_p50_ms,
        latency_p95_ms=row.latency_p95_ms,
        sentences_per_second=row.sentences_per_second,
        peak_memory_mb=row.peak_memory_mb,
        training=None if row.epochs is None else _epochs(row.epochs),
        verdict=row.verdict,
        reason=row.reason,
        floors=row.floors,
        standing="chosen" if row.is_chosen else "other",
        confusions=row.confusions,
        environment=row.environment,
    )


def _epochs(n: float) -> str:
    return counted(int(n), "epoch", "epochs") if n == int(n) else f"{n:.3g} epochs"
