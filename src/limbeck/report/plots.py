"""Plots: quality against a cost on a log axis, as places on a drawing and as a sentence.

In:  models, the metrics that make up quality, and which cost.
Out: `Plot`: plain values that a template draws. Knows no HTML.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, assert_never

from limbeck.report.axes import Axis, linear_axis, log_axis
from limbeck.report.front import front
from limbeck.report.labels import MARK, Box, Label, Wanted, place_labels
from limbeck.report.models import Model, quality
from limbeck.report.verdict import quality_name
from limbeck.report.wording import counted, interval, listed, quantity, score, shortened

WIDTH, HEIGHT = 380.0, 320.0
AREA = Box(left=44.0, top=28.0, right=WIDTH - 10.0, bottom=HEIGHT - 42.0)
ROOM = Box(left=AREA.left, top=2.0, right=WIDTH, bottom=AREA.bottom)  # for names
LABEL_CHARACTERS = 20
TIP_CHARACTERS = 40
MAX_NAMED = 40
RING = 10.0  # radius around the chosen model

Cost = Literal["size", "speed"]
Mark = Literal[
    "chosen", "nearest", "teacher", "ensemble", "student", "bundle", "keeps", "misses", "pruned"
]
MARK_NAMES: dict[Mark, str] = {
    "chosen": "the chosen model",
    "nearest": "the model nearest to the floor",
    "teacher": "teacher",
    "ensemble": "ensemble",
    "student": "student, fp32 in PyTorch",
    "bundle": "bundle",
    "keeps": "candidate that keeps the floor",
    "misses": "candidate that misses the floor or was not judged",
    "pruned": "candidate that was pruned early",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One model in a plot."""

    model: Model
    mark: Mark
    cost: float
    quality: float
    x: float
    y: float
    whisker: tuple[float, float] | None  # y of the interval's ends
    name: str  # short enough to stand beside the point
    tip: str
    tip_x: float
    tip_y: float
    tip_anchor: Literal["start", "middle", "end"]
    is_on_front: bool
    is_below: bool  # drawn at the lower edge, for it lies far below it


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """A line of the grid."""

    at: float
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """A drawing and what it says."""

    key: str
    title: str
    sentence: str
    x_name: str
    y_name: str
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    points: tuple[Point, ...]
    labels: tuple[Label, ...]
    path: str  # the front's steps, as SVG says them
    floor: Tick | None
    area: Box = AREA
    width: float = WIDTH
    height: float = HEIGHT
    ring: float = RING


def make_plot(models: Sequence[Model], names: Sequence[str], *, cost: Cost, key: str) -> Plot:
    """Lay out one plot; twins are left out, for they lie on their students' size and speed."""
    shown = [model for model in models if model.kind != "twin"]
    found = [
        (model, amount, mean)
        for model in shown
        if (amount := _cost(model, cost)) and (mean := quality(model, names)) is not None
    ]
    numbers = {model.number for model, _, _ in found}
    absent = [model.label for model in shown if model.number not in numbers]
    title = f"{_capital(quality_name(names))} against {_cost_name(cost)}"
    if not found:
        return _empty(title, absent, names, cost, key)
    needed = _needed(models, names)
    x_axis = log_axis([amount for _, amount, _ in found])
    y_axis = linear_axis(_heights(found, needed))
    gains = [(-amount if cost == "size" else amount, mean) for _, amount, mean in found]
    on_front = front(gains)
    best_of = set(on_front)
    points = tuple(
        _point(model, amount, mean, names, cost, x_axis, y_axis, is_on_front=i in best_of)
        for i, (model, amount, mean) in enumerate(found)
    )
    best = [points[i] for i in on_front]
    corners = _corners(best, cost)
    floor = None if needed is None else Tick(at=_y(y_axis, needed), text=score(needed))
    return Plot(
        key=key,
        title=title,
        sentence=_sentence(
            title, points, best, absent, cost, needed, has_twins=len(shown) < len(models)
        ),
        x_name=f"{_cost_name(cost)} (log axis)",
        y_name=f"{quality_name(names)}, %",
        x_ticks=tuple(Tick(at=_x(x_axis, t), text=f"{t:,.10g}") for t in x_axis.ticks),
        y_ticks=tuple(Tick(at=_y(y_axis, t), text=f"{t:.10g}") for t in y_axis.ticks),
        points=points,
        labels=_labels(points, corners, floor),
        path="M" + " ".join(f"{x} {y}" for x, y in corners),
        floor=floor,
    )


def marks_in(plots: Sequence[Plot]) -> tuple[Mark, ...]:
    """What the legend must explain."""
    found = {point.mark for plot in plots for point in plot.points}
    return tuple(mark for mark in MARK_NAMES if mark in found)


def mark_of(model: Model) -> Mark:
    """A shape for each kind, so that none is told by its colour alone."""
    if model.standing != "other":
        return model.standing
    match model.kind:
        case "candidate":
            if model.keeps:
                return "keeps"
            return "pruned" if model.verdict == "pruned" else "misses"
        case "twin":
            return "student"
        case _:
            return model.kind


def _cost(model: Model, cost: Cost) -> float | None:
    match cost:
        case "size":
            return model.size_mb
        case "speed":
            return model.sentences_per_second
        case _:
            assert_never(cost)


def _cost_name(cost: Cost) -> str:
    return "size in MB" if cost == "size" else "sentences/s"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _needed(models: Sequence[Model], names: Sequence[str]) -> float | None:
    """The floor's height, where the plot shows one metric."""
    if len(names) != 1:
        return None
    floors = (floor for model in models for floor in model.floors if floor.metric == names[0])
    return next((floor.needed for floor in floors if floor.needed is not None), None)


def _heights(found: Sequence[tuple[Model, float, float]], needed: float | None) -> list[float]:
    """What the axis must span: candidates given up early may lie below it."""
    kept = [mean for model, _, mean in found if model.verdict not in ("pruned", "failed")]
    heights = kept or [mean for _, _, mean in found]
    return heights if needed is None else [*heights, needed]


def _x(axis: Axis, value: float) -> float:
    return round(AREA.left + axis.share(value) * (AREA.right - AREA.left), 1)


def _y(axis: Axis, value: float) -> float:
    share = min(1.0, max(0.0, axis.share(value)))
    return round(AREA.bottom - share * (AREA.bottom - AREA.top), 1)


def _point(
    model: Model,
    amount: float,
    mean: float,
    names: Sequence[str],
    cost: Cost,
    x_axis: Axis,
    y_axis: Axis,
    *,
    is_on_front: bool,
) -> Point:
    x, y = _x(x_axis, amount), _y(y_axis, mean)
    bounds = model.intervals.get(names[0]) if len(names) == 1 else None
    unit = "MB" if cost == "size" else "sentences/s"
    sure = f" {interval(bounds)}" if bounds is not None else ""
    middle = (AREA.left + AREA.right) / 2
    third = (AREA.right - AREA.left) / 6
    anchor: Literal["start", "middle", "end"] = "middle"
    if abs(x - middle) > third:
        anchor = "start" if x < middle else "end"
    return Point(
        model=model,
        mark=mark_of(model),
        cost=amount,
        quality=mean,
        x=x,
        y=y,
        whisker=(_y(y_axis, bounds[1]), _y(y_axis, bounds[0])) if bounds is not None else None,
        name=shortened(model.label, TIP_CHARACTERS),
        tip=f"{score(mean)}{sure}, {quantity(amount)} {unit}",
        tip_x=min(max(x, AREA.left + 4), AREA.right - 4),
        tip_y=y - 28 if y > AREA.top + 48 else y + 24,
        tip_anchor=anchor,
        is_on_front=is_on_front,
        is_below=mean < y_axis.low,
    )


def _labels(
    points: Sequence[Point], corners: Sequence[tuple[float, float]], floor: Tick | None
) -> tuple[Label, ...]:
    """Names for what the eye looks for first, as far as there is room."""
    rank = {"chosen": 0, "nearest": 0, "ensemble": 1, "teacher": 2, "bundle": 3, "student": 4}
    is_crowd = len(points) > MAX_NAMED  # there, nobody could tell which point a name belongs to
    wanted = [
        point
        for point in points
        if not point.is_below and (point.mark in rank or (point.is_on_front and not is_crowd))
    ]
    wanted.sort(key=lambda point: (rank.get(point.mark, 5), point.model.number))
    lines = [*pairwise(corners)]
    if floor is not None:
        lines.append(((AREA.left, floor.at), (AREA.right, floor.at)))
    placed = place_labels(
        [
            Wanted(
                x=point.x,
                y=point.y,
                text=shortened(point.model.label, LABEL_CHARACTERS),
                reach=MARK if point.model.standing == "other" else RING,
                is_needed=point.model.standing != "other",
            )
            for point in wanted
        ],
        marks=[(point.x, point.y) for point in points],
        lines=[
            Box(left=min(x, u) - 1, top=min(y, v) - 1, right=max(x, u) + 1, bottom=max(y, v) + 1)
            for (x, y), (u, v) in lines
        ],
        area=ROOM,
    )
    return tuple(label for label in placed if label is not None)


def _corners(best: Sequence[Point], cost: Cost) -> list[tuple[float, float]]:
    """What quality is to be had at each cost: a staircase."""
    ordered = sorted(best, key=lambda point: (point.x, -point.y if cost == "size" else point.y))
    corners = [(point.x, point.y) for point in ordered[:1]]
    for point in ordered[1:]:
        x, y = corners[-1]
        corners += [(point.x, y) if cost == "size" else (x, point.y), (point.x, point.y)]
    return corners


def _sentence(
    title: str,
    points: Sequence[Point],
    best: Sequence[Point],
    absent: Sequence[str],
    cost: Cost,
    needed: float | None,
    *,
    has_twins: bool,
) -> str:
    ends = sorted(points, key=lambda point: point.cost)
    good = "smaller" if cost == "size" else "faster"
    said = [f"{title}, on a log axis, for {counted(len(points), 'model', 'models')}."]
    if has_twins:
        said.append("Twins, the same models not distilled, are left out.")
    if len(points) > 1:
        said.append(f"From {_told(ends[0], cost)} to {_told(ends[-1], cost)}.")
    else:
        said.append(f"It is {_told(ends[0], cost)}.")
    names = listed([point.model.label for point in best])
    if len(points) > 1:
        said.append(f"No model is both better and {good} than any of these: {names}.")
    said += [
        f"{_capital(point.model.standing)}: {_told(point, cost)}."
        for point in points
        if point.model.standing != "other"
    ]
    if needed is not None:
        said.append(f"The dashed line is the floor, {score(needed)}.")
    n_below = sum(point.is_below for point in points)
    if n_below:
        was = "was" if n_below == 1 else "were"
        said.append(
            f"{counted(n_below, 'model that', 'models that')} {was} given up early "
            f"{'lies' if n_below == 1 else 'lie'} below the axis, at the lower edge."
        )
    if absent:
        said.append(f"Not in the plot, for lack of a measurement: {listed(absent)}.")
    return " ".join(said)


def _told(point: Point, cost: Cost) -> str:
    unit = "MB" if cost == "size" else "sentences/s"
    return f"{point.model.label} ({quantity(point.cost)} {unit}, {score(point.quality)})"


def _empty(title: str, absent: Sequence[str], names: Sequence[str], cost: Cost, key: str) -> Plot:
    return Plot(
        key=key,
        title=title,
        sentence=f"{title}: no model has both numbers. Left out: {listed(absent)}.",
        x_name=_cost_name(cost),
        y_name=quality_name(names),
        x_ticks=(),
        y_ticks=(),
        points=(),
        labels=(),
        path="",
        floor=None,
    )
