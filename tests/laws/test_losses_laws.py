"""Laws of the losses."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from limbeck.tasks.base import MISSING
from limbeck.train.losses import hard_loss, many_loss, soft_loss, state_loss, value_loss

seeds = st.integers(0, 10_000)
sizes = st.integers(1, 7)


def logits_of(seed: int, n: int, n_outputs: int) -> torch.Tensor:
    return torch.randn(n, n_outputs, generator=torch.Generator().manual_seed(seed))


@given(seeds, sizes, st.integers(2, 6))
def test_a_certain_teacher_gives_the_hard_loss(seed: int, n: int, n_outputs: int) -> None:
    logits = logits_of(seed, n, n_outputs)
    ids = logits_of(seed + 1, n, n_outputs).argmax(dim=-1)
    soft = soft_loss(logits, ids[:, None], torch.ones(n, 1), temperature=1.0)
    assert soft.item() == pytest.approx(hard_loss(logits, ids).item(), abs=1e-5)


@given(seeds, sizes, st.integers(2, 6), st.floats(0.5, 4))
@settings(max_examples=50)
def test_no_student_beats_one_that_equals_its_teacher(
    seed: int, n: int, n_outputs: int, temperature: float
) -> None:
    teacher = logits_of(seed, n, n_outputs)
    other = logits_of(seed + 1, n, n_outputs)
    probs, ids = teacher.softmax(dim=-1).sort(dim=-1, descending=True)
    own = soft_loss(teacher, ids, probs, temperature=temperature)
    assert own <= soft_loss(other, ids, probs, temperature=temperature) + 1e-4


@given(seeds, sizes)
def test_rows_without_a_target_add_nothing(seed: int, n: int) -> None:
    logits = logits_of(seed, n, 4)
    ids = torch.full((n,), MISSING)
    assert hard_loss(logits, ids).item() == 0
    nothing = soft_loss(
        logits, torch.zeros(n, 2, dtype=torch.long), torch.zeros(n, 2), temperature=2
    )
    assert nothing.item() == 0
    assert many_loss(logits, torch.full((n, 4), float("nan"))).item() == 0
    assert value_loss(logits[:, :1], torch.full((n,), float("nan"))).item() == 0


@given(seeds, sizes)
def test_gradients_stay_finite(seed: int, n: int) -> None:
    logits = (logits_of(seed, n, 4) * 1e3).requires_grad_()
    probs = torch.tensor([[1.0, 0.0]]).expand(n, 2)
    soft_loss(logits, torch.tensor([[0, 1]]).expand(n, 2), probs, temperature=0.5).backward()  # type: ignore[no-untyped-call]
    assert logits.grad is not None
    assert torch.isfinite(logits.grad).all()


@given(seeds, sizes)
def test_equal_states_cost_nothing_and_opposite_ones_two(seed: int, n: int) -> None:
    states = logits_of(seed, n, 8)
    assert state_loss(states, states).item() == pytest.approx(0, abs=1e-5)
    assert state_loss(states, -states).item() == pytest.approx(2, abs=1e-5)


def test_no_states_cost_nothing() -> None:
    assert state_loss(torch.zeros(0, 8), torch.zeros(0, 8)).item() == 0
