"""Layers: which of them a CoNLL-U file holds, as only all of its sentences together can tell.

In:  the records of one file or corpus.
Out: the same, without the labels of layers that it does not hold. A sentence without an entity is
nothing odd; where no sentence has one, nobody looked for them, and scores would be scores of that.
"""

from collections.abc import Sequence
from dataclasses import replace

from limbeck.data.records import Record

BLANK = {"ner": "O", "xpos": "_", "feats": "_"}  # what a word has where the layer is not filled


def held_layers(records: Sequence[Record]) -> list[Record]:
    """Take out what is blank throughout; other formats spell their labels out."""
    if not all(record.raw_kind == "conllu" for record in records):
        return list(records)
    blank = {
        task
        for task, nothing in BLANK.items()
        if all(set(record.labels.get(task, ())) <= {nothing, None} for record in records)  # type: ignore[arg-type]  # layers of words
    }
    return [
        replace(record, labels={t: v for t, v in record.labels.items() if t not in blank})
        for record in records
    ]
