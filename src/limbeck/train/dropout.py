"""Dropout whose mask costs one random byte for each value.

In:  activations.
Out: the same with a share of them zeroed and the rest scaled up, in training; unchanged otherwise.
torch's own draws a float for each value; on a CPU that was a sixth of a whole training step.
"""

import torch
from torch import Tensor, nn

N_LEVELS = 256  # of a byte; the rate is rounded to this


class ByteDropout(nn.Module):
    """Dropout (Srivastava et al., 2014) at the nearest multiple of 1/256; keeps the mean exact."""

    def __init__(self, p: float) -> None:
        super().__init__()
        if not 0 <= p < 1:
            raise ValueError(f"dropout {p}: 0 to below 1")
        self.p = p
        self.n_dropped = min(round(p * N_LEVELS), N_LEVELS - 1)
        self.scale = N_LEVELS / (N_LEVELS - self.n_dropped)

    def forward(self, values: Tensor) -> Tensor:
        if not self.training or self.n_dropped == 0:
            return values
        n = values.numel()
        # eight bytes a draw: the generator is serial on a CPU, so that draws are what costs
        draws = torch.empty((n + 7) // 8, dtype=torch.int64, device=values.device)
        draws.random_(-(2**63), None)
        kept = draws.view(torch.uint8)[:n].view(values.shape) >= self.n_dropped
        return values * kept.to(values.dtype).mul_(self.scale)

    def extra_repr(self) -> str:
        return f"p={self.p}"


def quicken_dropout(model: nn.Module) -> None:
    """Put `ByteDropout` in the place of every `nn.Dropout` inside a module."""
    for parent in list(model.modules()):
        for name, child in list(parent.named_children()):
            if type(child) is nn.Dropout:
                setattr(parent, name, ByteDropout(child.p).train(child.training))
