"""Probes: how well hidden pieces and orders are told on text that training never sees.

In:  the network, held-out batches.
Out: loss and shares of right answers. Always the same batches, so that numbers compare.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from limbeck.pretrain.batches import Batch
from limbeck.pretrain.network import PretrainNetwork
from limbeck.pretrain.objective import count, own_losses
from limbeck.tasks.base import MISSING
from limbeck.train.devices import Precision, autocast


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """Held-out scores; chance is 0.5 for the order."""

    piece_loss: float
    piece_accuracy: float
    order_loss: float | None
    order_accuracy: float | None

    def line(self) -> str:
        text = f"held-out loss {self.piece_loss:.3f}, pieces right {self.piece_accuracy:.1%}"
        if self.order_accuracy is not None:
            text += f", order right {self.order_accuracy:.1%}"
        return text


def probe(network: PretrainNetwork, batches: Sequence[Batch], *, precision: Precision) -> Probe:
    """Score held-out batches; the network is left in training."""
    network.eval()
    counts = count(batches)
    piece_loss, order_loss, n_right, n_ordered = 0.0, 0.0, 0, 0
    device = network.table.device
    with torch.inference_mode():
        for batch in batches:
            with autocast(device, precision):
                scores = network(batch)
            losses = own_losses(scores, batch, counts)
            piece_loss += float(losses["pieces"])
            order_loss += float(losses.get("orders", 0.0))
            labels = torch.from_numpy(batch.labels).to(device)
            n_right += int(((scores.pieces.argmax(dim=-1) == labels) & (labels != MISSING)).sum())
            if scores.orders is not None:
                orders = torch.from_numpy(batch.orders).to(device)
                right = (scores.orders.argmax(dim=-1) == orders) & (orders != MISSING)
                n_ordered += int(right.sum())
    network.train()
    has_order = network.order_head is not None and counts.n_orders > 0
    return Probe(
        piece_loss=round(piece_loss, 4),
        piece_accuracy=round(n_right / max(1, counts.n_slots), 4),
        order_loss=round(order_loss, 4) if has_order else None,
        order_accuracy=round(n_ordered / counts.n_orders, 4) if has_order else None,
    )
