"""`limbeck study cpu` with the smallest encoders: rows, going on, refusals."""

import json
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import commands
import pytest

from limbeck.errors import ConfigError
from limbeck.study.batches import text_lengths
from limbeck.study.cpu import gflop, plan_study
from limbeck.study.cpu_page import cpu_page, cpu_panels

study = partial(commands.limbeck, "study", "cpu")


def test_every_way_has_its_row_and_a_second_run_measures_nothing(tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    arguments = ("--only", "bert-tiny", "--threads", 1, "--rows", rows)
    first = study(*arguments)
    assert first.returncode == 0, first.stderr
    found = [json.loads(line) for line in rows.read_text().splitlines()]
    assert [(r["engine"], r["precision"]) for r in found] == [
        ("torch", "fp32"),
        ("openvino", "int8"),
    ]
    for row in found:
        assert "failed" not in row, row
        p50, p95 = row["latency_ms"]["32"]
        assert 0 < p50 <= p95
        assert row["sentences_per_second"] > 0
        assert row["environment"]["n_threads"] == 1
    assert found[1]["disk_mb"] < 0.35 * found[0]["disk_mb"]
    page, plot = rows.with_suffix(".md").read_text(), rows.with_suffix(".svg").read_text()
    assert f"| {found[1]['sentences_per_second']:.0f} |" in page
    assert "rows.svg" in page
    ElementTree.fromstring(plot)
    before = rows.read_bytes()
    second = study(*arguments)
    assert second.returncode == 0
    assert rows.read_bytes() == before
    assert "bert-tiny" in second.stdout


def test_mistakes_are_refused(tmp_path: Path) -> None:
    wrong = study("--only", "bert-huge", "--rows", tmp_path / "r.jsonl")
    assert wrong.returncode == 2
    assert "bert-huge" in wrong.stderr
    (tmp_path / "other.jsonl").write_text('{"a": 1}\n')
    other = study("--only", "bert-tiny", "--rows", tmp_path / "other.jsonl")
    assert other.returncode == 2
    assert "other.jsonl:1" in other.stderr
    with pytest.raises(ConfigError, match="needs about"):
        plan_study(full=True, only=None, n_threads=2, free_bytes=10**9)


def test_operations_grow_with_depth_and_width() -> None:
    # 85 million parameters in BERT base's layers, twice for each of 128 pieces, and attention
    assert gflop("bert-base", 128) == pytest.approx(2 * 128 * 0.0849 + 0.6, rel=0.05)
    assert gflop("albert-base", 128) == pytest.approx(gflop("bert-base", 128), rel=0.01)
    assert gflop("albert-xxlarge", 128) > 20 * gflop("albert-base", 128)
    assert sorted(text_lengths(101))[50] == 17


def cpu_row(name: str, engine: str, **changes: Any) -> dict[str, Any]:
    row = {
        "name": name,
        "engine": engine,
        "precision": "fp32",
        "n_threads": 2,
        "n_parameters": 12_000_000,
        "disk_mb": 48.0,
        "gflop_128": 22.0,
        "load_seconds": 0.5,
        "memory_mb": 300.0,
        "latency_ms": {"16": [1, 2], "32": [2, 3], "128": [9, 10]},
        "sentences_per_second": 77.0,
        "date": "2026-01-01",
        "command": "limbeck study cpu",
        "environment": {"cpu": "a CPU", "n_cpus": 2},
    }
    return row | changes


def test_what_failed_is_told_and_not_drawn() -> None:
    failed = cpu_row("bert-base", "ort", failed="out of memory")
    del failed["latency_ms"], failed["sentences_per_second"]
    rows = [
        cpu_row("bert-base", "torch", n_threads=1, sentences_per_second=41.0),
        cpu_row("bert-base", "torch"),
        failed,
        cpu_row("albert-base", "torch", n_parameters=11_000_000),
    ]
    page = cpu_page(rows, plot="it.svg")
    assert "- bert-base, ort fp32, 2 threads: out of memory" in page
    assert "| 41 |" in page
    widths = {line.count("|") for line in page.splitlines() if line.startswith("|")}
    assert len(widths) == 1
    for panel in cpu_panels(rows):
        (series,) = panel.series  # the largest number of threads alone
        assert [point.name for point in series.points] in (
            ["albert-base", "bert-base"],
            ["bert-base", "albert-base"],
        )
