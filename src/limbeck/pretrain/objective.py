"""Losses of a step: hidden pieces, order of segments, what a teacher says.

In:  scores of the batches of a step, and how much there is to predict in all of them.
Out: parts that add up over the batches to the mean over the whole step, so that two batches that
make one step give the gradient that one large batch would.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from limbeck.pretrain.batches import Batch
from limbeck.pretrain.config import DistilConfig
from limbeck.pretrain.network import Scores
from limbeck.tasks.base import MISSING


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """What all batches of a step hold together."""

    n_slots: int
    n_orders: int
    n_real: int


def count(batches: Sequence[Batch]) -> Counts:
    return Counts(
        n_slots=sum(batch.n_slots for batch in batches),
        n_orders=sum(batch.n_orders for batch in batches),
        n_real=sum(batch.n_real for batch in batches),
    )


def own_losses(scores: Scores, batch: Batch, counts: Counts) -> dict[str, Tensor]:
    """Cross entropy of pieces and of orders."""
    device = scores.pieces.device
    losses = {
        "pieces": _entropy(scores.pieces, torch.from_numpy(batch.labels).to(device))
        / max(1, counts.n_slots)
    }
    if scores.orders is not None:
        losses["orders"] = _entropy(scores.orders, torch.from_numpy(batch.orders).to(device)) / max(
            1, counts.n_orders
        )
    return losses


def teacher_losses(
    student: Scores, teacher: Scores, batch: Batch, counts: Counts, config: DistilConfig
) -> dict[str, Tensor]:
    """DistilBERT's (Sanh et al., 2019): soft targets, and the direction of the last states."""
    device = student.pieces.device
    known = torch.from_numpy(batch.labels != MISSING).to(device)
    t = config.temperature
    divergence = functional.kl_div(
        (student.pieces[known] / t).log_softmax(dim=-1),
        (teacher.pieces[known] / t).log_softmax(dim=-1),
        reduction="sum",
        log_target=True,
    )
    real = torch.from_numpy(batch.mask[: batch.n_real_rows]).to(device).bool()
    n = batch.n_real_rows
    likeness = functional.cosine_similarity(
        student.states[:n].float(), teacher.states[:n].float(), dim=-1
    )
    return {
        "soft": divergence * t**2 / max(1, counts.n_slots),
        "states": ((1 - likeness) * real).sum() / max(1, counts.n_real),
    }


def total(losses: dict[str, Tensor], distil: DistilConfig | None) -> Tensor:
    """Add up; without a teacher all parts weigh the same, as in BERT and ALBERT."""
    if distil is None:
        return torch.stack(list(losses.values())).sum()
    return (
        distil.hard * losses["pieces"]
        + distil.soft * losses["soft"]
        + distil.states * losses["states"]
    )


def _entropy(logits: Tensor, labels: Tensor) -> Tensor:
    return functional.cross_entropy(logits, labels, ignore_index=MISSING, reduction="sum")
