"""Stages are done once, whole or not at all."""

from pathlib import Path

import pytest

from limbeck.errors import StageError
from limbeck.runs.stages import Stage, is_done, perform

STAGE = Stage(name="teacher-x", inputs={"rate": 1e-4, "seed": 1})


def fill(folder: Path, scratch: Path) -> None:
    (folder / "made").write_text("yes")


def test_a_finished_stage_is_not_done_again(tmp_path: Path) -> None:
    first = perform(STAGE, tmp_path, fill)

    def never(folder: Path, scratch: Path) -> None:
        raise AssertionError("done twice")

    assert perform(STAGE, tmp_path, never) == first
    assert is_done(STAGE, tmp_path)


def test_other_inputs_are_another_stage(tmp_path: Path) -> None:
    perform(STAGE, tmp_path, fill)
    other = Stage(name="teacher-x", inputs={"rate": 2e-4, "seed": 1})
    assert not is_done(other, tmp_path)
    assert Stage(name="teacher-x", inputs={"seed": 1, "rate": 1e-4}).key == STAGE.key


@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt, SystemExit])
def test_a_failed_stage_leaves_nothing_but_its_scratch(
    tmp_path: Path, failure: type[BaseException]
) -> None:
    def fails(folder: Path, scratch: Path) -> None:
        (folder / "half").write_text("...")
        (scratch / "checkpoint").write_text("kept")
        raise failure

    with pytest.raises(failure):
        perform(STAGE, tmp_path, fails)
    assert [path.name for path in tmp_path.iterdir()] == [f".scratch-{STAGE.folder_name}"]

    def goes_on(folder: Path, scratch: Path) -> None:
        assert (scratch / "checkpoint").read_text() == "kept"

    perform(STAGE, tmp_path, goes_on)
    assert [path.name for path in tmp_path.iterdir()] == [STAGE.folder_name]


def test_a_full_disk_is_told_plainly(tmp_path: Path) -> None:
    def full(folder: Path, scratch: Path) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(StageError, match="No space left") as caught:
        perform(STAGE, tmp_path, full)
    assert "again" in caught.value.hint
