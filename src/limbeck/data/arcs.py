"""Arcs: which heads make a tree.

In:  heads of the words of a sentence, counted from 1, 0 for the root.
Out: nothing, or what is wrong with them. No file format.
"""

from collections.abc import Sequence

from limbeck.errors import InputError


def check_tree(heads: Sequence[int], where: str) -> None:
    """Refuse heads that leave the root without a word, or go round in a circle."""
    if 0 not in heads:
        raise InputError(f"{where}: no word hangs on the root")
    safe = [False] * (len(heads) + 1)
    safe[0] = True
    for start in range(1, len(heads) + 1):
        path: list[int] = []
        node = start
        while not safe[node]:
            if node in path:
                cycle = sorted(path[path.index(node) :])
                raise InputError(f"{where}: the heads of words {cycle} form a cycle")
            path.append(node)
            node = heads[node - 1]
        for visited in path:
            safe[visited] = True
