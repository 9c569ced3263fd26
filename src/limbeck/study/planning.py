"""The plan of a study that trains: arms with seeds, what is done, how long the rest takes.

In:  what the user asked for, free memory.
Out: `StudyPlan`: recipes that are checked, stages named by all that decides them. Trains nothing.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from limbeck.errors import ConfigError, InputError
from limbeck.pretrain.config import DocumentStyle
from limbeck.pretrain.plan import Prepared, prepare_recipe
from limbeck.runs.stages import Stage, is_done
from limbeck.study.arms import Arm, Study, StudyName, make_study
from limbeck.study.estimate import (
    ASSUMED_RATE,
    TEXT_SECONDS_PER_DOCUMENT,
    arm_seconds,
)
from limbeck.study.labelled import Labelled, read_labelled
from limbeck.study.recipes import make_recipe
from limbeck.study.scales import Scale


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A study as the user asked for it."""

    name: StudyName
    scale: Scale
    text: tuple[str, ...]
    run: Path
    documents: DocumentStyle = "lines"
    probes: tuple[Path, ...] = ()  # recipes of `limbeck run` whose corpora are fine-tuned on
    data: Path | None = None  # where these recipes' files are; None: beside each
    seeds: tuple[int, ...] = (1,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """One arm with one seed."""

    arm: Arm
    seed: int
    prepared: Prepared
    stage: Stage
    is_done: bool

    @property
    def label(self) -> str:
        return f"{self.arm.name}, seed {self.seed}"


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyPlan:
    """All there is to do, in order: all arms of one seed, then those of the next."""

    asked: Asked
    study: Study
    labelled: tuple[Labelled, ...]
    arms: tuple[Planned, ...]

    def seconds(self, it: Planned, *, rate: float) -> float:
        """About how long one arm takes."""
        return arm_seconds(
            it.prepared.recipe,
            self.asked.scale,
            n_kinds=len(self.study.orders),
            fits="order heads" in self.study.extras,
            n_tuned=len(self.labelled),
            rate=rate,
        )

    def seconds_left(self, *, rate: float = ASSUMED_RATE) -> float:
        """About how long all that is not done takes."""
        left = [it for it in self.arms if not it.is_done]
        seconds = sum(self.seconds(it, rate=rate) for it in left)
        if left and not is_done(left[0].prepared.text, self.asked.run):
            seconds += TEXT_SECONDS_PER_DOCUMENT * self.asked.scale.documents
        return seconds


def plan_study(asked: Asked, *, free_bytes: int) -> StudyPlan:
    """Read and check everything that can be checked before work begins."""
    _check_seeds(asked.seeds)
    study = make_study(asked.name, asked.scale)
    text = tuple(_found(name) for name in asked.text)
    if not text:
        raise ConfigError("no text to learn from", hint="--text FILE, one document a line")
    labelled = tuple(
        read_labelled(path, root=asked.data, n_records=asked.scale.tuned_records)
        for path in asked.probes
    )
    names = [it.name for it in labelled]
    if len(set(names)) < len(names):
        raise ConfigError(f"--probe: two recipes have the same name ({', '.join(names)})")
    arms = [
        _planned(asked, study, arm, seed, text, labelled, free_bytes)
        for seed in asked.seeds
        for arm in study.arms
    ]
    return StudyPlan(asked=asked, study=study, labelled=labelled, arms=tuple(arms))


def _check_seeds(seeds: Sequence[int]) -> None:
    if not seeds or min(seeds) < 0 or len(set(seeds)) < len(seeds):
        raise ConfigError(
            f"--seeds {','.join(map(str, seeds))}: distinct numbers from 0 upwards are wanted",
            hint="--seeds 1,2,3",
        )


def _found(name: str) -> str:
    path = Path(name).expanduser()
    if not path.is_file():
        raise InputError(f"{path}: no such file", hint="--text names a file of raw text")
    return str(path.resolve())


def _planned(
    asked: Asked,
    study: Study,
    arm: Arm,
    seed: int,
    text: tuple[str, ...],
    labelled: Sequence[Labelled],
    free_bytes: int,
) -> Planned:
    recipe = make_recipe(study, arm, asked.scale, text=text, documents=asked.documents, seed=seed)
    try:
        prepared = prepare_recipe(
            recipe, "", root=Path(), beside=Path(), run=asked.run, free_bytes=free_bytes
        )
    except ConfigError as failure:  # its hint speaks of a recipe's file, and here there is none
        raise ConfigError(str(failure), hint="a smaller --scale") from failure
    scale = asked.scale
    stage = Stage(
        name=f"arm-{arm.name}-seed-{seed}",
        inputs={
            "study": study.name,
            "scale": scale.name,
            "arm": asdict(arm) | {"model": arm.model.model_dump()},
            "model": prepared.model.key,
            "orders": study.orders,
            "extras": study.extras,
            "held_out_rows": scale.held_out_rows,
            "fitted_rows": scale.fitted_rows,
            "tuned": [scale.tuned_records, scale.tuned_epochs, *(it.key for it in labelled)],
        },
    )
    return Planned(
        arm=arm, seed=seed, prepared=prepared, stage=stage, is_done=is_done(stage, asked.run)
    )
