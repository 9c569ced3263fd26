"""Every engine keeps the contract: the same numbers in any batch, padding and thread."""

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from toys import toy_records

from limbeck.bundle import Bundle, load_bundle
from limbeck.data.pieces import Batch, collate
from limbeck.data.records import Record
from limbeck.errors import ConfigError, EngineError
from limbeck.runtime import compiled, engines, threads
from limbeck.runtime.compiled import cache_folder, keep_compiled
from limbeck.runtime.engines import Engine, EngineName, EngineOptions, open_engine, pick_engine
from limbeck.runtime.scoring import run_rows
from limbeck.runtime.sizes import Sizes

ONE_THREAD = EngineOptions(n_threads=1)


@pytest.fixture(scope="module")
def bundle(toy_bundle: Path) -> Bundle:
    return load_bundle(toy_bundle)


@pytest.fixture(params=get_args(EngineName))
def engine(request: pytest.FixtureRequest, bundle: Bundle) -> Engine:
    return open_engine(request.param, bundle.graph, ONE_THREAD)


def batch_of(bundle: Bundle, records: list[Record]) -> Batch:
    piecer = bundle.piecer()
    return collate([row for rows in piecer(records) for row in rows], pad_id=piecer.pad_id)


def test_engines_agree(bundle: Bundle) -> None:
    batch = batch_of(bundle, toy_records(12))
    first, *others = (
        open_engine(name, bundle.graph, ONE_THREAD).run(batch) for name in get_args(EngineName)
    )
    for other in others:
        assert first.keys() == other.keys()
        for name in first:
            assert np.allclose(first[name], other[name], rtol=1e-4, atol=1e-3), name


def test_padding_and_company_never_change_a_logit(engine: Engine, bundle: Bundle) -> None:
    records = toy_records(9, seed=4)
    together = engine.run(batch_of(bundle, [*records, Record(words=("bird",) * 50)]))
    at = 0
    for i, record in enumerate(records):
        alone = engine.run(batch_of(bundle, [record]))
        n = len(record.words)
        assert np.allclose(alone["upos"], together["upos"][at : at + n], atol=1e-4)
        assert np.allclose(alone["mood"][0], together["mood"][i], atol=1e-4)
        arcs = together["dep.arcs"][i, :n, : n + 1]
        assert np.allclose(alone["dep.arcs"][0], arcs, atol=1e-3)
        at += n


def test_words_that_are_in_no_row_never_change_a_logit(engine: Engine, bundle: Bundle) -> None:
    batch = batch_of(bundle, toy_records(9, seed=5))
    n_words = len(batch.word_at)
    more = replace(
        batch,
        word_at=np.pad(batch.word_at, (0, 5)),
        shapes=np.pad(batch.shapes, ((0, 5), (0, 0))),
    )
    alone, padded = engine.run(batch), engine.run(more)
    for name, logits in alone.items():
        found = padded[name][:n_words] if len(padded[name]) == n_words + 5 else padded[name]
        assert np.allclose(logits, found, atol=1e-4), name


def test_it_may_be_called_by_several_threads_at_once(bundle: Bundle) -> None:
    batches = [batch_of(bundle, toy_records(6, seed=seed)) for seed in range(8)]
    for name in get_args(EngineName):
        engine = open_engine(name, bundle.graph, EngineOptions(n_threads=2, n_workers=2))
        wanted = [engine.run(batch) for batch in batches]
        with ThreadPoolExecutor(2) as pool:
            found = list(pool.map(engine.run, batches))
        for a, b in zip(wanted, found, strict=True):
            assert all(np.allclose(a[key], b[key], atol=1e-5) for key in a)


def test_outputs_are_not_written_again_by_the_next_batch(engine: Engine, bundle: Bundle) -> None:
    first = engine.run(batch_of(bundle, toy_records(3, seed=1)))
    copies = {name: array.copy() for name, array in first.items()}
    engine.run(batch_of(bundle, toy_records(3, seed=2)))
    assert all(np.array_equal(first[name], copies[name]) for name in first)


def test_records_without_words_run(engine: Engine, bundle: Bundle) -> None:
    piecer = bundle.piecer()
    kinds = {task.name: task.kind for task in bundle.tasks}
    windows = piecer([Record(words=()), Record(words=())])
    rows = [row for record in windows for row in record]
    scored = run_rows(rows, engine.run, pad_id=piecer.pad_id, sizes=Sizes(piecer.max_pieces))
    for scores in scored.rows(kinds):
        assert scores.main["upos"].shape[0] == 0
        assert scores.main["mood"].shape[0] == 1
        assert scores.arcs["dep"].shape == (0, 1)


def test_a_graph_that_is_none_is_refused_clearly(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(b"no graph")
    for name in get_args(EngineName):
        with pytest.raises(EngineError, match="cannot load the graph"):
            open_engine(name, path, ONE_THREAD)


def test_a_missing_engine_names_the_remedy(bundle: Bundle, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "find_spec", lambda name: None)
    assert pick_engine("auto") == "ort"
    with pytest.raises(EngineError, match="not installed") as caught:
        open_engine("openvino", bundle.graph, ONE_THREAD)
    assert "limbeck[openvino]" in caught.value.hint


# threads


@pytest.mark.parametrize(
    ("files", "wanted"),
    [
        ({"cpu.max": "150000 100000"}, 1.5),
        ({"cpu.max": "max 100000"}, None),
        ({"cpu/cpu.cfs_quota_us": "200000", "cpu/cpu.cfs_period_us": "100000"}, 2.0),
        ({"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, None),
        ({}, None),
    ],
)
def test_the_containers_quota_is_read(
    files: dict[str, str], wanted: float | None, tmp_path: Path
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text + "\n")
    assert threads.cgroup_cpus(tmp_path) == wanted


def test_threads_stay_within_what_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "allowed_threads", lambda: 2)
    assert threads.pick_threads(None) == 2
    assert threads.pick_threads(1) == 1
    with pytest.raises(ConfigError, match="at least 1"):
        threads.pick_threads(0)
    with pytest.raises(ConfigError, match="may use 2"):
        threads.pick_threads(3)


def test_a_compiled_graph_is_kept_and_gives_the_same_logits(
    bundle: Bundle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    batch = batch_of(bundle, toy_records(5))
    options = EngineOptions(n_threads=1, key="kept")
    fresh = open_engine("openvino", bundle.graph, ONE_THREAD).run(batch)
    first = open_engine("openvino", bundle.graph, options).run(batch)
    (kept,) = cache_folder("compiled").glob("*.blob")
    made = kept.stat().st_mtime_ns
    second = open_engine("openvino", bundle.graph, options).run(batch)
    assert kept.stat().st_mtime_ns == made
    for name in fresh:
        assert np.array_equal(fresh[name], first[name])
        assert np.array_equal(fresh[name], second[name])


@pytest.mark.parametrize("damage", ["cut", "emptied", "overwritten"])
def test_a_damaged_compiled_graph_is_made_again(
    bundle: Bundle, damage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    options = EngineOptions(n_threads=1, key="damaged")
    batch = batch_of(bundle, toy_records(5))
    wanted = open_engine("openvino", bundle.graph, options).run(batch)
    (kept,) = cache_folder("compiled").glob("*.blob")
    content = kept.read_bytes()
    kept.write_bytes(
        {"cut": content[: len(content) // 2], "emptied": b"", "overwritten": b"\0" * 5_000}[damage]
    )
    found = open_engine("openvino", bundle.graph, options).run(batch)
    assert all(np.array_equal(wanted[name], found[name]) for name in wanted)
    # whole again; what an engine writes is not the same to the byte
    assert len(kept.read_bytes()) == pytest.approx(len(content), rel=0.01)
    made = kept.stat().st_mtime_ns
    again = open_engine("openvino", bundle.graph, options).run(batch)
    assert kept.stat().st_mtime_ns == made, "loaded, not made once more"
    assert all(np.array_equal(wanted[name], again[name]) for name in wanted)


def test_a_cache_that_cannot_be_written_is_not_missed(
    bundle: Bundle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("no folder", encoding="utf-8")
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    engine = open_engine("openvino", bundle.graph, EngineOptions(n_threads=1, key="lost"))
    assert engine.run(batch_of(bundle, toy_records(2)))


def test_old_compiled_graphs_make_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "MAX_KEPT_BYTES", 250)
    paths = [tmp_path / f"{i}.blob" for i in range(4)]
    for age, path in enumerate(paths):
        keep_compiled(path, b"x" * 100)
        os.utime(path, (1_000 + age, 1_000 + age))
    keep_compiled(tmp_path / "last.blob", b"x" * 100)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["3.blob", "last.blob"]
