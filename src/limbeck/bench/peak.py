"""The machine's limit: one large matrix product in the same engine, in fp32, bf16 and int8.

In:  a number of threads.
Out: billions of operations a second, and how many a graph needs for one piece.
Needs onnx and OpenVINO, which come with the `train` extra.
"""

import statistics
import tempfile
import time
from pathlib import Path
from typing import Any, Literal

import numpy as np

SIZE = 2_048  # rows, columns and depth: large enough that the product is all that counts
N_RUNS = 7
Kind = Literal["fp32", "bf16", "int8"]


def peak(kind: Kind, *, n_threads: int) -> float:
    """Billions of multiplications and additions a second, the median of a few runs."""
    import onnx
    import openvino as ov
    from onnx import TensorProto, helper, numpy_helper

    rng = np.random.default_rng(1)
    arrays: dict[str, Any] = {"scale": np.float32(0.02), "zero": np.int8(0)}
    if kind == "int8":
        arrays["weights"] = rng.integers(-127, 127, (SIZE, SIZE)).astype(np.int8)
        nodes = [
            helper.make_node("QuantizeLinear", ["x", "scale", "zero"], ["q"]),
            helper.make_node("DequantizeLinear", ["q", "scale", "zero"], ["a"]),
            helper.make_node("DequantizeLinear", ["weights", "scale", "zero"], ["b"]),
            helper.make_node("MatMul", ["a", "b"], ["y"]),
        ]
    else:
        arrays["weights"] = rng.normal(size=(SIZE, SIZE)).astype(np.float32)
        nodes = [helper.make_node("MatMul", ["x", "weights"], ["y"])]
    graph = helper.make_graph(
        nodes,
        "peak",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [SIZE, SIZE])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [SIZE, SIZE])],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in arrays.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])
    model.ir_version = 10
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "peak.onnx"
        onnx.save(model, str(path))
        settings = {
            "INFERENCE_NUM_THREADS": n_threads,
            "INFERENCE_PRECISION_HINT": "bf16" if kind == "bf16" else "f32",
        }
        request = ov.Core().compile_model(str(path), "CPU", settings).create_infer_request()
        x = {"x": rng.normal(size=(SIZE, SIZE)).astype(np.float32)}
        request.infer(x, share_inputs=True)
        seconds = []
        for _ in range(N_RUNS):
            began = time.perf_counter()
            request.infer(x, share_inputs=True)
            seconds.append(time.perf_counter() - began)
    return 2 * SIZE**3 / statistics.median(seconds) / 1e9


def operations_per_piece(graph: Path) -> float:
    """Multiplications and additions in products with weights, in billions for one piece.

    Products of activations with each other (attention) and the heads' work on words are left
    out; for short texts they are a few per cent.
    """
    import onnx

    model = onnx.load(str(graph))
    sizes = {
        tensor.name: int(np.prod(tensor.dims)) if len(tensor.dims) == 2 else 0
        for tensor in model.graph.initializer
    }
    behind = {
        out: node.input[0]
        for node in model.graph.node
        if node.op_type in ("DequantizeLinear", "QuantizeLinear", "Transpose", "Identity")
        for out in node.output
    }
    total = 0
    for node in model.graph.node:
        if node.op_type not in ("MatMul", "Gemm"):
            continue
        for name in node.input[:2]:
            source = name
            while source in behind:
                source = behind[source]
            total += sizes.get(source, 0)
    return 2 * total / 1e9
