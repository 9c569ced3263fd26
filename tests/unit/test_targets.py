"""The soft-target store gives back what was written, by the words of a record."""

from pathlib import Path

import numpy as np
import pytest
from toys import KINDS, random_scores, toy_records, toy_tasks

from limbeck.data.pieces import Pieces
from limbeck.data.records import Record
from limbeck.errors import StageError
from limbeck.tasks.codecs import codec_hash
from limbeck.tasks.scores import RecordScores
from limbeck.train.ensemble import softmax
from limbeck.train.rows import make_rows
from limbeck.train.targets import (
    TOP_HEADS,
    TargetStore,
    soft_targets,
    sparse,
    write_index,
    write_shard,
)


@pytest.fixture
def store(tmp_path: Path) -> tuple[list[Record], list[RecordScores], TargetStore]:
    records = list({r.words: r for r in toy_records(20)}.values())
    scores = [random_scores(record, i) for i, record in enumerate(records)]
    hashes = {task.name: codec_hash(task.codec) for task in toy_tasks()}
    half = len(records) // 2
    for number, part in enumerate((slice(0, half), slice(half, None))):
        targets = [soft_targets(s, KINDS) for s in scores[part]]
        states = [np.full((len(r.words), 4), i, np.float16) for i, r in enumerate(records[part])]
        write_shard(tmp_path, number, records[part], targets, states)
    write_index(tmp_path, KINDS, hashes)
    return records, scores, TargetStore(tmp_path, hashes)


def test_every_record_gets_its_own_targets_back(
    store: tuple[list[Record], list[RecordScores], TargetStore],
) -> None:
    records, scores, opened = store
    assert len(opened) == len(records)
    for record, own in zip(records, scores, strict=True):
        found = opened.soft(record)
        wanted = soft_targets(own, KINDS)
        assert found.keys() == wanted.keys()
        for name in wanted:
            assert np.array_equal(found[name].ids, wanted[name].ids)
            assert np.array_equal(found[name].probs, wanted[name].probs)
        states = opened.states(record)
        assert states is not None
        assert states.shape == (len(record.words), 4)


def test_an_unknown_record_has_no_targets(
    store: tuple[list[Record], list[RecordScores], TargetStore],
) -> None:
    assert store[2].soft(Record(words=("never", "seen"))) == {}
    assert store[2].states(Record(words=("never", "seen"))) is None


def test_another_label_set_is_refused(tmp_path: Path) -> None:
    write_index(tmp_path, KINDS, {"upos": "0123"})
    with pytest.raises(StageError, match="another label set"):
        TargetStore(tmp_path, {"upos": "4567"})


def test_the_likeliest_are_kept_best_first_and_sum_to_one() -> None:
    probs = softmax(np.random.default_rng(0).normal(size=(5, 30)).astype(np.float32))
    kept = sparse(probs, 4)
    assert (kept.ids == np.argsort(-probs, axis=1)[:, :4]).all()
    assert np.allclose(kept.probs.sum(axis=1), 1, atol=2e-3)


def test_one_word_has_two_heads_at_most_and_still_four_columns() -> None:
    record = Record(words=("a",))
    found = soft_targets(random_scores(record, 0), KINDS)["dep.arcs"]
    assert found.ids.shape == (1, TOP_HEADS)
    assert found.probs[0, 2:].sum() == 0


def test_targets_of_a_long_record_are_cut_as_its_windows_are() -> None:
    import random

    from toys import toy_pretrained, toy_record

    from limbeck.train.backbones import make_piecer

    record = toy_record(random.Random(1), n_words=300)
    pretrained = toy_pretrained()
    piecer = make_piecer(pretrained.tokenizer, pretrained.backbone.config)
    scores = random_scores(record, 3)
    soft = soft_targets(scores, KINDS)
    rows = make_rows([record], toy_tasks(), piecer, soft=[soft])
    assert len(rows) > 3
    owned = np.zeros(300, dtype=int)
    for row in rows:
        window: Pieces = row.pieces
        n = len(window.first_piece)
        assert len(row.soft["upos"].ids) == len(row.gold["upos"]) == n
        owned[window.window.start : window.window.stop] += np.asarray(row.gold["upos"]) >= 0
        heads = np.asarray(row.gold["dep"])[:, 0]
        assert heads.max() <= n
        arcs = row.soft["dep.arcs"]
        assert arcs.ids.max() <= n
        assert (arcs.ids[arcs.probs > 0] >= 0).all()
    assert (owned == 1).all()


@pytest.mark.parametrize("name", ["keys.npy", "upos.probs.npy", "states.npy", "sums.json"])
def test_a_store_that_was_changed_on_disk_is_refused(
    tmp_path: Path, store: tuple[list[Record], list[RecordScores], TargetStore], name: str
) -> None:
    hashes = {task.name: codec_hash(task.codec) for task in toy_tasks()}
    path = tmp_path / "shard-00001" / name
    content = bytearray(path.read_bytes())
    content[-1] ^= 1  # as long as it was
    path.write_bytes(content)
    with pytest.raises(StageError, match="damaged") as failure:
        TargetStore(tmp_path, hashes)
    assert str(tmp_path) in str(failure.value.hint)


def test_a_store_without_sums_is_read_as_before(
    tmp_path: Path, store: tuple[list[Record], list[RecordScores], TargetStore]
) -> None:
    records, _, _ = store
    for sums in tmp_path.glob("shard-*/sums.json"):
        sums.unlink()
    hashes = {task.name: codec_hash(task.codec) for task in toy_tasks()}
    assert len(TargetStore(tmp_path, hashes)) == len(records)
