"""Summaries: the rows of all seeds of an arm as one line.

In:  rows.
Out: `Summary` for each arm, in the order of the rows: means, and how sure they are.
"""

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from limbeck.study.arm_rows import ArmRow
from limbeck.study.downstream import Tuned
from limbeck.study.paper import PAPER, Figures

Value = Callable[[ArmRow], float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A mean over seeds and its standard error."""

    mean: float
    error: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """One arm."""

    rows: tuple[ArmRow, ...]  # one a seed
    paper: Figures | None

    @property
    def arm(self) -> str:
        return self.rows[0].arm

    @property
    def loss(self) -> Estimate:
        """Of hidden pieces, in nats."""
        return self._sure(lambda row: row.own.piece_loss, lambda row: row.own.piece_loss_error)

    @property
    def piece_accuracy(self) -> Estimate:
        return self._sure(
            lambda row: row.own.piece_accuracy,
            lambda row: binomial_error(row.own.piece_accuracy, row.own.n_slots),
        )

    def own_order(self, order: str) -> Estimate | None:
        """How rightly its own head answers a question about segments."""
        scored = [row.held_out[order] for row in self.rows if order in row.held_out]
        if any(it.order_accuracy is None for it in scored) or not scored:
            return None
        return self._sure(
            lambda row: row.held_out[order].order_accuracy or 0.0,
            lambda row: binomial_error(0.5, row.held_out[order].n_orders),
        )

    def fitted_order(self, order: str) -> Estimate | None:
        """How rightly a head answers that was fitted on its states."""
        if any(order not in row.order_fits for row in self.rows):
            return None
        return self._sure(
            lambda row: row.order_fits[order].accuracy,
            lambda row: binomial_error(0.5, row.order_fits[order].n_scored),
        )

    def tuned(self, name: str) -> Estimate | None:
        """Dev metric after fine-tuning, in percent, taken as a share of right answers."""

        def of(row: ArmRow) -> Tuned:
            return next(it for it in row.tuned if it.name == name)

        if not all(any(it.name == name for it in row.tuned) for row in self.rows):
            return None
        return self._sure(
            lambda row: of(row).value,
            lambda row: 100 * binomial_error(of(row).value / 100, of(row).n_dev),
        )

    def mean(self, value: Value) -> float | None:
        """Mean over seeds; None where a seed has none."""
        values = [value(row) for row in self.rows]
        known = [v for v in values if v is not None]
        return statistics.fmean(known) if len(known) == len(values) else None

    def _sure(self, value: Callable[[ArmRow], float], error: Callable[[ArmRow], float]) -> Estimate:
        """The larger of two errors: what the held-out rows leave open, and what seeds do."""
        values = [value(row) for row in self.rows]
        n = len(values)
        within = math.sqrt(sum(error(row) ** 2 for row in self.rows)) / n
        between = statistics.stdev(values) / math.sqrt(n) if n > 1 else 0.0
        return Estimate(mean=statistics.fmean(values), error=max(within, between))


def summarise(rows: Sequence[ArmRow], papers: dict[str, str | None]) -> list[Summary]:
    """Put seeds together; `papers` says which of the paper's lines stands beside an arm."""
    arms = dict.fromkeys(row.arm for row in rows)
    return [
        Summary(
            rows=tuple(row for row in rows if row.arm == arm),
            paper=PAPER[key] if (key := papers.get(arm)) is not None else None,
        )
        for arm in arms
    ]


def binomial_error(share: float, n: int) -> float:
    """Standard error of a share of `n` independent answers."""
    share = min(1.0, max(0.0, share))
    return math.sqrt(share * (1 - share) / max(1, n))
