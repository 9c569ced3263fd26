"""Training rows: pieces of a record with its hard and soft targets, and batches of them.

In:  records, codecs, a piecer, and a soft-target store where there is one.
Out: batches within a budget of padded pieces, in an order that the seed fixes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from limbeck.data.pieces import Batch, Piecer, Pieces, collate
from limbeck.data.records import Record
from limbeck.runtime.batching import full_batches
from limbeck.tasks.base import MISSING, TEXT_KINDS, Task
from limbeck.train.steady import steady_length


@dataclass(frozen=True, slots=True, kw_only=True)
class Soft:
    """Sparse probabilities: the k likeliest ids of each word (or of the text) and their mass."""

    ids: NDArray[np.int32]  # (n, k)
    probs: NDArray[np.float16]  # (n, k)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingRow:
    """One row: arrays for the words of this window, or for the text."""

    pieces: Pieces
    gold: Mapping[str, NDArray[np.generic]]
    soft: Mapping[str, Soft]  # "<task>", "<task>.arcs"
    states: NDArray[np.float16] | None  # (n_words, teacher width)


@dataclass(frozen=True, slots=True, kw_only=True)
class Targets:
    """Targets of a batch as tensors; words of all rows end to end."""

    hard: Mapping[str, Tensor]
    soft_ids: Mapping[str, Tensor]
    soft_probs: Mapping[str, Tensor]
    heads: Mapping[str, Tensor]  # dep task -> (n_words,) the head to score the relation for
    states: Tensor | None


SoftOf = Mapping[str, Soft]


def make_rows(
    records: Sequence[Record],
    tasks: Sequence[Task],
    piecer: Piecer,
    *,
    soft: Sequence[SoftOf] | None = None,
    states: Sequence[NDArray[np.float16] | None] | None = None,
) -> list[TrainingRow]:
    """Make the rows of all records; a record longer than the model's positions gives several."""
    rows: list[TrainingRow] = []
    for i, (record, windows) in enumerate(zip(records, piecer(records), strict=True)):
        gold = {
            task.name: task.codec.encode(record.words, record.labels[task.name])
            for task in tasks
            if task.name in record.labels
        }
        for pieces in windows:
            rows.append(
                TrainingRow(
                    pieces=pieces,
                    gold={
                        task.name: _gold_of(pieces, gold[task.name], task)
                        for task in tasks
                        if task.name in gold
                    },
                    soft=_soft_of(pieces, soft[i], tasks) if soft is not None else {},
                    states=_states_of(pieces, states[i] if states is not None else None),
                )
            )
    return rows


def _gold_of(pieces: Pieces, gold: NDArray[Any], task: Task) -> NDArray[Any]:
    """Cut word targets to a window; words that another window owns are left out of the loss."""
    window = pieces.window
    whole = window.start == window.own_start and window.stop == window.own_stop
    if task.kind in TEXT_KINDS or (whole and window.start == 0 and len(gold) == window.stop):
        return gold
    cut = gold[window.start : window.stop].copy()
    if task.kind == "dep":
        heads = cut[:, 0]
        inside = (heads == 0) | ((heads > window.start) & (heads <= window.stop))
        cut[:, 0] = np.where(inside & (heads > 0), heads - window.start, heads)
        cut[~inside] = MISSING
    cut[: window.own_start - window.start] = MISSING
    cut[window.own_stop - window.start :] = MISSING
    return cut


def _soft_of(pieces: Pieces, soft: SoftOf, tasks: Sequence[Task]) -> SoftOf:
    cut: dict[str, Soft] = {}
    window = pieces.window
    for task in tasks:
        if task.name not in soft:
            continue
        whole = soft[task.name]
        if task.kind in TEXT_KINDS:
            cut[task.name] = whole
            continue
        words = slice(window.start, window.stop)
        cut[task.name] = Soft(ids=whole.ids[words], probs=whole.probs[words])
        if task.kind == "dep":
            arcs = soft[f"{task.name}.arcs"]
            heads, probs = arcs.ids[words], arcs.probs[words]
            if window.start > 0 or window.stop < len(arcs.ids):
                inside = (heads == 0) | ((heads > window.start) & (heads <= window.stop))
                heads = np.where(inside & (heads > 0), heads - window.start, 0)
                probs = probs * inside
            cut[f"{task.name}.arcs"] = Soft(ids=heads, probs=probs)
    return cut


def _states_of(pieces: Pieces, states: NDArray[np.float16] | None) -> NDArray[np.float16] | None:
    return None if states is None else states[pieces.window.start : pieces.window.stop]


def shuffled_batches(
    n_pieces: Sequence[int], *, max_padded_pieces: int, rng: np.random.Generator
) -> list[list[int]]:
    """Batches of like length in random order: shuffle, sort stretches of it, cut to the budget.

    Stretches of about 50 batches leave enough chance in who meets whom, and little padding.
    Lengths count as `steady_batch` will pad them, so that nearly all batches are full.
    """
    order = rng.permutation(len(n_pieces))
    lengths = np.asarray(n_pieces)
    stretch = max(1, 50 * max_padded_pieces // max(1, int(lengths.mean())))
    batches: list[list[int]] = []
    for begin in range(0, len(order), stretch):
        part = order[begin : begin + stretch]
        padded = [steady_length(n) for n in lengths[part].tolist()]
        for batch in full_batches(padded, max_padded_pieces=max_padded_pieces):
            batches.append(part[batch].tolist())
    return [batches[i] for i in rng.permutation(len(batches))]


def collate_rows(
    rows: Sequence[TrainingRow], tasks: Sequence[Task], *, pad_id: int
) -> tuple[Batch, Targets]:
    """Join rows and their targets."""
    batch = collate([row.pieces for row in rows], pad_id=pad_id)
    hard: dict[str, Tensor] = {}
    soft_ids: dict[str, Tensor] = {}
    soft_probs: dict[str, Tensor] = {}
    heads: dict[str, Tensor] = {}
    for task in tasks:
        hard[task.name] = torch.from_numpy(_hard(rows, task))
        names = [task.name, f"{task.name}.arcs"] if task.kind == "dep" else [task.name]
        for name in names:
            joined = _joined_soft(rows, name, per_word=task.kind not in TEXT_KINDS)
            if joined is not None:
                soft_ids[name] = torch.from_numpy(joined.ids.astype(np.int64))
                soft_probs[name] = torch.from_numpy(joined.probs.astype(np.float32))
        if task.kind == "dep":
            known = hard[task.name][:, 0]
            arcs = f"{task.name}.arcs"
            fallback = soft_ids[arcs][:, 0] if arcs in soft_ids else torch.zeros_like(known)
            # soft relations are conditional on the ensemble's head, hard ones on the gold head:
            # where both are given, the ensemble's head serves both
            has_soft = soft_probs[arcs].sum(dim=-1) > 0 if arcs in soft_probs else known != known
            heads[task.name] = torch.where(has_soft | (known < 0), fallback, known)
    return batch, Targets(
        hard=hard,
        soft_ids=soft_ids,
        soft_probs=soft_probs,
        heads=heads,
        states=_joined_states(rows),
    )


def _hard(rows: Sequence[TrainingRow], task: Task) -> NDArray[np.generic]:
    parts: list[NDArray[np.generic]] = []
    for row in rows:
        gold = row.gold.get(task.name)
        n_words = len(row.pieces.first_piece)
        match task.kind:
            case "classify":
                parts.append(np.atleast_1d(MISSING if gold is None else gold).astype(np.int64))
            case "regress":
                value = np.nan if gold is None else gold
                parts.append(np.atleast_1d(value).astype(np.float32))
            case "classify_many":
                empty = np.full(task.codec.n_outputs, np.nan, dtype=np.float32)
                parts.append((empty if gold is None else gold.astype(np.float32))[None])
            case "dep":
                parts.append(np.full((n_words, 2), MISSING) if gold is None else gold)
            case "tag" | "spans" | "lemma":
                parts.append(np.full(n_words, MISSING) if gold is None else gold)
    return np.concatenate(parts)


def _joined_soft(rows: Sequence[TrainingRow], name: str, *, per_word: bool) -> Soft | None:
    width = max((row.soft[name].ids.shape[1] for row in rows if name in row.soft), default=0)
    if width == 0:
        return None
    sizes = [len(row.pieces.first_piece) if per_word else 1 for row in rows]
    ids = np.zeros((sum(sizes), width), dtype=np.int32)
    probs = np.zeros((sum(sizes), width), dtype=np.float16)
    begin = 0
    for row, size in zip(rows, sizes, strict=True):
        if name in row.soft:
            soft = row.soft[name]
            ids[begin : begin + size, : soft.ids.shape[1]] = soft.ids
            probs[begin : begin + size, : soft.probs.shape[1]] = soft.probs
        begin += size
    return Soft(ids=ids, probs=probs)


def _joined_states(rows: Sequence[TrainingRow]) -> Tensor | None:
    if any(row.states is None for row in rows):
        return None
    return torch.from_numpy(np.concatenate([row.states for row in rows])).float()
