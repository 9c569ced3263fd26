"""Metrics against the field's own programs; the official UD scorer runs as a process."""

import random
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from limbeck.data.records import Arc, Labels, Record
from limbeck.tasks.base import Task
from limbeck.tasks.codecs import learn_codec
from limbeck.tasks.metrics import (
    accuracy,
    macro_f1,
    matthews,
    pearson,
    score_all,
    score_task,
    spearman,
)
from limbeck.tasks.spans import span_f1

SEEDS = range(8)


@pytest.mark.parametrize("seed", SEEDS)
def test_class_metrics_equal_those_of_sklearn(seed: int) -> None:
    sk = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(seed)
    gold = [f"c{i}" for i in rng.integers(0, 5, 60)]
    found = [g if rng.random() < 0.6 else f"c{rng.integers(0, 7)}" for g in gold]
    assert accuracy(gold, found) == pytest.approx(100 * sk.accuracy_score(gold, found))
    assert macro_f1(gold, found) == pytest.approx(100 * sk.f1_score(gold, found, average="macro"))
    assert matthews(gold, found) == pytest.approx(100 * sk.matthews_corrcoef(gold, found))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_metric_of_several_classes_equals_sklearn(seed: int) -> None:
    sk = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(seed)
    gold, found = rng.random((40, 4)) < 0.4, rng.random((40, 4)) < 0.5
    names = np.array(list("abcd"))
    scores = score_task(
        "topics",
        "classify_many",
        [tuple(names[row].tolist()) for row in gold],
        [tuple(names[row].tolist()) for row in found],
    )
    assert scores["topics.micro_f1"] == pytest.approx(
        100 * sk.f1_score(gold, found, average="micro")
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_correlations_equal_those_of_scipy(seed: int) -> None:
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 6, 50).astype(np.float64)  # many ties
    y = x + rng.normal(size=50).round(1)
    assert pearson(x, y) == pytest.approx(100 * stats.pearsonr(x, y).statistic)
    assert spearman(x, y) == pytest.approx(100 * stats.spearmanr(x, y).statistic)


def test_a_constant_prediction_correlates_with_nothing() -> None:
    assert spearman(np.arange(4.0), np.ones(4)) == 0.0


@pytest.mark.parametrize("seed", SEEDS)
def test_span_f1_equals_seqeval_also_on_illegal_tags(seed: int) -> None:
    seqeval = pytest.importorskip("seqeval.metrics")
    rng = random.Random(seed)
    tags = ["O", "O", "B-X", "I-X", "B-Y", "I-Y"]
    gold = [rng.choices(tags, k=rng.randint(1, 12)) for _ in range(40)]
    found = [[t if rng.random() < 0.7 else rng.choice(tags) for t in g] for g in gold]
    assert span_f1(gold, found) == pytest.approx(100 * seqeval.f1_score(gold, found))


def test_words_without_gold_label_do_not_count() -> None:
    scores = score_task("upos", "tag", [("A", None, "B")], [("A", "X", "C")])
    assert next(iter(scores.values())) == 50.0


RELATIONS = ["nsubj", "obj", "nsubj:pass", "det", "case", "aux:pass", "punct", "conj", "mark"]
FEATS = ["_", "Number=Sing", "Number=Plur|Typo=Yes", "Case=Nom|Number=Sing", "Style=Expr"]


def random_tree(rng: random.Random, n: int) -> tuple[Arc, ...]:
    order = rng.sample(range(1, n + 1), n)
    arcs = [Arc(0, "root")] * n
    for i in range(1, n):
        arcs[order[i] - 1] = Arc(order[rng.randrange(i)], rng.choice(RELATIONS))
    return tuple(arcs)


def random_sentence(rng: random.Random) -> dict[str, Labels]:
    n = rng.randint(1, 12)
    return {
        "upos": tuple(rng.choices(["NOUN", "VERB", "DET"], k=n)),
        "xpos": tuple(rng.choices(["N", "V", "_"], k=n)),
        "feats": tuple(rng.choices(FEATS, k=n)),
        "lemma": tuple(rng.choices(["a", "b", "_"], k=n)),
        "dep": random_tree(rng, n),
    }


def corrupted(rng: random.Random, gold: dict[str, Labels]) -> dict[str, Labels]:
    other = random_sentence(rng)
    n = len(gold["upos"])  # type: ignore[arg-type]
    while len(other["upos"]) != n:  # type: ignore[arg-type]
        other = random_sentence(rng)
    found: dict[str, Labels] = {}
    for name, labels in gold.items():
        if name == "dep":  # a tree as a whole or not at all, so that it stays one
            found[name] = other[name] if rng.random() < 0.5 else relabelled(rng, labels)
        else:
            pairs = zip(labels, other[name], strict=True)  # type: ignore[arg-type]
            found[name] = tuple(a if rng.random() < 0.8 else b for a, b in pairs)  # type: ignore[assignment]
    return found


def relabelled(rng: random.Random, labels: Labels) -> Labels:
    arcs = labels if isinstance(labels, tuple) else ()
    return tuple(
        arc._replace(relation=rng.choice(RELATIONS)) if arc.head and rng.random() < 0.2 else arc
        for arc in arcs
        if isinstance(arc, Arc)
    )


def to_conllu(sentences: list[dict[str, Labels]]) -> str:
    """Write words w1, w2 ...; each long sentence has a multiword token and an empty node."""
    lines: list[str] = []
    for labels in sentences:
        columns = [labels[name] for name in ("upos", "xpos", "feats", "lemma", "dep")]
        for i, (upos, xpos, feats, lemma, arc) in enumerate(zip(*columns, strict=True), start=1):
            if i == 2 and len(columns[0]) > 3:  # type: ignore[arg-type]
                lines.append("2-3\tw2w3" + "\t_" * 8)
            lines.append(
                f"{i}\tw{i}\t{lemma}\t{upos}\t{xpos}\t{feats}\t{arc.head}\t{arc.relation}\t_\t_"
            )
            if i == 4:
                lines.append("4.1\te" + "\t_" * 8)
        lines.append("")
    return "\n".join(lines) + "\n"


def official_scores(gold: Path, found: Path) -> dict[str, float]:
    """Run udtools' copy of the CoNLL 2018 scorer and read its table."""
    program = Path(sys.executable).with_name("udeval")
    if not program.exists():
        pytest.skip("udtools is not installed")
    done = subprocess.run(
        [str(program), "--verbose", str(gold), str(found)],
        capture_output=True,
        text=True,
        check=True,
    )
    rows = re.findall(r"^(\w+) *\|.*?\|.*?\| *([\d.]+) *\|", done.stdout, flags=re.MULTILINE)
    return {name: float(value) for name, value in rows}


@pytest.mark.parametrize("seed", range(3))
def test_ud_scores_equal_the_official_scorer(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    gold = [random_sentence(rng) for _ in range(30)]
    found = [corrupted(rng, sentence) for sentence in gold]
    (tmp_path / "gold.conllu").write_text(to_conllu(gold))
    (tmp_path / "found.conllu").write_text(to_conllu(found))
    official = official_scores(tmp_path / "gold.conllu", tmp_path / "found.conllu")

    records = [
        Record(words=tuple(f"w{i}" for i in range(1, len(s["upos"]) + 1)), labels=s)  # type: ignore[arg-type]
        for s in gold
    ]
    kinds = {"upos": "tag", "xpos": "tag", "feats": "tag", "lemma": "lemma", "dep": "dep"}
    tasks = [
        Task(name=name, codec=learn_codec(kind, [(r.words, r.labels[name]) for r in records]))  # type: ignore[arg-type]
        for name, kind in kinds.items()
    ]
    own = score_all(records, found, tasks)
    shared = set(own) & set(official)
    assert shared >= {"UPOS", "XPOS", "UFeats", "Lemmas", "UAS", "LAS", "MLAS", "BLEX"}
    assert {n: own[n] for n in shared} == pytest.approx(
        {n: official[n] for n in shared}, abs=0.00501
    )


def test_tasks_without_gold_labels_have_no_scores() -> None:
    task = Task(name="upos", codec=learn_codec("tag", [(("a",), ("X",))]))
    assert score_all([Record(words=("a",))], [{"upos": ("X",)}], [task]) == {}
