"""Columns: lines of cells laid out for a terminal.

In:  lines of equally many cells.
Out: text; the first cells of a line stand left, as names do, the others right, as numbers do.
"""

from collections.abc import Sequence


def in_columns(lines: Sequence[Sequence[str]], *, n_left: int = 1) -> str:
    """Every column as wide as its widest cell, two spaces between."""
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    text = ""
    for line in lines:
        cells = [
            cell.ljust(width) if i < n_left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        text += "  ".join(cells).rstrip() + "\n"
    return text
