"""Bodies to measure: a named encoder with a text head, random weights, as a network and as graphs.

In:  the name of an architecture.
Out: a network, its ONNX graph, its int8 graph.
The head is one label over the mean of all pieces: it costs nothing beside a body.
"""

from pathlib import Path

from limbeck.compress.export import export_graph
from limbeck.compress.quantise import to_int8
from limbeck.study.batches import make_batch
from limbeck.train.architectures import architecture, make_config, random_backbone
from limbeck.train.network import HeadPlan, Network

PLANS = (HeadPlan(name="label", kind="classify", n_outputs=2),)
CALIBRATION_SHAPE = (2, 32)


def make_network(name: str) -> Network:
    """Random weights: speed does not depend on them."""
    config = make_config(architecture(name))
    return Network(random_backbone(config, seed=1), PLANS, dropout=0.0).eval()


def write_graphs(name: str, folder: Path) -> None:
    """Leave NAME.fp32.onnx and NAME.int8.onnx in `folder`; int8's scales mean nothing."""
    network = make_network(name)
    fp32, int8 = folder / f"{name}.fp32.onnx", folder / f"{name}.int8.onnx"
    batch = make_batch(*CALIBRATION_SHAPE)
    export_graph(network, batch, fp32)
    del network
    to_int8(fp32, int8, [batch], keep_fp32=())
