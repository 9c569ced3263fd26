"""Starts of students: fewer layers, narrower, shared or static, with a trimmed vocabulary."""

from pathlib import Path

import pytest
import torch
from backbones import tiny_model, write_checkpoint
from toys import toy_pretrained, toy_records, toy_tasks, toy_tokenizer

from limbeck.compress.export import export_graph, graph_parity
from limbeck.config import StudentModel
from limbeck.data.pieces import collate
from limbeck.errors import ConfigError
from limbeck.train.backbones import Backbone, Pretrained
from limbeck.train.network import Network, to_tensors
from limbeck.train.slicing import importance, slice_width
from limbeck.train.starts import student_start
from limbeck.train.trained import Trained, load_trained, plans_of, save_trained

RECORDS = toy_records(12)
BODIES = {
    "narrow": StudentModel(name="s", model="x", width=16),
    "thin": StudentModel(name="s", model="x", ffn=24),
    "shallow and narrow": StudentModel(name="s", model="x", layers=1, width=16),
    "shared": StudentModel(name="s", model="x", body="shared", layers=3, embedding=8),
    "static": StudentModel(name="s", model="x", body="static", width=24, layers=2),
}


def batches_of(pretrained: Pretrained) -> list:  # type: ignore[type-arg]
    piecer = pretrained.piecer()
    return [collate([row for rows in piecer(RECORDS) for row in rows], pad_id=piecer.pad_id)]


def states_of(backbone: Backbone, pretrained: Pretrained) -> list[torch.Tensor]:
    tensors = to_tensors(batches_of(pretrained)[0], torch.device("cpu"))
    with torch.no_grad():
        states: list[torch.Tensor] = backbone.eval()(
            tensors.piece_ids, tensors.mask, tensors.type_ids
        )
        return states


@pytest.mark.parametrize("family", ["bert", "mpnet"])
def test_a_slice_of_everything_changes_nothing(family: str) -> None:
    whole = Pretrained(backbone=tiny_model(family), tokenizer=toy_tokenizer())
    same = slice_width(whole.backbone, width=32, ffn=64, batches=batches_of(whole))
    for a, b in zip(states_of(whole.backbone, whole), states_of(same, whole), strict=True):
        assert torch.allclose(a, b, atol=1e-6)


@pytest.mark.parametrize("family", ["bert", "mpnet"])
def test_parts_that_send_nothing_go_first(family: str) -> None:
    whole = Pretrained(backbone=tiny_model(family), tokenizer=toy_tokenizer())
    model = whole.backbone.model
    readers = {"bert": "attention.output.dense", "mpnet": "attention.attn.o"}
    with torch.no_grad():
        for layer in model.encoder.layer:
            layer.get_submodule(readers[family]).weight[:, :16] = 0  # the first of two heads
            layer.output.dense.weight[:, ::2] = 0  # every second unit
    found = importance(whole.backbone, batches_of(whole))
    assert (found.heads[:, 0] < found.heads[:, 1]).all()
    assert (found.ffn[:, ::2] == 0).all()
    thin = slice_width(whole.backbone, width=32, ffn=32, batches=batches_of(whole))
    for a, b in zip(states_of(whole.backbone, whole), states_of(thin, whole), strict=True):
        assert torch.allclose(a, b, atol=1e-5)  # units that sent nothing are not missed


@pytest.mark.parametrize("trims", [False, True])
@pytest.mark.parametrize("body", BODIES)
def test_a_start_works_from_training_to_graph_and_back(
    body: str, trims: bool, tmp_path: Path
) -> None:
    write_checkpoint("bert", tmp_path / "base")
    config = BODIES[body].model_copy(update={"trim_vocabulary": trims})
    start = student_start(config, str(tmp_path / "base"), RECORDS[:2])
    if trims:
        assert start.tokenizer.get_vocab_size() < toy_tokenizer().get_vocab_size()
    assert start.backbone.model.get_input_embeddings().weight.shape[0] == (
        start.tokenizer.get_vocab_size()
    )
    tasks = toy_tasks()
    network = Network(start.backbone, plans_of(tasks), dropout=0.0)
    trained = Trained(network=network, tokenizer=start.tokenizer, tasks=tasks)
    (tmp_path / "saved").mkdir()
    save_trained(tmp_path / "saved", trained, dropout=0.0)
    again = load_trained(tmp_path / "saved")
    (batch,) = batches_of(start)
    with torch.no_grad():
        tensors = to_tensors(batch, torch.device("cpu"))
        before, after = network.eval()(tensors), again.network.eval()(tensors)
    for name in before:
        assert torch.equal(before[name], after[name])
    export_graph(network, batch, tmp_path / "model.onnx")
    graph_parity(network, tmp_path / "model.onnx", [batch]).check(max_abs_diff=1e-4)


def test_a_shared_layer_is_the_layer_it_came_from() -> None:
    start = toy_pretrained()
    given = start.backbone.model.state_dict()
    from limbeck.train.sharing import share_layer

    shared = share_layer(start.backbone, layer=1, repeats=4, embedding=16)
    own = shared.model.state_dict()
    name = "encoder.albert_layer_groups.0.albert_layers.0.ffn.weight"
    assert torch.equal(own[name], given["encoder.layer.1.intermediate.dense.weight"])
    assert len(states_of(shared, start)) == 5
    # at full rank, V x E and E x H give the piece vectors back
    whole = share_layer(start.backbone, layer=0, repeats=1, embedding=32)
    own = whole.model.state_dict()
    turned = (
        own["embeddings.word_embeddings.weight"]
        @ own["encoder.embedding_hidden_mapping_in.weight"].T
        + own["encoder.embedding_hidden_mapping_in.bias"]
    )
    assert torch.allclose(turned, given["embeddings.word_embeddings.weight"], atol=1e-4)


def test_a_static_student_does_not_see_padding_or_far_words() -> None:
    config = StudentModel(name="s", model="x", body="static", width=24, window=1)
    from limbeck.train.static import StaticSize, make_static

    teacher = toy_pretrained()
    backbone = make_static(teacher.backbone, teacher.tokenizer, StaticSize(width=24, window=1))
    assert config.window == 1
    ids = torch.tensor([[5, 6, 7, 8, 9]])
    ones = torch.ones_like(ids)
    with torch.no_grad():
        backbone.eval()
        alone = backbone(ids, ones, ones)[-1]
        far = backbone(torch.tensor([[5, 6, 7, 8, 12]]), ones, ones)[-1]
        padded = torch.nn.functional.pad(ids, (0, 3), value=13)
        mask = torch.nn.functional.pad(ones, (0, 3))
        beside = backbone(padded, mask, mask)[-1]
    assert torch.allclose(alone[0, :3], far[0, :3])
    assert not torch.allclose(alone[0, 3], far[0, 3])
    assert torch.allclose(alone[0], beside[0, :5], atol=1e-6)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"width": 20}, "multiple of 16"),
        ({"width": 64}, "at most 32"),
        ({"ffn": 65}, "at most 64"),
        ({"body": "shared", "embedding": 64}, "at most 32"),
    ],
)
def test_impossible_sizes_are_refused(
    settings: dict[str, object], message: str, tmp_path: Path
) -> None:
    write_checkpoint("bert", tmp_path / "base")
    config = StudentModel.model_validate({"name": "s", "model": "x", **settings})
    with pytest.raises(ConfigError, match=message):
        student_start(config, str(tmp_path / "base"), RECORDS)


@pytest.mark.parametrize("body", ["shared", "cut"])
def test_a_family_that_cannot_is_refused(body: str, tmp_path: Path) -> None:
    write_checkpoint("distilbert", tmp_path / "base")
    config = StudentModel.model_validate(
        {"name": "s", "model": "x", "body": body} | ({"width": 16} if body == "cut" else {})
    )
    with pytest.raises(ConfigError, match="distilbert"):
        student_start(config, str(tmp_path / "base"), RECORDS)
