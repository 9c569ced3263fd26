"""Prediction with torch: records -> scores, for evaluation on dev and for soft targets.

In:  a network, its piecer, records.
Out: `RecordScores` of each record, in order. The runtime does the same without torch.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from limbeck.data.pieces import Batch, Piecer, Pieces, collate
from limbeck.data.records import Labels, Record
from limbeck.runtime.batching import full_batches
from limbeck.runtime.scoring import gather
from limbeck.tasks.base import Task, TaskKind
from limbeck.tasks.scores import BatchScores, RecordScores, stack
from limbeck.train.devices import Precision, autocast
from limbeck.train.network import Network, TensorBatch, to_tensors
from limbeck.train.steady import steady_batch, steady_length

PREDICT_PIECES = 4_096  # padded pieces a batch; without gradients memory is no concern


@dataclass(frozen=True, slots=True, kw_only=True)
class Predictor:
    """A network ready to score records."""

    network: Network
    piecer: Piecer
    kinds: Mapping[str, TaskKind]
    device: torch.device
    precision: Precision

    def scores(self, records: Sequence[Record]) -> list[RecordScores]:
        """Score records, longest rows first, and give them back in order."""
        self.network.eval()
        windows = self.piecer(records)
        rows = [row for record in windows for row in record]
        scored = (
            (
                positions,
                self._score([rows[i] for i in positions]),
            )
            for positions in _plan(rows)
        )
        return gather(windows, scored, self.kinds)

    def _score(self, rows: Sequence[Pieces]) -> BatchScores:
        batch = collate(rows, pad_id=self.piecer.pad_id)
        with torch.inference_mode(), autocast(self.device, self.precision):
            logits = self.network(self._tensors(batch))
        outputs = {name: array.float().cpu().numpy() for name, array in logits.items()}
        return BatchScores(
            outputs=outputs, n_words=batch.n_words.tolist(), n_pieces=batch.piece_ids.size
        )

    def _tensors(self, batch: Batch) -> TensorBatch:
        steady = steady_batch(batch, max_padded_pieces=PREDICT_PIECES, pad_id=self.piecer.pad_id)
        return to_tensors(steady, self.device)

    def states(self, records: Sequence[Record]) -> list[NDArray[np.float16]]:
        """Last hidden state of each word's first piece, (n_words, hidden_size) for each record."""
        windows = self.piecer(records)
        rows = [row for record in windows for row in record]
        by_row: list[NDArray[np.float16]] = [np.zeros((0, 0), dtype=np.float16)] * len(rows)
        self.network.eval()
        with torch.inference_mode(), autocast(self.device, self.precision):
            for positions in _plan(rows):
                batch = collate([rows[i] for i in positions], pad_id=self.piecer.pad_id)
                tensors = self._tensors(batch)
                last = self.network.states(tensors)[-1].flatten(0, 1)[tensors.word_at]
                real = last[: len(batch.word_at)].float().cpu().numpy()
                parts = np.split(real, np.cumsum(batch.n_words)[:-1])
                for i, part in zip(positions, parts, strict=True):
                    w = rows[i].window
                    by_row[i] = part[w.own_start - w.start : w.own_stop - w.start].astype(
                        np.float16
                    )
        done: list[NDArray[np.float16]] = []
        begin = 0
        for record in windows:
            done.append(np.concatenate(by_row[begin : begin + len(record)]))
            begin += len(record)
        return done


def _plan(rows: Sequence[Pieces]) -> list[list[int]]:
    lengths = [steady_length(len(row.ids)) for row in rows]
    return full_batches(lengths, max_padded_pieces=PREDICT_PIECES)


def decode(
    scores: Sequence[RecordScores], records: Sequence[Record], tasks: Sequence[Task]
) -> list[dict[str, Labels]]:
    """Labels of each record, task by task."""
    if not records:
        return []
    stacked = stack(scores, {task.name: task.kind for task in tasks})
    words = [record.words for record in records]
    by_task = {task.name: task.codec.decode(stacked[task.name], words) for task in tasks}
    return [{name: labels[i] for name, labels in by_task.items()} for i in range(len(records))]
