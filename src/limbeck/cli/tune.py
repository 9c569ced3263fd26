"""`limbeck tune`: find how this machine runs a bundle fastest, and remember it.

In:  a bundle, perhaps the user's own text.
Out: a table of what was tried; the choice in the user's cache, where `annotate` finds it.
"""

import json
import sys
import time
from dataclasses import asdict
from itertools import islice
from pathlib import Path

from limbeck.bundle import Bundle, load_bundle
from limbeck.data.formats import FormatName, ReadOptions, infer_format, read_records
from limbeck.data.records import Record
from limbeck.errors import InputError
from limbeck.runtime.annotate import AnnotateConfig, Annotator
from limbeck.runtime.choices import Choice, store_choice
from limbeck.runtime.engines import installed_engines
from limbeck.runtime.threads import pick_threads
from limbeck.runtime.tuning import Trial, tune

MAX_RECORDS = 4_096  # one window of `annotate`
PASS_SECONDS = 0.4  # of text for one timing: more rounds say more than longer ones
FIRST_RECORDS = 64


class _Timer:
    """Times choices on the same records; keeps an annotator for each engine and worker count."""

    def __init__(self, bundle: Bundle, records: list[Record]) -> None:
        self._bundle = bundle
        self._records = records
        self._open: dict[tuple[str, int], Annotator] = {}

    def fit_to(self, choice: Choice) -> None:
        """Keep as many records as one pass should take."""
        first = self._records[:FIRST_RECORDS]
        annotator = self._annotator(choice)
        list(annotator.stream(first))
        began = time.perf_counter()
        list(annotator.stream(first))
        rate = len(first) / (time.perf_counter() - began)
        self._records = self._records[: max(FIRST_RECORDS, int(rate * PASS_SECONDS))]

    def __call__(self, choice: Choice) -> float:
        annotator = self._annotator(choice).with_budget(choice.max_padded_pieces)
        began = time.perf_counter()
        for _ in annotator.stream(self._records):
            pass
        return len(self._records) / (time.perf_counter() - began)

    def _annotator(self, choice: Choice) -> Annotator:
        key = (choice.engine, choice.n_workers)
        if key not in self._open:
            self._open[key] = Annotator(
                self._bundle,
                AnnotateConfig(
                    engine=choice.engine,
                    n_threads=choice.n_threads,
                    n_workers=choice.n_workers,
                    max_padded_pieces=choice.max_padded_pieces,
                ),
            )
        return self._open[key]


def tune_bundle(
    folder: Path,
    *,
    text: Path | None,
    format: FormatName | None,
    n_threads: int | None,
    seconds: float,
    as_json: bool,
) -> int:
    """Measure, print, store."""
    began = time.perf_counter()
    bundle = load_bundle(folder)
    records = _sample(text, format)
    threads = pick_threads(n_threads)
    timer = _Timer(bundle, records)
    engines = installed_engines()
    timer.fit_to(Choice(engine=engines[0], n_threads=threads, n_workers=1, max_padded_pieces=2_048))
    left = max(1.0, seconds - (time.perf_counter() - began))
    trials = tune(timer, engines=engines, n_threads=threads, seconds=left)
    try:
        path: Path | None = store_choice(bundle, trials[0].choice)
    except OSError as failure:  # what was measured is worth showing all the same
        path = None
        sys.stderr.write(f"not stored: {failure.filename}: {failure.strerror}\n")
    if as_json:
        tried = [{**asdict(t.choice), "records_per_second": t.records_per_second} for t in trials]
        found = {
            "choice": asdict(trials[0].choice),
            "stored": None if path is None else str(path),
            "trials": tried,
            "seconds": time.perf_counter() - began,
        }
        sys.stdout.write(json.dumps(found) + "\n")
        return 0 if path is not None else 1
    sys.stdout.write(_table(trials))
    if path is None:
        return 1
    sys.stderr.write(f"stored: annotate uses the first line on this machine ({path})\n")
    return 0


def _sample(text: Path | None, format: FormatName | None) -> list[Record]:
    """The user's text, or built-in sentences; repeated to fill a window."""
    if text is None:
        demo = Path(__file__).parent.parent / "demo"
        files = [demo / "sentences_train.conllu", demo / "sentences_dev.conllu"]
    else:
        files = [text]
    records: list[Record] = []
    for file in files:
        options = ReadOptions(format=format or infer_format(str(file)), tasks=())
        records += islice(read_records(file, options=options), MAX_RECORDS)
    if not any(record.words for record in records):
        raise InputError(f"{files[0]}: no text", hint="name a file with text to annotate")
    return (records * -(-MAX_RECORDS // len(records)))[:MAX_RECORDS]


def _table(trials: list[Trial]) -> str:
    lines = [f"{'engine':10} {'workers':>7} {'threads':>7} {'pieces':>7} {'records/s':>10}"]
    for trial in trials:
        choice = trial.choice
        lines.append(
            f"{choice.engine:10} {choice.n_workers:7} {choice.n_threads:7} "
            f"{choice.max_padded_pieces:7} {trial.records_per_second:10.0f}"
        )
    return "\n".join(lines) + "\n"
