"""Annotation: records -> labels, in order, with memory bounded by the window.

In:  an iterator of records.
Out: `Annotated` records in the same order and number. While the engine works on one window, the
next one is read and cut into pieces, and the one before is decoded.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Self

import numpy as np

from limbeck.bundle import Bundle, load_bundle
from limbeck.data.pieces import Batch, Piecer, Pieces
from limbeck.data.records import Labels, Record
from limbeck.errors import BundleError
from limbeck.runtime.batching import plan_batches
from limbeck.runtime.choices import Choice, settle
from limbeck.runtime.engines import Engine, EngineChoice, EngineOptions, open_engine
from limbeck.runtime.flow import ScoredBatch, Window, in_turn, overlapped, read_ahead
from limbeck.runtime.scoring import gather, join_rows, run_rows
from limbeck.runtime.sizes import Sizes
from limbeck.tasks.base import TEXT_KINDS, Floats, Scores, Task, TaskKind
from limbeck.tasks.scores import VECTORS, BatchScores, RecordScores, stack

MAX_INLINE_RECORDS = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotateConfig:
    """How text flows through the engine. None: as `limbeck tune` found, or else the defaults."""

    read_ahead: int = 4_096  # records held before sorting; memory grows with it
    max_padded_pieces: int | None = None  # budget of a batch: rows x longest row
    engine: EngineChoice = "auto"
    n_threads: int | None = None  # all that this process may use
    n_workers: int | None = None  # batches in flight, each with its share of the threads
    tasks: tuple[str, ...] | None = None  # which to decode; None: all of the bundle


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotated:
    """A record with what the bundle says of it."""

    record: Record
    labels: Mapping[str, Labels]
    probabilities: Mapping[str, object] | None


@dataclass(slots=True, kw_only=True)
class Tally:
    """What went through, for the summary."""

    n_records: int = 0
    n_words: int = 0
    n_pieces: int = 0
    n_windows_cut: int = 0  # records longer than the model's positions


class Annotator:
    """A bundle ready to annotate; keep it, as loading costs more than a sentence."""

    def __init__(self, bundle: Bundle, config: AnnotateConfig | None = None) -> None:
        self.bundle = bundle
        self.config = config or AnnotateConfig()
        self.choice = settle(
            bundle,
            engine=self.config.engine,
            n_threads=self.config.n_threads,
            n_workers=self.config.n_workers,
            max_padded_pieces=self.config.max_padded_pieces,
        )
        with ThreadPoolExecutor(1) as opener:  # an engine takes a while, and so does a vocabulary
            opening = opener.submit(_open, bundle, self.choice)
            self._piecer: Piecer = bundle.piecer()
            self.engine: Engine = opening.result()
        self.tally = Tally()
        self._fits = False  # whether the graph gives what the labels need; seen with a batch
        self._sizes = Sizes(bundle.max_pieces)
        self._kinds: dict[str, TaskKind] = {task.name: task.kind for task in bundle.tasks}
        wanted = self.config.tasks
        self._tasks: tuple[Task, ...] = tuple(
            task for task in bundle.tasks if wanted is None or task.name in wanted
        )

    def __call__(self, text: str) -> Annotated:
        """Annotate one text; words are split at white space."""
        return self.annotate([Record(words=tuple(text.split()), raw=text)])[0]

    def pipe(self, texts: Iterable[str]) -> Iterator[Annotated]:
        """Annotate a stream of texts, in order."""
        return self.stream(Record(words=tuple(text.split()), raw=text) for text in texts)

    def annotate(
        self, records: Sequence[Record], *, probabilities: bool = False
    ) -> list[Annotated]:
        """Annotate records that fit in memory."""
        if not records:
            return []
        if len(records) <= MAX_INLINE_RECORDS:  # starting threads would cost more than the work
            window = self._window(list(records))
            batches = in_turn(window, self.score_batch)
            return self._decoded(window, batches, probabilities=probabilities)
        return list(self.stream(iter(records), probabilities=probabilities))

    def with_budget(self, max_padded_pieces: int) -> Self:
        """The same engine behind batches of another size."""
        other = copy(self)
        other.choice = replace(self.choice, max_padded_pieces=max_padded_pieces)
        other.tally = Tally()
        return other

    def reopened(self) -> Self:
        """The same bundle and choice behind a new engine, for one that failed."""
        other = copy(self)
        other.engine = _open(self.bundle, self.choice)
        other.tally = Tally()
        return other

    def cut(self, records: Sequence[Record]) -> list[tuple[Pieces, ...]]:
        """Rows of each record; for callers that plan their own batches. Any thread may ask."""
        return self._piecer(records)

    def score_batch(self, rows: Sequence[Pieces]) -> BatchScores:
        """Scores of the rows of one batch, by whoever called."""
        return run_rows(
            rows,
            self._run_engine,
            pad_id=self._piecer.pad_id,
            sizes=self._sizes,
        )

    def _run_engine(self, batch: Batch) -> dict[str, Floats]:
        outputs = self.engine.run(batch)
        if not self._fits:
            check_outputs(outputs, self.bundle)
            self._fits = True
        return outputs

    def join(
        self,
        windows: Sequence[tuple[Pieces, ...]],
        scored: Iterable[tuple[Sequence[int], BatchScores]],
    ) -> list[RecordScores]:
        """Scores of whole records from those of their rows, which come batch by batch."""
        return gather(windows, scored, self._kinds)

    def decode(
        self,
        records: Sequence[Record],
        scores: Sequence[RecordScores],
        *,
        tasks: Sequence[Task] | None = None,
        probabilities: bool = False,
    ) -> list[Annotated]:
        """Labels of records from their scores, for these tasks or those of the settings.

        Words of a pair have no vectors of their own, so a pair gets labels of texts alone.
        """
        chosen = self._tasks if tasks is None else tasks
        stacked = stack(scores, {task.name: task.kind for task in chosen})
        return self._label(records, stacked, chosen, probabilities=probabilities)

    def _decoded(
        self, window: Window, batches: Iterable[ScoredBatch], *, probabilities: bool
    ) -> list[Annotated]:
        """Labels of a window, batch by batch; of records that were cut, when all rows are there."""
        kinds = {task.name: task.kind for task in self._tasks}
        owners = [i for i, rows in enumerate(window.rows) for _ in rows]
        by_place: dict[int, Annotated] = {}
        by_row: dict[int, RecordScores] = {}
        for batch in batches:
            places = [owners[i] for i in batch.positions]
            if any(len(window.rows[i]) > 1 for i in places):
                own_scores = batch.scores.rows(self._kinds)
                by_row.update(zip(batch.positions, own_scores, strict=True))
                continue
            labelled = self._label(
                [window.records[i] for i in places],
                batch.scores.whole(kinds),
                self._tasks,
                probabilities=probabilities,
            )
            by_place.update(zip(places, labelled, strict=True))
        if by_row:
            left = sorted({owners[i] for i in by_row})
            rows = [window.rows[i] for i in left]
            scores = join_rows(rows, [by_row[i] for i in sorted(by_row)], self._kinds)
            records = [window.records[i] for i in left]
            labelled = self.decode(records, scores, probabilities=probabilities)
            by_place.update(zip(left, labelled, strict=True))
        self._count(window)
        return [by_place[i] for i in range(len(window.records))]

    def _label(
        self,
        records: Sequence[Record],
        stacked: Mapping[str, Scores],
        chosen: Sequence[Task],
        *,
        probabilities: bool,
    ) -> list[Annotated]:
        words = [() if record.pair else record.words for record in records]
        names = [task.name for task in chosen]
        of_pairs = [task.name for task in chosen if task.kind in TEXT_KINDS]
        columns = [task.codec.decode(stacked[task.name], words) for task in chosen]
        chances = (
            [task.codec.probabilities(stacked[task.name], words) for task in chosen]
            if probabilities
            else []
        )
        return [
            Annotated(
                record=record,
                labels={
                    name: column[i]
                    for name, column in zip(names, columns, strict=True)
                    if not record.pair or name in of_pairs
                },
                probabilities={
                    name: column[i]
                    for name, column in zip(names, chances, strict=True)
                    if not record.pair or name in of_pairs
                }
                if probabilities
                else None,
            )
            for i, record in enumerate(records)
        ]

    def vectors(self, records: Sequence[Record]) -> Floats:
        """Vectors of texts, (n_records, width), each of length 1.

        Raises:
            BundleError: this bundle gives labels alone.
        """
        if self.bundle.vector_size is None:
            raise BundleError(
                f"{self.bundle.folder} gives labels, not vectors",
                hint="make it with `vectors = true` under [compress]",
            )
        found = [np.zeros((0, self.bundle.vector_size), dtype=np.float32)]
        for window, batches in self._scored(iter(records)):
            scored = ((batch.positions, batch.scores) for batch in batches)
            scores = gather(window.rows, scored, self._kinds)
            found += [np.stack([s.vector for s in scores if s.vector is not None])]
            self._count(window)
        return np.concatenate(found)

    def stream(
        self, records: Iterable[Record], *, probabilities: bool = False
    ) -> Iterator[Annotated]:
        """Annotate a stream of records, in order."""
        for window, batches in self._scored(iter(records)):
            yield from self._decoded(window, batches, probabilities=probabilities)

    def _scored(self, records: Iterator[Record]) -> Iterator[tuple[Window, Iterable[ScoredBatch]]]:
        """Windows, each with its batches as they are done; take them all before the next window."""
        windows = read_ahead(partial(self._read, records))
        batches = overlapped(windows, self.score_batch, n_workers=self.choice.n_workers)
        with closing(batches):
            for first in batches:
                rest = islice(batches, len(first.window.plan) - 1)
                yield first.window, chain([first], rest)

    def _read(self, records: Iterator[Record]) -> Window | None:
        taken = list(islice(records, self.config.read_ahead))
        return self._window(taken) if taken else None

    def _window(self, records: list[Record]) -> Window:
        rows = self._piecer(records)
        plan = plan_batches(
            [len(row.ids) for record in rows for row in record],
            max_padded_pieces=self.choice.max_padded_pieces,
        )
        return Window(records=records, rows=rows, plan=plan)

    def _count(self, window: Window) -> None:
        self.tally.n_records += len(window.records)
        self.tally.n_words += sum(len(record.words) for record in window.records)
        self.tally.n_pieces += sum(len(row.ids) for record in window.rows for row in record)
        self.tally.n_windows_cut += sum(len(rows) > 1 for rows in window.rows)


def check_outputs(outputs: Mapping[str, Floats], bundle: Bundle) -> None:
    """Refuse a graph that does not give one score for each label."""
    if bundle.vector_size is not None:
        n_numbers = outputs[VECTORS].shape[-1] if VECTORS in outputs else 0
        if n_numbers != bundle.vector_size:
            raise BundleError(
                f"{bundle.folder}: the graph gives vectors of {n_numbers} numbers, "
                f"the manifest says {bundle.vector_size}"
            )
    for task in bundle.tasks:
        names = [task.name, f"{task.name}.arcs"] if task.kind == "dep" else [task.name]
        for name in names:
            if name not in outputs:
                raise BundleError(f"{bundle.folder}: the graph has no output {name!r}")
        n_scores = outputs[task.name].shape[-1]
        if n_scores != task.codec.n_outputs:
            raise BundleError(
                f"{bundle.folder}: the graph gives {n_scores} scores for {task.name}, "
                f"which has {task.codec.n_outputs} labels"
            )


def _open(bundle: Bundle, choice: Choice) -> Engine:
    options = EngineOptions(n_threads=choice.n_threads, n_workers=choice.n_workers, key=bundle.key)
    return open_engine(choice.engine, bundle.graph, options)


def load(folder: str | Path, config: AnnotateConfig | None = None) -> Annotator:
    """Open a bundle: `load("bundle")("A text.").labels`."""
    return Annotator(load_bundle(Path(folder)), config)
