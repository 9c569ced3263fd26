"""The main job: corpora -> teachers -> ensemble -> targets -> students -> bundles -> results.

In:  a recipe file, the folder that its paths start from, and a run folder.
Out: bundles and results.jsonl in the run folder. Finished stages are read, not redone.
"""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from limbeck.artefacts import atomic_file, give_name
from limbeck.config import read_recipe
from limbeck.data.corpora import Corpora, corpora_hash, corpus_files, load_corpora
from limbeck.data.records import Record
from limbeck.errors import ConfigError, InputError
from limbeck.progress import NoProgress, Progress
from limbeck.runs import work
from limbeck.runs.checks import check_work
from limbeck.runs.lock import locked
from limbeck.runs.packing import pack
from limbeck.runs.plan import (
    RunPlan,
    StudentPlan,
    TextHashes,
    model_hash,
    plan_run,
    recipe_hash,
)
from limbeck.runs.results import Origin, ResultRow, collect_rows
from limbeck.runs.stages import Stage, is_done, perform
from limbeck.tasks.base import Task
from limbeck.tasks.codecs import codec_hash, learn_codec
from limbeck.train.backbones import resolve_model

Until = Literal["corpora", "teachers", "targets", "students", "bundles", "results"]
UNTIL: tuple[Until, ...] = get_args(Until)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A recipe with its text read and its stages laid out."""

    job: work.Job
    plan: RunPlan
    models: Mapping[str, str]  # reference in the recipe -> what transformers loads
    recipe_text: str
    run: Path


def prepare(
    recipe_path: Path,
    *,
    root: Path | None,
    models: Path | None,
    run: Path | None,
    progress: Progress,
) -> Prepared:
    """Read and check everything that can be checked before work begins.

    Text files are looked for in `root`, local models in `models`, both by default the recipe's
    own folder; the run folder is by default runs/NAME.
    """
    recipe = read_recipe(recipe_path)
    root = root if root is not None else recipe_path.parent
    beside = models if models is not None else recipe_path.parent
    corpus_files(recipe, root)
    references = [t.model for t in recipe.teacher] + [
        s.model for s in recipe.student.listed if not s.model.startswith("teacher:")
    ]
    if recipe.student.base is not None and not recipe.student.base.startswith("teacher:"):
        references.append(recipe.student.base)
    found = {reference: resolve_model(reference, relative_to=beside) for reference in references}
    corpora = load_corpora(recipe, root)
    tasks = learn_tasks(corpora)
    text = TextHashes(
        labelled=corpora_hash(
            Corpora(train=corpora.train, dev=corpora.dev, unlabelled=(), kinds={})
        ),
        unlabelled=corpora_hash(Corpora(train=(), dev=(), unlabelled=corpora.unlabelled, kinds={})),
        labels={task.name: codec_hash(task.codec) for task in tasks},
    )
    plan = plan_run(recipe, text, {ref: model_hash(model) for ref, model in found.items()})
    folder = run if run is not None else Path("runs") / recipe.name
    check_work(recipe, plan, found, folder)
    return Prepared(
        job=work.Job(recipe=recipe, corpora=corpora, tasks=tasks, progress=progress),
        plan=plan,
        models=found,
        recipe_text=recipe_path.read_text(encoding="utf-8"),
        run=folder,
    )


def learn_tasks(corpora: Corpora) -> tuple[Task, ...]:
    """Learn each task's labels from train; a task must have labels in train and in dev."""
    tasks: list[Task] = []
    for name, kind in corpora.kinds.items():
        given = [(r.words, r.labels[name]) for r in corpora.train if name in r.labels]
        if not given:
            raise InputError(f"task {name!r}: no labels in train")
        if not any(name in record.labels for record in corpora.dev):
            raise InputError(
                f"task {name!r}: no labels in dev", hint="add a dev file to a corpus that labels it"
            )
        tasks.append(Task(name=name, codec=learn_codec(kind, given, task=name)))
    return tuple(tasks)


def unseen_labels(records: tuple[Record, ...], task: Task) -> int:
    """Count dev labels that training never showed: always wrong, so worth a warning."""
    known = set(task.codec.names)
    if task.kind not in ("classify", "tag"):
        return 0
    n = 0
    for record in records:
        label = record.labels.get(task.name)
        labels = (label,) if isinstance(label, str) else label if isinstance(label, tuple) else ()
        n += sum(1 for one in labels if one is not None and one not in known)
    return n


def execute(prepared: Prepared, *, until: Until, command: str) -> list[ResultRow]:
    """Do what is not done yet, and give the result rows; nobody else may work in the folder."""
    with locked(prepared.run):
        return _execute(prepared, until=until, command=command)


def _execute(prepared: Prepared, *, until: Until, command: str) -> list[ResultRow]:
    job, plan, run = prepared.job, prepared.plan, prepared.run
    (run / "recipe.toml").write_text(prepared.recipe_text, encoding="utf-8")
    for task in job.tasks:
        n = unseen_labels(job.corpora.dev, task)
        if n:
            job.progress.say(f"warning: {n} dev labels of {task.name} never occur in train")
    if until == "corpora":
        return []
    teachers: dict[str, Path] = {}
    for teacher in plan.teachers:
        teachers[teacher.name] = perform(
            teacher.stage,
            run,
            lambda folder, scratch, t=teacher: work.teach(  # type: ignore[misc]
                job,
                t.config,
                prepared.models[t.config.model],
                seed=t.seed,
                name=t.name,
                folder=folder,
                scratch=scratch,
            ),
        )
    ensemble = perform(
        plan.ensemble, run, lambda folder, _scratch: work.weigh(job, teachers, folder)
    )
    rows = write_rows(prepared, command=command)
    if until == "teachers":
        return rows
    targets = perform(
        plan.targets,
        run,
        lambda folder, scratch: work.write_targets(job, teachers, ensemble, folder, scratch),
    )
    if until == "targets":
        return rows
    starts: dict[str, str | Path] = {}
    for student in plan.students:
        origin = student.config.model.removeprefix("teacher:")
        start = teachers[origin] if origin in teachers else prepared.models[student.config.model]
        starts[student.name] = start
        trained = perform(
            student.stage,
            run,
            lambda folder, scratch, s=student, m=start: work.distil(  # type: ignore[misc]
                job, s.config, m, targets, folder, scratch, text=work.all_text(job)
            ),
        )
        if until != "students":
            bundle = perform(student.bundle, run, _packer(prepared, student.name, trained))
            give_name(bundle, student.name)
        rows = write_rows(prepared, command=command)
    if until in ("students", "bundles"):
        return rows
    # last: what the run is for is at hand while its baselines are still at work
    for student in plan.students:
        perform(
            student.twin,
            run,
            lambda folder, scratch, s=student, m=starts[student.name]: work.train_twin(  # type: ignore[misc]
                job, s.config, m, folder, scratch
            ),
        )
        rows = write_rows(prepared, command=command)
    return rows


def bundle_of(prepared: Prepared, student: StudentPlan) -> Path | None:
    """A student's bundle by the name that stays, or by its folder's; None: not packed yet."""
    folder = prepared.run / student.bundle.folder_name
    link = prepared.run / student.name
    if not folder.is_dir():
        return None
    return link if link.resolve() == folder.resolve() else folder


def write_rows(prepared: Prepared, *, command: str) -> list[ResultRow]:
    """Write the rows of all finished stages: after each student, so that a kill leaves them."""
    origin = Origin(
        command=command,
        seed=prepared.job.recipe.seed,
        recipe_hash=recipe_hash(prepared.recipe_text),
    )
    rows = collect_rows(prepared.run, prepared.plan, origin=origin)
    with atomic_file(prepared.run / "results.jsonl") as file:
        file.writelines((json.dumps(row.to_json()) + "\n").encode("utf-8") for row in rows)
    return rows


def _packer(prepared: Prepared, name: str, trained: Path) -> Callable[[Path, Path], None]:
    def fill(folder: Path, scratch: Path) -> None:
        pack(
            prepared.job,
            trained,
            name=f"{prepared.job.recipe.name}-{name}",
            recipe_text=prepared.recipe_text,
            made=time.strftime("%Y-%m-%d"),
            folder=folder,
            scratch=scratch,
        )

    return fill


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedStage:
    """A line of `--dry-run`."""

    name: str
    folder: str
    is_done: bool


def planned(prepared: Prepared) -> list[PlannedStage]:
    """What a run would do."""
    return [_planned(stage, prepared.run) for stage in prepared.plan.stages()]


def _planned(stage: Stage, run: Path) -> PlannedStage:
    return PlannedStage(name=stage.name, folder=stage.folder_name, is_done=is_done(stage, run))


def run(
    recipe: str | Path,
    *,
    out: str | Path | None = None,
    data: str | Path | None = None,
    models: str | Path | None = None,
) -> list[ResultRow]:
    """Do the main job from Python; the same as `limbeck run RECIPE`."""
    prepared = prepare(
        Path(recipe),
        root=Path(data) if data is not None else None,
        models=Path(models) if models is not None else None,
        run=Path(out) if out is not None else None,
        progress=NoProgress(),
    )
    if prepared.job.recipe.student.floor:
        raise ConfigError(
            f"{recipe}: has a floor", hint="limbeck.find_smallest(recipe) searches for it"
        )
    return execute(prepared, until="results", command=f"limbeck.run({Path(recipe).name!r})")
