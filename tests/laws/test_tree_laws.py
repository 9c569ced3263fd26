"""The best tree with a single root, against brute force and against its own definition."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from limbeck.tasks.trees import single_root_tree


def is_tree(heads: tuple[int, ...]) -> bool:
    """Walk up from every word."""
    if sum(head == 0 for head in heads) != 1:
        return False
    for start in range(1, len(heads) + 1):
        node, n_steps = start, 0
        while node and n_steps <= len(heads):
            node, n_steps = heads[node - 1], n_steps + 1
        if node:
            return False
    return True


def mst_oracle(scores: np.ndarray) -> float:
    """Best total over all trees."""
    n = len(scores)
    trees = (h for h in itertools.product(range(n + 1), repeat=n) if is_tree(h))
    return max(total(scores, heads) for heads in trees)


def total(scores: np.ndarray, heads: tuple[int, ...]) -> float:
    return float(sum(np.float64(scores[i, head]) for i, head in enumerate(heads)))


@given(st.integers(1, 5), st.integers(0, 2**32 - 1), st.sampled_from(["real", "ties", "far"]))
@settings(deadline=None)
def test_no_tree_is_better(n_words: int, seed: int, how: str) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n_words, n_words + 1)).astype(np.float32)
    if how == "ties":
        scores = rng.integers(0, 3, size=scores.shape).astype(np.float32)
    if how == "far":
        scores[rng.random(scores.shape) < 0.4] = -1e4
    heads = tuple(single_root_tree(scores).tolist())
    assert is_tree(heads)
    assert total(scores, heads) == pytest.approx(mst_oracle(scores), abs=1e-4)


@given(st.integers(0, 60), st.integers(0, 2**32 - 1), st.floats(0, 8))
@settings(deadline=None)
def test_heads_are_always_a_tree_with_a_single_root(n: int, seed: int, root_bonus: float) -> None:
    scores = np.random.default_rng(seed).normal(size=(n, n + 1)).astype(np.float32)
    scores[:, 0] += np.float32(root_bonus)  # tempts several words onto the root
    heads = tuple(single_root_tree(scores).tolist())
    assert len(heads) == n
    assert n == 0 or is_tree(heads)


@given(st.integers(1, 30), st.integers(0, 2**32 - 1))
@settings(deadline=None)
def test_a_tree_that_stands_out_is_found(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    order = rng.permutation(n) + 1
    heads = np.zeros(n, dtype=np.int64)
    for i in range(1, n):
        heads[order[i] - 1] = order[rng.integers(0, i)]
    scores = rng.normal(size=(n, n + 1)).astype(np.float32)
    scores[np.arange(n), heads] += 20
    assert single_root_tree(scores).tolist() == heads.tolist()
