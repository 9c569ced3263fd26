"""`limbeck annotate`: files through a bundle.

In:  paths and options.
Out: annotated text on stdout or in a file that is complete or absent; a summary on stderr.
"""

import json
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from limbeck.artefacts import atomic_file
from limbeck.bundle import Bundle, load_bundle
from limbeck.cli.narrate import one_line
from limbeck.data.files import STDIN, write_blocks
from limbeck.data.formats import (
    FormatName,
    OutputFormat,
    ReadOptions,
    Skipped,
    Writer,
    infer_format,
    open_format_writer,
    read_records,
)
from limbeck.data.records import Record
from limbeck.errors import ConfigError, ExitCode, InputError
from limbeck.runtime.annotate import AnnotateConfig, Annotated, Annotator
from limbeck.runtime.engines import EngineChoice
from limbeck.tasks.base import TEXT_KINDS


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotateJob:
    """One call of `annotate`."""

    bundle: Path
    files: tuple[str, ...]
    output: Path | None
    format: FormatName | None
    output_format: OutputFormat | None
    tasks: tuple[str, ...] | None
    probabilities: bool
    engine: EngineChoice
    n_threads: int | None
    n_workers: int | None
    read_ahead: int
    on_error: str
    as_json: bool


def annotate_files(job: AnnotateJob) -> int:
    """Stream files through a bundle."""
    check_output(job.output, inside=job.bundle)
    bundle = load_bundle(job.bundle)
    _check_tasks(bundle, job.tasks)
    formats = {file: job.format or infer_format(file) for file in job.files}
    written = job.output_format or _natural_output(set(formats.values()))
    span_task = _span_task(bundle, job.tasks, written)
    if job.probabilities and written == "bio":
        raise ConfigError(
            "--probabilities: BIO columns have no place for them",
            hint="use --output-format jsonl, or conllu, which has them in MISC",
        )
    for file in job.files:
        if (
            job.output is not None
            and file != STDIN
            and job.output.resolve() == Path(file).resolve()
        ):
            raise InputError(f"{file}: would be overwritten by the output", hint="name another -o")
    annotator = Annotator(
        bundle,
        AnnotateConfig(
            read_ahead=job.read_ahead,
            engine=job.engine,
            n_threads=job.n_threads,
            n_workers=job.n_workers,
            tasks=job.tasks,
        ),
    )
    text_tasks = [task.name for task in bundle.tasks if task.kind in TEXT_KINDS]
    write = open_format_writer(written, span_task=span_task, text_tasks=text_tasks)
    skipped = Skipped()
    unwritten = Skipped()
    records = _records(job, formats, skipped)
    began = time.perf_counter()
    annotated = annotator.stream(records, probabilities=job.probabilities)
    texts = _texts(annotated, write, unwritten if job.on_error == "skip" else None)
    if written != "jsonl":
        texts = separated(texts)
    if job.output is None:
        write_blocks(texts, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    else:
        with atomic_file(job.output) as target:
            write_blocks(texts, target)
    annotator.tally.n_records -= unwritten.n_records
    skipped.join(unwritten)
    _summarise(annotator, skipped, time.perf_counter() - began, as_json=job.as_json)
    return ExitCode.FAILED if skipped.n_records else ExitCode.DONE


def _texts(
    annotated: Iterable[Annotated], write: Writer, unwritten: Skipped | None
) -> Iterator[str]:
    """Records as text; one that the format cannot hold is noted and passed over, or raised."""
    for one in annotated:
        try:
            text = write(one.record, one.labels, one.probabilities)
        except InputError as failure:
            if unwritten is None:
                raise
            unwritten.note(str(failure))
            continue
        yield text


def check_output(output: Path | None, *, inside: Path | None = None) -> None:
    """Refuse a place that cannot be written, before the work is done."""
    if output is None:
        if sys.stdout is None:
            raise InputError("standard output is closed", hint="name a file with -o")
        return
    if output.is_dir():
        raise InputError(f"{output}: is a folder", hint="name a file in it")
    if not output.parent.is_dir():
        raise InputError(f"{output}: no such folder", hint=f"make {output.parent} first")
    if inside is not None and inside.resolve() in output.resolve().parents:
        raise InputError(f"{output}: lies in the bundle itself", hint="name another -o")


def _records(
    job: AnnotateJob, formats: dict[str, FormatName], skipped: Skipped
) -> Iterator[Record]:
    for file in job.files:
        options = ReadOptions(
            format=formats[file],
            tasks=(),
            on_error="skip" if job.on_error == "skip" else "stop",
        )
        yield from read_records(file, options=options, skipped=skipped)


def separated(texts: Iterable[str]) -> Iterator[str]:
    """Sentences with a blank line between them, even where a file ended without one.

    The last one stays as it is: what is not followed by another is copied byte for byte.
    """
    before = ""
    for text in texts:
        if before and text.strip():
            if not before.endswith("\n"):
                yield "\n"
            if not before.replace("\r", "").endswith("\n\n"):
                yield "\n"
        yield text
        before = text if text.strip() else before + text


def _check_tasks(bundle: Bundle, wanted: Sequence[str] | None) -> None:
    known = [task.name for task in bundle.tasks]
    for name in wanted or ():
        if name not in known:
            raise ConfigError(
                f"--tasks {name}: not in this bundle", hint=f"it has {', '.join(known)}"
            )


def _natural_output(formats: set[FormatName]) -> OutputFormat:
    if formats == {"conllu"}:
        return "conllu"
    return "bio" if formats == {"bio"} else "jsonl"


def _span_task(bundle: Bundle, wanted: Sequence[str] | None, written: OutputFormat) -> str:
    """The task whose tags BIO output holds."""
    spans = [t.name for t in bundle.tasks if t.kind == "spans" and (not wanted or t.name in wanted)]
    if written == "bio" and len(spans) != 1:
        found = (
            f"{len(spans)} span tasks are asked for" if spans else "this bundle has no span task"
        )
        raise ConfigError(
            f"BIO output holds one span task; {found}",
            hint="use --output-format jsonl, or pick one with --tasks",
        )
    return spans[0] if spans else "ner"


def _summarise(annotator: Annotator, skipped: Skipped, seconds: float, *, as_json: bool) -> None:
    tally = annotator.tally
    rate = tally.n_records / seconds if seconds else 0.0
    if as_json:
        found = {
            "n_records": tally.n_records,
            "n_words": tally.n_words,
            "n_pieces": tally.n_pieces,
            "n_cut_into_windows": tally.n_windows_cut,
            "n_skipped": skipped.n_records,
            "skipped": skipped.reasons,
            "seconds": round(seconds, 3),
            "records_per_second": round(rate, 1),
            "engine": annotator.engine.name,
        }
        sys.stderr.write(json.dumps(found) + "\n")
        return
    sys.stderr.write(
        f"{tally.n_records} records, {tally.n_words} words in {seconds:.1f} s "
        f"({rate:.0f} records/s, {annotator.engine.name})\n"
    )
    if tally.n_windows_cut:
        sys.stderr.write(f"{tally.n_windows_cut} long records were read in overlapping windows\n")
    if skipped.n_records:
        sys.stderr.write(f"{skipped.n_records} records skipped:\n")
        sys.stderr.writelines(f"  {one_line(reason)}\n" for reason in skipped.reasons)
