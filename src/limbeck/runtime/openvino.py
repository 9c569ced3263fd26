"""OpenVINO as an engine: the same graph, twice as fast in int8 on CPUs with VNNI or AMX.

In:  a graph.
Out: arrays.
"""

import threading
from pathlib import Path

import numpy as np
import openvino as ov

from limbeck.data.pieces import Batch
from limbeck.errors import EngineError
from limbeck.runtime.engines import EngineName, EngineOptions, check_inputs
from limbeck.tasks.base import Floats


class OpenVinoEngine:
    """One compiled graph; each thread keeps a request of its own, weights are shared."""

    name: EngineName = "openvino"

    def __init__(self, graph: Path, options: EngineOptions) -> None:
        settings = {
            "INFERENCE_NUM_THREADS": options.n_threads,
            "NUM_STREAMS": options.n_workers,
            # left to itself it multiplies in bf16 where the CPU can, and labels change by machine
            "INFERENCE_PRECISION_HINT": "f32",
        }
        try:
            self._compiled = ov.Core().compile_model(str(graph), "CPU", settings)
        except RuntimeError as failure:
            raise EngineError(f"{graph}: OpenVINO cannot load the graph ({failure})") from failure
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
