"""Steady batches: few shapes, the same answers."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from toys import toy_pretrained, toy_records, toy_tasks

from limbeck.data.pieces import Batch, collate
from limbeck.train.network import Network, to_tensors
from limbeck.train.objective import LossWeights, total_loss
from limbeck.train.rows import collate_rows, make_rows, shuffled_batches
from limbeck.train.steady import real_logits, steady_batch, steady_length
from limbeck.train.trained import plans_of

BUDGET = 512
CPU = torch.device("cpu")
TASKS = toy_tasks()
PRETRAINED = toy_pretrained()
NETWORK = Network(PRETRAINED.backbone, plans_of(TASKS), dropout=0.2).eval()
PIECER = PRETRAINED.piecer()
ROWS = make_rows(toy_records(60), TASKS, PIECER)


def steady(batch: Batch) -> Batch:
    return steady_batch(batch, max_padded_pieces=BUDGET, pad_id=PIECER.pad_id)


@given(st.integers(1, 5_000))
def test_a_length_grows_by_a_step_at_most(n: int) -> None:
    rounded = steady_length(n)
    assert n <= rounded <= n + max(4, n // 4)
    assert steady_length(rounded) == rounded


@given(st.lists(st.integers(0, len(ROWS) - 1), min_size=1, max_size=20))
@settings(deadline=None, max_examples=40)
def test_logits_and_loss_are_those_of_the_batch_itself(positions: list[int]) -> None:
    batch, targets = collate_rows([ROWS[i] for i in positions], TASKS, pad_id=PIECER.pad_id)
    padded = steady(batch)
    assert padded.piece_ids.shape[1] == steady_length(batch.piece_ids.shape[1])
    with torch.inference_mode():
        plain_in, steady_in = to_tensors(batch, CPU), to_tensors(padded, CPU)
        plain = NETWORK(plain_in, targets.heads)
        found = real_logits(NETWORK(steady_in, targets.heads), batch, TASKS)
        weights = LossWeights()
        present = padded.word_grid[: len(batch.n_words)] >= 0
        loss = total_loss(plain, targets, TASKS, weights, present=plain_in.word_grid >= 0)
        again = total_loss(found, targets, TASKS, weights, present=torch.from_numpy(present))
    assert set(found) == set(plain)
    for name, wanted in plain.items():
        got = found[name]
        if name.endswith(".arcs"):
            n_grid = batch.word_grid.shape[1]
            got = got[:, :n_grid, : n_grid + 1]
        assert torch.allclose(got, wanted, atol=1e-4), name
    assert again.item() == pytest.approx(loss.item(), rel=1e-4)


def test_the_batches_of_an_epoch_have_few_shapes() -> None:
    rows = make_rows(toy_records(2_000, seed=5), TASKS, PIECER)
    plan = shuffled_batches(
        [len(row.pieces.ids) for row in rows],
        max_padded_pieces=BUDGET,
        rng=np.random.default_rng(1),
    )
    batches = [collate([rows[i].pieces for i in p], pad_id=PIECER.pad_id) for p in plan]
    plain = {(*b.piece_ids.shape, len(b.word_at)) for b in batches}
    shapes = {(*b.piece_ids.shape, len(b.word_at)) for b in map(steady, batches)}
    assert len(shapes) < len(plain) / 3
    assert sorted(i for p in plan for i in p) == list(range(len(rows)))
    assert all(b.piece_ids.size <= BUDGET for b in map(steady, batches))
