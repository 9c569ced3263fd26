"""The ensemble: a weighted mean of the members' probabilities, task by task.

In:  `RecordScores` of the same records from several members, and a weight for each.
Out: `RecordScores` whose logits are log probabilities of the mean; weights chosen on dev.
Members may cut text differently and order their labels differently; what is averaged is per word.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from limbeck.tasks.base import Floats, TaskKind
from limbeck.tasks.scores import RecordScores

TINY = 1e-9  # keeps logarithms finite
SHARES = (0.5, 0.25, 0.125, 0.0625)  # of a member that is mixed in
MAX_ROUNDS = 4


def softmax(logits: Floats) -> Floats:
    """Probabilities along the last axis."""
    shifted = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return shifted / shifted.sum(axis=-1, keepdims=True)  # type: ignore[no-any-return]


def sigmoid(logits: Floats) -> Floats:
    """Independent probabilities."""
    likely: Floats = (1 / (1 + np.exp(-logits))).astype(np.float32)
    return likely


def reorder(logits: Floats, own: Sequence[str], wanted: Sequence[str]) -> Floats:
    """Put a member's outputs in the order of `wanted`; a label it lacks gets a hopeless logit."""
    if tuple(own) == tuple(wanted):
        return logits
    position = {name: i for i, name in enumerate(own)}
    ordered = np.full((len(logits), len(wanted)), -30.0, dtype=np.float32)
    for i, name in enumerate(wanted):
        if name in position:
            ordered[:, i] = logits[:, position[name]]
    return ordered


def mean_scores(
    members: Sequence[RecordScores], weights: Sequence[float], task: str, kind: TaskKind
) -> tuple[Floats, Floats | None]:
    """Average one task of one record: log probabilities, and for dep those of arcs.

    A member's relations hold for its own likeliest heads, so each word takes them from the
    members that agree with the ensemble's head, and from all where none does.
    """
    match kind:
        case "regress":
            return _mean([m.main[task] for m in members], weights), None
        case "classify_many":
            p = _mean([sigmoid(m.main[task]) for m in members], weights)
            return np.log(p + TINY) - np.log(1 - p + TINY), None
        case "dep":
            probs = [softmax(m.arcs[task]) for m in members]
            arcs = _mean(probs, weights)
            heads = arcs.argmax(axis=-1)
            relations = np.stack([softmax(m.main[task]) for m in members])  # (members, words, R)
            agree = np.stack([p.argmax(axis=-1) == heads for p in probs]).astype(np.float32)
            share = agree * np.asarray(weights, dtype=np.float32)[:, None]
            none = share.sum(axis=0) == 0
            share[:, none] = np.asarray(weights, dtype=np.float32)[:, None]
            share /= share.sum(axis=0)
            mixed = (relations * share[..., None]).sum(axis=0)
            return np.log(mixed + TINY), np.log(arcs + TINY)
        case "classify" | "tag" | "spans" | "lemma":
            return np.log(_mean([softmax(m.main[task]) for m in members], weights) + TINY), None


def _mean(arrays: Sequence[Floats], weights: Sequence[float]) -> Floats:
    total = sum(weights)
    mixed = np.zeros_like(arrays[0])
    for array, weight in zip(arrays, weights, strict=True):
        if weight:
            mixed += array * np.float32(weight / total)
    return mixed


def mix(
    members: Sequence[RecordScores],
    weights: Mapping[str, Sequence[float]],
    kinds: Mapping[str, TaskKind],
) -> RecordScores:
    """Average all tasks of one record."""
    main: dict[str, Floats] = {}
    arcs: dict[str, Floats] = {}
    for task, kind in kinds.items():
        main[task], task_arcs = mean_scores(members, weights[task], task, kind)
        if task_arcs is not None:
            arcs[task] = task_arcs
    return RecordScores(main=main, arcs=arcs)


def choose_weights(n_members: int, score: Callable[[Sequence[float]], float]) -> list[float]:
    """Mix members in greedily by what `score` gains (after Caruana et al., 2004).

    Starts from the best single member, or from all alike where that is better. Each round mixes one
    member in with one of `SHARES`: beside a strong member a weak one helps with a small share only,
    and a half, which is what picking it once would give, is too much. Stops at the first round
    without gain; ties keep the simpler choice.
    """
    alone = [[float(i == j) for j in range(n_members)] for i in range(n_members)]
    singles = [score(weights) for weights in alone]
    best = max(range(n_members), key=lambda i: singles[i])
    weights, reached = alone[best], singles[best]
    if n_members == 1:
        return weights
    alike = [1 / n_members] * n_members
    if (together := score(alike)) > reached:
        weights, reached = alike, together
    for _ in range(MAX_ROUNDS):
        mixes = [
            [(1 - share) * w + share * own for w, own in zip(weights, member, strict=True)]
            for member in alone
            for share in SHARES
        ]
        tried = [score(mix) for mix in mixes]
        gain = max(range(len(mixes)), key=lambda i: tried[i])
        if tried[gain] <= reached:
            break
        weights, reached = mixes[gain], tried[gain]
    return weights
