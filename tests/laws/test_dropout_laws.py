"""Dropout by bytes does what dropout does."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from limbeck.train.dropout import N_LEVELS, ByteDropout, quicken_dropout

rates = st.floats(0, 0.9)


@given(rates, st.lists(st.integers(1, 9), min_size=1, max_size=3))
def test_a_value_is_zeroed_or_scaled_and_its_gradient_with_it(p: float, shape: list[int]) -> None:
    dropout = ByteDropout(p)
    values = torch.ones(shape, requires_grad=True)
    out = dropout(values)
    out.sum().backward()
    assert values.grad is not None
    assert torch.equal(values.grad, out.detach())
    scale = N_LEVELS / (N_LEVELS - round(p * N_LEVELS))
    kept = out[out != 0]
    assert torch.allclose(kept, torch.full_like(kept, scale))


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_rate_and_mean_are_those_asked_for(p: float) -> None:
    torch.manual_seed(1)
    out = ByteDropout(p)(torch.ones(1_000_000))
    assert (out == 0).float().mean().item() == pytest.approx(p, abs=0.005)
    assert out.mean().item() == pytest.approx(1, abs=0.01)
    # each of the eight bytes of a draw is as random as the others
    by_byte = (out.view(-1, 8) == 0).float().mean(dim=0)
    assert by_byte.tolist() == pytest.approx([p] * 8, abs=0.01)


def test_nothing_changes_outside_training_and_at_rate_zero() -> None:
    values = torch.randn(5, 3)
    assert torch.equal(ByteDropout(0.5).eval()(values), values)
    assert torch.equal(ByteDropout(0.0)(values), values)


@pytest.mark.parametrize("p", [-0.1, 1.0, 2.0])
def test_a_rate_outside_its_range_is_refused(p: float) -> None:
    with pytest.raises(ValueError, match="dropout"):
        ByteDropout(p)


@pytest.mark.parametrize("is_training", [True, False])
def test_every_dropout_of_a_model_is_replaced_in_its_mode(is_training: bool) -> None:
    inner = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.25))
    model = nn.Sequential(nn.Dropout(0.5), inner).train(is_training)
    quicken_dropout(model)
    found = [m for m in model.modules() if isinstance(m, ByteDropout)]
    assert [m.p for m in found] == [0.5, 0.25]
    assert not any(type(m) is nn.Dropout for m in model.modules())
    assert all(m.training == is_training for m in found)
