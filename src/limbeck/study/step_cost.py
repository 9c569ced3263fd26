"""What a training step spends its time on: products, or the traffic of parameters.

In:  a network of random weights, batches, settings, a clock.
Out: milliseconds of a step's two parts, and the bytes that its update moves.
Sharing layers leaves the products as they are and makes parameters, gradients and the optimizer's
memory fewer; so what it can save is in the second part alone.
"""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import nn

from limbeck.pretrain.batches import Batch
from limbeck.pretrain.config import PretrainRecipe
from limbeck.pretrain.loop import Clock, backward, make_optimizer
from limbeck.pretrain.network import PretrainNetwork

WARM_STEPS, STEPS = 2, 7
# AdamW reads weight, gradient and two means and writes all but the gradient; clipping reads the
# gradient for its norm, then reads and writes it; fp32
UPDATE_BYTES_PER_PARAMETER = 4 * (4 + 3 + 3)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepCost:
    """Medians over a few steps on one batch."""

    products_ms: float  # forward and backward
    update_ms: float  # clipping and optimizer
    update_mb: float  # least traffic of the update
    n_trained: int  # parameters, heads included

    @property
    def update_share(self) -> float:
        """Of the whole step."""
        return self.update_ms / (self.update_ms + self.products_ms)


def measure_step(
    network: PretrainNetwork,
    batches: Sequence[Batch],
    recipe: PretrainRecipe,
    *,
    device: torch.device,
    clock: Clock,
) -> StepCost:
    """Time steps as the loop of pretraining makes them; the network is spoilt."""
    network.to(device).train()
    if device.type == "cpu":
        network.backbone.use_plain_attention()
    optimizer = make_optimizer(network, recipe.training)
    parameters = [p for p in network.parameters() if p.requires_grad]
    products: list[float] = []
    updates: list[float] = []
    for _ in range(WARM_STEPS + STEPS):
        began = clock()
        backward(network, None, batches, device, recipe.precision)
        middle = clock()
        nn.utils.clip_grad_norm_(parameters, recipe.training.max_norm)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        products.append(1_000 * (middle - began))
        updates.append(1_000 * (clock() - middle))
    n_trained = sum(p.numel() for p in parameters)
    return StepCost(
        products_ms=round(statistics.median(products[WARM_STEPS:]), 3),
        update_ms=round(statistics.median(updates[WARM_STEPS:]), 3),
        update_mb=round(UPDATE_BYTES_PER_PARAMETER * n_trained / 1e6, 2),
        n_trained=n_trained,
    )
