"""Tables: what was measured, as cells of text that both the page and the Markdown lay out.

In:  models and the metrics that count.
Out: `Table`s. Every number of every row is in one of them; a missing one says so.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from limbeck.report.models import Model, all_metrics, quality
from limbeck.report.plots import MARK_NAMES, Plot, mark_of
from limbeck.report.verdict import floor_shortfall, quality_name
from limbeck.report.wording import (
    NOT_MEASURED,
    NOT_RECORDED,
    change,
    interval,
    parameters,
    quantity,
    score,
)

VERDICTS = {
    "keeps": "keeps the floor",
    "misses": "misses the floor",
    "pruned": "pruned early",
    "failed": "failed",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """What a cell says, and in smaller print what belongs to it."""

    text: str
    small: tuple[str, ...] = ()

    @property
    def is_missing(self) -> bool:
        return self.text in (NOT_MEASURED, NOT_RECORDED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A heading."""

    name: str
    is_number: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A line; the first cell names it."""

    cells: tuple[Cell, ...]
    anchor: str = ""  # where a plot's point leads
    is_marked: bool = False  # the chosen or the nearest


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table and what it is."""

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]


def models_table(models: Sequence[Model], names: Sequence[str], caption: str) -> Table:
    """One line a model: quality with interval and twin, then what it costs."""
    costs = (
        "MB",
        "parameters",
        "latency p50, ms",
        "latency p95, ms",
        "sentences/s",
        "peak memory, MB",
        "training",
    )
    is_search = any(model.kind == "candidate" for model in models)
    return Table(
        caption=caption,
        columns=(
            Column(name="model", is_number=False),
            *((Column(name="verdict", is_number=False),) if is_search else ()),
            *(Column(name=name, is_number=True) for name in (*names, *costs)),
        ),
        rows=tuple(_model_row(model, names, is_search=is_search) for model in models),
    )


def other_metrics_table(models: Sequence[Model], names: Sequence[str]) -> Table | None:
    """The metrics that do not decide."""
    others = [name for name in all_metrics(models) if name not in names]
    measured = [m for m in models if any(name in m.metrics for name in others)]
    if not measured:
        return None
    return Table(
        caption="Metrics that refine others or have no floor, on dev, in percent",
        columns=(
            Column(name="model", is_number=False),
            *(Column(name=name, is_number=True) for name in others),
        ),
        rows=tuple(Row(cells=(_name(m), *(_metric(m, name) for name in others))) for m in measured),
    )


def floors_table(models: Sequence[Model]) -> Table | None:
    """Every floor of every candidate."""
    rows = tuple(
        Row(
            cells=(
                _name(model),
                Cell(text=floor.metric),
                Cell(text=floor.half or NOT_RECORDED),
                Cell(text=floor.wanted or NOT_RECORDED),
                Cell(text=score(floor.needed)),
                Cell(text=score(floor.found)),
                Cell(text=score(floor.low)),
                Cell(text={True: "keeps", False: "misses", None: "not judged"}[floor.keeps]),
            ),
            is_marked=model.standing != "other",
        )
        for model in models
        for floor in model.floors
    )
    if not rows:
        return None
    numbers = ("needed", "found", "low end, 95 %")
    return Table(
        caption="Floors: what each candidate had to keep, and what was found",
        columns=(
            *(
                Column(name=name, is_number=False)
                for name in ("model", "metric", "half of dev", "wanted")
            ),
            *(Column(name=name, is_number=True) for name in numbers),
            Column(name="verdict", is_number=False),
        ),
        rows=rows,
    )


def int8_table(models: Sequence[Model], names: Sequence[str]) -> Table | None:
    """Points gained or lost between the fp32 graph and the int8 one."""
    small = [
        model
        for model in models
        if model.is_int8 and any(name in model.fp32_metrics for name in model.metrics)
    ]
    wanted = [name for name in names if any(name in model.fp32_metrics for model in small)]
    if not wanted:
        return None
    return Table(
        caption="What int8 cost: points against the same network in fp32, on dev",
        columns=(
            Column(name="model", is_number=False),
            *(Column(name=name, is_number=True) for name in wanted),
        ),
        rows=tuple(
            Row(
                cells=(_name(model), *(_int8_change(model, name) for name in wanted)),
                is_marked=model.standing != "other",
            )
            for model in small
        ),
    )


def attempts(models: Sequence[Model]) -> tuple[str, ...]:
    """What quantisation tried for each bundle, the refused graphs too."""
    said: list[str] = []
    for model in models:
        for attempt in model.attempts:
            kept = f", {attempt.n_kept_fp32} products left in fp32" if attempt.n_kept_fp32 else ""
            loss = (
                NOT_MEASURED
                if attempt.largest_loss is None
                else f"{change(-attempt.largest_loss)} points"
            )
            said.append(
                f"{model.label}: tried {attempt.name}{kept}; the worst change of a task was {loss}."
            )
    return tuple(said)


def plot_table(models: Sequence[Model], names: Sequence[str], plots: Sequence[Plot]) -> Table:
    """The data of a pair of plots."""
    on_front = {plot.key: {p.model.number for p in plot.points if p.is_on_front} for plot in plots}
    size, speed = (on_front[plot.key] for plot in plots)
    drawn = {point.model.number for plot in plots for point in plot.points}
    return Table(
        caption=f"Data of the plots of {quality_name(names)}",
        columns=(
            Column(name="model", is_number=False),
            Column(name="drawn as", is_number=False),
            *(
                Column(name=name, is_number=True)
                for name in (quality_name(names), "MB", "sentences/s")
            ),
            Column(name="on the front of", is_number=False),
        ),
        rows=tuple(
            Row(
                cells=(
                    _name(model),
                    Cell(text=MARK_NAMES[mark_of(model)] if model.number in drawn else "not drawn"),
                    Cell(text=score(quality(model, names))),
                    Cell(text=quantity(model.size_mb)),
                    Cell(text=quantity(model.sentences_per_second)),
                    Cell(text=_fronts(model.number in size, model.number in speed)),
                ),
                is_marked=model.standing != "other",
            )
            for model in models
            if model.kind != "twin"
        ),
    )


def _fronts(is_small: bool, is_fast: bool) -> str:
    found = [name for name, holds in (("size", is_small), ("speed", is_fast)) if holds]
    return " and ".join(found) or "neither"


def _model_row(model: Model, names: Sequence[str], *, is_search: bool) -> Row:
    return Row(
        anchor=f"model-{model.number}",
        is_marked=model.standing != "other",
        cells=(
            _name(model),
            *((_verdict(model),) if is_search else ()),
            *(_metric(model, name) for name in names),
            Cell(text=quantity(model.size_mb)),
            Cell(text=parameters(model.n_parameters)),
            Cell(text=quantity(model.latency_p50_ms)),
            Cell(text=quantity(model.latency_p95_ms)),
            Cell(text=quantity(model.sentences_per_second)),
            Cell(text=quantity(model.peak_memory_mb)),
            Cell(text=model.training or NOT_RECORDED),
        ),
    )


def _name(model: Model) -> Cell:
    standing = () if model.standing == "other" else (f"★ {model.standing}",)
    return Cell(text=model.label, small=(*standing, model.about))


def _verdict(model: Model) -> Cell:
    if model.kind != "candidate":
        return Cell(text="for comparison")
    missed = tuple(
        f"{floor.metric}: {quantity(miss)} points short"
        for floor in model.floors
        if floor.keeps is False and (miss := floor_shortfall(floor)) is not None and miss > 0
    )
    reason = (model.reason,) if model.reason else ()
    return Cell(text=VERDICTS.get(model.verdict or "", "not judged"), small=(*missed, *reason))


def _metric(model: Model, name: str) -> Cell:
    small: list[str] = []
    if name in model.intervals:
        small.append(interval(model.intervals[name]))
    if name in model.twin:
        small.append(f"twin {score(model.twin[name])}")
    return Cell(text=score(model.metrics.get(name)), small=tuple(small))


def _int8_change(model: Model, name: str) -> Cell:
    before, after = _both(name, model.fp32_metrics, model.metrics)
    if before is None or after is None:
        return Cell(text=NOT_MEASURED)
    return Cell(text=change(after - before), small=(f"{score(before)} → {score(after)}",))


def _both(
    name: str, first: Mapping[str, float], second: Mapping[str, float]
) -> tuple[float | None, float | None]:
    return first.get(name), second.get(name)
