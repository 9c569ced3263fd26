"""Toys: a small labelled world, a tiny trained-looking network on it, and a bundle of that.

Everything is built from seeds in a few seconds; nothing is fetched and nothing is learnt well.
"""

import random
from pathlib import Path

import numpy as np
import torch
from backbones import WORDS, tiny_model, word_piece
from tokenizers import Tokenizer

from limbeck.bundle import BundleContents, fill_bundle
from limbeck.compress.export import export_graph, task_outputs
from limbeck.data.pieces import collate
from limbeck.data.records import Arc, Labels, Record
from limbeck.data.vocabulary import tokenizer_from_text
from limbeck.environment import versions
from limbeck.tasks.base import TEXT_KINDS, Task, TaskKind
from limbeck.tasks.codecs import learn_codec
from limbeck.tasks.scores import VECTORS, RecordScores
from limbeck.train.backbones import Pretrained, make_piecer
from limbeck.train.network import Network
from limbeck.train.trained import plans_of

KINDS: dict[str, TaskKind] = {
    "upos": "tag",
    "lemma": "lemma",
    "dep": "dep",
    "ner": "spans",
    "mood": "classify",
    "topics": "classify_many",
    "length": "regress",
}
_TAGS = {"the": "DET", "a": "DET", "and": "CCONJ", "not": "PART", "in": "ADP", "on": "ADP"}


def toy_record(rng: random.Random, *, n_words: int | None = None) -> Record:
    """A nonsense sentence whose labels follow from its words."""
    n = n_words if n_words is not None else rng.randint(1, 12)
    words = tuple(rng.choice(WORDS) for _ in range(n))
    if rng.random() < 0.5 and words:
        words = (words[0].capitalize(), *words[1:])
    return Record(words=words, labels=toy_labels(words))


def toy_labels(words: tuple[str, ...]) -> dict[str, Labels]:
    """Tags by word, heads to the left, entities where there is a bird."""
    lower = [word.lower() for word in words]
    return {
        "upos": tuple(_TAGS.get(w, "VERB" if w.endswith("s") else "NOUN") for w in lower),
        "lemma": tuple(w.removesuffix("s") for w in lower),
        "dep": tuple(
            Arc(i, "root" if i == 0 else "det" if w in _TAGS else "dep")
            for i, w in enumerate(lower)
        ),
        "ner": tuple("B-ANIMAL" if w in ("bird", "dog", "cat") else "O" for w in lower),
        "mood": "negative" if "not" in lower else "positive",
        "topics": tuple(sorted({w for w in lower if w in ("dog", "cat")})),
        "length": float(len(words)),
    }


def toy_records(n: int, *, seed: int = 0) -> list[Record]:
    rng = random.Random(seed)
    return [toy_record(rng) for _ in range(n)]


def toy_tasks() -> tuple[Task, ...]:
    records = toy_records(60, seed=99)
    return tuple(
        Task(name=name, codec=learn_codec(kind, [(r.words, r.labels[name]) for r in records]))
        for name, kind in KINDS.items()
    )


def random_scores(record: Record, seed: int) -> RecordScores:
    """Scores of every task, as a teacher would give them."""
    rng = np.random.default_rng(seed)
    n = len(record.words)
    main = {}
    for task in toy_tasks():
        size = 1 if task.kind in TEXT_KINDS else n
        main[task.name] = rng.normal(size=(size, task.codec.n_outputs)).astype(np.float32)
    return RecordScores(main=main, arcs={"dep": rng.normal(size=(n, n + 1)).astype(np.float32)})


def toy_pretrained(family: str = "bert") -> Pretrained:
    return Pretrained(backbone=tiny_model(family), tokenizer=toy_tokenizer())


def toy_tokenizer() -> Tokenizer:
    return tokenizer_from_text(word_piece().to_str())


def build_bundle(folder: Path) -> Path:
    """Write a bundle of a random network with every kind of task."""
    torch.manual_seed(5)
    tasks = toy_tasks()
    pretrained = toy_pretrained()
    network = Network(pretrained.backbone, plans_of(tasks), dropout=0.0).eval()
    with torch.no_grad():
        for parameter in network.heads.parameters():
            parameter.mul_(8)  # spread the logits, so that labels differ between words
    piecer = make_piecer(pretrained.tokenizer, pretrained.backbone.config)
    rows = [row for rows in piecer(toy_records(4)) for row in rows]
    folder.mkdir(parents=True)
    graph = folder.parent / f"{folder.name}.onnx"
    outputs = (*task_outputs(network), VECTORS)
    export_graph(network, collate(rows, pad_id=piecer.pad_id), graph, outputs=outputs)
    contents = BundleContents(
        name="toy",
        made="2026-12-01",
        tasks=tasks,
        max_pieces=piecer.max_pieces,
        pad_id=piecer.pad_id,
        precision="fp32",
        vector_size=pretrained.backbone.hidden_size,
        evidence={"metrics": {}},
        versions=versions(),
        recipe="",
        card="# toy\n",
    )
    tokenizer = word_piece().to_str()
    fill_bundle(folder, contents, graph=graph, tokenizer=tokenizer, backbone=None)
    graph.unlink()
    return folder
