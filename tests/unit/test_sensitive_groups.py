"""Which products stay in fp32 where int8 loses too much: those without weights first."""

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from limbeck.compress.quantise import sensitive_groups


def save_chain(path: Path, products: str) -> None:
    """A chain of products: w has a weight, a is attention, o multiplies what came before it."""
    nodes, last = [], "x"

    def add(op: str, inputs: list[str], name: str) -> str:
        nodes.append(helper.make_node(op, inputs, [name], name))
        return name

    for i, kind in enumerate(products):
        match kind:
            case "w":
                last = add("MatMul", [last, "w"], f"w{i}")
            case "o":
                last = add("MatMul", [last, last], f"o{i}")
            case "a":
                scores = add("MatMul", [last, last], f"before{i}")
                masked = add("Add", ["w", add("Mul", [scores, "w"], f"scaled{i}")], f"masked{i}")
                shares = add("Softmax", [masked], f"softmax{i}")
                last = add("MatMul", [shares, last], f"after{i}")
    square = [4, 4]
    graph = helper.make_graph(
        nodes,
        "chain",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, square)],
        [helper.make_tensor_value_info(last, TensorProto.FLOAT, square)],
        [numpy_helper.from_array(np.eye(4, dtype=np.float32), "w")],
    )
    onnx.save(helper.make_model(graph), str(path))


def test_attention_comes_first_and_every_group_holds_the_one_before(tmp_path: Path) -> None:
    save_chain(tmp_path / "model.onnx", "wawwawwawwwow")
    attention, heads, later = sensitive_groups(tmp_path / "model.onnx")
    assert attention == ("before1", "after1", "before4", "after4", "before7", "after7")
    assert set(heads) == {*attention, "w12"}
    assert set(later) == {*heads, "w6", "w8", "w9", "w10"}


def test_a_body_without_attention_has_no_empty_group(tmp_path: Path) -> None:
    save_chain(tmp_path / "model.onnx", "www")
    assert sensitive_groups(tmp_path / "model.onnx") == [("w2",), ("w2", "w1")]
