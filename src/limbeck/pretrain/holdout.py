"""What the probes read: documents that training never sees.

In:  the text, a share, a seed.
Out: numbers of documents for training and for probes; text that cannot be divided is refused.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from limbeck.errors import InputError
from limbeck.pretrain.config import OrderTask
from limbeck.pretrain.text import Text

MOST_HELD_OUT = 500  # documents; probes read a few hundred rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Divided:
    """The text with its documents told apart."""

    text: Text
    train: NDArray[np.int64]
    held_out: NDArray[np.int64]


def divide(text: Text, *, share: float, order: OrderTask, seed: int) -> Divided:
    """Draw the documents that are held out."""
    n = text.n_documents
    if n == 0:
        raise InputError("the text is empty: no file has a sentence")
    if order != "none":
        _check_order(text, order)
    elif n == 1:
        text, n = _cut_in_two(text), 2
    least = 2 if order == "nsp" else 1  # a segment from another document needs another document
    n_held = min(max(least, round(share * n)), MOST_HELD_OUT, n - least)
    drawn = np.random.default_rng([seed, n]).permutation(n)
    if order != "none":  # some document with two sentences on both sides
        lengths = np.diff(text.documents)[drawn]
        drawn = drawn[np.argsort(lengths < 2, kind="stable")]
        paired = int((lengths >= 2).sum())
        n_held = min(n_held, max(least, paired // 2))
    return Divided(text=text, train=np.sort(drawn[n_held:]), held_out=np.sort(drawn[:n_held]))


def _check_order(text: Text, order: OrderTask) -> None:
    hint = 'give more documents, or set [segments] order = "none"'
    n, least = text.n_documents, 4 if order == "nsp" else 2
    if n == 1:
        raise InputError(
            f"one document only: {order.upper()} is impossible, since "
            + (
                "no other document can give a second segment"
                if order == "nsp"
                else "none is left to check the order of segments on"
            ),
            hint="[text] documents says what ends a document; " + hint,
        )
    if n < least:
        raise InputError(
            f"{n} documents are too few for {order.upper()}: it needs {least}, half of them for "
            "the probes",
            hint=hint,
        )
    n_paired = int((np.diff(text.documents) >= 2).sum())
    if n_paired < least:
        raise InputError(
            f"the text is too short for two segments: of {n} documents {n_paired} "
            f"have two sentences, and {order.upper()} needs {least}, half of them for the probes",
            hint=hint,
        )


def _cut_in_two(text: Text) -> Text:
    """A lone document ends early, so that its last sentences can be held out."""
    n = int(text.documents[1])
    if n < 2:
        raise InputError(
            "the text is one sentence: nothing would be left to learn from",
            hint="[text] documents says what ends a document",
        )
    return replace(text, documents=np.array([0, max(1, n - max(1, n // 20)), n], dtype=np.int64))
