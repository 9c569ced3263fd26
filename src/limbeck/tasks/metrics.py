"""Metrics of every kind of task, in percent, by the field's definitions.

In:  gold and predicted labels.
Out: named numbers; numpy only.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from limbeck.data.records import Arc, Labels, Record
from limbeck.tasks.base import Task, TaskKind
from limbeck.tasks.spans import span_f1
from limbeck.tasks.ud_scores import TreeWord, clas, universal

UD_NAMES = {"upos": "UPOS", "xpos": "XPOS", "feats": "UFeats", "lemma": "Lemmas"}

# scored on the records that carry gold labels of all these tasks
JOINT_METRICS = {
    "CLAS": {"dep"},
    "MLAS": {"dep", "upos", "feats"},
    "BLEX": {"dep", "lemma"},
}


def main_metric(task: Task) -> str:
    """The one number that stands for a task."""
    return main_metric_of(task.name, task.kind)


def main_metric_of(name: str, kind: TaskKind) -> str:
    match kind:
        case "classify" | "tag" | "lemma":
            return UD_NAMES.get(name, f"{name}.accuracy")
        case "classify_many":
            return f"{name}.micro_f1"
        case "regress":
            return f"{name}.spearman"
        case "spans":
            return f"{name}.f1"
        case "dep":
            return "LAS" if name == "dep" else f"{name}.LAS"


def score_all(
    records: Sequence[Record], predicted: Sequence[Mapping[str, Labels]], tasks: Sequence[Task]
) -> dict[str, float]:
    """Score every task on the records that carry its labels."""
    scores: dict[str, float] = {}
    for task in tasks:
        own = [i for i, record in enumerate(records) if task.name in record.labels]
        if own:
            gold = [records[i].labels[task.name] for i in own]
            found = [predicted[i][task.name] for i in own]
            scores |= score_task(task.name, task.kind, gold, found)
    names = {task.name for task in tasks}
    counted: dict[tuple[int, ...], dict[str, float]] = {}  # mostly the same records for all three
    for joint, needed in JOINT_METRICS.items():
        own = [i for i, record in enumerate(records) if needed <= record.labels.keys() & names]
        if own and tuple(own) not in counted:
            gold_trees = [_sentence(records[i].labels) for i in own]
            counted[tuple(own)] = clas(gold_trees, [_sentence(predicted[i]) for i in own])
        if own:
            scores[joint] = counted[tuple(own)][joint]
    return scores


def score_task(
    name: str, kind: TaskKind, gold: Sequence[Labels], found: Sequence[Labels]
) -> dict[str, float]:
    """Score one task; words without a gold label do not count."""
    main = main_metric_of(name, kind)
    match kind:
        case "classify":
            a, b = [str(x) for x in gold], [str(x) for x in found]
            return {
                main: accuracy(a, b),
                f"{name}.macro_f1": macro_f1(a, b),
                f"{name}.matthews": matthews(a, b),
            }
        case "classify_many":
            return {main: micro_f1(gold, found)}
        case "regress":
            x, y = np.array(gold, dtype=np.float64), np.array(found, dtype=np.float64)
            return {main: spearman(x, y), f"{name}.pearson": pearson(x, y)}
        case "tag" | "lemma":
            tags = [(str(a), str(b)) for a, b in _word_pairs(gold, found)]
            if name == "feats":
                tags = [(universal(a), universal(b)) for a, b in tags]
            if name == "lemma":
                # the shared task lets "_" as gold lemma match anything
                tags = [(a, a if a == "_" else b) for a, b in tags]
            return {main: accuracy([a for a, _ in tags], [b for _, b in tags])}
        case "spans":
            return {main: span_f1(gold, found)}  # type: ignore[arg-type]
        case "dep":
            arcs = [
                (a, b)
                for a, b in _word_pairs(gold, found)
                if isinstance(a, Arc) and isinstance(b, Arc)
            ]
            same = [(a.head == b.head, _same_relation(a, b)) for a, b in arcs]
            uas = [head for head, _ in same]
            las = [head and relation for head, relation in same]
            prefix = "" if name == "dep" else f"{name}."
            return {f"{prefix}UAS": _share(uas), f"{prefix}LAS": _share(las)}


def _word_pairs(
    gold: Sequence[Labels], found: Sequence[Labels]
) -> list[tuple[str | Arc, str | Arc | None]]:
    return [
        (a, b)
        for left, right in zip(gold, found, strict=True)
        for a, b in zip(left, right, strict=True)  # type: ignore[arg-type]  # word tasks: tuples
        if a is not None
    ]


def _same_relation(a: Arc, b: Arc) -> bool:
    return a.relation.split(":")[0] == b.relation.split(":")[0]


def _share(right: Sequence[bool]) -> float:
    return 100.0 * sum(right) / len(right) if right else 0.0


def _sentence(labels: Mapping[str, Labels]) -> list[TreeWord]:
    columns = [labels.get(name) for name in ("upos", "feats", "lemma", "dep")]
    n_words = max(len(c) for c in columns if isinstance(c, tuple))
    blank = (None,) * n_words
    upos, feats, lemma, dep = (c if isinstance(c, tuple) else blank for c in columns)
    return [
        TreeWord(
            upos=u,  # type: ignore[arg-type]
            feats=f,  # type: ignore[arg-type]
            lemma=m,  # type: ignore[arg-type]
            head=d.head if isinstance(d, Arc) else None,
            relation=d.relation if isinstance(d, Arc) else None,
        )
        for u, f, m, d in zip(upos, feats, lemma, dep, strict=True)
    ]


def accuracy(gold: Sequence[object], found: Sequence[object]) -> float:
    """Share of equal labels."""
    return _share([a == b for a, b in zip(gold, found, strict=True)])


def _counts(gold: Sequence[str], found: Sequence[str]) -> NDArray[np.float64]:
    names = sorted(set(gold) | set(found))
    position = {name: i for i, name in enumerate(names)}
    table = np.zeros((len(names), len(names)))
    for a, b in zip(gold, found, strict=True):
        table[position[a], position[b]] += 1
    return table


def macro_f1(gold: Sequence[str], found: Sequence[str]) -> float:
    """Mean of the classes' F1; a class never found nor present cannot occur here."""
    table = _counts(gold, found)
    if not table.size:
        return 0.0
    return float(100 * np.mean(2 * np.diag(table) / (table.sum(axis=0) + table.sum(axis=1))))


def matthews(gold: Sequence[str], found: Sequence[str]) -> float:
    """Matthews correlation for any number of classes (Gorodkin, 2004)."""
    table = _counts(gold, found)
    n, right = table.sum(), np.trace(table)
    a, b = table.sum(axis=1), table.sum(axis=0)
    below = np.sqrt(float(n * n - b @ b) * float(n * n - a @ a))
    return float(100 * (right * n - a @ b) / below) if below > 0 else 0.0


def micro_f1(gold: Sequence[Labels], found: Sequence[Labels]) -> float:
    """F1 over all labels of all texts."""
    n_right = n_total = 0
    for a, b in zip(gold, found, strict=True):
        wanted, given = set(a), set(b)  # type: ignore[arg-type]
        n_right += len(wanted & given)
        n_total += len(wanted) + len(given)
    return 200.0 * n_right / n_total if n_total else 0.0


def pearson(gold: NDArray[np.float64], found: NDArray[np.float64]) -> float:
    """Linear correlation; 0 where either is constant."""
    if len(gold) < 2 or gold.std() == 0 or found.std() == 0:
        return 0.0
    return float(100 * np.corrcoef(gold, found)[0, 1])


def spearman(gold: NDArray[np.float64], found: NDArray[np.float64]) -> float:
    """Correlation of ranks, ties at their mean rank."""
    return pearson(ranks(gold), ranks(found))


def ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ranks from 1; equal values share the mean of theirs."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    mean: NDArray[np.float64] = ((2 * last - counts + 1) / 2)[inverse]
    return mean
