"""OpenVINO as an engine: the same graph, twice as fast in int8 on CPUs with VNNI or AMX.

In:  a graph.
Out: arrays.
"""

import threading
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import openvino as ov

from limbeck.data.pieces import Batch
from limbeck.environment import cpu_features, cpu_model
from limbeck.errors import EngineError
from limbeck.runtime.compiled import compiled_path, keep_compiled
from limbeck.runtime.engines import EngineName, EngineOptions, check_inputs
from limbeck.tasks.base import Floats

MAX_KERNELS = 1_500


class OpenVinoEngine:
    """One compiled graph; each thread keeps a request of its own, weights are shared."""

    name: EngineName = "openvino"

    def __init__(self, graph: Path, options: EngineOptions) -> None:
        settings: dict[str, object] = {
            "INFERENCE_NUM_THREADS": options.n_threads,
            "NUM_STREAMS": options.n_workers,
            # left to itself it multiplies in bf16 where the CPU can, and labels change by machine
            "INFERENCE_PRECISION_HINT": "f32",
            "CACHE_MODE": "OPTIMIZE_SPEED",  # what is exported needs no second compilation
            # some 8 for each size of batch; by default it keeps 5,000, and memory grows for hours
            "CPU_RUNTIME_CACHE_CAPACITY": MAX_KERNELS,
        }
        kept = None if options.key is None else _kept_at(options.key, settings)
        compiled = None if kept is None else _load(kept, settings)
        if compiled is None:
            try:
                compiled = ov.Core().compile_model(str(graph), "CPU", settings)
            except RuntimeError as failure:
                raise EngineError(
                    f"{graph}: OpenVINO cannot load the graph ({failure})"
                ) from failure
            if kept is not None:
                keep_compiled(kept, compiled.export_model().getvalue())
        self._compiled = compiled
        self._inputs = [port.get_any_name() for port in self._compiled.inputs]
        check_inputs(self._inputs, graph)
        self._outputs = [port.get_any_name() for port in self._compiled.outputs]
        self._own = threading.local()

    def run(self, batch: Batch) -> dict[str, Floats]:
        request = getattr(self._own, "request", None)
        if request is None:
            request = self._own.request = self._compiled.create_infer_request()
        request.infer({name: getattr(batch, name) for name in self._inputs}, share_inputs=True)
        # copies: the request's own memory is written again by its next batch
        return {name: np.array(request.get_tensor(name).data) for name in self._outputs}


def _kept_at(key: str, settings: Mapping[str, object]) -> Path:
    given = [f"{name}={value}" for name, value in sorted(settings.items())]
    return compiled_path([key, "openvino", ov.__version__, cpu_model(), *cpu_features(), *given])


def _load(kept: Path, settings: Mapping[str, object]) -> ov.CompiledModel | None:
    """What an earlier start left; None where there is nothing, or nothing that this build reads."""
    try:
        content = np.memmap(kept, dtype=np.uint8, mode="r")
        return ov.Core().import_model(ov.Tensor(content), "CPU", settings)
    except (OSError, ValueError, RuntimeError):
        return None
