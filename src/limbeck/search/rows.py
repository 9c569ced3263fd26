"""Candidate rows: what the search found of each candidate, one JSON object a line.

In:  measured values.
Out: rows for candidates.jsonl, which reports and model cards read.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from limbeck.artefacts import atomic_file
from limbeck.search.confusions import Confusion
from limbeck.search.floor import Verdict

CandidateVerdict = Literal["keeps", "misses", "pruned", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FloorRow:
    """One floor, on the half of dev that is named."""

    metric: str
    half: Literal["search", "verdict"]
    wanted: str
    needed: float
    found: float
    low: float  # the score that holds with the confidence asked for
    keeps: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateRow:
    """One candidate; None where it was not measured."""

    name: str
    kind: Literal["candidate"]
    family: Literal["cut", "shared", "static"]
    precision: str | None
    metrics: Mapping[str, float]  # on the half that its last rung was judged on
    intervals: Mapping[str, tuple[float, float]]
    twin: Mapping[str, float] | None
    fp32_metrics: Mapping[str, float] | None
    size_mb: float | None
    n_parameters: int | None
    latency_p50_ms: float | None
    latency_p95_ms: float | None
    sentences_per_second: float | None
    peak_memory_mb: float | None
    epochs: float  # of its longest training
    verdict: CandidateVerdict
    reason: str
    floors: tuple[FloorRow, ...]
    chosen: bool
    confusions: tuple[Confusion, ...]
    command: str
    environment: Mapping[str, Any]
    seed: int
    recipe_hash: str

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def floor_rows(
    verdicts: Mapping[str, Verdict], half: Literal["search", "verdict"]
) -> tuple[FloorRow, ...]:
    """One row for each metric that has a floor."""
    return tuple(
        FloorRow(
            metric=metric,
            half=half,
            wanted=v.floor.text,
            needed=v.needed,
            found=v.found,
            low=v.needed + v.low,
            keeps=v.keeps,
        )
        for metric, v in verdicts.items()
    )


def write_candidates(path: Path, rows: Sequence[CandidateRow]) -> None:
    """Write all rows, whole or not at all."""
    with atomic_file(path) as file:
        file.writelines((json.dumps(row.to_json()) + "\n").encode("utf-8") for row in rows)
