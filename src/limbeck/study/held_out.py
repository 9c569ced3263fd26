"""Held-out text: rows that no arm of a study was trained on, the same ones for all.

In:  the text as pieces, recipes that may ask different questions about segments, a network.
Out: documents that all hold out, losses with how sure they are, and what frequencies alone reach.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch.nn import functional

from limbeck.errors import InputError
from limbeck.pretrain.batches import Batch
from limbeck.pretrain.config import OrderTask
from limbeck.pretrain.holdout import Divided, divide
from limbeck.pretrain.network import PretrainNetwork
from limbeck.pretrain.text import Text
from limbeck.tasks.base import MISSING
from limbeck.train.devices import Precision, autocast


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOut:
    """What a network says of held-out rows; losses in nats."""

    n_slots: int  # hidden pieces
    piece_loss: float
    piece_loss_error: float  # standard error of that mean, slots taken as independent
    piece_accuracy: float
    n_orders: int
    order_accuracy: float | None  # None: the network has no head for it


@dataclass(frozen=True, slots=True, kw_only=True)
class Frequencies:
    """What one reaches who knows how frequent pieces are, and nothing else."""

    piece_loss: float
    piece_accuracy: float


def divide_for_all(text: Text, *, share: float, orders: Sequence[OrderTask], seed: int) -> Divided:
    """Hold out what runs of every kind of row hold out, and train on what all of them train on.

    Which documents are held out depends on the question about segments: documents of one sentence
    cannot answer it. What is left out here was seen by some arm and not by another.
    """
    each = [divide(text, share=share, order=order, seed=seed) for order in orders]
    train, held_out = each[0].train, each[0].held_out
    for other in each[1:]:
        train = np.intersect1d(train, other.train)
        held_out = np.intersect1d(held_out, other.held_out)
    least = 2 if "nsp" in orders else 1
    if len(train) < least or len(held_out) < least:
        raise InputError(
            f"the text is too short: of {text.n_documents} documents {len(held_out)} are held out "
            f"and {len(train)} trained on by all arms, and {least} are needed of both",
            hint="give more documents of several sentences",
        )
    return replace(each[0], train=train, held_out=held_out)


def score(network: PretrainNetwork, batches: Sequence[Batch], *, precision: Precision) -> HeldOut:
    """Ask a network; it is left in evaluation."""
    network.eval()
    device = network.table.device
    losses: list[float] = []
    n_right = n_orders = n_ordered = 0
    with torch.inference_mode():
        for batch in batches:
            with autocast(device, precision):
                scores = network(batch)
            labels = torch.from_numpy(batch.labels).to(device)
            known = labels != MISSING
            each = functional.cross_entropy(scores.pieces[known], labels[known], reduction="none")
            losses += each.tolist()
            n_right += int((scores.pieces[known].argmax(dim=-1) == labels[known]).sum())
            n_orders += batch.n_orders
            if scores.orders is not None:
                orders = torch.from_numpy(batch.orders).to(device)
                said = scores.orders.argmax(dim=-1)
                n_ordered += int(((said == orders) & (orders != MISSING)).sum())
    n = max(1, len(losses))
    has_order = network.order_head is not None and n_orders > 0
    return HeldOut(
        n_slots=len(losses),
        piece_loss=round(float(np.mean(losses or [0.0])), 4),
        piece_loss_error=round(float(np.std(losses or [0.0])) / math.sqrt(n), 4),
        piece_accuracy=round(n_right / n, 4),
        n_orders=n_orders,
        order_accuracy=round(n_ordered / n_orders, 4) if has_order else None,
    )


def frequencies(divided: Divided, batches: Sequence[Batch], *, n_pieces: int) -> Frequencies:
    """Predict every hidden piece from counts of the training documents, each piece seen once more.

    The loss is the cross entropy between held-out and training frequencies, in nats.
    """
    counts = np.ones(n_pieces)
    text = divided.text
    for document in divided.train.tolist():
        first, last = text.documents[document], text.documents[document + 1]
        begin, end = text.sentences[first], text.sentences[last]
        counts += np.bincount(text.pieces[begin:end].astype(np.int64), minlength=n_pieces)
    labels = np.concatenate([batch.labels[batch.labels != MISSING] for batch in batches])
    odds = counts / counts.sum()
    return Frequencies(
        piece_loss=round(float(-np.log(odds[labels]).mean()), 4),
        piece_accuracy=round(float((labels == counts.argmax()).mean()), 4),
    )
