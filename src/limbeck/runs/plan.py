"""The plan of a run: which stages there are, and what decides each one's outcome.

In:  a recipe and the hash of its text.
Out: `RunPlan`: pure values, so that `--dry-run` shows what a run would do without doing it.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from limbeck.config import CardConfig, Recipe, StudentConfig, StudentModel, TeacherConfig
from limbeck.errors import ConfigError
from limbeck.runs.stages import Stage

# Raise it when the same student and settings give another bundle.
PACKING = 2  # the mix of layers stays in fp32


@dataclass(frozen=True, slots=True, kw_only=True)
class TeacherPlan:
    """One member of the ensemble."""

    name: str
    seed: int
    config: TeacherConfig
    stage: Stage


@dataclass(frozen=True, slots=True, kw_only=True)
class StudentPlan:
    """One student, the bundle made of it, and its twin without distillation."""

    name: str
    config: StudentModel
    stage: Stage
    twin: Stage
    bundle: Stage


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlan:
    """All stages in order."""

    teachers: tuple[TeacherPlan, ...]
    ensemble: Stage
    targets: Stage
    students: tuple[StudentPlan, ...]

    def stages(self) -> list[Stage]:
        ordered = [t.stage for t in self.teachers] + [self.ensemble, self.targets]
        for student in self.students:
            ordered += [student.stage, student.bundle]
        return ordered + [student.twin for student in self.students]


@dataclass(frozen=True, slots=True, kw_only=True)
class TextHashes:
    """Names of the text that stages depend on."""

    labelled: str
    unlabelled: str
    labels: Mapping[str, str]  # task -> hash of its label set


def model_hash(resolved: str) -> str:
    """Name a local model by its files' sizes and config; a hub id stands for itself."""
    folder = Path(resolved)
    if not folder.is_dir():
        return resolved
    digest = hashlib.blake2b(digest_size=8)
    digest.update((folder / "config.json").read_bytes())
    for path in sorted(folder.glob("*.safetensors")):
        digest.update(f"{path.name}:{path.stat().st_size}".encode())
        with path.open("rb") as file:  # the header names and places every tensor
            digest.update(file.read(65_536))
    return digest.hexdigest()


def recipe_hash(text: str) -> str:
    """Name a recipe by its very text, for result rows."""
    return hashlib.blake2b(text.encode("utf-8"), digest_size=8).hexdigest()


def teacher_name(config: TeacherConfig, seed: int) -> str:
    """Short and stable: last part of the model's name, and the seed."""
    stem = Path(config.model.rstrip("/")).name.lower()
    if stem == "model" and config.model.startswith("package:"):
        stem = config.model.removeprefix("package:").split("/")[0]
    safe = "".join(c if c.isalnum() or c in "-_" else "-" for c in stem).strip("-")
    return f"{safe or 'teacher'}-s{seed}"


def plan_run(recipe: Recipe, text: TextHashes, models: Mapping[str, str]) -> RunPlan:
    """Lay out all stages; `models` maps each model reference to its hash."""
    common = {"labelled": text.labelled, "labels": dict(text.labels), "precision": recipe.precision}
    teachers: list[TeacherPlan] = []
    for config in recipe.teacher:
        for seed in config.seeds:
            name = teacher_name(config, seed)
            if any(t.name == name for t in teachers):
                raise ConfigError(f"two teachers are called {name!r}: same model and seed")
            settings = config.model_dump(exclude={"model", "seeds"})
            inputs = {**common, **settings, "model": models[config.model], "seed": seed}
            stage = Stage(name=f"teacher-{name}", inputs=inputs)
            teachers.append(TeacherPlan(name=name, seed=seed, config=config, stage=stage))
    keys = [t.stage.key for t in teachers]
    ensemble = Stage(name="ensemble", inputs={"teachers": keys, "keeps": "dev labels"})
    targets = Stage(
        name="targets",
        inputs={
            "ensemble": ensemble.key,
            "unlabelled": text.unlabelled,
            "states": recipe.targets.states,
        },
    )
    # a recipe that says nothing for the card or of vectors keeps the bundles that it has
    card = {} if recipe.card == CardConfig() else {"card": recipe.card.model_dump()}
    compress = recipe.compress.model_dump(exclude=None if recipe.compress.vectors else {"vectors"})
    told: dict[str, StudentModel | StudentConfig] = {
        f"student {student.name}": student for student in recipe.student.listed
    }
    for name, student in (told or {"[student]": recipe.student}).items():
        if student.states > 0 and recipe.targets.states is None:
            raise ConfigError(
                f"{name}: states = {student.states} without [targets] states",
                hint="name there the teacher whose states are written down",
            )
    students: list[StudentPlan] = []
    names = [t.name for t in teachers]
    for student in recipe.student.listed if not recipe.student.floor else ():
        if any(s.name == student.name for s in students):
            raise ConfigError(f"two students are called {student.name!r}")
        origin = student.model.removeprefix("teacher:")
        if student.model.startswith("teacher:"):
            if origin not in names:
                raise ConfigError(
                    f"student {student.name}: no teacher {origin!r}",
                    hint=f"teachers: {', '.join(names)}",
                )
            start = teachers[names.index(origin)].stage.key
        else:
            start = models[student.model]
        settings = student.model_dump(exclude={"model", "name"})
        inputs = {**settings, "model": start, "seed": recipe.seed}
        stage = Stage(
            name=f"student-{student.name}",
            inputs={**common, **inputs, "targets": targets.key},
        )
        alone = {
            k: v for k, v in inputs.items() if k not in ("hard", "soft", "temperature", "states")
        }
        twin = Stage(
            name=f"twin-{student.name}",
            # the twin takes as many steps as the student, so what the student reads decides it too
            inputs={**common, **alone, "steps_of": text.unlabelled},
        )
        bundle = Stage(
            name=f"bundle-{student.name}",
            inputs={"packing": PACKING, "student": stage.key, "compress": compress, **card},
        )
        students.append(
            StudentPlan(name=student.name, config=student, stage=stage, twin=twin, bundle=bundle)
        )
    if recipe.targets.states is not None and recipe.targets.states not in names:
        raise ConfigError(
            f"[targets] states: no teacher {recipe.targets.states!r}",
            hint=f"teachers: {', '.join(names)}",
        )
    return RunPlan(
        teachers=tuple(teachers), ensemble=ensemble, targets=targets, students=tuple(students)
    )
