"""Axes: from measured values to places on a drawing, with round ticks.

In:  values.
Out: an axis that gives a share of its length for a value; a span of nothing is widened.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

MIN_RATIO = 6.25  # of a log axis: any such span holds two of 1, 2, 5, 10, ...
MIN_SPAN = 1.0  # points of a linear axis
MAX_TICKS = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """A stretch of numbers, linear or by logarithm."""

    low: float
    high: float
    ticks: tuple[float, ...]
    is_log: bool

    def share(self, value: float) -> float:
        """0 at the low end, 1 at the high end."""
        low, high, value = (
            (math.log(self.low), math.log(self.high), math.log(value))
            if self.is_log
            else (self.low, self.high, value)
        )
        return (value - low) / (high - low)


def log_axis(values: Sequence[float]) -> Axis:
    """An axis for values above 0."""
    low, high = min(values), max(values)
    margin = max(1.12, math.sqrt(MIN_RATIO * low / high))
    low, high = low / margin, high * margin
    for mantissas in ((1, 2, 5), (1, 3), (1,)):
        ticks = _log_ticks(low, high, mantissas)
        if len(ticks) <= MAX_TICKS:
            break
    step = -(-len(ticks) // MAX_TICKS)
    return Axis(low=low, high=high, ticks=tuple(ticks[::step]), is_log=True)


def _log_ticks(low: float, high: float, mantissas: Sequence[int]) -> list[float]:
    first, last = math.floor(math.log10(low)), math.floor(math.log10(high))
    grid = (m * 10.0**power for power in range(first, last + 1) for m in mantissas)
    return [tick for tick in grid if low <= tick <= high]


def linear_axis(values: Sequence[float]) -> Axis:
    """An axis for values of any sign."""
    low, high = min(values), max(values)
    margin = max(0.06 * (high - low), (MIN_SPAN - (high - low)) / 2)
    low, high = low - margin, high + margin
    rough = (high - low) / (MAX_TICKS - 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= rough)
    first = math.ceil(low / step)
    n_ticks = math.floor(high / step) - first + 1
    ticks = tuple(round((first + i) * step, 10) for i in range(n_ticks))
    return Axis(low=low, high=high, ticks=ticks, is_log=False)
