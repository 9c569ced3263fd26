"""Confusions: what the student gets wrong more often than the ensemble, with sentences.

In:  gold labels, those of the ensemble and those of the student.
Out: the label pairs whose count grew most.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from limbeck.data.records import Arc, Labels, Record

N_SENTENCES = 3
WRONG_HEAD = " (head)"  # the relation is right, the head is not


@dataclass(frozen=True, slots=True, kw_only=True)
class Confusion:
    """A mistake that the student added."""

    metric: str
    gold: str
    said: str
    n_more: int  # times that the student makes it, less times that the ensemble does
    sentences: tuple[str, ...]


def added_confusions(
    records: Sequence[Record],
    ensemble: Sequence[Mapping[str, Labels]],
    student: Sequence[Mapping[str, Labels]],
    task: str,
    metric: str,
    *,
    n: int = 3,
) -> list[Confusion]:
    """The `n` mistakes that grew most, with sentences that only the student gets wrong."""
    more: Counter[tuple[str, str]] = Counter()
    seen: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for record, theirs, own in zip(records, ensemble, student, strict=True):
        if task not in record.labels:
            continue
        before = list(_mistakes(record.labels[task], theirs[task]))
        now = list(_mistakes(record.labels[task], own[task]))
        more.subtract(before)
        more.update(now)
        for pair in dict.fromkeys(now):
            if pair not in before and len(seen[pair]) < N_SENTENCES:
                seen[pair].append(" ".join((*record.words, *record.pair)))
    grown = sorted((-count, pair) for pair, count in more.items() if count > 0)
    return [
        Confusion(
            metric=metric, gold=pair[0], said=pair[1], n_more=-count, sentences=tuple(seen[pair])
        )
        for count, pair in grown[:n]
    ]


def _mistakes(gold: Labels, said: Labels) -> Iterator[tuple[str, str]]:
    if isinstance(gold, float) or isinstance(said, float):
        return  # numbers are not confused, they are off
    if isinstance(gold, str) or isinstance(said, str):
        if gold != said:
            yield str(gold), str(said)
        return
    if len(gold) != len(said):  # several labels of a text
        for label in sorted({str(x) for x in gold} - {str(x) for x in said}):
            yield label, "-"
        for label in sorted({str(x) for x in said} - {str(x) for x in gold}):
            yield "-", label
        return
    for a, b in zip(gold, said, strict=True):
        if a is None or a == b:
            continue
        if isinstance(a, Arc) and isinstance(b, Arc):
            same = a.relation == b.relation
            yield a.relation, b.relation + (WRONG_HEAD if same else "")
        else:
            yield str(a), str(b)
