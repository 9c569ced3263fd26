"""What the demo ends in: a few sentences as its bundle sees them.

In:  a bundle and sentences.
Out: text for a terminal: the layers of each word in columns.
"""

from collections.abc import Sequence
from pathlib import Path

from limbeck.data.records import Arc, Record
from limbeck.runtime.annotate import Annotated, load

SENTENCES = (
    "Where is the kettle that I ordered from you in March ?",
    "Please send the invoice to my new office in Lisbon .",
    "Maria did n't expect the blue lamp to arrive broken .",
)
LAYERS = ("upos", "lemma", "dep", "ner")


def show_annotated(bundle: Path, texts: Sequence[str]) -> str:
    """Annotate texts and lay them out."""
    annotator = load(bundle)
    records = [Record(words=tuple(text.split()), raw=text) for text in texts]
    return "\n".join(_columns(annotated) for annotated in annotator.annotate(records))


def _columns(annotated: Annotated) -> str:
    words = annotated.record.words
    layers = [_cells(annotated.labels[layer], words) for layer in LAYERS]
    rows = list(zip(words, *layers, strict=True))
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    intent = f"intent: {annotated.labels['intent']}"
    return "\n".join([annotated.record.raw, intent, *(f"  {line}" for line in lines)]) + "\n"


def _cells(labels: object, words: Sequence[str]) -> list[str]:
    assert isinstance(labels, tuple)
    return [
        f"{label.relation} of {words[label.head - 1] if label.head else 'the sentence'}"
        if isinstance(label, Arc)
        else str(label)
        for label in labels
    ]
