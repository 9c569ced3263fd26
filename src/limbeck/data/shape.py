"""Word shapes: what an uncased vocabulary throws away, as three small integers a word.

In:  words of one record.
Out: (n_words, 3) ids: a pattern of capitals, digits and punctuation, and two hashed endings.
No tokenizer, no model: the same ids in training and at run time.
"""

import zlib

import numpy as np
from numpy.typing import NDArray

N_PATTERNS = 108  # 6 kinds of capitals x 3 of digits x 3 of punctuation x first word or not
N_ENDINGS_2 = 1_024  # buckets for the last two letters
N_ENDINGS_3 = 4_096  # buckets for the last three letters
SHAPE_SIZES = (N_PATTERNS, N_ENDINGS_2, N_ENDINGS_3)


def _share(n: int, n_total: int) -> int:
    """0 none, 1 some, 2 all."""
    return 0 if n == 0 else 2 if n == n_total else 1


def _capitals(word: str) -> int:
    """0 no letters, 1 lower, 2 Title, 3 UPPER, 4 one capital letter, 5 mIxed."""
    letters = [c for c in word if c.isalpha()]
    if not letters:
        return 0
    n_upper = sum(c.isupper() for c in letters)
    if n_upper == 0:
        return 1
    if n_upper == len(letters):
        return 3 if n_upper > 1 else 4
    return 2 if n_upper == 1 and letters[0].isupper() else 5


def word_shape(word: str) -> tuple[int, int, int]:
    """Give the shape of a word that does not open its record."""
    n_digits = sum(c.isdigit() for c in word)
    n_marks = sum(not c.isalnum() for c in word)
    pattern = (_capitals(word) * 3 + _share(n_digits, len(word))) * 3 + _share(n_marks, len(word))
    ending = word.lower().encode("utf-8", "surrogatepass")
    return (
        pattern,
        zlib.crc32(ending[-2:]) % N_ENDINGS_2,
        zlib.crc32(ending[-3:]) % N_ENDINGS_3,
    )


def mark_first(shapes: NDArray[np.int64], *, opens_record: bool) -> NDArray[np.int64]:
    """Mark the word that opens a record, in place: its capital says less."""
    if opens_record and len(shapes):
        shapes[0, 0] += N_PATTERNS // 2
    return shapes
