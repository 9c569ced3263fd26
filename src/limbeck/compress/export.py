"""Export: a network with all its tasks becomes one ONNX graph.

In:  a network and a batch to trace it with.
Out: model.onnx with free batch, piece and word sizes, and the `Parity` of graph and network.
Inputs and outputs carry the names of `TensorBatch` and of the network's logits; inputs that no
task needs are left out of the graph.
"""

import logging
import warnings
from collections.abc import Sequence
from pathlib import Path

import onnx
import torch
from torch import Tensor, nn

from limbeck.compress.parity import Parity, compare
from limbeck.compress.slim import slim
from limbeck.data.pieces import Batch
from limbeck.errors import StageError
from limbeck.tasks.base import Floats
from limbeck.tasks.scores import VECTORS
from limbeck.train.network import Network, TensorBatch, text_vectors, to_tensors

OPSET = 18
MAX_ABS_DIFF = 1e-4
INPUTS = ("piece_ids", "mask", "type_ids", "word_at", "shapes", "word_grid")
_FREE = {
    "piece_ids": {0: "n_rows", 1: "n_pieces"},
    "mask": {0: "n_rows", 1: "n_pieces"},
    "type_ids": {0: "n_rows", 1: "n_pieces"},
    "word_at": {0: "n_words"},
    "shapes": {0: "n_words"},
    "word_grid": {0: "n_rows", 1: "n_grid"},
}


class _Traced(nn.Module):
    """Positional arguments in, a tuple out: what exporters can follow."""

    def __init__(
        self,
        network: Network,
        names: Sequence[str],
        outputs: Sequence[str],
        blank: TensorBatch,
    ) -> None:
        super().__init__()
        self.network = network
        self.names = tuple(names)
        self.outputs = tuple(outputs)
        self.blank = blank

    def forward(self, *arrays: Tensor) -> tuple[Tensor, ...]:
        given = dict(zip(self.names, arrays, strict=True))
        batch = TensorBatch(
            piece_ids=given["piece_ids"],
            mask=given["mask"],
            type_ids=given.get("type_ids", self.blank.type_ids),
            word_at=given.get("word_at", self.blank.word_at),
            shapes=given.get("shapes", self.blank.shapes),
            word_grid=given.get("word_grid", self.blank.word_grid),
        )
        scored = score_with_vectors(self.network, batch, self.outputs)
        return tuple(scored[name] for name in self.outputs)


def score_with_vectors(
    network: Network, batch: TensorBatch, outputs: Sequence[str]
) -> dict[str, Tensor]:
    """The network's logits and, if it is among the outputs, the vector of each row."""
    states = network.states(batch)
    arrays = network.score(states, batch, None)
    if VECTORS in outputs:
        arrays[VECTORS] = text_vectors(states[-1], batch.mask).float()
    return arrays


def task_outputs(network: Network) -> tuple[str, ...]:
    """Names of the outputs that labels are read from, in order."""
    names: list[str] = []
    for plan in network.plans:
        names += [f"{plan.name}.arcs", plan.name] if plan.kind == "dep" else [plan.name]
    return tuple(names)


def input_names(network: Network) -> tuple[str, ...]:
    """Inputs that this network reads."""
    wanted = ["piece_ids", "mask"]
    if network.backbone.takes_types:
        wanted.append("type_ids")
    if network.word_plans:
        wanted += ["word_at", "shapes"]
    if any(plan.kind == "dep" for plan in network.plans):
        wanted.append("word_grid")
    return tuple(wanted)


def export_graph(
    network: Network, trace: Batch, path: Path, *, outputs: Sequence[str] | None = None
) -> None:
    """Write the graph; the newer exporter first, the older one for bodies it cannot follow.

    `outputs`: by default those of the tasks; `VECTORS` may come after them.
    """
    network = network.eval().float().cpu()
    # engines join plain attention into one kernel; torch's fused one leaves a check for NaN in it
    network.backbone.use_plain_attention()
    tensors = to_tensors(trace, torch.device("cpu"))
    names = input_names(network)
    arguments = tuple(getattr(tensors, name) for name in names)
    traced = _Traced(network, names, outputs or task_outputs(network), tensors)
    logging.getLogger("torch.onnx").setLevel(logging.ERROR)
    failures: list[str] = []
    for attempt in (_export_dynamo, _export_traced):
        try:
            with warnings.catch_warnings(), torch.no_grad():
                warnings.simplefilter("ignore")
                attempt(traced, arguments, names, path)
            onnx.save(slim(onnx.load(str(path))), str(path))
            onnx.checker.check_model(str(path))
            run_graph(path, [trace])
            return
        except Exception as failure:  # noqa: BLE001  exporters raise anything; both are reported
            failures.append(f"{attempt.__name__}: {str(failure).splitlines()[:1]}")
    raise StageError("the network cannot be exported to ONNX: " + "; ".join(failures))


def _export_dynamo(
    traced: _Traced, arguments: tuple[Tensor, ...], names: Sequence[str], path: Path
) -> None:
    sizes = {size: torch.export.Dim.DYNAMIC for free in _FREE.values() for size in free.values()}
    torch.onnx.export(
        traced,
        arguments,
        str(path),
        dynamo=True,
        input_names=list(names),
        output_names=list(traced.outputs),
        dynamic_shapes=(
            tuple({axis: sizes[size] for axis, size in _FREE[name].items()} for name in names),
        ),
        opset_version=OPSET,
        external_data=False,
        verbose=False,
    )


def _export_traced(
    traced: _Traced, arguments: tuple[Tensor, ...], names: Sequence[str], path: Path
) -> None:
    torch.onnx.export(
        traced,
        arguments,
        str(path),
        dynamo=False,
        input_names=list(names),
        output_names=list(traced.outputs),
        dynamic_axes={name: _FREE[name] for name in names},
        opset_version=OPSET,
    )


def graph_parity(network: Network, path: Path, batches: Sequence[Batch]) -> Parity:
    """Run network and graph on the same batches, shaped unlike the traced one."""
    found = run_graph(path, batches)
    wanted: list[dict[str, Floats]] = []
    with torch.no_grad():
        for batch in batches:
            tensors = to_tensors(batch, torch.device("cpu"))
            arrays = score_with_vectors(network.eval(), tensors, [*found[0]])
            wanted.append({name: array.numpy() for name, array in arrays.items()})
    return compare(wanted, found)


def run_graph(path: Path, batches: Sequence[Batch]) -> list[dict[str, Floats]]:
    """Run a graph with ONNX Runtime."""
    import onnxruntime as ort

    session = ort.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    inputs = [i.name for i in session.get_inputs()]
    outputs = [o.name for o in session.get_outputs()]
    found: list[dict[str, Floats]] = []
    for batch in batches:
        arrays = session.run(outputs, {name: getattr(batch, name) for name in inputs})
        found.append(dict(zip(outputs, arrays, strict=True)))
    return found
