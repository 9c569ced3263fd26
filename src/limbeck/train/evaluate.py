"""Dev scores of scored records, in percent, and the one number that training watches.

In:  gold records and scores.
Out: named metrics, and the mean of the tasks' main metrics.
"""

from collections.abc import Sequence

from limbeck.data.records import Record
from limbeck.tasks.base import Task
from limbeck.tasks.metrics import main_metric, score_all
from limbeck.tasks.scores import RecordScores
from limbeck.train.predict import Predictor, decode


def dev_metrics(
    records: Sequence[Record], scores: Sequence[RecordScores], tasks: Sequence[Task]
) -> dict[str, float]:
    """Every metric of every task."""
    predicted = decode(scores, records, tasks)
    return score_all(records, predicted, tasks)


def main_mean(metrics: dict[str, float], tasks: Sequence[Task]) -> float:
    """Mean of one metric a task."""
    values = [metrics[main_metric(task)] for task in tasks]
    return sum(values) / len(values)


def evaluate_network(
    predictor: Predictor, records: Sequence[Record], tasks: Sequence[Task]
) -> tuple[dict[str, float], float]:
    """Score dev with a network."""
    metrics = dev_metrics(records, predictor.scores(records), tasks)
    return metrics, main_mean(metrics, tasks)
