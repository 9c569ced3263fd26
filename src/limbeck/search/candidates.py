"""Candidates: train one on a rung, pack it, measure it. Each step is a cached stage of the run.

In:  a run whose soft targets are written, a candidate, a share of its full training.
Out: `Measured`: its bundle, its labels on both halves of dev, its costs.
The teachers are not asked again: their labels of dev and their soft targets lie in the run.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from limbeck.bundle import load_bundle
from limbeck.config import StudentModel
from limbeck.data.records import Labels
from limbeck.runs import work
from limbeck.runs.packing import pack
from limbeck.runs.pipeline import Prepared
from limbeck.runs.stages import Stage, perform, read_json
from limbeck.runtime.annotate import Annotator
from limbeck.search.costs import Costs, measure_costs
from limbeck.search.rungs import rung_text
from limbeck.tasks.saved import labels_from_json, labels_to_json

COSTS = "costs.json"
LABELS = "dev_labels.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """Where a candidate's weights come from."""

    reference: str | Path  # what `student_start` loads
    key: str  # names it in stage hashes
    config: StudentModel  # how it is made smaller from there


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A candidate after one rung."""

    trained: Path
    key: str  # of the training stage
    bundle: Path
    labels: tuple[Mapping[str, Labels], ...]  # of all of dev, as the bundle gives them
    costs: Costs


def search_job(prepared: Prepared, positions: Sequence[int]) -> work.Job:
    """The job with one half of dev: the other half decides nothing until the end."""
    dev = tuple(prepared.job.corpora.dev[i] for i in positions)
    return replace(prepared.job, corpora=replace(prepared.job.corpora, dev=dev))


def try_candidate(
    prepared: Prepared, job: work.Job, start: Start, *, share: float, made: str
) -> Measured:
    """Train, pack and measure; what is on disk already is read."""
    run, targets = prepared.run, prepared.plan.targets
    name = f"{start.config.name}-{round(100 * share)}"
    stage = Stage(
        name=f"candidate-{name}",
        inputs={
            "targets": targets.key,
            "student": start.config.model_dump(exclude={"model", "name"}),
            "start": start.key,
            "share": share,
            "seed": job.recipe.seed,
            "precision": job.recipe.precision,
        },
    )

    def train(folder: Path, scratch: Path) -> None:
        text = rung_text(
            work.all_text(job), share=share, epochs=start.config.epochs, seed=job.recipe.seed
        )
        work.distil(
            job,
            start.config.model_copy(update={"epochs": text.epochs}),
            start.reference,
            run / targets.folder_name,
            folder,
            scratch,
            text=text.records,
        )

    trained = perform(stage, run, train)
    # the gate costs several passes over dev: it waits for the last rung
    compress = job.recipe.compress
    if share < 1:
        compress = compress.model_copy(update={"max_loss": 100.0})
    packing = replace(job, recipe=job.recipe.model_copy(update={"compress": compress}))

    def fill(folder: Path, scratch: Path) -> None:
        pack(
            packing,
            trained,
            name=f"{job.recipe.name}-{start.config.name}",
            recipe_text=prepared.recipe_text,
            made=made,
            folder=folder,
            scratch=scratch,
        )
        dev = list(prepared.job.corpora.dev)
        annotator = Annotator(load_bundle(folder))
        work.write_json(folder / COSTS, asdict(measure_costs(annotator, dev)))
        said = [a.labels for a in annotator.annotate(dev)]
        work.write_json(folder / LABELS, labels_to_json(said))

    bundle = perform(
        Stage(
            name=f"bundle-{name}",
            inputs={"student": stage.key, "compress": compress.model_dump()},
        ),
        run,
        fill,
    )
    kinds = {task.name: task.kind for task in job.tasks}
    return Measured(
        trained=trained,
        key=stage.key,
        bundle=bundle,
        labels=tuple(labels_from_json(read_json(bundle / LABELS), kinds)),
        costs=Costs(**read_json(bundle / COSTS)),
    )


def ensemble_labels(prepared: Prepared) -> list[dict[str, Labels]]:
    """What the ensemble said of dev when its weights were chosen."""
    path = prepared.run / prepared.plan.ensemble.folder_name / LABELS
    kinds = {task.name: task.kind for task in prepared.job.tasks}
    return labels_from_json(read_json(path), kinds)
