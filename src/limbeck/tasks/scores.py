"""From padded batch outputs to scores of whole records: split rows, stitch windows, stack.

In:  named output arrays of one batch, and how many words its rows have.
Out: `RecordScores`, then `Scores` of many records for the codecs; or these at once.
Knows neither engine nor torch; both front doors and training use it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from limbeck.data.pieces import Pieces
from limbeck.tasks.base import TEXT_KINDS, Floats, Scores, TaskKind

VECTORS = ".vectors"  # output of a graph that gives vectors of texts; no task's name has a dot
FAR = np.float32(-1e4)  # score of an arc that no window sees: possible, but only as a last resort


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordScores:
    """Logits of one record (or one window): task -> (n_words or 1, n_outputs), and arcs."""

    main: Mapping[str, Floats]
    arcs: Mapping[str, Floats]  # dep task -> (n_words, n_words + 1)
    vector: Floats | None = None  # (width,) of the whole text, where the graph gives it


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchScores:
    """Outputs of one batch as the graph gave them: words of all rows end to end, arcs padded."""

    outputs: Mapping[str, Floats]
    n_words: Sequence[int]  # of each row; outputs may go on after the last one's
    n_pieces: int  # computed, padding included

    def rows(self, kinds: Mapping[str, TaskKind]) -> list[RecordScores]:
        """Scores row by row; views, not copies."""
        ends = np.cumsum(self.n_words).tolist()
        vectors = self.outputs.get(VECTORS)
        found: list[RecordScores] = []
        for i, (n, end) in enumerate(zip(self.n_words, ends, strict=True)):
            main: dict[str, Floats] = {}
            arcs: dict[str, Floats] = {}
            for task, kind in kinds.items():
                own = slice(i, i + 1) if kind in TEXT_KINDS else slice(end - n, end)
                main[task] = self.outputs[task][own]
                if kind == "dep":
                    arcs[task] = self._arcs(task, i, n)
            vector = None if vectors is None else vectors[i]
            found.append(RecordScores(main=main, arcs=arcs, vector=vector))
        return found

    def whole(self, kinds: Mapping[str, TaskKind]) -> dict[str, Scores]:
        """Scores of all rows, as codecs read them; views, not copies."""
        n_rows, n_words = len(self.n_words), sum(self.n_words)
        return {
            task: Scores(
                main=self.outputs[task][: n_rows if kind in TEXT_KINDS else n_words],
                arcs=tuple(self._arcs(task, i, n) for i, n in enumerate(self.n_words))
                if kind == "dep"
                else (),
            )
            for task, kind in kinds.items()
        }

    def _arcs(self, task: str, row: int, n_words: int) -> Floats:
        return self.outputs[f"{task}.arcs"][row, :n_words, : n_words + 1]


def join_windows(
    windows: Sequence[Pieces], scores: Sequence[RecordScores], kinds: Mapping[str, TaskKind]
) -> RecordScores:
    """Stitch the windows of one record: each word from the window that owns it.

    Text logits and vectors are averaged, weighted by the pieces that each window has. Arcs between
    words that no window sees together get `FAR`.
    """
    if len(windows) == 1:
        return scores[0]
    n_words = windows[-1].window.own_stop
    weights = np.array([len(row.ids) for row in windows], dtype=np.float32)
    weights /= weights.sum()
    main: dict[str, Floats] = {}
    arcs: dict[str, Floats] = {}
    for task, kind in kinds.items():
        if kind in TEXT_KINDS:
            main[task] = np.tensordot(weights, np.stack([s.main[task] for s in scores]), axes=1)
            continue
        main[task] = np.concatenate(
            [s.main[task][_owned(row)] for row, s in zip(windows, scores, strict=True)]
        )
        if kind == "dep":
            whole = np.full((n_words, n_words + 1), FAR, dtype=np.float32)
            for row, s in zip(windows, scores, strict=True):
                w = row.window
                own = _owned(row)
                whole[w.own_start : w.own_stop, 0] = s.arcs[task][own, 0]
                whole[w.own_start : w.own_stop, w.start + 1 : w.stop + 1] = s.arcs[task][own, 1:]
            arcs[task] = whole
    vectors = [s.vector for s in scores if s.vector is not None]
    return RecordScores(main=main, arcs=arcs, vector=_joined(vectors, weights))


def _joined(vectors: Sequence[Floats], weights: Floats) -> Floats | None:
    """One vector of length 1 from those of the windows."""
    if not vectors:
        return None
    mean = weights @ np.stack(vectors)
    return mean / max(float(np.linalg.norm(mean)), 1e-12)


def _owned(row: Pieces) -> slice:
    w = row.window
    return slice(w.own_start - w.start, w.own_stop - w.start)


def stack(records: Sequence[RecordScores], kinds: Mapping[str, TaskKind]) -> dict[str, Scores]:
    """Lay the scores of records end to end, as codecs read them."""
    return {
        task: Scores(
            main=np.concatenate([r.main[task] for r in records]),
            arcs=tuple(r.arcs[task] for r in records) if kind == "dep" else (),
        )
        for task, kind in kinds.items()
    }
