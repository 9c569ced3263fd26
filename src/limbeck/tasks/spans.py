"""Spans from tags, and their F1, as conlleval and seqeval count them.

In:  IOB1, IOB2 or IOBES-like tags.
Out: (type, begin, end) triples; micro F1 in percent.
"""

from collections.abc import Sequence

Span = tuple[str, int, int]


def spans_of(tags: Sequence[str | None]) -> list[Span]:
    """Read spans leniently: an I of another type than the open span opens one."""
    spans: list[Span] = []
    kind, begin = "", -1
    for i, tag in enumerate([*tags, "O"]):
        prefix, _, rest = (tag or "O").partition("-")
        continues = prefix in ("I", "E") and begin >= 0 and rest == kind
        if begin >= 0 and not continues:
            spans.append((kind, begin, i))
            begin = -1
        if prefix in ("B", "S", "I", "E") and begin < 0:
            kind, begin = rest, i
    return spans


def span_f1(gold: Sequence[Sequence[str | None]], found: Sequence[Sequence[str | None]]) -> float:
    """Micro F1 over all records, in percent."""
    n_gold = n_found = n_right = 0
    for a, b in zip(gold, found, strict=True):
        wanted, given = set(spans_of(a)), set(spans_of(b))
        n_gold += len(wanted)
        n_found += len(given)
        n_right += len(wanted & given)
    total = n_gold + n_found
    return 200.0 * n_right / total if total else 0.0
