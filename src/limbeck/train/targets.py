"""The soft-target store: what the ensemble thinks of every record, written once, read by students.

In:  records and the ensemble's log probabilities for them.
Out: shards of .npy arrays, memory-mapped on reading; per word or per text, never per piece, so
that student and teachers may cut text differently. Keyed by the words of each record and by the
label set of each task. No pickle.
"""

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from limbeck.artefacts import sync_tree
from limbeck.data.records import Record, record_key
from limbeck.errors import StageError
from limbeck.tasks.base import TEXT_KINDS, Floats, TaskKind
from limbeck.tasks.scores import RecordScores
from limbeck.train.ensemble import sigmoid, softmax
from limbeck.train.rows import Soft

TOP_K = 8  # likeliest labels kept of each word; the rest holds under 0.1 % of the mass on EWT
TOP_HEADS = 4  # likeliest heads kept of each word


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
    sync_tree(staged)
    staged.rename(folder / f"shard-{number:05d}")


def write_index(
    folder: Path, kinds: Mapping[str, TaskKind], label_hashes: Mapping[str, str]
) -> None:
    """Say which tasks and label sets the store speaks of; its presence means it is complete."""
    index = {"format": 1, "kinds": dict(kinds), "label_hashes": dict(label_hashes)}
    (folder / "index.json").write_text(json.dumps(index, indent=1), encoding="utf-8")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shard:
    word_ends: NDArray[np.int64]
    arrays: Mapping[str, Soft]
    states: NDArray[np.float16] | None


class TargetStore:
    """Reads soft targets of records by their words; arrays stay on disk until they are used."""

    def __init__(self, folder: Path, label_hashes: Mapping[str, str]) -> None:
        index = json.loads((folder / "index.json").read_text(encoding="utf-8"))
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
        for number, shard in enumerate(sorted(folder.glob("shard-*"))):
            for i, key in enumerate(np.load(shard / "keys.npy").tolist()):
                self._place[key] = (number, i)
            states = shard / "states.npy"
            self._shards.append(
                _Shard(
                    word_ends=np.load(shard / "word_ends.npy"),
                    arrays={
                        name: Soft(
                            ids=np.load(shard / f"{name}.ids.npy", mmap_mode="r"),
                            probs=np.load(shard / f"{name}.probs.npy", mmap_mode="r"),
                        )
                        for name in names
                    },
                    states=np.load(states, mmap_mode="r") if states.exists() else None,
                )
            )

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


def _words(shard: _Shard, i: int) -> slice:
    return slice(int(shard.word_ends[i - 1]) if i else 0, int(shard.word_ends[i]))


def chunks(records: Sequence[Record], size: int) -> Iterator[Sequence[Record]]:
    """Consecutive stretches of records."""
    for begin in range(0, len(records), size):
        yield records[begin : begin + size]
