"""Formats: which reader and which writer a file gets; the only place that lists them.

In:  a path and `ReadOptions`.
Out: a stream of records; and writers from records with predictions to text.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Literal, assert_never

from limbeck.data import bio, conllu, jsonl, table
from limbeck.data.files import STDIN, first_lines_of_stdin, numbered_lines, sound
from limbeck.data.json_text import parse_json
from limbeck.data.options import FORMATS, FormatName, ReadOptions, Skipped
from limbeck.data.records import Labels, Record
from limbeck.data.rows import row_text
from limbeck.data.sniff import sniff_format
from limbeck.errors import InputError

__all__ = [
    "FORMATS",
    "FormatName",
    "OutputFormat",
    "ReadOptions",
    "Skipped",
    "Writer",
    "infer_format",
    "open_format_writer",
    "read_records",
]

OutputFormat = Literal["conllu", "bio", "jsonl"]
Writer = Callable[[Record, Mapping[str, Labels], Mapping[str, object] | None], str]

SNIFFED_LINES = 50

_BY_ENDING: dict[str, FormatName] = {
    ".conllu": "conllu",
    ".conll": "bio",
    ".bio": "bio",
    ".iob": "bio",
    ".iob2": "bio",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",  # an array or an object over many lines is told to be none
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".txt": "lines",
}


def infer_format(path: str) -> FormatName:
    """By the ending under .gz or .zst, else by the first lines if they leave no doubt."""
    if path.startswith("hub:"):
        return "hub"
    name = Path(path).name.removesuffix(".gz").removesuffix(".zst")
    ending = Path(name).suffix.lower()
    if ending in _BY_ENDING:
        return _BY_ENDING[ending]
    if path == STDIN:
        return sniff_format(first_lines_of_stdin()[:SNIFFED_LINES])
    return sniff_format([line for _, line in islice(numbered_lines(path), SNIFFED_LINES)])


def read_records(
    path: str | Path, *, options: ReadOptions, skipped: Skipped | None = None
) -> Iterator[Record]:
    """Stream the records of one file; an empty one is an error.

    With `on_error = "skip"` a bad record is counted in `skipped` and passed over.
    """
    name = str(path)
    n_given = n_skipped = 0
    collector = skipped if skipped is not None else Skipped()
    for make in _makers(name, options.format or infer_format(name), options):
        try:
            record = make()
        except InputError as failure:
            if options.on_error == "stop":
                raise
            collector.note(str(failure))
            n_skipped += 1
            continue
        if record is not None:
            n_given += 1
            yield record
    if n_given == 0 and n_skipped == 0 and name != STDIN:
        raise InputError(f"{name}: empty file", hint="it has no record of its format")


Maker = Callable[[], Record | None]


def _makers(name: str, format: FormatName, options: ReadOptions) -> Iterator[Maker]:
    """One call for each record, so that a bad one can be skipped and the rest still read."""
    tasks = options.tasks
    match format:
        case "conllu":
            wanted = conllu.ALL_TASKS if tasks is None else tasks
            for first, block in conllu.blocks(numbered_lines(name)):
                yield lambda f=first, b=block: conllu.read_block(f, b, name, wanted)  # type: ignore[misc]
        case "bio":
            layout: bio.BioLayout | None = None
            for first, block in conllu.blocks(numbered_lines(name), mark=bio.DOCSTART):
                layout = layout or bio.find_layout(block, name, options)
                yield lambda f=first, b=block, y=layout: bio.read_block(f, b, name, y)  # type: ignore[misc]
        case "jsonl":
            for n, line in numbered_lines(name):
                if line.strip():
                    yield lambda n=n, line=line: _json_record(line, f"{name}:{n}", options)  # type: ignore[misc]
        case "csv" | "tsv":
            delimiter = "\t" if format == "tsv" else ","
            rows = table.read_table(numbered_lines(name), name, options, delimiter=delimiter)
            for row in rows:
                yield lambda r=row: table.read_row(r, options)  # type: ignore[misc]
        case "lines":
            for n, line in numbered_lines(name):
                yield lambda n=n, line=line: _text_record(line, f"{name}:{n}")  # type: ignore[misc]
        case "parquet":
            from limbeck.data.parquet import objects

            yield from _object_makers(objects(name), options)
        case "hub":
            from limbeck.data.hub import objects as hub_objects

            yield from _object_makers(hub_objects(name), options)
        case _:
            assert_never(format)


def _object_makers(
    objects: Iterable[tuple[str, dict[str, object]]], options: ReadOptions
) -> Iterator[Maker]:
    for where, value in objects:
        yield lambda w=where, v=value: jsonl.read_object(v, w, row_text(v), options)  # type: ignore[misc]


def _json_record(line: str, where: str, options: ReadOptions) -> Record:
    value = parse_json(sound(line), where)
    return jsonl.read_object(value, where, line.strip(), options)


def _text_record(line: str, where: str) -> Record:
    """A line of text is text, whatever it looks like; only its end is not part of it."""
    raw = sound(line).removesuffix("\n").removesuffix("\r")
    return Record(words=tuple(raw.split()), raw=raw, where=where)


def open_format_writer(
    name: OutputFormat, *, span_task: str = "ner", text_tasks: Collection[str] = ()
) -> Writer:
    """A function from a record and its predictions to text, line ends included.

    BIO holds the tags of `span_task` alone; CoNLL-U must know which labels are of whole texts.
    """
    match name:
        case "conllu":
            return lambda record, predicted, chances: conllu.write_conllu(
                record, predicted, text_tasks, chances
            )
        case "bio":
            return lambda record, predicted, _: bio.write_bio(record, predicted, span_task)
        case "jsonl":
            return jsonl.write_jsonl
        case _:
            assert_never(name)
