"""Losses: pure functions of logits and targets.

In:  logits, hard ids or sparse soft targets.
Out: a scalar: the sum over rows that have a target, divided by the number of all rows, so that a
task which a batch labels sparsely does not weigh more for it.
"""

import torch
from torch import Tensor
from torch.nn import functional

from limbeck.tasks.base import MISSING


def hard_loss(logits: Tensor, ids: Tensor) -> Tensor:
    """Cross entropy; `logits` (n, n_outputs), `ids` (n,) with MISSING where there is none."""
    total = functional.cross_entropy(logits, ids, ignore_index=MISSING, reduction="sum")
    return total / max(1, len(ids))


def soft_loss(logits: Tensor, ids: Tensor, probs: Tensor, *, temperature: float) -> Tensor:
    """Cross entropy with sparse teacher probabilities (Hinton et al., 2015).

    `logits` (n, n_outputs); `ids`, `probs` (n, k), a row of zeros where there is no target. The
    teachers' probabilities are softened as `p ** (1 / temperature)`, which equals dividing their
    logits; the factor temperature² keeps the size of the gradient.
    """
    present = probs.sum(dim=-1) > 0
    softened = probs.clamp(min=1e-7) ** (1 / temperature) * (probs > 0)
    softened = softened / softened.sum(dim=-1, keepdim=True).clamp(min=1e-7)
    log_q = (logits / temperature).log_softmax(dim=-1)
    chosen = log_q.gather(-1, ids)
    per_row = -(softened * chosen).sum(dim=-1) * present
    return per_row.sum() * temperature**2 / max(1, len(ids))


def many_loss(logits: Tensor, targets: Tensor) -> Tensor:
    """Binary cross entropy for independent classes; `targets` (n, n_outputs), NaN: no target."""
    known = ~targets.isnan()
    per_label = functional.binary_cross_entropy_with_logits(
        logits, targets.nan_to_num(0.0), reduction="none"
    )
    return (per_label * known).mean()


def value_loss(logits: Tensor, targets: Tensor) -> Tensor:
    """Squared error; `logits` (n, 1), `targets` (n,), NaN: no target."""
    known = ~targets.isnan()
    error = (logits.squeeze(-1) - targets.nan_to_num(0.0)) ** 2
    return (error * known).sum() / max(1, len(targets))


def state_loss(student: Tensor, teacher: Tensor) -> Tensor:
    """Mean cosine distance between word states, both (n_words, width), as in DistilBERT."""
    return (
        1 - functional.cosine_similarity(student, teacher, dim=-1).mean()
        if len(teacher)
        else torch.zeros(())
    )
