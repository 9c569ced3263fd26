"""The Pareto front: the points that no other beats in both directions.

In:  points as (gain, gain), larger is better.
Out: positions on the front. Equal points do not beat each other.
"""

from collections.abc import Sequence


def front(points: Sequence[tuple[float, float]]) -> list[int]:
    """Positions in the order of the first gain, falling; sorted once, so cheap for any number."""
    order = sorted(range(len(points)), key=lambda i: points[i], reverse=True)
    kept: list[int] = []
    for i in order:
        if not kept or points[i][1] > points[kept[-1]][1] or points[i] == points[kept[-1]]:
            kept.append(i)
    return kept
