"""LAMB (You et al., 2020): Adam whose step is scaled to the size of each layer's weights.

In:  parameters with gradients.
Out: the parameters, moved. Made for large batches, where one rate does not suit all layers.
Groups without weight decay (biases, norms) are moved as by Adam, as in the authors' code.
"""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer


class Lamb(Optimizer):
    """Law: with a single matrix of norm w, the first step has the length rate x w."""

    def __init__(
        self,
        groups: Iterable[dict[str, Any]],
        *,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-6,
    ) -> None:
        super().__init__(groups, {"betas": betas, "eps": eps, "lr": 1e-3, "weight_decay": 0.0})

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    self._move(parameter, parameter.grad, group)

    def _move(self, parameter: Tensor, gradient: Tensor, group: dict[str, Any]) -> None:
        state = self.state[parameter]
        if not state:
            state["step"] = torch.zeros(())
            state["mean"] = torch.zeros_like(parameter)
            state["square"] = torch.zeros_like(parameter)
        first, second = group["betas"]
        state["step"] += 1
        n = float(state["step"])
        mean, square = state["mean"], state["square"]
        mean.lerp_(gradient, 1 - first)
        square.mul_(second).addcmul_(gradient, gradient, value=1 - second)
        root = (square / (1 - second**n)).sqrt_().add_(group["eps"])
        update = (mean / (1 - first**n)).div_(root)
        trust = 1.0
        if group["weight_decay"] > 0:
            update.add_(parameter, alpha=group["weight_decay"])
            size, length = float(parameter.norm()), float(update.norm())
            trust = size / length if size > 0 and length > 0 else 1.0
        parameter.add_(update, alpha=-group["lr"] * trust)
