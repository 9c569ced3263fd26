"""Result rows: what a run measured, read back from its finished stages.

In:  the run folder and its plan.
Out: one row for each teacher, the ensemble, each student, its twin and its bundle.
A stage that is not finished has no row; nothing is computed here.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from limbeck.runs.plan import RunPlan
from limbeck.runs.stages import Stage, read_json

BUNDLE_NOTES = ("shipped", "trials", "reference", "parity", "n_parameters")
RowKind = Literal["teacher", "ensemble", "twin", "student", "bundle"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultRow:
    """One measured model."""

    name: str
    kind: RowKind
    metrics: Mapping[str, float]  # dev, percent
    size_mb: float | None
    sentences_per_second: float | None  # end to end for bundles, network alone for the others
    seconds: float | None  # of training
    command: str
    environment: Mapping[str, object]
    notes: Mapping[str, object]

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """What each row says of where it comes from, besides its environment."""

    command: str
    seed: int  # the recipe's; a teacher has its own
    recipe_hash: str


def collect_rows(run: Path, plan: RunPlan, *, origin: Origin) -> list[ResultRow]:
    """Rows in the order of the stages."""
    command = origin.command
    seeds = {teacher.name: teacher.seed for teacher in plan.teachers}
    rows: list[ResultRow] = []
    for teacher in plan.teachers:
        rows += _trained(run, teacher.stage, teacher.name, "teacher", command)
    folder = run / plan.ensemble.folder_name
    if folder.is_dir():
        found = read_json(folder / "ensemble.json")
        speaking = [row for row in rows if _speaks(row.name, found["weights"])]
        rows.append(
            ResultRow(
                name="ensemble",
                kind="ensemble",
                metrics=found["metrics"],
                # members run one after another: sizes and times add up
                size_mb=sum(row.size_mb or 0.0 for row in speaking),
                sentences_per_second=_one_after_another(speaking),
                seconds=None,
                command=command,
                environment={},
                notes={"weights": found["weights"]},
            )
        )
    for student in plan.students:
        rows += _trained(run, student.twin, student.name, "twin", command)
        rows += _trained(run, student.stage, student.name, "student", command)
        folder = run / student.bundle.folder_name
        if folder.is_dir():
            evidence = read_json(folder / "bundle.json")["evidence"]
            rows.append(
                ResultRow(
                    name=student.name,
                    kind="bundle",
                    metrics=evidence["metrics"],
                    size_mb=evidence["size_mb"],
                    sentences_per_second=evidence["sentences_per_second"],
                    seconds=None,
                    command=command,
                    environment=evidence["environment"],
                    notes={k: evidence[k] for k in BUNDLE_NOTES},
                )
            )
    return [
        replace(
            row,
            notes={
                **row.notes,
                "seed": seeds[row.name] if row.kind == "teacher" else origin.seed,
                "recipe_hash": origin.recipe_hash,
            },
        )
        for row in rows
    ]


def _speaks(name: str, weights: Mapping[str, Mapping[str, float]]) -> bool:
    return any(shares.get(name, 0.0) > 0 for shares in weights.values())


def _one_after_another(rows: list[ResultRow]) -> float | None:
    rates = [row.sentences_per_second for row in rows]
    known = [rate for rate in rates if rate]
    return 1 / sum(1 / rate for rate in known) if known and len(known) == len(rates) else None


def _trained(run: Path, stage: Stage, name: str, kind: RowKind, command: str) -> list[ResultRow]:
    folder = run / stage.folder_name
    if not folder.is_dir():
        return []
    history = read_json(folder / "history.json")
    best = max(history["epochs"], key=lambda epoch: epoch["mean"])
    return [
        ResultRow(
            name=name,
            kind=kind,
            metrics=best["metrics"],
            size_mb=_size_mb(folder),
            sentences_per_second=history.get("sentences_per_second"),
            seconds=sum(epoch["seconds"] for epoch in history["epochs"]),
            command=command,
            environment=history.get("environment", {}),
            notes={"n_steps": history["n_steps"], "n_epochs": len(history["epochs"])},
        )
    ]


def _size_mb(folder: Path) -> float:
    """Megabytes (10^6) of weights as they lie on disk, in fp32."""
    return sum(path.stat().st_size for path in folder.rglob("*.safetensors")) / 1e6
