"""Outcomes: how a model did on each record, in a form that can be drawn from again and again.

In:  gold and predicted labels of a task.
Out: the task's main metric on any draw of records, many draws at once; numpy only.
Law: on all records, each once, the value is that of `tasks.metrics`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from limbeck.data.records import Labels
from limbeck.tasks.base import TaskKind
from limbeck.tasks.metrics import main_metric_of, score_task, spearman
from limbeck.tasks.spans import spans_of

Draws = NDArray[np.int64]  # (n_draws, n_drawn) positions of records, with repetition


class Outcome(Protocol):
    """One model on one task."""

    @property
    def n_records(self) -> int: ...

    def of(self, draws: Draws) -> NDArray[np.float64]:
        """The metric in percent on each draw, (n_draws,)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """Metrics that are a sum over records by another: accuracies, LAS, F1 of spans."""

    points: NDArray[np.float64]  # (n_records,) 100 times what is right
    weights: NDArray[np.float64]  # (n_records,) of how many

    @property
    def n_records(self) -> int:
        return len(self.points)

    def of(self, draws: Draws) -> NDArray[np.float64]:
        below = self.weights[draws].sum(axis=1)
        above = self.points[draws].sum(axis=1)
        found: NDArray[np.float64] = np.divide(
            above, below, out=np.zeros_like(above), where=below > 0
        )
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class RankCorrelation:
    """Spearman's, which no sum gives: each draw is ranked anew."""

    gold: NDArray[np.float64]
    said: NDArray[np.float64]

    @property
    def n_records(self) -> int:
        return len(self.gold)

    def of(self, draws: Draws) -> NDArray[np.float64]:
        return np.array([spearman(self.gold[d], self.said[d]) for d in draws])


def outcome(name: str, kind: TaskKind, gold: Sequence[Labels], said: Sequence[Labels]) -> Outcome:
    """Take down how a model did; one label, or one tuple of labels, for each record."""
    match kind:
        case "regress":
            return RankCorrelation(
                gold=np.array(gold, dtype=np.float64), said=np.array(said, dtype=np.float64)
            )
        case "classify":
            parts = [(100.0 * (str(a) == str(b)), 1.0) for a, b in zip(gold, said, strict=True)]
        case "classify_many":
            parts = [_overlap(set(a), set(b)) for a, b in zip(gold, said, strict=True)]  # type: ignore[arg-type]
        case "spans":
            parts = [
                _overlap(set(spans_of(a)), set(spans_of(b)))  # type: ignore[arg-type]
                for a, b in zip(gold, said, strict=True)
            ]
        case "tag" | "lemma" | "dep":
            main = main_metric_of(name, kind)
            parts = []
            for a, b in zip(gold, said, strict=True):
                n = float(sum(label is not None for label in a))  # type: ignore[union-attr]
                parts.append((n * score_task(name, kind, [a], [b])[main], n))
    table = np.array(parts, dtype=np.float64).reshape(-1, 2)
    return Ratio(points=table[:, 0], weights=table[:, 1])


def _overlap(wanted: set[object], given: set[object]) -> tuple[float, float]:
    return 200.0 * len(wanted & given), float(len(wanted) + len(given))


def all_once(n_records: int) -> Draws:
    """Every record, once."""
    return np.arange(n_records)[None]
