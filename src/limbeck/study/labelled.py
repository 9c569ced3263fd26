"""Labelled text for the probe that fine-tunes: what a `limbeck run` recipe names as its corpora.

In:  a recipe's path, the folder of its files.
Out: records of train and dev with their tasks. Its teachers and students are not looked at.
"""

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from limbeck.config import read_recipe
from limbeck.data.corpora import Corpora, corpora_hash, corpus_files, load_corpora
from limbeck.data.records import Record
from limbeck.errors import InputError
from limbeck.runs.pipeline import learn_tasks
from limbeck.tasks.base import TEXT_KINDS, Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """What every arm is fine-tuned on."""

    name: str
    train: tuple[Record, ...]
    dev: tuple[Record, ...]
    tasks: tuple[Task, ...]
    key: str  # hash of text and labels


def read_labelled(path: Path, *, root: Path | None, n_records: int) -> Labelled:
    """Read a recipe's corpora; train is cut to records that are drawn, the same ones every time."""
    recipe = read_recipe(path).model_copy(update={"unlabelled": None})
    root = root if root is not None else path.parent
    corpus_files(recipe, root)
    corpora = load_corpora(recipe, root)
    train = drawn(corpora.train, n_records)
    kept = Corpora(train=train, dev=corpora.dev, unlabelled=(), kinds=corpora.kinds)
    tasks = learn_tasks(kept)
    for task in tasks:
        if task.kind not in TEXT_KINDS:
            raise InputError(
                f"{path}: task {task.name!r} labels words, and probes of a study label texts",
                hint="name a recipe whose tasks are of the kinds " + ", ".join(TEXT_KINDS),
            )
    return Labelled(
        name=recipe.name, train=train, dev=corpora.dev, tasks=tasks, key=corpora_hash(kept)
    )


def drawn(records: Sequence[Record], n: int) -> tuple[Record, ...]:
    """`n` records at most, in their order."""
    chosen = sorted(random.Random(n).sample(range(len(records)), min(n, len(records))))
    return tuple(records[i] for i in chosen)


def majority(records: Sequence[Record], task: Task) -> float | None:
    """Percent of the commonest label: what a network that knows nothing reaches."""
    labels = [record.labels[task.name] for record in records if task.name in record.labels]
    if task.kind != "classify" or not labels:
        return None
    ((_, n),) = Counter(labels).most_common(1)
    return round(100 * n / len(labels), 2)
