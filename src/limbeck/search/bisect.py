"""Which survivor to train in full next: a bisection over cost, as quality mostly falls with it.

In:  survivors from the cheapest to the costliest, and which of those tried kept the floor.
Out: the next to try, or none. Pure.
"""

from collections.abc import Mapping, Sequence


def next_to_try(by_cost: Sequence[str], keeps: Mapping[str, bool]) -> str | None:
    """The middle of what is still open: above the costliest that missed, below the cheapest that
    kept.
    """
    above = max((i for i, name in enumerate(by_cost) if keeps.get(name) is False), default=-1)
    below = min(
        (i for i, name in enumerate(by_cost) if keeps.get(name) is True), default=len(by_cost)
    )
    open_ones = [name for name in by_cost[above + 1 : below] if name not in keeps]
    return open_ones[len(open_ones) // 2] if open_ones else None


def choose(costs: Mapping[str, float], keeps: Mapping[str, bool]) -> str | None:
    """The cheapest that keeps the floor. Law: a floor that fewer keep never makes it cheaper."""
    kept = [name for name, kept in keeps.items() if kept]
    return min(kept, key=lambda name: (costs[name], name)) if kept else None


def nearest(margins: Mapping[str, float]) -> str:
    """Where nothing keeps the floor: what misses it by least."""
    return max(margins, key=lambda name: (margins[name], name))
