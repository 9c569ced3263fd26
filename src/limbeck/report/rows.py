"""THE SEAM: what the report knows of a run: rows of results.jsonl and of candidates.jsonl.

In:  nothing; these are values.
Out: frozen rows. None always means that nobody measured it; a share is in percent.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

RowKind = Literal["teacher", "ensemble", "twin", "student", "bundle", "run"]
Family = Literal["cut", "shared", "static"]
Half = Literal["search", "verdict"]  # of dev: what steered the search, what judged its outcome
Verdict = Literal["keeps", "misses", "pruned", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One graph that quantisation tried."""

    name: str  # "int8", "int8-mixed" or "fp32"
    n_kept_fp32: int | None
    largest_loss: float | None  # points


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRow:
    """A row of results.jsonl."""

    name: str
    kind: RowKind
    metrics: Mapping[str, float]
    size_mb: float | None
    sentences_per_second: float | None
    seconds: float | None
    command: str
    environment: Mapping[str, object]
    shipped: str | None
    n_parameters: int | None
    latency_p50_ms: float | None
    latency_p95_ms: float | None
    peak_memory_mb: float | None
    reference: Mapping[str, float]  # of the fp32 graph, before quantisation
    attempts: tuple[Attempt, ...]
    seed: int | None
    recipe_hash: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Floor:
    """What a candidate had to keep, and whether it did."""

    metric: str
    half: Half | None
    wanted: str  # as the recipe says it: "99%", "-0.5"
    needed: float | None
    found: float | None
    low: float | None  # the score that holds with the confidence asked for
    keeps: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Confusion:
    """One label taken for another, more often than the ensemble takes it so."""

    metric: str
    gold: str
    said: str
    n_more: int
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A row of candidates.jsonl."""

    name: str
    family: Family | None
    precision: str | None
    metrics: Mapping[str, float]
    intervals: Mapping[str, tuple[float, float]]
    twin: Mapping[str, float]
    fp32_metrics: Mapping[str, float]
    size_mb: float | None
    n_parameters: int | None
    latency_p50_ms: float | None
    latency_p95_ms: float | None
    sentences_per_second: float | None
    peak_memory_mb: float | None
    epochs: float | None
    verdict: Verdict | None
    reason: str
    floors: tuple[Floor, ...]
    is_chosen: bool
    confusions: tuple[Confusion, ...]
    command: str
    environment: Mapping[str, object]
    seed: int | None
    recipe_hash: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRows:
    """All rows of a run folder."""

    models: tuple[ModelRow, ...]
    candidates: tuple[Candidate, ...]
