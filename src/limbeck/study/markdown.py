"""Markdown tables of studies.

In:  titles, lines of cells.
Out: a table whose first column stands left, as names do, the others right, as numbers do.
"""

from collections.abc import Sequence


def markdown_table(titles: Sequence[str], cells: Sequence[Sequence[str]]) -> str:
    """One line for each line of cells, below the titles."""
    lines = [titles, ["---"] + ["---:"] * (len(titles) - 1), *cells]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
