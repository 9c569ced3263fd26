"""Progress lines tell the time left from this run's own speed."""

import pytest

from limbeck.cli import bars


def test_steps_of_an_earlier_run_do_not_make_this_one_look_fast(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = 0.0
    monkeypatch.setattr("limbeck.cli.bars.time.monotonic", lambda: now)
    lines = bars.Lines()
    lines.start("teacher", 100, n_before=50)
    for _ in range(10):
        now += 6.0
        lines.advance(1)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines() == [
        "teacher: goes on at 50 of 100",
        "teacher: 55 of 100, 270 s left",
        "teacher: 60 of 100, 240 s left",
    ]
