"""Bad result rows: refused with file, line and what is wrong."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
from report_rows import base_rows, candidate_row, measured_candidate, write_run

from limbeck.errors import ExitCode, InputError
from limbeck.report.reading import read_run


def good() -> dict[str, Any]:
    scores = {"UPOS": 96.0, "LAS": 86.0}
    return measured_candidate("good", scores=scores, size_mb=3.0, rng=random.Random(1))


BAD = [
    ({"kind": "student"}, "unknown kind 'student'"),
    ({"kind": None}, "'kind' must be one of candidate"),
    ({"name": None}, "'name' must be a text"),
    ({"name": " "}, "'name' must be a text"),
    ({"family": "cuts"}, "unknown family 'cuts'"),
    ({"verdict": "kept"}, "unknown verdict 'kept'"),
    ({"metrics": {"LAS": "86"}}, "'metrics.LAS' must be a number"),
    ({"metrics": [1]}, "'metrics' must be an object"),
    ({"metrics": {"LAS": True}}, "'metrics.LAS' must be a number"),
    ({"metrics": {"LAS": 10**400}}, "'metrics.LAS' is not a finite number"),
    ({"intervals": {"LAS": [1]}}, "intervals.LAS must be [low, high]"),
    ({"intervals": {"LAS": [2, 1]}}, "2 is above 1"),
    ({"size_mb": -1}, "'size_mb' is -1, below 0"),
    ({"size_mb": "12"}, "'size_mb' must be a number"),
    ({"n_parameters": 1.5}, "'n_parameters' must be a whole number"),
    ({"chosen": "yes"}, "'chosen' must be true or false"),
    ({"floors": {}}, "'floors' must be a list"),
    ({"floors": [1]}, "floors[0]: not a JSON object"),
    ({"floors": [{"metric": "LAS"}]}, "floors[0]: 'half' is missing"),
    ({"confusions": [{**good()["confusions"][0], "n_more": None}]}, "'n_more' must be"),
    ({"confusions": [{**good()["confusions"][0], "sentences": [1]}]}, "a list of texts"),
    ({"latency_p50": 1.0}, "unknown key 'latency_p50'"),
]


@pytest.mark.parametrize(("change", "message"), BAD)
def test_a_bad_candidate_is_refused_with_its_place(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    run = write_run(tmp_path, base_rows(), [good(), good() | change])
    with pytest.raises(InputError) as failure:
        read_run(run)
    assert str(failure.value).startswith(f"{run / 'candidates.jsonl'}:2: ")
    assert message in str(failure.value)
    assert failure.value.exit_code == ExitCode.WRONG_INPUT


@pytest.mark.parametrize("key", list(candidate_row("c")))
def test_a_key_that_is_missing_is_named(tmp_path: Path, key: str) -> None:
    row = good()
    del row[key]
    run = write_run(tmp_path, base_rows(), [row])
    with pytest.raises(InputError, match=rf"candidates.jsonl:1: {key!r} is missing"):
        read_run(run)


@pytest.mark.parametrize("key", [key for key in candidate_row("c") if key not in ("name", "kind")])
def test_anything_but_name_and_kind_may_be_null(tmp_path: Path, key: str) -> None:
    run = write_run(tmp_path, base_rows(), [good() | {key: None}])
    assert read_run(run).candidates[0].name == "good"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"{", "not JSON"),
        (b"[]", "not a JSON object"),
        (b"\xff", "not JSON"),
        (b'{"name": NaN}', "NaN is no number"),
        (b"[" * 100_000, "not JSON"),
        (json.dumps(base_rows()[0] | {"kind": "taecher"}).encode(), "unknown kind 'taecher'"),
        (json.dumps(base_rows()[0] | {"metrics": 1}).encode(), "'metrics' must be an object"),
        (json.dumps(base_rows()[0] | {"notes": {"trials": [{}]}}).encode(), "trials[0]: 'attempt'"),
    ],
)
def test_a_bad_line_of_results_is_refused_with_its_place(
    tmp_path: Path, line: bytes, message: str
) -> None:
    run = write_run(tmp_path, base_rows()[:2])
    with (run / "results.jsonl").open("ab") as file:
        file.write(line + b"\n")
    with pytest.raises(InputError) as failure:
        read_run(run)
    assert str(failure.value).startswith(f"{run / 'results.jsonl'}:3: ")
    assert message in str(failure.value)
    assert len(str(failure.value)) < 400


def test_a_line_that_a_kill_cut_short_is_explained(tmp_path: Path) -> None:
    run = write_run(tmp_path, base_rows(), [good()])
    path = run / "candidates.jsonl"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(InputError) as failure:
        read_run(run)
    assert "cut short" in failure.value.hint


def test_a_folder_without_rows_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no results\.jsonl"):
        read_run(tmp_path)
    write_run(tmp_path, [])
    with pytest.raises(InputError, match="no rows yet"):
        read_run(tmp_path)
