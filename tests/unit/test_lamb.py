"""LAMB against a calculation by hand, and against its law."""

import math

import pytest
import torch
from torch import nn

from limbeck.pretrain.lamb import Lamb


def test_two_steps_as_calculated_by_hand() -> None:
    weights = nn.Parameter(torch.tensor([[3.0, 4.0]]))
    bias = nn.Parameter(torch.tensor([1.0]))
    optimizer = Lamb(
        [
            {"params": [weights], "lr": 0.1, "weight_decay": 0.01},
            {"params": [bias], "lr": 0.1, "weight_decay": 0.0},
        ],
        eps=1e-6,
    )
    w, b = [3.0, 4.0], 1.0
    means, squares, bias_mean, bias_square = [0.0, 0.0], [0.0, 0.0], 0.0, 0.0
    for n, (gradients, bias_gradient) in enumerate([((0.5, -1.0), 2.0), ((1.0, 0.25), -1.0)], 1):
        weights.grad = torch.tensor([list(gradients)])
        bias.grad = torch.tensor([bias_gradient])
        optimizer.step()
        updates = []
        for i, g in enumerate(gradients):
            means[i] = 0.9 * means[i] + 0.1 * g
            squares[i] = 0.999 * squares[i] + 0.001 * g * g
            adam = (means[i] / (1 - 0.9**n)) / (math.sqrt(squares[i] / (1 - 0.999**n)) + 1e-6)
            updates.append(adam + 0.01 * w[i])
        trust = math.hypot(*w) / math.hypot(*updates)
        w = [value - 0.1 * trust * update for value, update in zip(w, updates, strict=True)]
        bias_mean = 0.9 * bias_mean + 0.1 * bias_gradient
        bias_square = 0.999 * bias_square + 0.001 * bias_gradient**2
        root = math.sqrt(bias_square / (1 - 0.999**n)) + 1e-6
        b -= 0.1 * (bias_mean / (1 - 0.9**n)) / root
        assert weights.detach().tolist()[0] == pytest.approx(w, rel=1e-5)
        assert bias.item() == pytest.approx(b, rel=1e-5)


def test_a_step_is_as_long_as_the_rate_times_the_weights() -> None:
    torch.manual_seed(1)
    for size in (0.01, 1.0, 100.0):
        weights = nn.Parameter(size * torch.randn(20, 30))
        before = weights.detach().clone()
        weights.grad = torch.randn(20, 30)
        Lamb([{"params": [weights], "lr": 0.01, "weight_decay": 0.01}]).step()
        moved = (weights.detach() - before).norm()
        assert moved.item() == pytest.approx(0.01 * before.norm().item(), rel=1e-4)


def test_weights_of_nothing_move_all_the_same() -> None:
    weights = nn.Parameter(torch.zeros(2, 2))
    weights.grad = torch.ones(2, 2)
    Lamb([{"params": [weights], "lr": 0.5, "weight_decay": 0.01}]).step()
    assert weights.detach().flatten().tolist() == pytest.approx([-0.5] * 4, rel=1e-4)
