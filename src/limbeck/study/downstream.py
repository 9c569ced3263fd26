"""The probe that fine-tunes: how much a pretrained body helps with labelled text.

In:  an encoder's folder, labelled text, a seed.
Out: the main metric of each task on dev, in percent, after the last epoch: none is picked.
"""

import shutil
from dataclasses import dataclass
from pathlib import Path

from limbeck.progress import Progress
from limbeck.study.labelled import Labelled, majority
from limbeck.tasks.metrics import main_metric
from limbeck.train.backbones import load_pretrained
from limbeck.train.finetune import Lesson, fine_tune
from limbeck.train.loop import TrainConfig
from limbeck.train.objective import LossWeights

# bodies that small and that little trained need more than the 5e-5 of large checkpoints; one for
# all arms, as in pretraining
RATE = 3e-4


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuned:
    """One task."""

    probe: str  # the recipe's name
    metric: str
    value: float
    majority: float | None  # what the commonest label alone reaches
    n_train: int
    n_dev: int

    @property
    def name(self) -> str:
        return f"{self.probe}: {self.metric}"


def tune(
    model: Path,
    labelled: Labelled,
    *,
    epochs: int,
    seed: int,
    scratch: Path,
    label: str,
    progress: Progress,
) -> list[Tuned]:
    """Fine-tune; a kill goes on from the checkpoints in `scratch`."""
    folder = scratch / f"tuned-{labelled.name}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    fitted = fine_tune(
        load_pretrained(str(model)),
        Lesson(
            train=labelled.train,
            dev=labelled.dev,
            tasks=labelled.tasks,
            store=None,
            weights=LossWeights(),
        ),
        TrainConfig(epochs=epochs, rate=RATE, patience=epochs, seed=seed),
        folder=folder,
        checkpoints=scratch / f"tuning-{labelled.name}",
        label=f"{label}, {labelled.name}",
        progress=progress,
    )
    last = fitted.history[-1].metrics
    return [
        Tuned(
            probe=labelled.name,
            metric=main_metric(task),
            value=round(last[main_metric(task)], 2),
            majority=majority(labelled.dev, task),
            n_train=len(labelled.train),
            n_dev=len(labelled.dev),
        )
        for task in labelled.tasks
    ]
