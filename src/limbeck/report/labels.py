"""Labels of a plot: those that find a free place beside their point.

In:  points with texts, the most important first.
Out: where each text goes, or None: then hovering and the keyboard tell the name.
Widths are estimated, on the wide side, since nobody knows the reader's font.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

CHARACTER = 7.0  # width at the largest font size in the style sheet
HEIGHT = 14.0
MARK = 5.0  # half the width of a point's mark


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A rectangle; y grows downwards."""

    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: "Box") -> bool:
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )

    def is_inside(self, other: "Box") -> bool:
        return (
            self.left >= other.left
            and self.right <= other.right
            and self.top >= other.top
            and self.bottom <= other.bottom
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """A text and its anchor."""

    text: str
    x: float
    y: float  # of the base line
    anchor: Literal["start", "middle", "end"]
    box: Box


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A text to be placed beside a point."""

    x: float
    y: float
    text: str
    reach: float  # of the point's mark; the text begins beyond it
    is_needed: bool = False  # placed even where it covers something


def place_labels(
    wanted: Sequence[Wanted],
    *,
    marks: Sequence[tuple[float, float]],
    lines: Sequence[Box],
    area: Box,
) -> list[Label | None]:
    """Place greedily: right, left, above, below; never on a label, a mark or a line."""
    taken = [Box(left=x - MARK, top=y - MARK, right=x + MARK, bottom=y + MARK) for x, y in marks]
    taken += lines
    placed: list[Label | None] = []
    for one in wanted:
        inside = [label for label in _choices(one) if label.box.is_inside(area)]
        covers = [sum(label.box.overlaps(box) for box in taken) for label in inside]
        best = min(range(len(inside)), key=covers.__getitem__, default=None)
        if best is None or (covers[best] and not one.is_needed):
            placed.append(None)
        else:
            placed.append(inside[best])
            taken.append(inside[best].box)
    return placed


def _choices(one: Wanted) -> list[Label]:
    x, y, text, gap = one.x, one.y, one.text, one.reach + 3
    width = CHARACTER * len(text)
    half = HEIGHT / 2
    right, left, above, below = x + gap, x - gap - width, y - gap - HEIGHT, y + gap
    return [
        _label(text, right, y - half, width, "start"),
        _label(text, left, y - half, width, "end"),
        _label(text, x - width / 2, above, width, "middle"),
        _label(text, x - width / 2, below, width, "middle"),
        _label(text, right, above, width, "start"),
        _label(text, left, above, width, "end"),
        _label(text, right, below, width, "start"),
        _label(text, left, below, width, "end"),
    ]


def _label(
    text: str, left: float, top: float, width: float, anchor: Literal["start", "middle", "end"]
) -> Label:
    x = {"start": left, "middle": left + width / 2, "end": left + width}[anchor]
    box = Box(left=left, top=top, right=left + width, bottom=top + HEIGHT)
    return Label(text=text, x=x, y=top + HEIGHT - 3, anchor=anchor, box=box)
