"""Heads for the order of segments, fitted on a body that stays as it is.

In:  a network, rows of training text and of held-out text with a question about their segments.
Out: the share of held-out rows that a linear head answers rightly; chance is half.
So a body that was never asked about order, or was asked something else, can be asked all the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from limbeck.pretrain.batches import Batch
from limbeck.pretrain.network import PretrainNetwork
from limbeck.tasks.base import MISSING
from limbeck.train.devices import Precision, autocast

PENALTY = 1e-2  # of squared weights: there are about as many states as rows
MAX_ITERATIONS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderFit:
    """How well a fitted head answers."""

    accuracy: float
    n_fitted: int  # rows
    n_scored: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    states: NDArray[np.float32]  # (n_rows, 2 * hidden_size): first piece, mean of all pieces
    orders: NDArray[np.int64]  # (n_rows,)


def fit_order(
    network: PretrainNetwork,
    fitted: Sequence[Batch],
    held_out: Sequence[Batch],
    *,
    precision: Precision,
) -> OrderFit | None:
    """Fit by logistic regression on standardised states; None where no row has two segments."""
    train, test = _ask(network, fitted, precision), _ask(network, held_out, precision)
    if not len(train.orders) or not len(test.orders):
        return None
    mean, spread = train.states.mean(axis=0), train.states.std(axis=0) + 1e-6
    head = _logistic((train.states - mean) / spread, train.orders)
    with torch.inference_mode():
        said = head(torch.from_numpy((test.states - mean) / spread)).argmax(dim=-1).numpy()
    return OrderFit(
        accuracy=round(float((said == test.orders).mean()), 4),
        n_fitted=len(train.orders),
        n_scored=len(test.orders),
    )


def _ask(network: PretrainNetwork, batches: Sequence[Batch], precision: Precision) -> _Asked:
    network.eval()
    states: list[NDArray[np.float32]] = []
    orders: list[NDArray[np.int64]] = []
    device = network.table.device
    with torch.inference_mode():
        for batch in batches:
            with autocast(device, precision):
                found = network(batch).states.float()  # (n_rows, n_pieces, hidden_size)
            asked = np.flatnonzero(batch.orders != MISSING)
            rows = torch.from_numpy(asked).to(device)
            mask = torch.from_numpy(batch.mask[asked]).to(device).unsqueeze(-1)
            firsts = found[rows, torch.from_numpy(batch.cls_at[asked]).to(device)]
            means = (found[rows] * mask).sum(dim=1) / mask.sum(dim=1)
            states.append(torch.cat([firsts, means], dim=-1).cpu().numpy())
            orders.append(batch.orders[asked])
    return _Asked(states=np.concatenate(states), orders=np.concatenate(orders))


def _logistic(states: NDArray[np.float32], orders: NDArray[np.int64]) -> nn.Linear:
    """Convex, so it starts from nothing and needs no seed."""
    inputs, labels = torch.from_numpy(states), torch.from_numpy(orders)
    head = nn.Linear(inputs.shape[1], 2)
    nn.init.zeros_(head.weight)
    nn.init.zeros_(head.bias)
    optimizer = torch.optim.LBFGS(
        head.parameters(), max_iter=MAX_ITERATIONS, line_search_fn="strong_wolfe"
    )

    def closure() -> Tensor:
        optimizer.zero_grad()
        loss = functional.cross_entropy(head(inputs), labels)
        loss = loss + PENALTY * head.weight.square().sum()
        loss.backward()  # type: ignore[no-untyped-call]
        return loss

    optimizer.step(closure)  # type: ignore[no-untyped-call]
    return head
