"""Against: the peers of a scenario, loaded and ready to race, with what they are right about.

In:  a scenario, the bundle, where data and models are.
Out: contestants; peers that are not installed are named.
"""

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from limbeck.bench.peer import Peer, PeerAbsentError
from limbeck.bench.race import Contestant
from limbeck.bench.scenario import SCRIPTS, AnyPeer, Scenario
from limbeck.bundle import Bundle
from limbeck.data.formats import ReadOptions, read_records
from limbeck.data.records import Arc, Labels, Record
from limbeck.errors import InputError
from limbeck.tasks.metrics import score_all


@dataclass(frozen=True, slots=True, kw_only=True)
class Opponents:
    """Peers that are alive while the race lasts."""

    contestants: tuple[Contestant, ...]
    peers: Mapping[str, Peer]
    absent: Mapping[str, str]


@contextmanager
def opponents(
    scenario: Scenario,
    bundle: Bundle,
    records: Sequence[Record],
    *,
    data: Path,
    models: Path,
    python: str,
    n_threads: int,
) -> Iterator[Opponents]:
    """Start all peers; they learn and load before the race."""
    with ExitStack() as alive, tempfile.TemporaryDirectory() as scratch:
        texts = Path(scratch) / "texts.jsonl"
        _write(texts, records, scenario.task)
        common: dict[str, object] = {
            "texts": str(texts),
            "n_threads": n_threads,
            "bundle": str(bundle.folder.resolve()),
            "max_padded_pieces": 2_048,
        }
        if scenario.train is not None:
            train = Path(scratch) / "train.jsonl"
            wanted = None if scenario.task is None else (scenario.task,)
            options = ReadOptions(columns=scenario.columns, tasks=wanted)
            read = read_records(_found(data / scenario.train), options=options)
            _write(train, list(read)[: scenario.train_limit], scenario.task)
            common["train"] = str(train)
        found: list[Contestant] = []
        peers: dict[str, Peer] = {}
        absent: dict[str, str] = {}
        for settings in scenario.peer:
            name = _name(settings)
            told = common | _settings(settings, models)
            try:
                peer = alive.enter_context(Peer(SCRIPTS[settings.peer], told, python=python))
            except PeerAbsentError as failure:
                absent[name] = f"{failure}; pip install it, or name another --peer-python"
                continue
            peers[name] = peer
            versions = " ".join(f"{k} {v}" for k, v in peer.versions.items())
            found.append(
                Contestant(
                    name=name,
                    what=versions,
                    run=peer.run,
                    n_records=len(records),
                    n_words=sum(len(record.words) for record in records),
                    n_threads=n_threads,
                )
            )
        yield Opponents(contestants=tuple(found), peers=peers, absent=absent)


def peer_metrics(
    bundle: Bundle, records: Sequence[Record], said: Sequence[object], task: str | None
) -> dict[str, float]:
    """Score what a peer said by the same definitions as a bundle."""
    if not said:
        return {}
    if task is not None:
        tasks = [t for t in bundle.tasks if t.name == task]
        labels: list[dict[str, Labels]] = [{task: str(one)} for one in said]
        return score_all(records, labels, tasks)
    found = [_labels(one) for one in said]
    tasks = [t for t in bundle.tasks if t.name in found[0]]
    return score_all(records, found, tasks)


def _labels(one: object) -> dict[str, Labels]:
    if not isinstance(one, dict):
        return {}
    return {
        task: tuple(Arc(int(a[0]), str(a[1])) for a in values)
        if task == "dep"
        else tuple(str(v) for v in values)
        for task, values in one.items()
    }


def _name(settings: AnyPeer) -> str:
    backend = getattr(settings, "backend", None)
    return settings.peer + (f" {backend}" if backend else "")


def _settings(settings: AnyPeer, models: Path) -> dict[str, object]:
    told: dict[str, object] = settings.model_dump(exclude={"peer"})
    for key in ("model", "encoder"):
        if key in told:
            told[key] = str(_found(models / str(told[key])))
    return told


def _found(path: Path) -> Path:
    if not path.exists():
        raise InputError(
            f"{path}: not there", hint="paths of a scenario start from --data and --models"
        )
    return path


def _write(path: Path, records: Sequence[Record], task: str | None) -> None:
    with path.open("w", encoding="utf-8") as file:
        for record in records:
            one: dict[str, object] = {"words": [*record.words, *record.pair]}
            if task is not None:
                if task not in record.labels:
                    raise InputError(f"{record.where}: no label of {task!r}")
                one["label"] = str(record.labels[task])
            file.write(json.dumps(one) + "\n")
