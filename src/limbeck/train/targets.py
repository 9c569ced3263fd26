"""The soft-target store: what the ensemble thinks of every record, written once, read by students.

In:  records and the ensemble's log probabilities for them.
Out: shards of .npy arrays, memory-mapped on reading; per word or per text, never per piece, so
that student and teachers may cut text differently. Keyed by the words of each record and by the
label set of each task. No pickle.
"""

import json
import shutil
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from limbeck.artefacts import sync_tree
from limbeck.data.records import Record, record_key
from limbeck.errors import StageError, first_line
from limbeck.tasks.base import TEXT_KINDS, Floats, TaskKind
from limbeck.tasks.scores import RecordScores
from limbeck.train.ensemble import sigmoid, softmax
from limbeck.train.rows import Soft

TOP_K = 8  # likeliest labels kept of each word; the rest holds under 0.1 % of the mass on EWT
TOP_HEADS = 4  # likeliest heads kept of each word
SUMS = "sums.json"  # CRC-32 of each array of a shard


def sparse(probs: Floats, k: int) -> Soft:
    """Keep the k likeliest of each row, best first, renormalised: (n, n_outputs) to (n, k)."""
    k = min(k, probs.shape[1])
    ids = np.argpartition(-probs, k - 1, axis=1)[:, :k]
    kept = np.take_along_axis(probs, ids, axis=1)
    order = np.argsort(-kept, axis=1, kind="stable")
    ids = np.take_along_axis(ids, order, axis=1)
    kept = np.take_along_axis(kept, order, axis=1)
    kept = kept / np.maximum(kept.sum(axis=1, keepdims=True), 1e-9)
    return Soft(ids=ids.astype(np.int32), probs=kept.astype(np.float16))


def soft_targets(scores: RecordScores, kinds: Mapping[str, TaskKind]) -> dict[str, Soft]:
    """Soft targets of one record from the ensemble's scores."""
    targets: dict[str, Soft] = {}
    for task, kind in kinds.items():
        main = scores.main[task]
        match kind:
            case "regress":
                targets[task] = _dense(main)
            case "classify_many":
                targets[task] = _dense(sigmoid(main))
            case "dep":
                targets[task] = sparse(softmax(main), TOP_K)
                arcs = softmax(scores.arcs[task])
                padded = np.pad(arcs, ((0, 0), (0, max(0, TOP_HEADS - arcs.shape[1]))))
                targets[f"{task}.arcs"] = sparse(padded, TOP_HEADS)
            case "classify" | "tag" | "spans" | "lemma":
                targets[task] = sparse(softmax(main), TOP_K)
    return targets


def _dense(values: Floats) -> Soft:
    ids = np.broadcast_to(np.arange(values.shape[1], dtype=np.int32), values.shape)
    return Soft(ids=ids, probs=values.astype(np.float16))


def write_shard(
    folder: Path,
    number: int,
    records: Sequence[Record],
    targets: Sequence[Mapping[str, Soft]],
    states: Sequence[NDArray[np.float16]] | None,
) -> None:
    """Write the targets of consecutive records, whole or not at all."""
    staged = folder / f".shard-{number:05d}"
    shutil.rmtree(staged, ignore_errors=True)
    staged.mkdir(parents=True)
    keys = np.array([int(record_key(record), 16) for record in records], dtype=np.uint64)
    np.save(staged / "keys.npy", keys)
    ends = np.cumsum([len(record.words) for record in records], dtype=np.int64)
    np.save(staged / "word_ends.npy", ends)
    for name in targets[0]:
        np.save(staged / f"{name}.ids.npy", np.concatenate([t[name].ids for t in targets]))
        np.save(staged / f"{name}.probs.npy", np.concatenate([t[name].probs for t in targets]))
    if states is not None:
        np.save(staged / "states.npy", np.concatenate(states))
    sums = {path.name: _sum(path) for path in sorted(staged.glob("*.npy"))}
    (staged / SUMS).write_text(json.dumps(sums, indent=1), encoding="utf-8")
    sync_tree(staged)
    staged.rename(folder / f"shard-{number:05d}")


def write_index(
    folder: Path, kinds: Mapping[str, TaskKind], label_hashes: Mapping[str, str]
) -> None:
    """Say which tasks and label sets the store speaks of, and of how many records."""
    n_records = sum(len(_array(shard / "keys.npy")) for shard in _shards(folder))
    index = {
        "format": 1,
        "kinds": dict(kinds),
        "label_hashes": dict(label_hashes),
        "n_records": n_records,
    }
    (folder / "index.json").write_text(json.dumps(index, indent=1), encoding="utf-8")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shard:
    word_ends: NDArray[np.int64]
    arrays: Mapping[str, Soft]
    states: NDArray[np.float16] | None


class TargetStore:
    """Reads soft targets of records by their words; arrays stay on disk until they are used."""

    def __init__(self, folder: Path, label_hashes: Mapping[str, str]) -> None:
        index = _index(folder)
        for task, wanted in label_hashes.items():
            if index["label_hashes"].get(task) != wanted:
                raise StageError(
                    f"{folder}: soft targets of {task!r} are for another label set",
                    hint="delete the folder; the next run writes it anew",
                )
        self.kinds: dict[str, TaskKind] = index["kinds"]
        self._shards: list[_Shard] = []
        self._place: dict[int, tuple[int, int]] = {}
        names = [*self.kinds, *(f"{t}.arcs" for t, kind in self.kinds.items() if kind == "dep")]
        for number, shard in enumerate(_shards(folder)):
            keys = _array(shard / "keys.npy").tolist()
            self._place |= {key: (number, i) for i, key in enumerate(keys)}
            self._shards.append(_open_shard(shard, len(keys), names, self.kinds))
        if len(self._place) != index.get("n_records", len(self._place)):
            raise _damaged(folder, f"{len(self._place)} of {index['n_records']} records are left")

    def __len__(self) -> int:
        return len(self._place)

    def soft(self, record: Record) -> dict[str, Soft]:
        """Soft targets of a record, or nothing if the store has not seen its words."""
        place = self._place.get(int(record_key(record), 16))
        if place is None:
            return {}
        number, i = place
        shard = self._shards[number]
        words = _words(shard, i)
        found: dict[str, Soft] = {}
        for name, whole in shard.arrays.items():
            kind = self.kinds[name.removesuffix(".arcs")]
            at = slice(i, i + 1) if kind in TEXT_KINDS else words
            found[name] = Soft(ids=whole.ids[at], probs=whole.probs[at])
        return found

    def states(self, record: Record) -> NDArray[np.float16] | None:
        """Word states of the chosen teacher, (n_words, width)."""
        place = self._place.get(int(record_key(record), 16))
        if place is None or self._shards[place[0]].states is None:
            return None
        shard = self._shards[place[0]]
        return shard.states[_words(shard, place[1])]  # type: ignore[index]


def _shards(folder: Path) -> list[Path]:
    return sorted(folder.glob("shard-*"))


def _index(folder: Path) -> Any:
    try:
        index = json.loads((folder / "index.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as failure:
        raise _damaged(folder / "index.json", first_line(failure)) from failure
    if not isinstance(index, dict) or not {"kinds", "label_hashes"} <= index.keys():
        raise _damaged(folder / "index.json", "kinds or label_hashes are missing")
    return index


def _check_sums(shard: Path) -> None:
    """Compare every array with its sum: a store that was copied badly teaches nonsense."""
    if not (shard / SUMS).exists():  # written before there were sums
        return
    try:
        sums = json.loads((shard / SUMS).read_text(encoding="utf-8"))
        changed = [name for name, known in sums.items() if _sum(shard / name) != known]
    except (OSError, ValueError, AttributeError, RecursionError) as failure:
        raise _damaged(shard / SUMS, first_line(failure)) from failure
    if changed:
        raise _damaged(shard / changed[0], "not the file that was written")


def _sum(path: Path) -> int:
    with path.open("rb") as file:
        found = 0
        while block := file.read(1 << 20):
            found = zlib.crc32(block, found)
    return found


def _open_shard(
    shard: Path, n_records: int, names: Sequence[str], kinds: Mapping[str, TaskKind]
) -> _Shard:
    """Arrays of one shard, each as long as the shard has records or words."""
    _check_sums(shard)
    word_ends = _array(shard / "word_ends.npy")
    _check_length(shard / "word_ends.npy", word_ends, n_records)
    n_words = int(word_ends[-1]) if n_records else 0
    arrays: dict[str, Soft] = {}
    for name in names:
        n_rows = n_records if kinds[name.removesuffix(".arcs")] in TEXT_KINDS else n_words
        found = []
        for part in ("ids", "probs"):
            path = shard / f"{name}.{part}.npy"
            found.append(_array(path))
            _check_length(path, found[-1], n_rows)
        arrays[name] = Soft(ids=found[0], probs=found[1])
    path = shard / "states.npy"
    states = _array(path) if path.exists() else None
    if states is not None:
        _check_length(path, states, n_words)
    return _Shard(word_ends=word_ends, arrays=arrays, states=states)


def _array(path: Path) -> NDArray[Any]:
    """Mapped, not read; one that was cut short is told here and not amid training."""
    try:
        array: NDArray[Any] = np.load(path, mmap_mode="r")
    except (OSError, ValueError, EOFError, SyntaxError) as failure:  # headers are Python literals
        raise _damaged(path, first_line(failure)) from failure
    return array


def _check_length(path: Path, array: NDArray[Any], n_rows: int) -> None:
    if array.ndim == 0 or len(array) != n_rows:
        raise _damaged(path, f"shape {array.shape} where {n_rows} rows are due")


def _damaged(path: Path, what: str) -> StageError:
    folder = path.parent if path.suffix in (".npy", ".json") else path
    folder = folder.parent if folder.name.startswith("shard-") else folder
    return StageError(
        f"{path}: soft targets are damaged ({what})",
        hint=f"delete {folder} and run the same command again; it is written anew",
    )


def _words(shard: _Shard, i: int) -> slice:
    return slice(int(shard.word_ends[i - 1]) if i else 0, int(shard.word_ends[i]))


def chunks(records: Sequence[Record], size: int) -> Iterator[Sequence[Record]]:
    """Consecutive stretches of records."""
    for begin in range(0, len(records), size):
        yield records[begin : begin + size]
