"""Peers: processes that are told, heard and ended; those whose library is absent are named."""

import sys
from pathlib import Path

import pytest

from limbeck.bench import peer as peers
from limbeck.bench.peer import Peer, PeerAbsentError
from limbeck.bench.scenario import SCRIPTS, read_scenario
from limbeck.errors import ConfigError, StageError

ROOT = Path(__file__).parent.parent.parent
TOLD = {"n_threads": 1, "texts": "", "train": ""}


@pytest.fixture
def scripts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    talk = (peers.SCRIPTS / "talk.py").read_text()
    (tmp_path / "talk.py").write_text(talk)
    monkeypatch.setattr(peers, "SCRIPTS", tmp_path)
    return tmp_path


def test_a_peer_goes_round_when_told_and_says_what_it_found(scripts: Path) -> None:
    (scripts / "count.py").write_text(
        "from talk import job, serve\n"
        "print('noise of a library')\n"
        "n = [job()['n_threads']]\n"
        "def run():\n"
        "    n[0] += 1\n"
        "    print('more noise')\n"
        "    return n\n"
        "serve(run, {'count': '1.0'})\n"
    )
    with Peer("count", TOLD, python=sys.executable) as peer:
        assert peer.versions == {"count": "1.0"}
        peer.run()
        peer.run()
        assert peer.said() == [3]


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("import no_such_library_here\n", PeerAbsentError, "no_such_library_here"),
        ("raise ValueError('broken')\n", StageError, "broken"),
        ("from talk import serve\nserve(lambda: 1 / 0, {})\n", StageError, "ZeroDivision"),
    ],
)
def test_a_peer_that_fails_is_told(
    scripts: Path, text: str, error: type[StageError], message: str
) -> None:
    (scripts / "bad.py").write_text(text)
    with pytest.raises(error, match=message), Peer("bad", TOLD, python=sys.executable) as peer:
        peer.run()


def test_every_peer_has_its_script_and_every_scenario_reads() -> None:
    for script in SCRIPTS.values():
        compile((peers.SCRIPTS / f"{script}.py").read_text(), script, "exec")
    scenarios = sorted((ROOT / "benchmarks").glob("*.toml"))
    assert len(scenarios) >= 2
    for path in scenarios:
        assert read_scenario(path).peer


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('text = "a"\nrouns = 3', "rouns"),
        ('text = "a"\n[[peer]]\npeer = "nltk"', "peer.0"),
        ('text = "a"\n[[peer]]\npeer = "tfidf"', "needs `train`"),
        ('text = "a', "not TOML"),
    ],
)
def test_a_bad_scenario_is_refused(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(text)
    with pytest.raises(ConfigError, match=r"s\.toml") as caught:
        read_scenario(tmp_path / "s.toml")
    assert message in str(caught.value)
