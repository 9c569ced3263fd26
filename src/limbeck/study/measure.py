"""One measurement in a process of its own: `python -m limbeck.study.measure JSON`.

In:  an architecture, how it is run, how many threads.
Out: one JSON line: load time, memory, latency, throughput.
A process each, because memory and thread pools of one engine would colour the next.
"""

import gc
import json
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from limbeck.data.pieces import Batch
from limbeck.runtime.batching import plan_batches
from limbeck.runtime.engines import EngineOptions, open_engine
from limbeck.runtime.footprint import resident_mb
from limbeck.study.batches import make_batch

LENGTHS = (16, 32, 128)
BUDGET = 2_048  # padded pieces a batch
WARM_RUNS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What to measure."""

    name: str
    engine: str  # torch, ort or openvino
    precision: str  # fp32, bf16 or int8
    n_threads: int
    graphs: str  # folder with the graphs; torch needs none
    n_single: int  # runs for each latency
    lengths: list[int]  # pieces of each text of the throughput run


def measure(asked: Asked) -> dict[str, Any]:
    """Load, then time single rows and a sorted pass over all texts."""
    before = resident_mb()
    began = time.perf_counter()
    run = _loaded(asked)
    load_seconds = time.perf_counter() - began
    run(make_batch(1, LENGTHS[0]))  # an engine lays out its weights as late as this
    gc.collect()
    memory = resident_mb() - before
    latency: dict[str, list[float]] = {}
    for length in LENGTHS:
        batch = make_batch(1, length)
        for _ in range(WARM_RUNS):
            run(batch)
        times = []
        for _ in range(asked.n_single):
            began = time.perf_counter()
            run(batch)
            times.append(1_000 * (time.perf_counter() - began))
        latency[str(length)] = [round(float(q), 3) for q in np.percentile(times, [50, 95])]
    plan = plan_batches(asked.lengths, max_padded_pieces=BUDGET)
    batches = [make_batch(len(p), max(asked.lengths[i] for i in p)) for p in plan]
    for batch in batches[:WARM_RUNS]:
        run(batch)
    seconds = []
    for _ in range(3):
        began = time.perf_counter()
        for batch in batches:
            run(batch)
        seconds.append(time.perf_counter() - began)
    return {
        "load_seconds": round(load_seconds, 3),
        "memory_mb": round(memory, 1),
        "latency_ms": latency,
        "sentences_per_second": round(len(asked.lengths) / statistics.median(seconds), 1),
        "pieces_per_second": round(sum(asked.lengths) / statistics.median(seconds)),
    }


def _loaded(asked: Asked) -> Callable[[Batch], object]:
    if asked.engine != "torch":
        engine = open_engine(
            asked.engine,  # type: ignore[arg-type]
            Path(asked.graphs) / f"{asked.name}.{asked.precision}.onnx",
            EngineOptions(n_threads=asked.n_threads),
        )
        return engine.run
    import torch

    from limbeck.study.bodies import make_network
    from limbeck.train.network import to_tensors

    torch.set_num_threads(asked.n_threads)
    network = make_network(asked.name)
    cpu = torch.device("cpu")

    def run(batch: Batch) -> object:
        with (
            torch.inference_mode(),
            torch.autocast("cpu", dtype=torch.bfloat16, enabled=asked.precision == "bf16"),
        ):
            return network(to_tensors(batch, cpu))

    return run


if __name__ == "__main__":
    found = measure(Asked(**json.loads(sys.argv[1])))
    sys.stdout.write("\n" + json.dumps(found) + "\n")
