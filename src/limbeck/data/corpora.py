"""Corpora: what a recipe's text sections name, read and split into train, dev and unlabelled.

In:  corpus settings and the folder that paths start from.
Out: `Corpora`: records in memory, each with the labels of its own corpus only.
Knows formats only through `read_records`; no task logic, no torch.
"""

import hashlib
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from limbeck.config import CorpusConfig, Recipe, UnlabelledConfig
from limbeck.data.formats import ReadOptions, read_records
from limbeck.data.layers import held_layers
from limbeck.data.raw import sentences
from limbeck.data.records import Record, record_key
from limbeck.errors import InputError
from limbeck.tasks.base import TaskKind, default_kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpora:
    """All text of a recipe."""

    train: tuple[Record, ...]
    dev: tuple[Record, ...]
    unlabelled: tuple[Record, ...]
    kinds: Mapping[str, TaskKind]  # in the order in which the recipe names tasks


def task_kinds(recipe: Recipe) -> dict[str, TaskKind]:
    """Every task of the recipe and its kind."""
    kinds: dict[str, TaskKind] = {}
    for corpus in recipe.corpus:
        for task in corpus.tasks:
            kinds.setdefault(task, recipe.tasks.get(task, default_kind(task)))
    for task in recipe.tasks:
        if task not in kinds:
            raise InputError(
                f"[tasks] {task}: no corpus labels it", hint=f"tasks: {', '.join(kinds)}"
            )
    return kinds


def corpus_files(recipe: Recipe, root: Path) -> list[Path]:
    """Every file that the recipe reads, for hashing and for a check before work begins."""
    names: list[str] = []
    for corpus in recipe.corpus:
        names += _listed(corpus.train)
        names += _listed(corpus.dev or [])
    if recipe.unlabelled is not None:
        names += recipe.unlabelled.files
    paths = [_located(name, root) for name in names if not name.startswith("hub:")]
    for path in paths:
        if not path.is_file():
            raise InputError(
                f"{path}: no such file", hint="paths start from --data, or from the recipe's folder"
            )
    return paths


def load_corpora(recipe: Recipe, root: Path) -> Corpora:
    """Read all text; a corpus without a dev file gives a seeded share of train."""
    kinds = task_kinds(recipe)
    train: list[Record] = []
    dev: list[Record] = []
    for corpus in recipe.corpus:
        options = _options(corpus, kinds)
        own_train = held_layers(list(_read(corpus.train, root, options, corpus.limit)))
        if corpus.dev is not None:
            own_dev = held_layers(list(_read(corpus.dev, root, options, corpus.dev_limit)))
        elif corpus.dev_share > 0:
            own_train, own_dev = split_share(own_train, corpus.dev_share, seed=recipe.seed)
        else:
            raise InputError(
                f"corpus {corpus.train}: neither a dev file nor a dev_share",
                hint='add dev = "FILE" or dev_share = 0.1',
            )
        train += _labelled(own_train, corpus, "train") * corpus.repeat
        dev += _labelled(own_dev, corpus, "dev")
    unlabelled: list[Record] = []
    if recipe.unlabelled is not None:
        seen = {record_key(record) for record in (*train, *dev)}
        unlabelled = list(_unlabelled(recipe.unlabelled, root, seen))
    return Corpora(train=tuple(train), dev=tuple(dev), unlabelled=tuple(unlabelled), kinds=kinds)


def split_share(
    records: Sequence[Record], share: float, *, seed: int
) -> tuple[list[Record], list[Record]]:
    """Draw a dev part; the order of both parts stays as it was."""
    positions = list(range(len(records)))
    random.Random(seed).shuffle(positions)
    chosen = set(positions[: max(1, round(len(records) * share))])
    return (
        [record for i, record in enumerate(records) if i not in chosen],
        [record for i, record in enumerate(records) if i in chosen],
    )


def corpora_hash(corpora: Corpora) -> str:
    """Name all text and labels by 16 hex digits."""
    digest = hashlib.blake2b(digest_size=8)
    for part in (corpora.train, corpora.dev, corpora.unlabelled):
        for record in part:
            digest.update(repr((record.words, record.pair, sorted(record.labels.items()))).encode())
        digest.update(b"\x1d")
    return digest.hexdigest()


def _options(corpus: CorpusConfig, kinds: Mapping[str, TaskKind]) -> ReadOptions:
    return ReadOptions(
        format=corpus.format,
        tasks=tuple(corpus.tasks),
        columns=corpus.columns,
        header=corpus.header,
        strip_prefix=corpus.strip_prefix,
        kinds={task: kinds[task] for task in corpus.tasks},
    )


def _read(
    names: str | list[str], root: Path, options: ReadOptions, limit: int | None
) -> Iterator[Record]:
    paths = [name if name.startswith("hub:") else _located(name, root) for name in _listed(names)]
    records = (record for path in paths for record in read_records(path, options=options))
    return islice(records, limit)


def _labelled(records: Sequence[Record], corpus: CorpusConfig, part: str) -> list[Record]:
    """Keep what carries labels; none at all is a mistake worth stopping for."""
    kept = [record for record in records if record.labels and record.words]
    if not kept:
        raise InputError(
            f"corpus {corpus.train}: no record of {part} has labels for {', '.join(corpus.tasks)}"
        )
    return [replace(record, raw="") for record in kept]  # the text as it stood is not needed here


def _unlabelled(config: UnlabelledConfig, root: Path, seen: set[str]) -> Iterator[Record]:
    """Distinct texts within the length bounds, none of them in train or dev."""
    n_given = 0
    options = ReadOptions(format=config.format, tasks=(), columns=config.columns)
    for name in config.files:
        path = name if name.startswith("hub:") else _located(name, root)
        for record in read_records(path, options=options):
            for words in _split(record, config):
                if not config.min_words <= len(words) <= config.max_words:
                    continue
                made = Record(words=words, pair=record.pair, where=record.where)
                key = record_key(made)
                if key in seen:
                    continue
                seen.add(key)
                yield made
                n_given += 1
                if n_given == config.limit:
                    return


def _split(record: Record, config: UnlabelledConfig) -> Iterator[tuple[str, ...]]:
    match config.split:
        case "none":
            yield record.words
        case "sentences":
            yield from sentences(" ".join(record.words))


def _listed(names: str | list[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def _located(name: str, root: Path) -> Path:
    return root / Path(name).expanduser()
