"""Every family of encoder keeps the contract: shapes, mask invariance, cutting, export parity."""

from pathlib import Path

import numpy as np
import pytest
import torch
from backbones import FAMILIES, tiny_model, tiny_pretrained, write_checkpoint

from limbeck.compress.export import export_graph, graph_parity
from limbeck.data.pieces import Batch, Piecer, collate
from limbeck.data.records import Record
from limbeck.errors import ConfigError
from limbeck.train.backbones import keep_layers, load_pretrained, pick_layers, resolve_model
from limbeck.train.network import HeadPlan, Network, to_tensors

CPU = torch.device("cpu")
PLANS = (
    HeadPlan(name="upos", kind="tag", n_outputs=5),
    HeadPlan(name="dep", kind="dep", n_outputs=4),
    HeadPlan(name="mood", kind="classify", n_outputs=3),
)


def batch_of(piecer: Piecer, *texts: str) -> Batch:
    records = [Record(words=tuple(text.split())) for text in texts]
    return collate([row for rows in piecer(records) for row in rows], pad_id=piecer.pad_id)


@pytest.fixture(params=FAMILIES)
def family(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_it_gives_one_state_for_the_embeddings_and_one_for_each_layer(
    family: str, tmp_path: Path
) -> None:
    pretrained = tiny_pretrained(family, tmp_path)
    batch = to_tensors(batch_of(pretrained.piecer(), "the cat sees", "a dog"), CPU)
    states = pretrained.backbone(batch.piece_ids, batch.mask, batch.type_ids)
    assert len(states) == pretrained.backbone.n_layers + 1
    assert {tuple(s.shape) for s in states} == {(*batch.piece_ids.shape, 32)}


def test_padding_never_changes_a_logit(family: str, tmp_path: Path) -> None:
    pretrained = tiny_pretrained(family, tmp_path)
    piecer = pretrained.piecer()
    network = Network(pretrained.backbone, PLANS, dropout=0.1).eval()
    with torch.no_grad():
        alone = network(to_tensors(batch_of(piecer, "the cat sees"), CPU))
        beside = network(to_tensors(batch_of(piecer, "the cat sees", "a dog " + "not " * 20), CPU))
    assert torch.allclose(alone["mood"][0], beside["mood"][0], atol=1e-5)
    assert torch.allclose(alone["upos"], beside["upos"][:3], atol=1e-5)
    assert torch.allclose(alone["dep.arcs"][0], beside["dep.arcs"][0, :3, :4], atol=1e-5)


def test_cut_to_one_layer_it_equals_the_first_layer_of_the_whole(
    family: str, tmp_path: Path
) -> None:
    pretrained = tiny_pretrained(family, tmp_path)
    batch = to_tensors(batch_of(pretrained.piecer(), "the cat sees a dog"), CPU)
    with torch.no_grad():
        whole = pretrained.backbone(batch.piece_ids, batch.mask, batch.type_ids)
        cut = keep_layers(pretrained.backbone, [0])
        states = cut(batch.piece_ids, batch.mask, batch.type_ids)
    assert cut.n_layers == 1
    assert len(states) == 2
    if family != "modernbert":  # ModernBERT norms its last state only, whichever that is
        assert torch.allclose(whole[1], states[1], atol=1e-5)


def test_its_graph_equals_the_network_at_other_sizes(family: str, tmp_path: Path) -> None:
    pretrained = tiny_pretrained(family, tmp_path)
    piecer = pretrained.piecer()
    network = Network(pretrained.backbone, PLANS, dropout=0.1).eval()
    path = tmp_path / "model.onnx"
    export_graph(network, batch_of(piecer, "the cat sees", "a big dog runs and sleeps"), path)
    others = [
        batch_of(piecer, "a"),
        batch_of(piecer, "the " * 30, "dog", "a cat sleeps", "not on the red bird"),
    ]
    parity = graph_parity(network, path, others)
    parity.check(max_abs_diff=1e-4)
    assert parity.agreement == 1.0


def test_a_checkpoint_in_the_hubs_layout_loads_with_equal_weights(
    family: str, tmp_path: Path
) -> None:
    folder = write_checkpoint(family, tmp_path / "model")
    loaded = load_pretrained(resolve_model("model", relative_to=tmp_path))
    wanted = tiny_model(family).model.state_dict()
    found = loaded.backbone.model.state_dict()
    assert folder.is_dir()
    assert {name: t.shape for name, t in found.items()} == {n: t.shape for n, t in wanted.items()}
    assert all(np.array_equal(found[name], wanted[name]) for name in wanted)


def test_layers_are_picked_as_named() -> None:
    assert pick_layers(12, 3, "first") == [0, 1, 2]
    assert pick_layers(12, 3, "last") == [9, 10, 11]
    assert pick_layers(12, 3, "spread") == [3, 7, 11]
    assert pick_layers(6, 6, "spread") == [0, 1, 2, 3, 4, 5]
    with pytest.raises(ConfigError, match="7 layers asked"):
        pick_layers(6, 7, "first")


def test_a_model_that_is_nowhere_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(ConfigError, match="neither a folder nor reachable") as caught:
        load_pretrained(resolve_model("nobody/nothing", relative_to=tmp_path))
    assert "offline" in caught.value.hint
    with pytest.raises(ConfigError, match=r"no config\.json"):
        resolve_model("./missing", relative_to=tmp_path)
    with pytest.raises(ConfigError, match="no package"):
        resolve_model("package:no_such_package/model", relative_to=tmp_path)
