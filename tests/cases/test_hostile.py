"""Hostile and careless input, a test for each kind of fault that was found and mended."""

import json
import os
import signal
import stat
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import commands
import pytest

from limbeck.artefacts import atomic_file
from limbeck.bundle import load_bundle
from limbeck.data import files
from limbeck.data.formats import ReadOptions, read_records
from limbeck.errors import BundleError, InputError, StageError
from limbeck.runs.lock import locked
from limbeck.runs.stages import read_json
from limbeck.runtime import choices
from limbeck.tasks.codecs import codec_from_json, learn_codec
from limbeck.train.trained import load_trained

annotate = partial(commands.limbeck, "annotate")


def test_what_is_no_file_is_written_to_and_links_and_permissions_stay(tmp_path: Path) -> None:
    private = tmp_path / "private"
    private.write_bytes(b"old")
    private.chmod(0o600)
    (tmp_path / "link").symlink_to(private)
    with atomic_file(tmp_path / "link") as file:
        file.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert private.read_bytes() == b"new"
    assert stat.S_IMODE(private.stat().st_mode) == 0o600
    os.mkfifo(tmp_path / "pipe")
    reader = subprocess.Popen(["cat", str(tmp_path / "pipe")], stdout=subprocess.PIPE)
    with atomic_file(tmp_path / "pipe") as file:
        file.write(b"through")
    assert reader.communicate()[0] == b"through"
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


@pytest.mark.parametrize("place", ["none/out.txt", ".", "bundle/model.onnx"])
def test_a_place_that_cannot_be_written_is_refused_before_work(
    place: str, toy_bundle: Path, tmp_path: Path
) -> None:
    (tmp_path / "bundle").symlink_to(toy_bundle)
    done = annotate(tmp_path / "bundle", "-", "-o", tmp_path / place, text="a cat\n")
    assert done.returncode == 2
    assert str(tmp_path / place) in done.stderr
    assert load_bundle(toy_bundle)  # as it was


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_while_its_input_is_idle(how: signal.Signals, toy_bundle: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "limbeck", "annotate", str(toy_bundle), "-", "--format", "lines"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin is not None
    process.stdin.write(b"the cat\n")
    process.stdin.flush()
    time.sleep(4)  # until it waits for more
    process.send_signal(how)
    assert process.wait(timeout=10) == {signal.SIGINT: 130, signal.SIGTERM: 143}[how]
    assert process.stderr is not None
    assert b"Fatal" not in process.stderr.read()
    process.stdin.close()


def test_what_comes_in_by_a_pipe_is_told_by_its_first_lines(toy_bundle: Path) -> None:
    done = annotate(toy_bundle, "-", "--tasks", "mood, upos", text='{"text": "a cat"}\n')
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["text"] == "a cat"


def test_a_line_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_LINE_BYTES", 1_000)
    (tmp_path / "long.txt").write_text("fine\n" + "x" * 5_000)
    with pytest.raises(InputError, match=r"long\.txt:2"):
        list(read_records(tmp_path / "long.txt", options=ReadOptions(format="lines")))


@pytest.mark.parametrize("label", ["a\tb", "a\nb", "\x1b[31m", "\ud800", "\x00"])
def test_labels_that_would_break_lines_are_refused(label: str) -> None:
    with pytest.raises(BundleError, match="label"):
        codec_from_json({"kind": "tag", "names": ["A", label]})
    with pytest.raises(InputError, match="control character"):
        learn_codec("classify", [(("a",), label), (("b",), "fine")], task="mood")


def edited(bundle: Path, folder: Path, **changes: object) -> Path:
    """A copy of a bundle with another manifest."""
    folder.mkdir()
    for path in bundle.rglob("*"):
        target = folder / path.relative_to(bundle)
        if path.is_dir():
            target.mkdir(exist_ok=True)
        else:
            target.parent.mkdir(exist_ok=True)
            target.write_bytes(path.read_bytes())
    manifest = json.loads((folder / "bundle.json").read_text())
    (folder / "bundle.json").write_text(json.dumps(manifest | changes))
    return folder


@pytest.mark.parametrize(
    "changes",
    [
        {"format_version": True},
        {"format_version": 1},
        {"format_version": -5},
        {"format_version": 1.0},
        {"piecer": {"max_pieces": 10**15, "pad_id": 0}},
        {"piecer": {"max_pieces": 64, "pad_id": -1}},
        {"piecer": {"max_pieces": float("inf"), "pad_id": 0}},
        {"tasks": [{"name": "../upos", "kind": "tag"}]},
        {"tasks": [{"name": 5, "kind": "tag"}]},
        {"files": []},
    ],
    ids=str,
)
def test_a_manifest_of_nonsense_is_refused(
    changes: dict[str, object], toy_bundle: Path, tmp_path: Path
) -> None:
    with pytest.raises(BundleError):
        load_bundle(edited(toy_bundle, tmp_path / "b", **changes))


def test_files_that_nobody_checked_are_refused(toy_bundle: Path, tmp_path: Path) -> None:
    folder = edited(toy_bundle, tmp_path / "b")
    (folder / "weights.bin").write_bytes(b"x")
    with pytest.raises(BundleError, match=r"weights\.bin"):
        load_bundle(folder)
    (folder / "weights.bin").unlink()
    (folder / "bundle.json").write_text("[" * 100_000)
    with pytest.raises(BundleError, match="not JSON"):
        load_bundle(folder)


def test_labels_that_do_not_fit_the_graph_are_refused(toy_bundle: Path, tmp_path: Path) -> None:
    import hashlib

    folder = edited(toy_bundle, tmp_path / "b")
    path = folder / "labels" / "upos.json"
    labels = json.loads(path.read_text())
    path.write_text(json.dumps(labels | {"names": labels["names"][:-1]}))
    manifest = json.loads((folder / "bundle.json").read_text())
    manifest["files"]["labels/upos.json"] = {
        "size_bytes": path.stat().st_size,
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
    }
    (folder / "bundle.json").write_text(json.dumps(manifest))
    done = annotate(folder, "-", "--format", "lines", text="a cat\n")
    assert done.returncode == 2
    assert "scores for upos" in done.stderr


@pytest.mark.parametrize("stored", ['{"n_threads": 1e400}', "[" * 100_000, "{}", "null"])
def test_a_broken_choice_is_as_good_as_none(stored: str, toy_bundle: Path) -> None:
    bundle = load_bundle(toy_bundle)
    path = choices.choice_path(bundle)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(stored)
    try:
        assert choices.load_choice(bundle) is None
        huge = {"engine": "ort", "n_threads": 1, "n_workers": 10**9, "max_padded_pieces": 64}
        path.write_text(json.dumps(huge))
        assert choices.load_choice(bundle) is None
    finally:
        path.unlink()


def test_two_runs_do_not_share_a_folder(tmp_path: Path) -> None:
    own, again = locked(tmp_path / "run"), locked(tmp_path / "run")
    with own, pytest.raises(InputError, match="another limbeck"), again:
        pass
    with locked(tmp_path / "run"):
        pass
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="run folder"), locked(tmp_path / "file"):
        pass


def test_a_quote_that_is_never_closed_is_no_bad_record_to_skip(tmp_path: Path) -> None:
    (tmp_path / "open.csv").write_text('text\n"unclosed\nfoo\nbar\n')
    with pytest.raises(InputError, match=r"open\.csv:2: .* 2 lines"):
        list(read_records(tmp_path / "open.csv", options=ReadOptions(on_error="skip")))


@pytest.mark.parametrize("text", ["{", "", "[" * 100_000])
def test_a_damaged_stage_says_what_to_delete(text: str, tmp_path: Path) -> None:
    (tmp_path / "ensemble-1").mkdir()
    (tmp_path / "ensemble-1" / "ensemble.json").write_text(text)
    with pytest.raises(StageError) as caught:
        read_json(tmp_path / "ensemble-1" / "ensemble.json")
    assert "delete" in caught.value.hint
    assert "ensemble-1" in caught.value.hint


def test_a_damaged_network_says_what_to_delete(tmp_path: Path) -> None:
    (tmp_path / "network.json").write_text("{}")
    (tmp_path / "heads.safetensors").write_bytes(b"\x10\x00")
    with pytest.raises(InputError, match="damaged") as caught:
        load_trained(tmp_path)
    assert "delete" in caught.value.hint
