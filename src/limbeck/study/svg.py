"""Drawing: panels side by side as one SVG file that needs nothing else.

In:  panels.
Out: SVG, with the report's axes and its way of placing names. Texts are escaped.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

from limbeck.report.axes import Axis, linear_axis, log_axis
from limbeck.report.labels import CHARACTER, Box, Wanted, place_labels
from limbeck.study.panels import Panel, Point, Scaling, Series

WIDTH, HEIGHT = 460.0, 340.0  # of a panel
AREA = Box(left=52.0, top=34.0, right=WIDTH - 14.0, bottom=HEIGHT - 44.0)
MARK = 4.0
LEGEND_LINE, LEGEND_STEP = 38.0, 15.0
BOX_STEP = 6.0  # less than a name is high
_AXES: Mapping[Scaling, Callable[[Sequence[float]], Axis]] = {
    "linear": linear_axis,
    "log": log_axis,
}
# told apart by dashes too, not by colour alone; dark enough on white
STROKES = (
    ("#0b57a4", ""),
    ("#b3261e", "6 3"),
    ("#00695c", "2 3"),
    ("#8a4b00", "8 3 2 3"),
    ("#5846b5", "1 3"),
    ("#9c2468", "10 4"),
)
STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#1b1f24}"
    ".tick{fill:#57606a}.grid{stroke:#e7ebef}.axis{stroke:#57606a}"
    ".label{paint-order:stroke;stroke:#fff;stroke-width:3px;stroke-linejoin:round}"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Placed:
    """A point on the drawing."""

    x: float
    y: float
    name: str


def draw(panels: Sequence[Panel], *, title: str) -> str:
    """Draw all panels in a row."""
    width = WIDTH * len(panels)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {HEIGHT:g}" '
        f'width="{width:g}" height="{HEIGHT:g}" role="img">',
        f"<title>{escape(title)}</title>",
        f"<style>{STYLE}</style>",
        f'<rect width="{width:g}" height="{HEIGHT:g}" fill="#fff"/>',
    ]
    for i, panel in enumerate(panels):
        lines.append(f'<g transform="translate({i * WIDTH:g} 0)">')
        lines += _panel(panel)
        lines.append("</g>")
    return "\n".join([*lines, "</svg>"]) + "\n"


def _panel(panel: Panel) -> Iterator[str]:
    yield _text(AREA.left, 20, f"{panel.title}: {panel.y_name}", "start")
    points = [point for series in panel.series for point in series.points]
    if not points:
        yield _text((AREA.left + AREA.right) / 2, HEIGHT / 2, "nothing was measured", "middle")
        return
    x_axis = _AXES[panel.x_scaling]([point.x for point in points])
    y_axis = _AXES[panel.y_scaling]([point.y for point in points])
    yield from _grid(x_axis, y_axis)
    yield _text((AREA.left + AREA.right) / 2, HEIGHT - 8, panel.x_name, "middle")
    placed = [[_place(point, x_axis, y_axis) for point in it.points] for it in panel.series]
    for i, (series, marks) in enumerate(zip(panel.series, placed, strict=True)):
        yield from _series(series, marks, *STROKES[i % len(STROKES)])
    legend = _legend_box(placed, [name for name, _ in _in_legend(panel.series)])
    yield from _names(placed, legend)
    yield from _legend(panel.series, legend)


def _grid(x_axis: Axis, y_axis: Axis) -> Iterator[str]:
    for tick in x_axis.ticks:
        x = _along(x_axis.share(tick), AREA.left, AREA.right)
        yield _line(x, AREA.top, x, AREA.bottom, "grid")
        yield _text(x, AREA.bottom + 16, f"{tick:,.10g}", "middle", "tick")
    for tick in y_axis.ticks:
        y = _along(y_axis.share(tick), AREA.bottom, AREA.top)
        yield _line(AREA.left, y, AREA.right, y, "grid")
        yield _text(AREA.left - 6, y + 4, f"{tick:,.10g}", "end", "tick")
    yield _line(AREA.left, AREA.bottom, AREA.right, AREA.bottom, "axis")
    yield _line(AREA.left, AREA.top, AREA.left, AREA.bottom, "axis")


def _series(series: Series, marks: Sequence[_Placed], colour: str, dash: str) -> Iterator[str]:
    if len(marks) > 1:
        path = " ".join(f"{mark.x} {mark.y}" for mark in marks)
        yield (
            f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="1.5" '
            f'stroke-dasharray="{dash}"/>'
        )
    for mark, point in zip(marks, series.points, strict=True):
        said = ", ".join(filter(None, (series.name, point.name)))
        yield (
            f'<circle cx="{mark.x}" cy="{mark.y}" r="{MARK:g}" fill="{colour}">'
            f"<title>{escape(said)}: {point.x:.4g}, {point.y:.4g}</title></circle>"
        )


def _names(placed: Sequence[Sequence[_Placed]], legend: Box) -> Iterator[str]:
    marks = [mark for line in placed for mark in line]
    named = [mark for mark in marks if mark.name]
    taken = [*(box for line in placed for box in _along_lines(line)), legend]
    labels = place_labels(
        [Wanted(x=mark.x, y=mark.y, text=mark.name, reach=MARK) for mark in named],
        marks=[(mark.x, mark.y) for mark in marks],
        lines=taken,
        area=AREA,
    )
    for label in labels:
        if label is not None:
            yield _text(label.x, label.y, label.text, label.anchor, "label")


def _legend_box(placed: Sequence[Sequence[_Placed]], names: Sequence[str]) -> Box:
    """The emptiest corner; of equally empty ones the lower right, where what rises leaves room."""
    width = CHARACTER * max(map(len, names), default=0) + LEGEND_LINE
    height = LEGEND_STEP * len(names) + 7 if names else 0.0
    corners = [
        Box(left=left, top=top, right=left + width, bottom=top + height)
        for top in (AREA.bottom - height, AREA.top)
        for left in (AREA.right - width, AREA.left)
    ]
    lines = [box for line in placed for box in _along_lines(line)]
    lines += [_around(mark) for line in placed for mark in line]
    return min(corners, key=lambda corner: sum(corner.overlaps(box) for box in lines))


def _legend(series: Sequence[Series], box: Box) -> Iterator[str]:
    """A lone point has its name beside it and no line here."""
    for row, (name, (colour, dash)) in enumerate(reversed(_in_legend(series))):
        y = box.bottom - 10 - LEGEND_STEP * row
        yield (
            f'<path d="M{box.right - 26:g} {y - 4:g}h24" stroke="{colour}" stroke-width="1.5" '
            f'stroke-dasharray="{dash}"/>'
        )
        yield _text(box.right - 32, y, name, "end", "label")


def _in_legend(series: Sequence[Series]) -> list[tuple[str, tuple[str, str]]]:
    return [
        (it.name, STROKES[i % len(STROKES)])
        for i, it in enumerate(series)
        if it.name and len(it.points) > 1
    ]


def _along_lines(marks: Sequence[_Placed]) -> Iterator[Box]:
    """Small boxes along the lines between points, so that no name lies on a line."""
    for one, other in pairwise(marks):
        n = 1 + int(math.hypot(other.x - one.x, other.y - one.y) / BOX_STEP)
        for i in range(n + 1):
            x, y = one.x + (other.x - one.x) * i / n, one.y + (other.y - one.y) * i / n
            yield Box(left=x - 1, top=y - 1, right=x + 1, bottom=y + 1)


def _around(mark: _Placed) -> Box:
    return Box(left=mark.x - MARK, top=mark.y - MARK, right=mark.x + MARK, bottom=mark.y + MARK)


def _place(point: Point, x_axis: Axis, y_axis: Axis) -> _Placed:
    return _Placed(
        x=round(_along(x_axis.share(point.x), AREA.left, AREA.right), 1),
        y=round(_along(y_axis.share(point.y), AREA.bottom, AREA.top), 1),
        name=point.name,
    )


def _along(share: float, begin: float, end: float) -> float:
    return begin + share * (end - begin)


def _line(x: float, y: float, to_x: float, to_y: float, kind: str) -> str:
    return f'<path class="{kind}" d="M{x:.1f} {y:.1f}L{to_x:.1f} {to_y:.1f}"/>'


def _text(x: float, y: float, text: str, anchor: str, kind: str = "") -> str:
    return (
        f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
    )
