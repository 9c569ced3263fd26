"""Graphs hold every weight once, name nothing of their maker's machine, and compute the same."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from toys import toy_records, toy_tasks, toy_tokenizer

from limbeck.compress.export import export_graph
from limbeck.compress.quantise import to_int8
from limbeck.compress.slim import shares_weights, slim
from limbeck.data.pieces import Batch, collate
from limbeck.train.architectures import Architecture, make_config, random_backbone
from limbeck.train.backbones import Pretrained
from limbeck.train.network import Network
from limbeck.train.trained import plans_of


def exported(n_layers: int, path: Path) -> tuple[Network, Batch]:
    tokenizer = toy_tokenizer()
    it = Architecture(
        family="albert", n_layers=n_layers, width=64, n_heads=2,
        vocabulary=tokenizer.get_vocab_size(), embedding=32,
    )  # fmt: skip
    start = Pretrained(backbone=random_backbone(make_config(it), seed=1), tokenizer=tokenizer)
    tasks = [task for task in toy_tasks() if task.name == "upos"]
    network = Network(start.backbone, plans_of(tasks), dropout=0.0).eval()
    piecer = start.piecer()
    rows = [row for rows in piecer(toy_records(8)) for row in rows]
    batch = collate(rows, pad_id=piecer.pad_id)
    export_graph(network, batch, path)
    return network, batch


def test_a_repeated_layer_is_in_the_graph_once(tmp_path: Path) -> None:
    path, small = tmp_path / "a.onnx", tmp_path / "a8.onnx"
    network, batch = exported(6, path)
    n_bytes = 4 * sum(p.numel() for p in network.parameters())
    assert path.stat().st_size <= 1.1 * n_bytes
    assert shares_weights(onnx.load(str(path)))
    to_int8(path, small, [batch], keep_fp32=())
    assert small.stat().st_size <= 1.3 * n_bytes / 4
    two, _ = exported(2, tmp_path / "b.onnx")
    assert path.stat().st_size - (tmp_path / "b.onnx").stat().st_size < 30_000
    assert len(list(two.parameters())) == len(list(network.parameters()))


def test_a_graph_tells_nothing_of_the_machine(tmp_path: Path) -> None:
    exported(1, tmp_path / "a.onnx")
    raw = (tmp_path / "a.onnx").read_bytes()
    assert b"stack_trace" not in raw
    assert b".py" not in raw


@pytest.mark.parametrize("per_channel", [False, True])
@pytest.mark.parametrize("signed", [False, True])
def test_folding_and_merging_change_no_output(
    per_channel: bool, signed: bool, tmp_path: Path
) -> None:
    """Two readers of a turned and quantised weight, one of an equal copy."""
    rng = np.random.default_rng(3)
    kind = np.int8 if signed else np.uint8
    weight = rng.normal(size=(8, 8)).astype(np.float32)
    scale = rng.uniform(0.01, 0.02, size=8 if per_channel else ()).astype(np.float32)
    zero = np.zeros(scale.shape, dtype=kind) if signed else np.full(scale.shape, 128, dtype=kind)
    nodes = []
    for i, name in enumerate(("w", "copy")):
        nodes += [
            helper.make_node("Transpose", [name], [f"t{i}"], perm=[1, 0]),
            helper.make_node("QuantizeLinear", [f"t{i}", "s", "z"], [f"q{i}"], axis=1),
            helper.make_node("DequantizeLinear", [f"q{i}", "s", "z"], [f"d{i}"], axis=1),
        ]
    nodes += [
        helper.make_node("MatMul", ["x", "d0"], ["y0"]),
        helper.make_node("MatMul", ["y0", "d1"], ["y1"]),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 8])],
        [helper.make_tensor_value_info("y1", TensorProto.FLOAT, ["n", 8])],
        [
            numpy_helper.from_array(array, name)
            for name, array in (("w", weight), ("copy", weight), ("s", scale), ("z", zero))
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
    import onnxruntime as ort

    x = {"x": rng.normal(size=(3, 8)).astype(np.float32)}
    before = ort.InferenceSession(model.SerializeToString()).run(None, x)[0]
    slim(model)
    assert sum(t.data_type in (TensorProto.INT8, TensorProto.UINT8) and len(t.dims) == 2
               for t in model.graph.initializer) == 1  # fmt: skip
    after = ort.InferenceSession(model.SerializeToString()).run(None, x)[0]
    assert np.array_equal(before, after)
