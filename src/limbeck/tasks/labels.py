"""Gold labels narrowed to what a kind of task needs.

In:  the `Labels` of one record, which may be of any kind.
Out: the same labels with their exact type; anything else is refused.
No ids and no arrays.
"""

from typing import cast

from limbeck.data.records import Arc, Labels
from limbeck.errors import InputError


def text_label(labels: Labels) -> str:
    """One class of a text."""
    if isinstance(labels, str):
        return labels
    raise InputError(f"a text needs one label, got {labels!r}")


def text_labels(labels: Labels) -> tuple[str, ...]:
    """Any number of classes of a text."""
    if isinstance(labels, tuple) and all(isinstance(label, str) for label in labels):
        return cast(tuple[str, ...], labels)  # checked one line above
    raise InputError(f"a text needs a tuple of labels, got {labels!r}")


def text_value(labels: Labels) -> float:
    """The number that a text is rated with."""
    if isinstance(labels, int | float):
        return float(labels)
    raise InputError(f"a text needs a number, got {labels!r}")


def word_labels(labels: Labels, n_words: int) -> tuple[str | None, ...]:
    """One label for each word, None where there is none."""
    _check_length(labels, n_words)
    return cast(tuple[str | None, ...], labels)  # readers give Arcs to dep tasks only


def word_arcs(labels: Labels, n_words: int) -> tuple[Arc | None, ...]:
    """One arc for each word, None where there is none."""
    _check_length(labels, n_words)
    return cast(tuple[Arc | None, ...], labels)  # readers give Arcs to dep tasks only


def _check_length(labels: Labels, n_words: int) -> None:
    if not isinstance(labels, tuple):
        raise InputError(f"words need one label each, got {labels!r}")
    if len(labels) != n_words:
        raise InputError(f"{len(labels)} labels for {n_words} words")
