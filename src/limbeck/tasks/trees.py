"""Trees: the best dependency tree with a single root, from arc scores.

In:  (n_words, n_words + 1) scores, column 0 the root, column j the word j (from 1) as head.
Out: (n_words,) heads. The argmax where it is a tree already, Chu-Liu/Edmonds where it is not.
Knows neither words nor relations.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from limbeck.tasks.base import Floats, Ids

FLOOR = -1e5  # what -inf and NaN count as; below every FAR, and float64 keeps 1e-7 beside it

Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contraction:
    """One cycle that became one node, named by one of its members."""

    node: int
    cycle: list[int]
    heads: list[int]  # of each member, inside the cycle
    entered_at: NDArray[np.int32]  # for each outer head: the member that it would govern
    left_from: NDArray[np.int32]  # for each outer dependent: the member that would govern it


def are_trees(heads: Ids, n_words: Sequence[int]) -> NDArray[np.bool_]:
    """Tell for each record, words end to end, whether its heads are a tree with a single root.

    Pointer doubling over all records at once: after k rounds each word points 2**k steps up.
    """
    sizes = np.asarray(n_words, dtype=np.int64)
    record_of = np.repeat(np.arange(len(sizes)), sizes)
    first = np.cumsum(sizes) - sizes + np.arange(len(sizes))  # each record has a slot for its root
    up = np.repeat(first, sizes + 1)
    slots = np.ones(len(up), dtype=np.bool_)
    slots[first] = False
    up[slots] += heads
    for _ in range(int(sizes.max(initial=0)).bit_length()):
        up = up[up]
    lost = np.bincount(record_of, weights=up[slots] != first[record_of], minlength=len(sizes))
    roots = np.bincount(record_of, weights=heads == 0, minlength=len(sizes))
    good: NDArray[np.bool_] = (lost == 0) & ((roots == 1) | (sizes == 0))
    return good


def single_root_tree(scores: Floats | Matrix) -> Ids:
    """Find the tree of the highest total score in which exactly one word hangs on the root.

    O(n²). A word's arc to itself is never taken. The plain best tree is tried first: it seldom
    has several roots. If so, a penalty on root arcs that no difference of totals can outweigh
    leaves one of them; every tree has at least one, so it does not favour any.
    """
    n_words = len(scores)
    if n_words == 0:
        return np.zeros(0, dtype=np.int64)
    weights = np.full((n_words + 1, n_words + 1), -np.inf)
    weights[1:] = np.clip(np.nan_to_num(scores.astype(np.float64), nan=FLOOR), FLOOR, -FLOOR)
    penalty = n_words * (weights[1:].max() - weights[1:].min()) + 1
    np.fill_diagonal(weights, -np.inf)
    heads = _best_tree(weights.copy())[1:]
    if np.count_nonzero(heads == 0) > 1:
        weights[1:, 0] -= penalty
        heads = _best_tree(weights)[1:]
    return heads


def _best_tree(weights: Matrix) -> Ids:
    """Maximum arborescence from node 0 of `weights[dependent, head]`, which is consumed.

    Grows a path from head to head; what closes a cycle is contracted in place. Each contraction
    removes nodes, so all of them together cost O(n²).
    """
    best: list[int] = weights.argmax(axis=1).tolist()
    absorbed_by = list(range(len(weights)))
    is_done = [False] * len(weights)
    is_done[0] = True
    contractions: list[Contraction] = []

    def active(node: int) -> int:
        while absorbed_by[node] != node:
            absorbed_by[node] = absorbed_by[absorbed_by[node]]  # halves the way for the next call
            node = absorbed_by[node]
        return node

    for start in range(1, len(weights)):
        node = active(start)
        path: list[int] = []
        place: dict[int, int] = {}
        while not is_done[node]:
            if node in place:
                cycle = path[place[node] :]
                del path[place[node] :]
                for member in cycle:
                    del place[member]
                    absorbed_by[member] = cycle[0]
                contractions.append(_contract(weights, cycle))
                node = cycle[0]
                best[node] = int(weights[node].argmax())
                continue
            place[node] = len(path)
            path.append(node)
            node = active(best[node])
        for member in path:
            is_done[member] = True
    heads = np.array([active(head) for head in best], dtype=np.int64)
    return _expand(heads, contractions)


def _contract(weights: Matrix, cycle: list[int]) -> Contraction:
    """Merge a cycle into its first node; `cycle[i]` hangs on `cycle[i + 1]`, the last on the first.

    Entering at a member drops the arc that it had inside, so that arc's weight is subtracted.
    """
    node, members = cycle[0], np.array(cycle)
    inner = np.roll(members, -1)
    gains = weights[members] - weights[members, inner][:, None]  # (n_members, n_nodes)
    entered_at = gains.argmax(axis=0)
    columns = weights[:, members]  # (n_nodes, n_members)
    left_from = columns.argmax(axis=1)
    every = np.arange(len(weights))
    incoming = gains[entered_at, every]
    outgoing = columns[every, left_from]
    weights[:, members] = -np.inf
    weights[node] = incoming
    weights[:, node] = outgoing
    weights[node, members] = -np.inf
    return Contraction(
        node=node,
        cycle=cycle,
        heads=inner.tolist(),
        entered_at=members[entered_at].astype(np.int32),
        left_from=members[left_from].astype(np.int32),
    )


def _expand(heads: Ids, contractions: Sequence[Contraction]) -> Ids:
    """Undo contractions, last first: a cycle keeps all its arcs but that of the member entered."""
    for done in reversed(contractions):
        outer = heads[done.node]
        hangs_on_it = np.flatnonzero(heads == done.node)
        heads[hangs_on_it] = done.left_from[hangs_on_it]
        heads[done.cycle] = done.heads
        heads[done.entered_at[outer]] = outer
    return heads
