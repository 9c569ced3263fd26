"""Formats told by a file's first lines, where its name says nothing.

In:  some lines.
Out: the format that they can only be, or `lines`: what might be plain text is plain text. Lines
that were meant as JSON and are broken stay JSON, so that the fault is told and not annotated.
"""

import re
from collections.abc import Sequence

from limbeck.data.bio import DOCSTART
from limbeck.data.options import FormatName
from limbeck.data.tags import is_tag

_OBJECT = re.compile(r'\s*\{\s*["}]')
_FIRST_NUMBER = re.compile(r"1|1-[0-9]+|0\.1")
_NUMBER = re.compile(r"[0-9]+([-.][0-9]+)?")
_SURE_LINES = 3  # that two or more lines of prose end in tags, all in as many words, can happen


def sniff_format(lines: Sequence[str]) -> FormatName:
    """What these lines can only be."""
    real = [line.rstrip("\r\n") for line in lines if line.strip()]
    if _is_conllu(real):
        return "conllu"
    if real and _OBJECT.match(real[0]):
        return "jsonl"
    return "bio" if _is_bio(real) else "lines"


def _is_conllu(lines: Sequence[str]) -> bool:
    """Ten columns throughout, numbered from 1; comments alone may be headings of a text."""
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    return (
        bool(rows)
        and all(len(cells) == 10 and _NUMBER.fullmatch(cells[0]) for cells in rows)
        and _FIRST_NUMBER.fullmatch(rows[0][0]) is not None
    )


def _is_bio(lines: Sequence[str]) -> bool:
    """As many columns on each line, the last one a tag, and a sign that it is no prose."""
    rows = [
        line.split("\t") if "\t" in line else line.split()
        for line in lines
        if not line.startswith(DOCSTART)
    ]
    if not rows or {len(cells) for cells in rows} != {max(2, len(rows[0]))}:
        return False
    tags = [cells[-1].strip() for cells in rows]
    has_sign = len(rows) < len(lines) or all("\t" in line for line in lines)
    return all(map(is_tag, tags)) and (has_sign or (len(tags) >= _SURE_LINES and "O" in tags))
