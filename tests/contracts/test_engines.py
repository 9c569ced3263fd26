"""Every engine keeps the contract: the same numbers in any batch, padding and thread."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from toys import toy_records

from limbeck.bundle import Bundle, load_bundle
from limbeck.data.pieces import Batch, collate
from limbeck.data.records import Record
from limbeck.errors import ConfigError, EngineError
from limbeck.runtime import engines, threads
from limbeck.runtime.engines import Engine, EngineName, EngineOptions, open_engine, pick_engine
from limbeck.runtime.scoring import run_rows

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
    for scores in run_rows(rows, engine.run, pad_id=piecer.pad_id, kinds=kinds):
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
