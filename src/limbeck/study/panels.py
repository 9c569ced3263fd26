"""Panels: what is drawn of a study, ours on the left and the paper's on the right.

In:  a study, summaries of its arms.
Out: two `Panel`s: named series of points. Knows no drawing.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, assert_never

from limbeck.study.arms import Study
from limbeck.study.paper import PAPER, Figures
from limbeck.study.summaries import Summary

Scaling = Literal["linear", "log"]
_RIGHT = "hidden pieces right, %"
_AVERAGE = "average of five tasks"


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One point; an empty name is not written."""

    x: float
    y: float
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """Points of one kind; a line goes through two or more."""

    name: str
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One drawing; higher is better everywhere."""

    title: str
    x_name: str
    y_name: str
    x_scaling: Scaling
    series: tuple[Series, ...]
    y_scaling: Scaling = "linear"


def panels_of(study: Study, summaries: Sequence[Summary]) -> tuple[Panel, Panel]:
    """Lay both out on axes of the same kind."""
    match study.name:
        case "same-time":
            return _same_time(summaries)
        case "depth":
            return _depth(summaries)
        case "sharing":
            return _sharing(summaries)
        case "sop":
            return _sop(summaries)
        case _:
            assert_never(study.name)


def _same_time(summaries: Sequence[Summary]) -> tuple[Panel, Panel]:
    here = tuple(
        Series(
            name=it.arm,
            points=tuple(
                Point(x=point.seconds, y=100 * point.piece_accuracy)
                for point in it.rows[0].curve  # of the first seed
            ),
        )
        for it in summaries
    )
    return (
        _here("seconds of training", here, x_scaling="linear"),
        _there("hours of training", [("", [(it.hours, it)]) for it in _lines("same-time")]),
    )


def _depth(summaries: Sequence[Summary]) -> tuple[Panel, Panel]:
    def series(name: str, start: str) -> Series:
        return Series(
            name=name,
            points=tuple(
                _point(it, float(it.rows[0].model["layers"]), str(it.rows[0].model["layers"]))
                for it in summaries
                if it.arm.startswith(start)
            ),
        )

    here = (series("narrow", "layers-"), series("wide", "wide-"))

    def paper(start: str) -> list[tuple[float | None, Figures]]:
        lines = [(key, it) for key, it in PAPER.items() if key.startswith(start)]
        return [(float(key.rpartition(" ")[2]), it) for key, it in lines]

    return (
        _here("layers (log axis)", here),
        _there(
            "layers (log axis)",
            [("ALBERT-large", paper("depth")), ("ALBERT-xxlarge", paper("wide depth"))],
            x_scaling="log",
        ),
    )


def _sharing(summaries: Sequence[Summary]) -> tuple[Panel, Panel]:
    sizes = sorted({int(it.rows[0].model["embedding"]) for it in summaries})
    here = tuple(
        Series(
            name=f"E={size}",
            points=_sorted(
                _point(it, it.rows[0].n_parameters / 1e6, str(it.rows[0].model["sharing"]))
                for it in summaries
                if it.rows[0].model["embedding"] == size
            ),
        )
        for size in sizes
    )
    paper = [
        (f"E={size}", [(it.millions, it) for it in _lines("share") if f"E={size}" in it.name])
        for size in (64, 128, 768)
    ]
    name = "million parameters (log axis)"
    return _here(name, here), _there(name, paper, x_scaling="log")


def _sop(summaries: Sequence[Summary]) -> tuple[Panel, Panel]:
    here: list[Series] = []
    for it in summaries:
        for head, value in (("own head", it.own_order), ("fitted head", it.fitted_order)):
            nsp, sop = value("nsp"), value("sop")
            if nsp is not None and sop is not None:
                name = f"{it.arm}, {head}"
                point = Point(x=100 * nsp.mean, y=100 * sop.mean, name=name)
                here.append(Series(name=name, points=(point,)))
    there = tuple(
        Series(name=it.name, points=(Point(x=it.nsp, y=it.sop, name=it.name),))
        for it in _lines("order")
        if it.nsp is not None and it.sop is not None
    )
    return (
        _orders("here", tuple(here)),
        _orders("in the paper (table 5)", there),
    )


def _orders(title: str, series: tuple[Series, ...]) -> Panel:
    return Panel(
        title=title,
        x_name="NSP right, %",
        y_name="SOP right, %",
        x_scaling="linear",
        series=series,
    )


def _here(x_name: str, series: tuple[Series, ...], *, x_scaling: Scaling = "log") -> Panel:
    return Panel(title="here", x_name=x_name, y_name=_RIGHT, x_scaling=x_scaling, series=series)


def _there(
    x_name: str,
    series: Sequence[tuple[str, Sequence[tuple[float | None, Figures]]]],
    *,
    x_scaling: Scaling = "linear",
) -> Panel:
    tables = sorted({it.table for _, lines in series for _, it in lines})
    return Panel(
        title=f"in the paper ({'table' if len(tables) == 1 else 'tables'} "
        f"{' and '.join(map(str, tables))})",
        x_name=x_name,
        y_name=_AVERAGE,
        x_scaling=x_scaling,
        series=tuple(
            Series(
                name=name,
                points=_sorted(
                    Point(x=x, y=it.average, name=it.name.partition(",")[0])
                    for x, it in lines
                    if x is not None
                ),
            )
            for name, lines in series
        ),
    )


def _lines(start: str) -> list[Figures]:
    return [it for key, it in PAPER.items() if key.startswith(start)]


def _point(it: Summary, x: float, name: str) -> Point:
    return Point(x=x, y=100 * it.piece_accuracy.mean, name=name)


def _sorted(points: Iterable[Point]) -> tuple[Point, ...]:
    return tuple(sorted(points, key=lambda point: point.x))
