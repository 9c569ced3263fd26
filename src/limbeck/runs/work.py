"""The work of each stage: what fills its folder.

In:  the corpora, the tasks, earlier stages' folders, settings.
Out: files in the stage's folder. No stage decides whether it runs; `pipeline` does.
"""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from limbeck.config import Recipe, StudentModel, TeacherConfig
from limbeck.data.corpora import Corpora
from limbeck.data.records import Record, record_key
from limbeck.progress import Progress
from limbeck.runs.stages import read_json
from limbeck.tasks.base import Task
from limbeck.tasks.codecs import codec_hash
from limbeck.tasks.metrics import main_metric
from limbeck.tasks.saved import labels_to_json
from limbeck.tasks.scores import RecordScores
from limbeck.train.backbones import load_pretrained
from limbeck.train.devices import pick_device
from limbeck.train.ensemble import choose_weights, mix, reorder
from limbeck.train.evaluate import dev_metrics, main_mean
from limbeck.train.finetune import Lesson, fine_tune
from limbeck.train.loop import TrainConfig
from limbeck.train.objective import LossWeights
from limbeck.train.predict import Predictor, decode
from limbeck.train.starts import student_start
from limbeck.train.targets import TargetStore, chunks, soft_targets, write_index, write_shard
from limbeck.train.trained import Trained, load_trained

SHARD_RECORDS = 2_048  # a kill loses at most one shard of work


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What all stages share."""

    recipe: Recipe
    corpora: Corpora
    tasks: tuple[Task, ...]
    progress: Progress


def train_config(
    job: Job, config: TeacherConfig | StudentModel, *, seed: int, epochs: int | None = None
) -> TrainConfig:
    """Settings of the loop from those of the recipe."""
    return TrainConfig(
        epochs=epochs or config.epochs,
        rate=config.rate,
        head_rate=config.head_rate,
        dropout=config.dropout,
        max_padded_pieces=config.max_padded_pieces,
        patience=config.patience,
        freeze=config.freeze,
        seed=seed,
        precision=job.recipe.precision,
        device=job.recipe.device,
    )


def teach(
    job: Job,
    config: TeacherConfig,
    model: str,
    *,
    seed: int,
    name: str,
    folder: Path,
    scratch: Path,
) -> None:
    """Fine-tune one teacher."""
    lesson = Lesson(
        train=job.corpora.train,
        dev=job.corpora.dev,
        tasks=job.tasks,
        store=None,
        weights=LossWeights(),
    )
    fine_tune(
        load_pretrained(model),
        lesson,
        train_config(job, config, seed=seed),
        folder=folder,
        checkpoints=scratch,
        label=f"teacher {name}",
        progress=job.progress,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A teacher ready to score, and how to put its labels in the recipe's order."""

    predictor: Predictor
    own: Mapping[str, tuple[str, ...]]
    wanted: Mapping[str, tuple[str, ...]]

    def scores(self, records: Sequence[Record]) -> list[RecordScores]:
        """Scores in the recipe's label order."""
        found = self.predictor.scores(records)
        if self.own == self.wanted:
            return found
        return [
            RecordScores(
                main={
                    task: reorder(record.main[task], self.own[task], names)
                    for task, names in self.wanted.items()
                },
                arcs=record.arcs,
            )
            for record in found
        ]


def open_member(folder: Path, job: Job) -> Member:
    """Load a teacher's folder."""
    trained = load_trained(folder)
    return Member(
        predictor=trained.predictor(
            device=pick_device(job.recipe.device), precision=job.recipe.precision
        ),
        own={task.name: task.codec.names for task in trained.tasks},
        wanted={task.name: task.codec.names for task in job.tasks},
    )


def weigh(job: Job, teachers: Mapping[str, Path], folder: Path) -> None:
    """Score dev with every teacher and choose the members' weights, task by task."""
    dev = job.corpora.dev
    job.progress.start("ensemble", len(teachers) + len(job.tasks))
    scores: list[list[RecordScores]] = []
    for name, path in teachers.items():
        scores.append(open_member(path, job).scores(dev))
        job.progress.advance(1, name)
    weights: dict[str, list[float]] = {}
    for task in job.tasks:
        own = [i for i, record in enumerate(dev) if task.name in record.labels]
        gold = [dev[i] for i in own]

        def score(shares: Sequence[float], task: Task = task, own: list[int] = own) -> float:
            mixed = [
                mix([member[i] for member in scores], {task.name: shares}, {task.name: task.kind})
                for i in own
            ]
            return dev_metrics([dev[i] for i in own], mixed, [task])[main_metric(task)]

        weights[task.name] = choose_weights(len(scores), score) if gold else []
        job.progress.advance(1, task.name)
    kinds = {task.name: task.kind for task in job.tasks}
    mixed = [mix([member[i] for member in scores], weights, kinds) for i in range(len(dev))]
    members = {
        name: dev_metrics(dev, own_scores, job.tasks)
        for name, own_scores in zip(teachers, scores, strict=True)
    }
    metrics = dev_metrics(dev, mixed, job.tasks)
    # students are compared with these record by record, without asking the teachers again
    write_json(folder / "dev_labels.json", labels_to_json(decode(mixed, dev, job.tasks)))
    write_json(
        folder / "ensemble.json",
        {
            "members": members,
            "weights": {task: dict(zip(teachers, w, strict=True)) for task, w in weights.items()},
            "metrics": metrics,
            "mean": main_mean(metrics, job.tasks),
        },
    )
    job.progress.finish()


def write_targets(
    job: Job, teachers: Mapping[str, Path], ensemble: Path, folder: Path, scratch: Path
) -> None:
    """Let the ensemble label all text once; finished shards survive a kill."""
    began = time.monotonic()
    distinct = {record_key(r): r for r in (*job.corpora.train, *job.corpora.unlabelled)}
    records = list(distinct.values())
    weights = {
        task: [shares[name] for name in teachers]
        for task, shares in read_json(ensemble / "ensemble.json")["weights"].items()
    }
    kinds = {task.name: task.kind for task in job.tasks}
    members = {name: open_member(path, job) for name, path in teachers.items()}
    used = [
        i for i, name in enumerate(members) if any(shares[i] > 0 for shares in weights.values())
    ]
    speakers = [list(members.values())[i] for i in used]
    shares = {task: [w[i] for i in used] for task, w in weights.items()}
    states_from = members.get(job.recipe.targets.states or "")
    job.progress.start("soft targets", len(records))
    for number, part in enumerate(chunks(records, SHARD_RECORDS)):
        if not (scratch / f"shard-{number:05d}").is_dir():
            scores = [member.scores(part) for member in speakers]
            targets = [
                soft_targets(mix([s[i] for s in scores], shares, kinds), kinds)
                for i in range(len(part))
            ]
            states = states_from.predictor.states(part) if states_from is not None else None
            write_shard(scratch, number, part, targets, states)
        job.progress.advance(len(part))
    for shard in sorted(scratch.glob("shard-*")):
        shard.rename(folder / shard.name)
    write_index(folder, kinds, {task.name: codec_hash(task.codec) for task in job.tasks})
    size = sum(path.stat().st_size for path in folder.rglob("*.npy"))
    write_json(
        folder / "cost.json",
        {
            "n_records": len(records),
            "n_words": sum(len(record.words) for record in records),
            "size_bytes": size,
            "seconds": time.monotonic() - began,
        },
    )
    job.progress.finish()


def distil(
    job: Job,
    config: StudentModel,
    model: str | Path,
    targets: Path,
    folder: Path,
    scratch: Path,
    *,
    text: Sequence[Record],
) -> None:
    """Train a student on labelled and unlabelled text with the ensemble's soft targets."""
    store = TargetStore(targets, {task.name: codec_hash(task.codec) for task in job.tasks})
    lesson = Lesson(
        train=text,
        dev=job.corpora.dev,
        tasks=job.tasks,
        store=store,
        weights=LossWeights(
            hard=config.hard,
            soft=config.soft,
            temperature=config.temperature,
            states=config.states,
        ),
    )
    fine_tune(
        student_start(config, model, all_text(job)),
        lesson,
        train_config(job, config, seed=job.recipe.seed),
        folder=folder,
        checkpoints=scratch,
        label=f"student {config.name}",
        progress=job.progress,
    )


def train_twin(
    job: Job, config: StudentModel, model: str | Path, folder: Path, scratch: Path
) -> None:
    """Train the same student on gold labels alone, for as many steps.

    It sees only labelled text, so the same number of steps makes more epochs of it.
    """
    n_words = sum(len(r.words) + len(r.pair) for r in job.corpora.train)
    n_more = sum(len(r.words) + len(r.pair) for r in job.corpora.unlabelled)
    epochs = max(1, round(config.epochs * (n_words + n_more) / n_words))
    lesson = Lesson(
        train=job.corpora.train,
        dev=job.corpora.dev,
        tasks=job.tasks,
        store=None,
        weights=LossWeights(),
    )
    fine_tune(
        student_start(config, model, all_text(job)),
        lesson,
        train_config(job, config, seed=job.recipe.seed, epochs=epochs),
        folder=folder,
        checkpoints=scratch,
        label=f"twin of {config.name}",
        progress=job.progress,
    )


def all_text(job: Job) -> tuple[Record, ...]:
    """What students of this recipe may learn from; their vocabularies are trimmed to it."""
    return (*job.corpora.train, *job.corpora.unlabelled)


def calibration_records(job: Job) -> list[Record]:
    """A seeded draw of training text."""
    rng = np.random.default_rng(job.recipe.seed)
    n = min(job.recipe.compress.calibration, len(job.corpora.train))
    chosen = sorted(rng.choice(len(job.corpora.train), size=n, replace=False).tolist())
    return [job.corpora.train[i] for i in chosen]


def n_parameters(trained: Trained) -> int:
    return sum(p.numel() for p in trained.network.parameters())


def write_json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, indent=1), encoding="utf-8")
