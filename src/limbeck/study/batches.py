"""Batches of made-up pieces, and how long texts are.

In:  numbers of rows and pieces.
Out: batches without padding and without words; lengths that are the same on every machine.
"""

from statistics import NormalDist

import numpy as np

from limbeck.data.pieces import Batch

FIRST_PIECE = 1_000  # ids below are special pieces in most vocabularies
MEDIAN_PIECES, SPREAD = 17.0, 0.65  # of a log-normal: many short sentences, few long ones
MAX_PIECES = 128


def make_batch(n_rows: int, n_pieces: int) -> Batch:
    """Rows of one length."""
    ids = np.full((n_rows, n_pieces), FIRST_PIECE, dtype=np.int64) + np.arange(n_pieces)
    return Batch(
        piece_ids=ids,
        mask=np.ones_like(ids),
        type_ids=np.zeros_like(ids),
        word_at=np.zeros(1, dtype=np.int64),
        shapes=np.zeros((1, 3), dtype=np.int64),
        word_grid=np.full((n_rows, 1), -1, dtype=np.int64),
        n_words=np.zeros(n_rows, dtype=np.int64),
    )


def text_lengths(n: int) -> list[int]:
    """Lengths in pieces as web text has them: `n` quantiles of the log-normal."""
    normal = NormalDist(mu=float(np.log(MEDIAN_PIECES)), sigma=SPREAD)
    values = (float(np.exp(normal.inv_cdf((i + 0.5) / n))) for i in range(n))
    return [max(3, min(MAX_PIECES, round(value))) for value in values]
