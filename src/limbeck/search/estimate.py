"""Estimates: how long a search will take, before it starts.

In:  sizes of the candidates, pieces of the text, how fast a teacher trained here.
Out: seconds. Pure; only a plan, every result is measured.
"""

from collections.abc import Sequence

from limbeck.config import StudentModel
from limbeck.search.ladder import Base, operations, rung_shares

TRAIN_FACTOR = 3  # forward, and twice as much backward
FIXED_SECONDS = 30.0  # to load, export, quantise and measure one candidate
HEADS_OPERATIONS = 4_000_000  # of a piece, in heads and embeddings: what a tiny body cannot save


def candidate_seconds(
    student: StudentModel, base: Base, *, n_pieces: int, operations_per_second: float, share: float
) -> float:
    """One rung of one candidate."""
    work = TRAIN_FACTOR * (operations(student, base) + HEADS_OPERATIONS) * n_pieces
    return FIXED_SECONDS + share * student.epochs * work / operations_per_second


def search_seconds(
    ladder: Sequence[StudentModel], base: Base, *, n_pieces: int, operations_per_second: float
) -> float:
    """All rungs; who goes on is not known, so each counts as the mean candidate."""
    total = 0.0
    for share, n in rung_shares(len(ladder)):
        each = [
            candidate_seconds(
                student,
                base,
                n_pieces=n_pieces,
                operations_per_second=operations_per_second,
                share=share,
            )
            for student in ladder
        ]
        total += n * sum(each) / len(each)
    return total
