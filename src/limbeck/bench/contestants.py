"""Contestants: limbeck from file to file, its bare graph, and what a user would run instead.

In:  a bundle, a text file, a number of threads.
Out: contestants for `race`. Peers that are not installed are left out, and named.
"""

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from limbeck.bench.race import Contestant
from limbeck.bench.stock import no_pipeline, pad_token
from limbeck.bundle import Bundle
from limbeck.data.files import write_blocks
from limbeck.data.formats import ReadOptions, open_format_writer, read_records
from limbeck.data.pieces import Batch, collate
from limbeck.data.records import Record
from limbeck.runtime.annotate import AnnotateConfig, Annotator
from limbeck.runtime.batching import plan_batches
from limbeck.runtime.engines import EngineName, EngineOptions, installed_engines, open_engine
from limbeck.runtime.scoring import make_batch
from limbeck.runtime.sizes import Sizes
from limbeck.tasks.base import TEXT_KINDS

NAIVE_BATCH = 32  # rows, in the order of the file
N_PIPELINE_RECORDS = 128  # spread over the text: it is slow


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """Who runs, who cannot, and what is known of the text."""

    contestants: tuple[Contestant, ...]
    absent: dict[str, str]  # name -> how to have it
    padding: float  # share of the pieces computed by limbeck that are padding
    n_pieces: int


def line_up(bundle: Bundle, text: Path, options: ReadOptions, *, n_threads: int) -> Field:
    """Prepare all contestants; their loading is not timed."""
    records = list(read_records(text, options=options))
    annotator = Annotator(bundle, AnnotateConfig(n_threads=n_threads))
    n_words = sum(len(record.words) for record in records)

    def entry(name: str, what: str, run: Callable[[], None]) -> Contestant:
        return Contestant(
            name=name, what=what, run=run, n_records=len(records), n_words=n_words,
            n_threads=n_threads,
        )  # fmt: skip

    piecer = bundle.piecer()
    rows = [row for record in piecer(records) for row in record]
    n_pieces = [len(row.ids) for row in rows]
    plan = plan_batches(n_pieces, max_padded_pieces=annotator.choice.max_padded_pieces)
    sizes = Sizes(bundle.max_pieces)
    sorted_batches = [
        make_batch([rows[i] for i in p], pad_id=bundle.pad_id, sizes=sizes) for p in plan
    ]
    contestants = [
        entry("limbeck", "file to file, all layers", _file_to_file(annotator, text, options)),
        entry(
            "bare graph",
            f"the same batches through {annotator.choice.engine}, nothing else",
            _engine_run(bundle, annotator.choice.engine, sorted_batches, n_threads),
        ),
    ]
    for engine in installed_engines():
        contestants.append(
            entry(
                f"naive {engine}",
                f"cut, batches of {NAIVE_BATCH} in file order, no decoding",
                _naive(bundle, engine, records, n_threads),
            )
        )
    absent: dict[str, str] = {}
    if why := no_pipeline(bundle, "token"):
        absent["transformers pipeline"] = why
    else:
        some = records[:: max(1, len(records) // N_PIPELINE_RECORDS)][:N_PIPELINE_RECORDS]
        contestants.append(
            Contestant(
                name="transformers pipeline",
                what="token classification, fp32, its defaults, one layer",
                run=_pipeline(bundle, some, n_threads),
                n_records=len(some),
                n_words=sum(len(record.words) for record in some),
                n_threads=n_threads,
            )
        )
    return Field(
        contestants=tuple(contestants),
        absent=absent,
        padding=1 - sum(n_pieces) / sum(batch.piece_ids.size for batch in sorted_batches),
        n_pieces=sum(n_pieces),
    )


def _file_to_file(annotator: Annotator, text: Path, options: ReadOptions) -> Callable[[], None]:
    tasks = annotator.bundle.tasks
    spans = [task.name for task in tasks if task.kind == "spans"]
    write = open_format_writer(
        "conllu" if options.format == "conllu" else "jsonl",
        span_task=spans[0] if spans else "ner",
        text_tasks=[task.name for task in tasks if task.kind in TEXT_KINDS],
    )

    def run() -> None:
        texts: Iterator[str] = (
            write(a.record, a.labels, a.probabilities)
            for a in annotator.stream(read_records(text, options=options))
        )
        with tempfile.TemporaryFile() as target:
            write_blocks(texts, target)

    return run


def _engine_run(
    bundle: Bundle, engine: EngineName, batches: list[Batch], n_threads: int
) -> Callable[[], None]:
    opened = open_engine(engine, bundle.graph, EngineOptions(n_threads=n_threads))

    def run() -> None:
        for batch in batches:
            opened.run(batch)

    return run


def _naive(
    bundle: Bundle, engine: EngineName, records: list[Record], n_threads: int
) -> Callable[[], None]:
    opened = open_engine(engine, bundle.graph, EngineOptions(n_threads=n_threads))

    def run() -> None:
        piecer = bundle.piecer()  # knows no word yet
        for begin in range(0, len(records), NAIVE_BATCH):
            part = records[begin : begin + NAIVE_BATCH]
            rows = [row for record in piecer(part) for row in record]
            opened.run(collate(rows, pad_id=bundle.pad_id))

    return run


def _pipeline(bundle: Bundle, records: list[Record], n_threads: int) -> Callable[[], None]:
    import torch
    from transformers import (
        AutoConfig,
        AutoModelForTokenClassification,
        PreTrainedTokenizerFast,
        pipeline,
    )

    torch.set_num_threads(n_threads)
    config = AutoConfig.from_pretrained(bundle.folder / "backbone", num_labels=17)
    # weights do not change the speed, so the head may be random
    model = AutoModelForTokenClassification.from_config(config).eval()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_file=str(bundle.folder / "tokenizer.json"),
        pad_token=pad_token(bundle),
        model_max_length=bundle.max_pieces,
    )
    classify = pipeline("token-classification", model=model, tokenizer=tokenizer, device="cpu")
    texts = [" ".join(record.words) for record in records if record.words]

    def run() -> None:
        for text in texts:
            classify(text)

    return run
