"""Checks: what a race does not show: start, one record at a time, memory, and steady answers.

In:  a bundle and records.
Out: one row a check, with the numbers that it compares.
"""

import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from limbeck.bundle import Bundle
from limbeck.data.records import Labels, Record
from limbeck.progress import Progress
from limbeck.runtime.annotate import AnnotateConfig, Annotator
from limbeck.runtime.footprint import peak_memory_mb
from limbeck.runtime.scoring import make_batch
from limbeck.runtime.sizes import Sizes

N_STARTS = 5
N_SINGLE = 300
SMALL, LARGE = 10_000, 200_000  # records whose memory is compared


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One comparison; `ratio` is the measured over what it is held against."""

    name: str
    what: str
    measured: float
    against: float
    unit: str

    @property
    def ratio(self) -> float:
        return self.measured / self.against if self.against else float("inf")


def run_checks(
    bundle: Bundle, records: Sequence[Record], *, n_threads: int, progress: Progress
) -> list[Check]:
    """All checks; about two minutes for a small bundle."""
    progress.start("checks", 4)
    found = [check_start(bundle, records[0])]
    progress.advance(1, "start")
    found.append(check_single(bundle, records, n_threads=n_threads))
    progress.advance(1, "one record at a time")
    found.append(check_memory(bundle, records))
    progress.advance(1, "memory")
    found += check_plans(bundle, records, n_threads=n_threads)
    progress.advance(1, "plans")
    progress.finish()
    return found


def check_start(bundle: Bundle, record: Record) -> Check:
    """One sentence through a new process, against a Python that does nothing."""
    text = (" ".join(record.words) + "\n").encode()
    ours = [sys.executable, "-m", "limbeck", "annotate", str(bundle.folder), "-", "--format"]
    times: dict[str, list[float]] = {"ours": [], "python": []}
    for _ in range(N_STARTS):
        for name, command in (("ours", [*ours, "lines"]), ("python", [sys.executable, "-c", ""])):
            began = time.perf_counter()
            subprocess.run(command, input=text, capture_output=True, check=True)
            times[name].append(time.perf_counter() - began)
    return Check(
        name="start",
        what="one sentence through a new process; against an empty Python",
        measured=statistics.median(times["ours"]),
        against=statistics.median(times["python"]),
        unit="s",
    )


def check_single(bundle: Bundle, records: Sequence[Record], *, n_threads: int) -> Check:
    """One record at a time from text to labels, against the engine's call on the same batch."""
    annotator = Annotator(bundle, AnnotateConfig(n_threads=n_threads))
    piecer = bundle.piecer()
    sizes = Sizes(bundle.max_pieces)
    whole, bare = [], []
    some = [record for record in records if record.words][:N_SINGLE]
    for i, record in enumerate([*some[:20], *some]):
        text = " ".join(record.words)
        (rows,) = piecer([Record(words=record.words)])
        batch = make_batch(rows, pad_id=bundle.pad_id, sizes=sizes)
        calls: list[Callable[[], object]] = [
            partial(annotator, text),
            partial(annotator.engine.run, batch),
        ]
        seconds = [0.0, 0.0]
        for which in (0, 1) if i % 2 else (1, 0):  # whoever comes second finds the shape known
            began = time.perf_counter()
            calls[which]()
            seconds[which] = time.perf_counter() - began
        if i >= 20:  # the first ones warm both up
            whole.append(1_000 * seconds[0])
            bare.append(1_000 * seconds[1])
    return Check(
        name="one record",
        what="p50 of annotator(text); against the bare engine call",
        measured=statistics.median(whole),
        against=statistics.median(bare),
        unit="ms",
    )


def check_memory(bundle: Bundle, records: Sequence[Record]) -> Check:
    """Peak memory of `annotate` for many records, against that for few."""
    return Check(
        name="memory",
        what=f"peak for {LARGE:,} records; against that for {SMALL:,}",
        measured=peak_memory_mb(bundle.folder, _many(records, LARGE)),
        against=peak_memory_mb(bundle.folder, _many(records, SMALL)),
        unit="MB",
    )


def _many(records: Sequence[Record], n: int) -> Iterator[bytes]:
    """`n` lines: the text over and over."""
    lines = [(" ".join(record.words) + "\n").encode() for record in records if record.words]
    return (lines[i % len(lines)] for i in range(n))


def check_plans(bundle: Bundle, records: Sequence[Record], *, n_threads: int) -> list[Check]:
    """Labels that change with the batch, the order, the workers or the read-ahead: none may."""
    kept = [replace(record, labels={}) for record in records]
    base = AnnotateConfig(n_threads=n_threads, max_padded_pieces=2_048, n_workers=1)
    wanted = _labels(bundle, kept, base)
    plans: dict[str, tuple[AnnotateConfig, list[Record]]] = {
        "small batches": (replace(base, max_padded_pieces=256), kept),
        "large batches": (replace(base, max_padded_pieces=8_192), kept),
        "short read-ahead": (replace(base, read_ahead=7), kept),
        "two workers": (replace(base, n_workers=min(2, n_threads)), kept),
        "one thread": (replace(base, n_threads=1), kept),
        "reverse order": (base, kept[::-1]),
    }
    found = []
    for name, (config, given) in plans.items():
        said = _labels(bundle, given, config)
        ordered = said[::-1] if name == "reverse order" else said
        n_labels = sum(1 for one in wanted for _ in _flat(one))
        n_changed = sum(
            a != b
            for one, other in zip(wanted, ordered, strict=True)
            for a, b in zip(_flat(one), _flat(other), strict=True)
        )
        found.append(
            Check(
                name=f"plan: {name}",
                what="labels that differ from those of the default plan; against all labels",
                measured=n_changed,
                against=n_labels,
                unit="labels",
            )
        )
    return found


def _labels(
    bundle: Bundle, records: Sequence[Record], config: AnnotateConfig
) -> list[Mapping[str, Labels]]:
    return [a.labels for a in Annotator(bundle, config).stream(iter(records))]


def _flat(labels: Mapping[str, Labels]) -> Iterator[object]:
    for value in labels.values():
        if isinstance(value, tuple):
            yield from value
        else:
            yield value
