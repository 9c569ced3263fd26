"""The front: which candidates nobody beats, and in what order the rest follow.

In:  quality (more is better) and cost (less is better) of each candidate.
Out: positions. Pure.
"""

from collections.abc import Sequence


def dominates(a: tuple[float, float], b: tuple[float, float]) -> bool:
    """Tell whether `a` is at least as good and as cheap as `b`, and better in one."""
    return a[0] >= b[0] and a[1] <= b[1] and a != b


def fronts(points: Sequence[tuple[float, float]]) -> list[list[int]]:
    """Peel fronts off one after another (non-dominated sorting, Deb et al., 2002)."""
    left = list(range(len(points)))
    peeled: list[list[int]] = []
    while left:
        front = [i for i in left if not any(dominates(points[j], points[i]) for j in left)]
        peeled.append(front)
        left = [i for i in left if i not in front]
    return peeled


def promote(points: Sequence[tuple[float, float]], n: int) -> list[int]:
    """The best `n`: whole fronts; of the one that does not fit, its ends and then what lies
    farthest from what is taken, so that large and small candidates both go on.
    """
    taken: list[int] = []
    for front in fronts(points):
        room = n - len(taken)
        if room <= 0:
            break
        ordered = sorted(front, key=lambda i: (points[i][1], -points[i][0], i))
        taken += ordered if len(ordered) <= room else [ordered[p] for p in _spread(ordered, room)]
    return sorted(taken)


def _spread(ordered: Sequence[int], n: int) -> list[int]:
    """Evenly spread positions, the best quality (the costliest of a front) always among them."""
    last = len(ordered) - 1
    return [last] if n == 1 else [round(i * last / (n - 1)) for i in range(n)]
