"""Costs: what a bundle takes on this machine, measured with the engine that users get.

In:  a bundle and some records.
Out: bytes, latency, throughput, memory.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from limbeck.bundle import GRAPH, MANIFEST, TOKENIZER
from limbeck.data.records import Record
from limbeck.runtime.annotate import Annotator
from limbeck.runtime.footprint import peak_memory_mb

N_SINGLE = 200  # records annotated one at a time
N_MANY = 2_000
N_RUNS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """All measured."""

    size_mb: float  # what annotation reads: graph, vocabulary, labels, manifest
    latency_p50_ms: float
    latency_p95_ms: float
    sentences_per_second: float
    peak_memory_mb: float

    def of(self, minimise: str) -> float:
        """The one number that a search makes small."""
        match minimise:
            case "size":
                return self.size_mb
            case "latency":
                return self.latency_p50_ms
            case "throughput-cost":
                return 1_000 / self.sentences_per_second
            case "memory":
                return self.peak_memory_mb
            case _:
                raise ValueError(minimise)


def measure_costs(annotator: Annotator, records: Sequence[Record]) -> Costs:
    """Measure an open bundle; the first records warm it up."""
    folder = annotator.bundle.folder
    single = list(records[:N_SINGLE])
    many = list(records[:N_MANY])
    annotator.annotate(many[:32])
    times = []
    for record in single:
        began = time.perf_counter()
        annotator.annotate([record])
        times.append(1_000 * (time.perf_counter() - began))
    rates = []
    for _ in range(N_RUNS):
        began = time.perf_counter()
        annotator.annotate(many)
        rates.append(len(many) / (time.perf_counter() - began))
    p50, p95 = np.percentile(times, [50, 95])
    return Costs(
        size_mb=served_bytes(folder) / 1e6,
        latency_p50_ms=float(p50),
        latency_p95_ms=float(p95),
        sentences_per_second=float(np.median(rates)),
        peak_memory_mb=peak_memory_mb(
            folder, ((" ".join(record.words) + "\n").encode() for record in many)
        ),
    )


def served_bytes(folder: Path) -> int:
    """Size of what annotation needs; the fp32 backbone that may lie beside it is for training."""
    labels = sum(path.stat().st_size for path in (folder / "labels").glob("*.json"))
    return labels + sum((folder / name).stat().st_size for name in (GRAPH, TOKENIZER, MANIFEST))
