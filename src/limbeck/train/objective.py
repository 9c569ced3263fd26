"""The objective: one number from all tasks' logits and targets.

In:  named logits of a batch and its targets.
Out: a scalar loss, tasks summed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from limbeck.tasks.base import MISSING, Task
from limbeck.train.losses import hard_loss, many_loss, soft_loss, value_loss
from limbeck.train.rows import Targets


@dataclass(frozen=True, slots=True, kw_only=True)
class LossWeights:
    """How much each kind of target counts."""

    hard: float = 1.0
    soft: float = 0.0
    temperature: float = 1.0
    states: float = 0.0


def total_loss(
    logits: Mapping[str, Tensor],
    targets: Targets,
    tasks: Sequence[Task],
    weights: LossWeights,
    *,
    present: Tensor,
) -> Tensor:
    """Sum the losses of all tasks; a task without targets in this batch adds nothing.

    `present` (n_rows, n_grid) tells the words of the arc grid from its padding.
    """
    total = torch.zeros(())
    for task in tasks:
        if weights.hard > 0:
            total = total + weights.hard * _hard(logits, targets, task, present)
        if weights.soft > 0 and task.name in targets.soft_ids:
            total = total + weights.soft * _soft(
                logits, targets, task, present, temperature=weights.temperature
            )
    return total


def _hard(logits: Mapping[str, Tensor], targets: Targets, task: Task, present: Tensor) -> Tensor:
    known = targets.hard[task.name]
    scores = logits[task.name]
    match task.kind:
        case "regress":
            return value_loss(scores, known)
        case "classify_many":
            return many_loss(scores, known)
        case "dep":
            # a relation is learnt for the head that it was scored for, and for no other
            relations = known[:, 1].masked_fill(targets.heads[task.name] != known[:, 0], MISSING)
            arcs = logits[f"{task.name}.arcs"][present]  # (n_words, n_grid + 1)
            return hard_loss(arcs, known[:, 0]) + hard_loss(scores, relations)
        case "classify" | "tag" | "spans" | "lemma":
            return hard_loss(scores, known)


def _soft(
    logits: Mapping[str, Tensor],
    targets: Targets,
    task: Task,
    present: Tensor,
    *,
    temperature: float,
) -> Tensor:
    ids, probs = targets.soft_ids[task.name], targets.soft_probs[task.name]
    scores = logits[task.name]
    match task.kind:
        case "regress":
            return value_loss(scores, probs[:, 0])
        case "classify_many":
            return many_loss(scores, probs)
        case "dep":
            arc_ids = targets.soft_ids[f"{task.name}.arcs"]
            arc_probs = targets.soft_probs[f"{task.name}.arcs"]
            arcs = logits[f"{task.name}.arcs"][present]
            return soft_loss(arcs, arc_ids, arc_probs, temperature=temperature) + soft_loss(
                scores, ids, probs, temperature=temperature
            )
        case "classify" | "tag" | "spans" | "lemma":
            return soft_loss(scores, ids, probs, temperature=temperature)
