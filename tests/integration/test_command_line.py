"""Commands: data on stdout, words on stderr, exit codes, and nothing half-written."""

import json
import os
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from report_rows import base_rows, search_rows, write_run
from toys import toy_records

DEV = "The cat sees a dog .\n\nNot on the red bird\n"


def limbeck(*arguments: object, text: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "limbeck", *map(str, arguments)],
        input=text,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
    )


def test_lines_come_back_as_json_lines_in_order(toy_bundle: Path) -> None:
    done = limbeck("annotate", toy_bundle, "-", "--json", text=DEV)
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["text"] for row in rows] == DEV.split("\n")[:3]
    assert [len(row["upos"]) for row in rows] == [6, 0, 5]
    summary = json.loads(done.stderr)
    assert (summary["n_records"], summary["n_words"], summary["n_skipped"]) == (3, 11, 0)


def test_several_files_and_other_formats(toy_bundle: Path, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("The cat\n")
    (tmp_path / "b.txt").write_text("a dog runs\n")
    out = tmp_path / "out.conllu"
    done = limbeck(
        "annotate", toy_bundle, tmp_path / "a.txt", tmp_path / "b.txt",
        "-o", out, "--output-format", "conllu", "--tasks", "upos,dep",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    words = [line.split("\t")[1] for line in out.read_text().splitlines() if "\t" in line]
    assert words == ["The", "cat", "a", "dog", "runs"]
    assert out.stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("format", ["conllu", "bio"])
@pytest.mark.parametrize("end", ["", "\n", "\n\n"])
def test_files_that_end_without_a_blank_line_do_not_run_together(
    toy_bundle: Path, tmp_path: Path, format: str, end: str
) -> None:
    row = "1\tcat" + "\t_" * 8 if format == "conllu" else "cat\tO"
    for name in ("a", "b"):
        (tmp_path / name).write_text(f"{row}{end}")
    done = limbeck(
        "annotate", toy_bundle, tmp_path / "a", tmp_path / "b",
        "--format", format, "--tasks", "ner",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert len([block for block in done.stdout.split("\n\n") if block.strip()]) == 2
    assert done.stdout.endswith(end)


def test_a_failure_leaves_no_output_and_keeps_what_was_there(
    toy_bundle: Path, tmp_path: Path
) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"text": "a"}\n{"text": 1}\n')
    out = tmp_path / "out.jsonl"
    out.write_text("old\n")
    done = limbeck("annotate", toy_bundle, bad, "-o", out)
    assert done.returncode == 2
    assert f"{bad}:2" in done.stderr
    assert out.read_text() == "old\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.jsonl", "out.jsonl"]
    done = limbeck("annotate", toy_bundle, bad, "-o", out, "--on-error", "skip")
    assert done.returncode == 1, "something was lost, so the exit code says so"
    assert "1 records skipped" in done.stderr
    assert len(out.read_text().splitlines()) == 1


BAD_CALLS = [
    (["annotate", "BUNDLE", "none.txt"], "none.txt: No such file"),
    (["annotate", "nowhere", "-"], "no such folder"),
    (["annotate", "BUNDLE", "-", "--threads", "0"], "at least 1"),
    (["annotate", "BUNDLE", "-", "--threads", "1000"], "this process may use"),
    (["annotate", "BUNDLE", "-", "--tasks", "upos,nix"], "nix: not in this bundle"),
    (["evaluate", "BUNDLE", "none.conllu"], "none.conllu"),
    (["run", "none.toml"], "none.toml: cannot read the recipe"),
    (["report", "nowhere"], "nowhere: no results.jsonl"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD_CALLS)
def test_a_wrong_call_gets_one_clear_line(
    toy_bundle: Path, arguments: list[str], message: str
) -> None:
    done = limbeck(*[toy_bundle if a == "BUNDLE" else a for a in arguments], text="a\n")
    assert done.returncode == 2
    errors = [line for line in done.stderr.splitlines() if not line.startswith("hint: ")]
    assert len(errors) == 1
    assert errors[0].startswith("error: ")
    assert message in errors[0]
    assert done.stdout == ""


def test_the_output_may_not_be_the_input(toy_bundle: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("a\n")
    done = limbeck("annotate", toy_bundle, path, "-o", path)
    assert done.returncode == 2
    assert path.read_text() == "a\n"


def test_a_reader_that_has_enough_is_no_error(toy_bundle: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("the cat sees a dog\n" * 5_000)
    call = f"{sys.executable} -m limbeck annotate {toy_bundle} {path} | head -n 1"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {call}"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


def test_report_leaves_a_page_and_its_markdown(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", base_rows(), search_rows(4))
    done = limbeck("report", run)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-2:] == [
        f"report: {run / 'report.html'}",
        f"report: {run / 'report.md'}",
    ]
    found = json.loads(limbeck("report", run, "--json").stdout)
    assert Path(found["html"]).read_text().startswith("<!doctype html>")
    assert Path(found["markdown"]).read_text().startswith("# limbeck report: run\n")
    assert found["summary"] == done.stdout.splitlines()[:-2]
    (run / "results.jsonl").write_text("{}\n")
    before = Path(found["html"]).read_bytes()
    done = limbeck("report", run)
    assert done.returncode == 2
    assert f"{run / 'results.jsonl'}:1: 'name' is missing" in done.stderr
    assert Path(found["html"]).read_bytes() == before


def test_report_without_its_library_names_the_remedy(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", base_rows())
    code = (
        "import sys; sys.modules['jinja2'] = None; "
        f"sys.argv = ['limbeck', 'report', {str(run)!r}]; "
        "from limbeck.cli.main import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "hint: pip install 'limbeck[report]'" in done.stderr


def test_doctor_tells_what_is_here() -> None:
    found = json.loads(limbeck("doctor", "--json").stdout)
    assert found["engines"]["ort"] is True
    assert found["n_threads"] >= 1
    assert "processor" in limbeck("doctor").stdout


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ("graph", "model.onnx is damaged"),
        ("missing", "tokenizer.json is missing"),
        ("newer", "bundle format 99"),
        ("escape", "leads out of the bundle"),
        ("garbage", "not JSON"),
        ("unknown", "missing or unknown keys: extra"),
        ("link", "is a link"),
    ],
)
def test_a_damaged_bundle_is_refused(
    toy_bundle: Path, tmp_path: Path, damage: str, message: str
) -> None:
    bundle = tmp_path / "bundle"
    shutil.copytree(toy_bundle, bundle)
    path = bundle / "bundle.json"
    manifest = json.loads(path.read_text())
    match damage:
        case "graph":
            with (bundle / "model.onnx").open("ab") as file:
                file.write(b"x")
        case "missing":
            (bundle / "tokenizer.json").unlink()
        case "newer":
            manifest["format_version"] = 99
        case "escape":
            manifest["files"]["../../etc/passwd"] = {"size_bytes": 1, "sha256": ""}
        case "unknown":
            manifest["extra"] = 1
        case "link":
            (bundle / "tokenizer.json").rename(tmp_path / "elsewhere")
            (bundle / "tokenizer.json").symlink_to(tmp_path / "elsewhere")
    path.write_text("{" if damage == "garbage" else json.dumps(manifest))
    done = limbeck("annotate", bundle, "-", text="a\n")
    assert done.returncode == 2
    assert message in done.stderr


def test_tune_prints_what_it_tried_and_annotate_uses_it(
    toy_bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "own.txt").write_text(DEV)
    done = limbeck(
        "tune", toy_bundle, "--text", tmp_path / "own.txt", "--threads", 1, "--seconds", 1, "--json"
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    rates = [trial["records_per_second"] for trial in found["trials"]]
    assert len(rates) > 2
    assert min(rates) > 0
    assert Path(found["stored"]).is_file()
    used = limbeck("annotate", toy_bundle, "-", "--threads", 1, "--json", text=DEV)
    assert json.loads(used.stderr)["engine"] == found["choice"]["engine"]


def test_tune_without_text_says_so(toy_bundle: Path, tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text("\n\n")
    done = limbeck("tune", toy_bundle, "--text", tmp_path / "empty.txt")
    assert done.returncode == 2
    assert "no text" in done.stderr


def test_bench_races_and_appends_rows(toy_bundle: Path, tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    (tmp_path / "own.txt").write_text(DEV * 20)
    for _ in range(2):
        done = limbeck(
            "bench", toy_bundle, "--text", tmp_path / "own.txt", "--threads", 1, "--rounds", 2,
            "--rows", rows, "--json",
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in rows.read_text().splitlines()]
    names = [row["name"] for row in found]
    assert names[: len(names) // 2] == names[len(names) // 2 :]
    assert names[:3] == ["limbeck", "bare graph", "naive openvino"]
    for row in found:
        assert len(row["seconds"]) == 2
        assert row["records_per_second"] > 0
        assert row["environment"]["n_threads"] == 1


def test_a_scenario_races_peers_and_scores_them(toy_bundle: Path, tmp_path: Path) -> None:
    rows = [f"{' '.join(r.words)}\t{r.labels['mood']}\n" for r in toy_records(30, seed=3)]
    (tmp_path / "mood.tsv").write_text("".join(rows))
    (tmp_path / "race.toml").write_text(
        'text = "mood.tsv"\ncolumns = { text = 1, mood = 2 }\ntrain = "mood.tsv"\n'
        'task = "mood"\nrounds = 1\n[[peer]]\npeer = "tfidf"\n[[peer]]\npeer = "model2vec"\n'
        'encoder = "."\n'
    )
    done = limbeck(
        "bench", toy_bundle, "--scenario", tmp_path / "race.toml", "--data", tmp_path,
        "--models", tmp_path, "--threads", 1, "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    by_name = {row["name"]: row for row in found["rows"]}
    assert by_name["tfidf"]["metrics"]["mood.accuracy"] > 60  # it has seen the very text
    assert 0 <= by_name["limbeck"]["metrics"]["mood.accuracy"] <= 100
    assert "model2vec" in found["absent"] or "model2vec" in by_name


def test_checks_hold_on_the_toy(
    toy_bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from limbeck.bench import checks
    from limbeck.bundle import load_bundle
    from limbeck.progress import NoProgress

    monkeypatch.setattr(checks, "SMALL", 50)
    monkeypatch.setattr(checks, "LARGE", 300)
    monkeypatch.setattr(checks, "N_STARTS", 1)
    monkeypatch.setattr(checks, "N_SINGLE", 20)
    found = checks.run_checks(
        load_bundle(toy_bundle), toy_records(80), n_threads=1, progress=NoProgress()
    )
    by_name = {check.name: check for check in found}
    assert by_name["start"].ratio > 1
    assert by_name["one record"].ratio > 1  # the whole is more than its part
    assert 0.5 < by_name["memory"].ratio < 2
    plans = [check for check in found if check.name.startswith("plan")]
    assert len(plans) == 6
    for plan in plans:
        assert plan.measured == 0
        assert plan.against > 500


def test_the_version_is_told() -> None:
    done = limbeck("--version")
    assert done.returncode == 0
    assert done.stdout.strip() == f"limbeck {version('limbeck')}"
