"""An int8 graph gives the same numbers whatever the number of workers."""

from pathlib import Path
from typing import get_args

import numpy as np
import onnx
import pytest
from toys import toy_pretrained, toy_records, toy_tasks

from limbeck.compress.export import export_graph
from limbeck.compress.quantise import to_int8, weights_on_the_left
from limbeck.data.pieces import Batch
from limbeck.runtime.engines import EngineName, EngineOptions, open_engine
from limbeck.runtime.scoring import make_batch
from limbeck.runtime.sizes import Sizes
from limbeck.train.backbones import make_piecer
from limbeck.train.network import Network
from limbeck.train.trained import plans_of


@pytest.fixture(scope="module")
def int8(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Batch]:
    folder = tmp_path_factory.mktemp("int8")
    pretrained = toy_pretrained()
    network = Network(pretrained.backbone, plans_of(toy_tasks()), dropout=0.0).eval()
    piecer = make_piecer(pretrained.tokenizer, pretrained.backbone.config)
    batch = make_batch(
        [row for rows in piecer(toy_records(8)) for row in rows],
        pad_id=0,
        sizes=Sizes(piecer.max_pieces),
    )
    export_graph(network, batch, folder / "fp32.onnx")
    to_int8(folder / "fp32.onnx", folder / "int8.onnx", [batch], keep_fp32=())
    return folder / "int8.onnx", batch


def test_the_mix_of_layers_stays_in_fp32(int8: tuple[Path, Batch]) -> None:
    graph = onnx.load(str(int8[0])).graph
    makers = {output: node.op_type for node in graph.node for output in node.output}
    mixes = [node for node in graph.node if node.name in weights_on_the_left(graph)]
    assert len(mixes) == 2, "one for words, one for texts"
    for node in mixes:
        assert not {makers.get(name) for name in node.input} & {"DequantizeLinear"}


@pytest.mark.parametrize("name", get_args(EngineName))
def test_workers_agree(name: EngineName, int8: tuple[Path, Batch]) -> None:
    graph, batch = int8
    n_words = int(batch.n_words.sum())
    one, two = (
        open_engine(name, graph, EngineOptions(n_threads=n, n_workers=n)).run(batch) for n in (1, 2)
    )
    for output in ("upos", "lemma", "ner", "mood"):
        assert np.array_equal(one[output][:n_words], two[output][:n_words]), output
