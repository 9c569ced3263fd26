"""The feed: what each epoch reads, step by step, drawn from the seed and the epoch's number.

In:  divided text, a maker of batches, settings.
Out: steps, each a few lists of rows; their batches when they are asked for.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from limbeck.pretrain.batches import Batch, BatchMaker
from limbeck.pretrain.config import SegmentsConfig
from limbeck.pretrain.holdout import Divided
from limbeck.pretrain.segments import Rows, plan_rows
from limbeck.train.rows import shuffled_batches

PROBE = 2**31  # stands for the epoch of the held-out text, which is drawn once
PROBE_ROWS = 256
_CUTS, _ORDER = 1, 2  # what a generator is for: changing one leaves the other's draws alone


@dataclass(frozen=True, slots=True, kw_only=True)
class Epoch:
    """One pass over the text."""

    number: int
    rows: Rows
    steps: list[list[list[int]]]  # steps of batches of rows


class Feed:
    """Gives epochs, batches and probes."""

    def __init__(
        self,
        divided: Divided,
        maker: BatchMaker,
        segments: SegmentsConfig,
        *,
        room: int,
        max_padded_pieces: int,
        accumulate: int,
        seed: int,
    ) -> None:
        self._divided, self._maker, self._segments = divided, maker, segments
        self._room, self._max_padded_pieces = room, max_padded_pieces
        self._accumulate, self._seed = accumulate, seed

    def epoch(self, number: int) -> Epoch:
        """Plan a pass: the same number gives the same plan."""
        rows = self._rows(self._divided.train, number)
        batches = shuffled_batches(
            (rows.n_pieces + self._maker.n_special(rows)).tolist(),
            max_padded_pieces=self._max_padded_pieces,
            rng=np.random.default_rng([self._seed, number, _ORDER]),
        )
        n = self._accumulate
        return Epoch(
            number=number,
            rows=rows,
            steps=[batches[i : i + n] for i in range(0, len(batches), n)],
        )

    def batches(self, epoch: Epoch, step: int) -> list[Batch]:
        """Make the batches of one step."""
        return [
            self._maker.make(epoch.rows, positions, epoch=epoch.number)
            for positions in epoch.steps[step]
        ]

    def probes(self) -> Sequence[Batch]:
        """Batches of held-out rows, the same ones at every call."""
        return self.held_out(PROBE_ROWS)

    def held_out(self, n_rows: int) -> Sequence[Batch]:
        """As `probes`, of as many rows as are wanted or there are."""
        rows = self._rows(self._divided.held_out, PROBE)
        rng = np.random.default_rng([self._seed, PROBE, _ORDER])
        some = np.sort(rng.permutation(len(rows.spans))[:n_rows])
        rows = Rows(spans=rows.spans[some], orders=rows.orders[some])
        plan = shuffled_batches(
            (rows.n_pieces + self._maker.n_special(rows)).tolist(),
            max_padded_pieces=self._max_padded_pieces,
            rng=rng,
        )
        return [self._maker.make(rows, positions, epoch=PROBE) for positions in plan]

    def _rows(self, documents: np.typing.NDArray[np.int64], number: int) -> Rows:
        return plan_rows(
            self._divided.text,
            documents,
            order=self._segments.order,
            room=self._room,
            short=self._segments.short,
            rng=np.random.default_rng([self._seed, number, _CUTS]),
        )
