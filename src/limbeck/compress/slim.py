"""Slimming: a graph holds every weight once, however many layers read it, and nothing idle.

In:  an ONNX model.
Out: the same model with constant steps computed, equal tensors stored once, and the exporter's
notes taken out (they fill a megabyte and name folders of the machine that made the graph).
A layer that ALBERT repeats twelve times is otherwise written twelve times: exporters turn weights
around for each use, and quantisers leave a weight with many readers in fp32.
"""

import hashlib
from collections import Counter
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import numpy_helper

_FOLDED = ("Transpose", "QuantizeLinear")


def slim(model: onnx.ModelProto) -> onnx.ModelProto:
    """Change `model` in place, and give it back."""
    _strip(model)
    _fold(model.graph)
    _merge(model.graph)
    return model


def shares_weights(model: onnx.ModelProto) -> bool:
    """Tell whether some weight is read by several products, as in a slimmed ALBERT."""
    matrices = {t.name for t in model.graph.initializer if len(t.dims) == 2 and min(t.dims) > 1}
    readers = Counter(
        name
        for node in model.graph.node
        if node.op_type in ("MatMul", "Gemm")
        for name in node.input
        if name in matrices
    )
    return any(n > 1 for n in readers.values())


def _strip(model: onnx.ModelProto) -> None:
    del model.metadata_props[:]
    del model.graph.metadata_props[:]
    del model.graph.value_info[:]
    for node in model.graph.node:
        del node.metadata_props[:]
        node.doc_string = ""


def _fold(graph: onnx.GraphProto) -> None:
    """Compute turns and quantisations of weights now rather than at every load."""
    known = {tensor.name: tensor for tensor in graph.initializer}
    outputs = {output.name for output in graph.output}
    kept = []
    for node in graph.node:  # in topological order, so one pass will do
        constant = node.op_type in _FOLDED and all(name in known for name in node.input if name)
        if not constant or node.output[0] in outputs:
            kept.append(node)
            continue
        arrays = [numpy_helper.to_array(known[name]) for name in node.input]
        made = _turned(node, arrays) if node.op_type == "Transpose" else _quantised(node, arrays)
        tensor = numpy_helper.from_array(np.ascontiguousarray(made), node.output[0])
        known[tensor.name] = tensor
        graph.initializer.append(tensor)
    del graph.node[:]
    graph.node.extend(kept)
    _drop_unread(graph)


def _turned(node: onnx.NodeProto, arrays: list[NDArray[Any]]) -> NDArray[Any]:
    (array,) = arrays
    axes = next((list(a.ints) for a in node.attribute if a.name == "perm"), None)
    return array.transpose(axes)


def _quantised(node: onnx.NodeProto, arrays: list[NDArray[Any]]) -> NDArray[Any]:
    """As ONNX defines it: divide, round half to even, shift, saturate."""
    array, scale = arrays[0].astype(np.float32), arrays[1].astype(np.float32)
    zero = arrays[2] if len(arrays) > 2 else np.zeros((), dtype=np.uint8)
    axis = next((a.i for a in node.attribute if a.name == "axis"), 1)
    if scale.ndim == 1 and scale.size > 1:
        shape = [1] * array.ndim
        shape[axis] = scale.size
        scale = scale.reshape(shape)
        shift = zero.astype(np.int32).reshape(shape)
    else:
        scale, shift = scale.reshape(()), zero.astype(np.int32).reshape(())
    limits = np.iinfo(zero.dtype)
    whole = np.rint(array / scale).astype(np.int64) + shift
    saturated: NDArray[Any] = np.clip(whole, limits.min, limits.max).astype(zero.dtype)
    return saturated


def _merge(graph: onnx.GraphProto) -> None:
    """Let all readers of equal tensors read the first of them."""
    first: dict[tuple[int, tuple[int, ...], bytes], str] = {}
    same: dict[str, str] = {}
    for tensor in graph.initializer:
        array = numpy_helper.to_array(tensor)
        key = (
            tensor.data_type,
            tuple(tensor.dims),
            hashlib.sha256(array.tobytes()).digest(),
        )
        same[tensor.name] = first.setdefault(key, tensor.name)
    for node in graph.node:
        for i, name in enumerate(node.input):
            node.input[i] = same.get(name, name)
    _drop_unread(graph)


def _drop_unread(graph: onnx.GraphProto) -> None:
    read = {name for node in graph.node for name in node.input}
    read |= {output.name for output in graph.output}
    kept = [tensor for tensor in graph.initializer if tensor.name in read]
    del graph.initializer[:]
    graph.initializer.extend(kept)
