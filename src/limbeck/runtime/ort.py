"""ONNX Runtime as an engine; comes with the base install.

In:  a graph.
Out: arrays; fp32 and QDQ int8 alike.
"""

from pathlib import Path

import numpy as np
import onnxruntime as ort

from limbeck.data.pieces import Batch
from limbeck.errors import EngineError
from limbeck.runtime.engines import EngineName, EngineOptions, check_inputs
from limbeck.tasks.base import Floats


class OrtEngine:
    """One session for all workers: it may be run from several threads and shares its weights."""

    name: EngineName = "ort"

    def __init__(self, graph: Path, options: EngineOptions) -> None:
        settings = ort.SessionOptions()
        settings.intra_op_num_threads = max(1, options.n_threads // options.n_workers)
        settings.inter_op_num_threads = 1
        settings.log_severity_level = 3
        # idle threads that spin would take the processors from reading and decoding
        settings.add_session_config_entry("session.intra_op.allow_spinning", "0")
        try:
            self._session = ort.InferenceSession(
                str(graph), settings, providers=["CPUExecutionProvider"]
            )
        except Exception as failure:
            raise EngineError(
                f"{graph}: ONNX Runtime cannot load the graph ({failure})"
            ) from failure
        self._inputs = [i.name for i in self._session.get_inputs()]
        check_inputs(self._inputs, graph)
        self._outputs = [o.name for o in self._session.get_outputs()]

    def run(self, batch: Batch) -> dict[str, Floats]:
        feeds = {name: getattr(batch, name) for name in self._inputs}
        arrays = self._session.run(self._outputs, feeds)
        return {name: np.asarray(array) for name, array in zip(self._outputs, arrays, strict=True)}
