"""One layer of ALBERT base, twelve times: which form of it an engine keeps small and runs fast.

    python benchmarks/shared_layer.py --rows rows.jsonl [--threads N]

Forms of the same stack, random weights, states in and states out:
  own       twelve layers with weights of their own, as in BERT
  unrolled  the shared layer written twelve times over one set of weights (what limbeck exports)
  loop      an ONNX Loop around the layer
  called    a graph of one layer, run twelve times from Python
Each form, engine and precision runs in a process of its own. Memory is what stays resident after
loading and after a first run, over the process before.
"""

import argparse
import copy
import gc
import json
import logging
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import date
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from limbeck.environment import environment
from limbeck.runtime.footprint import resident_mb

N_LAYERS = 12
FORMS = ("own", "unrolled", "loop", "called")
SHAPES = ((1, 16), (1, 32), (1, 128), (8, 128))  # rows, pieces
N_RUNS, SECONDS = 30, 3.0  # of a shape: as many as fit, five at least
WARM_RUNS = 2
STATES, MASK, RESULT = "states", "mask", "result"

Run = Callable[[np.ndarray, np.ndarray], np.ndarray]


def write_layer(folder: Path) -> dict[str, Path]:
    """Export one layer, and quantise it as limbeck quantises whole graphs."""
    import nncf
    import torch

    from limbeck.compress.slim import slim
    from limbeck.train.architectures import architecture, make_config, random_backbone

    backbone = random_backbone(make_config(architecture("albert-base")), seed=1)
    (layer,) = [it for it in backbone.modules() if type(it).__name__ == "AlbertLayer"]
    layer.eval()

    class Alone(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = layer

        def forward(self, states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
            found: torch.Tensor = self.layer(states, mask)
            return found

    path = folder / "layer.fp32.onnx"
    width = backbone.config.hidden_size
    torch.onnx.export(
        Alone(),
        (torch.randn(2, 8, width), torch.zeros(2, 1, 1, 8)),
        str(path),
        dynamo=False,
        input_names=[STATES, MASK],
        output_names=[RESULT],
        dynamic_axes={
            STATES: {0: "rows", 1: "pieces"},
            MASK: {0: "rows", 3: "pieces"},
            RESULT: {0: "rows", 1: "pieces"},
        },
        opset_version=17,
    )
    onnx.save(slim(onnx.load(str(path))), str(path))
    logging.getLogger("nncf").setLevel(logging.ERROR)
    rng = np.random.default_rng(0)
    samples = [_inputs(rng, 2, 32, width) for _ in range(4)]
    small = nncf.quantize(
        onnx.load(str(path)),
        nncf.Dataset([{STATES: states, MASK: mask} for states, mask in samples]),
        model_type=nncf.ModelType.TRANSFORMER,
        preset=nncf.QuantizationPreset.MIXED,
        subset_size=len(samples),
    )
    int8 = folder / "layer.int8.onnx"
    onnx.save(slim(small), str(int8))
    return {"fp32": path, "int8": int8}


def stacked(layer: onnx.ModelProto, *, own: bool) -> onnx.ModelProto:
    """The layer `N_LAYERS` times in a row, over one set of weights or one for each."""
    model = copy.deepcopy(layer)
    nodes, weights = [], [] if own else list(layer.graph.initializer)
    shared = {tensor.name for tensor in layer.graph.initializer}
    states = STATES
    for i in range(N_LAYERS):
        result = RESULT if i == N_LAYERS - 1 else f"states-{i + 1}"
        known = {STATES: states, MASK: MASK, RESULT: result, "": ""}

        def renamed(name: str, known: dict[str, str] = known, i: int = i) -> str:
            if name in shared and not own:
                return name
            return known.get(name, f"{name}-{i}")

        for node in layer.graph.node:
            twin = copy.deepcopy(node)
            twin.name = f"{node.name}-{i}"
            twin.input[:] = [renamed(name) for name in node.input]
            twin.output[:] = [renamed(name) for name in node.output]
            nodes.append(twin)
        if own:
            weights += [_own(tensor, i) for tensor in layer.graph.initializer]
        states = result
    del model.graph.node[:], model.graph.initializer[:]
    model.graph.node.extend(nodes)
    model.graph.initializer.extend(weights)
    return model


def looped(layer: onnx.ModelProto) -> onnx.ModelProto:
    """A Loop whose body is the layer; its weights belong to the graph around it."""
    body = helper.make_graph(
        [
            helper.make_node("Identity", ["go on"], ["goes on"]),
            *[copy.deepcopy(node) for node in layer.graph.node],
        ],
        "layer",
        [
            helper.make_tensor_value_info("i", TensorProto.INT64, []),
            helper.make_tensor_value_info("go on", TensorProto.BOOL, []),
            helper.make_tensor_value_info(STATES, TensorProto.FLOAT, ["rows", "pieces", 768]),
        ],
        [
            helper.make_tensor_value_info("goes on", TensorProto.BOOL, []),
            helper.make_tensor_value_info(RESULT, TensorProto.FLOAT, ["rows", "pieces", 768]),
        ],
    )
    loop = helper.make_node("Loop", ["n", "yes", "begin"], ["end"], name="loop", body=body)
    model = copy.deepcopy(layer)
    del model.graph.node[:]
    model.graph.node.append(loop)
    model.graph.initializer.extend(
        [
            numpy_helper.from_array(np.array(N_LAYERS, dtype=np.int64), "n"),
            numpy_helper.from_array(np.array(True), "yes"),
        ]
    )
    model.graph.input[0].name = "begin"
    model.graph.output[0].name = "end"
    return model


def write_forms(folder: Path) -> None:
    for precision, path in write_layer(folder).items():
        layer = onnx.load(str(path))
        onnx.save(stacked(layer, own=True), str(folder / f"own.{precision}.onnx"))
        onnx.save(stacked(layer, own=False), str(folder / f"unrolled.{precision}.onnx"))
        onnx.save(looped(layer), str(folder / f"loop.{precision}.onnx"))
        onnx.save(layer, str(folder / f"called.{precision}.onnx"))


def open_form(path: Path, engine: str, n_threads: int) -> Run:
    times = N_LAYERS if path.name.startswith("called") else 1
    if engine == "ort":
        import onnxruntime as ort

        options = ort.SessionOptions()
        options.intra_op_num_threads = n_threads
        session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        names = [it.name for it in session.get_inputs()]

        def once(states: np.ndarray, mask: np.ndarray) -> np.ndarray:
            found: np.ndarray = session.run(None, dict(zip(names, (states, mask), strict=True)))[0]
            return found
    else:
        import openvino as ov

        compiled = ov.Core().compile_model(
            str(path),
            "CPU",
            {
                "PERFORMANCE_HINT": "LATENCY",
                "INFERENCE_NUM_THREADS": n_threads,
                "INFERENCE_PRECISION_HINT": "f32",
            },
        )
        request = compiled.create_infer_request()

        def once(states: np.ndarray, mask: np.ndarray) -> np.ndarray:
            found: np.ndarray = request.infer([states, mask])[0]
            return found

    def run(states: np.ndarray, mask: np.ndarray) -> np.ndarray:
        for _ in range(times):
            states = once(states, mask)
        return states

    return run


def measure(path: Path, engine: str, n_threads: int) -> dict[str, Any]:
    __import__("onnxruntime" if engine == "ort" else "openvino")
    rng = np.random.default_rng(1)
    states, mask = _inputs(rng, 1, 16, 768)
    before = resident_mb()
    began = time.perf_counter()
    run = open_form(path, engine, n_threads)
    load = time.perf_counter() - began
    result = run(states, mask)
    gc.collect()
    memory = resident_mb() - before
    times = {}
    for rows, pieces in SHAPES:
        states, mask = _inputs(rng, rows, pieces, 768)
        for _ in range(WARM_RUNS):
            run(states, mask)
        seconds: list[float] = []
        while len(seconds) < N_RUNS and (len(seconds) < 5 or sum(seconds) < SECONDS):
            began = time.perf_counter()
            run(states, mask)
            seconds.append(time.perf_counter() - began)
        times[f"{rows}x{pieces}"] = round(1_000 * float(np.median(seconds)), 3)
    return {
        "load_seconds": round(load, 3),
        "memory_mb": round(memory, 1),
        "memory_after_mb": round(resident_mb() - before, 1),
        "median_ms": times,
        "check": round(float(np.abs(result).mean()), 4),
    }


def _inputs(
    rng: np.random.Generator, rows: int, pieces: int, width: int
) -> tuple[np.ndarray, np.ndarray]:
    states = rng.standard_normal((rows, pieces, width), dtype=np.float32)
    return states, np.zeros((rows, 1, 1, pieces), dtype=np.float32)


def _own(tensor: onnx.TensorProto, i: int) -> onnx.TensorProto:
    """A copy that differs a little, so that no engine joins it with another."""
    array = numpy_helper.to_array(tensor).copy()
    if array.dtype == np.float32 and array.size > 1:
        array *= 1 + 1e-4 * i
    elif array.dtype == np.int8 and array.size > 1:
        array.flat[i] = i
    return numpy_helper.from_array(array, f"{tensor.name}-{i}")


def measured_alone(path: Path, engine: str, n_threads: int) -> dict[str, Any]:
    """Measure in a process of its own; one that dies leaves the reason."""
    done = subprocess.run(
        [sys.executable, __file__, "--one", str(path), engine, "--threads", str(n_threads)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"ended with {done.returncode}"])[-1]
        return {"failed": last.replace(str(path.parent), "")}
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def measure_all(rows: Path, n_threads: int) -> None:
    """One row for each form, engine and precision, added as it comes."""
    with tempfile.TemporaryDirectory() as folder:
        write_forms(Path(folder))
        for precision, engine, form in product(("fp32", "int8"), ("ort", "openvino"), FORMS):
            path = Path(folder) / f"{form}.{precision}.onnx"
            row = {
                "name": "shared layer",
                "form": form,
                "engine": engine,
                "precision": precision,
                "disk_mb": round(path.stat().st_size / 1e6, 2),
                **measured_alone(path, engine, n_threads),
                "date": date.today().isoformat(),
                "command": "python benchmarks/shared_layer.py",
                "environment": environment(n_threads=n_threads),
            }
            with rows.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
            told = {key: row[key] for key in row if key not in ("environment", "command", "date")}
            sys.stdout.write(f"{json.dumps(told)}\n")
            sys.stdout.flush()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=Path, default=Path("shared-layer.jsonl"), help="added to")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--one", nargs=2, metavar=("GRAPH", "ENGINE"), help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        found = measure(Path(asked.one[0]), asked.one[1], asked.threads)
        sys.stdout.write(json.dumps(found) + "\n")
    else:
        measure_all(asked.rows, asked.threads)


if __name__ == "__main__":
    main()
