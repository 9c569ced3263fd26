"""CSV and TSV: one record a row, columns by name or by number from 1.

In:  numbered lines; CSV with quotes, TSV without.
Out: records with text, pair and text labels.
"""

import csv
import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from limbeck.data.files import MAX_LINE_BYTES, BrokenLine
from limbeck.data.gold import number
from limbeck.data.options import ReadOptions
from limbeck.data.records import Labels, Record
from limbeck.data.rows import row_text
from limbeck.errors import InputError
from limbeck.tasks.base import WORD_KINDS

MANY_SEPARATOR = "|"


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """What stands where, the same for all rows."""

    places: Mapping[str, int]  # field -> position
    names: Sequence[str]  # of all columns, as the row's object has them


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row, or why there is none: a bad one must not stop who wants the rest."""

    where: str
    cells: Sequence[str]
    layout: Layout
    failure: InputError | None = None


def read_table(
    lines: Iterable[tuple[int, str]], path: str, options: ReadOptions, *, delimiter: str
) -> Iterator[Row]:
    """Rows with where they stand and the position of each field."""
    layout: Layout | None = None
    has_header = options.header
    if has_header is None:
        has_header = not options.columns or any(
            isinstance(column, str) for column in options.columns.values()
        )
    rows = _unquoted(lines, path) if delimiter == "\t" else _quoted(lines, delimiter, path)
    for n, cells in rows:
        where = f"{path}:{n}"
        if isinstance(cells, InputError):
            if layout is None:
                raise cells
            yield Row(where=where, cells=(), layout=layout, failure=cells)
            continue
        if layout is None:
            layout = _layout(cells if has_header else None, len(cells), where, options)
            if has_header:
                continue
        yield Row(where=where, cells=cells, layout=layout)


def _unquoted(
    lines: Iterable[tuple[int, str]], path: str
) -> Iterator[tuple[int, list[str] | InputError]]:
    """Cells of TSV; a quote is a character like others, as real files have stray ones."""
    for n, line in lines:
        text = line.rstrip("\r\n")
        if isinstance(line, BrokenLine):
            yield n, line.failure
        elif text:
            yield n, text.split("\t")


def _quoted(
    lines: Iterable[tuple[int, str]], delimiter: str, path: str
) -> Iterator[tuple[int, list[str] | InputError]]:
    """Cells of CSV with the line on which the row begins, or what is wrong with it."""
    at = 0
    broken: InputError | None = None  # the first broken line of a row

    def texts() -> Iterator[str]:
        nonlocal at, broken
        for n, line in lines:
            at = n
            if isinstance(line, BrokenLine):
                broken = broken or line.failure
            yield line

    csv.field_size_limit(MAX_LINE_BYTES)  # the library's own would refuse texts of 128 kB
    reader = csv.reader(texts(), delimiter=delimiter, strict=True)
    while True:
        begin = at + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as failure:  # the next call starts afresh on the next line
            if at > begin and "unexpected end" in str(failure):
                # all lines after it were taken for one cell: nothing is left to go on with
                raise InputError(
                    f"{path}:{begin}: a quote that opens here is never closed, and takes all "
                    f"{at - begin} lines after it with it",
                    hint="close it, or double it if it stands for itself",
                ) from failure
            yield begin, broken or InputError(f"{path}:{begin}: {failure}")
            broken = None
            continue
        if broken is not None:
            yield begin, broken
            broken = None
        elif cells:
            yield begin, cells


def _layout(
    header: Sequence[str] | None, n_columns: int, where: str, options: ReadOptions
) -> Layout:
    """Columns of the fields that are asked for, and names for all."""
    for task in options.tasks or ():
        if options.kinds.get(task) in WORD_KINDS:
            raise InputError(
                f"{where}: {task!r} labels words, and a table has labels of whole texts alone",
                hint="give labels of words as CoNLL-U, BIO or JSON lines",
            )
    places = _places(header, n_columns, where, options)
    fields = {place: field for field, place in places.items()}
    names = [
        (name if header else fields.get(i)) or f"column {i + 1}"
        for i, name in enumerate(header or [""] * n_columns)
    ]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"{where}: two columns are called {name!r}", hint="rename one of them")
    return Layout(places=places, names=names)


def _places(
    header: Sequence[str] | None, n_columns: int, where: str, options: ReadOptions
) -> dict[str, int]:
    """Where each field stands: text, pair, and the tasks."""
    wanted: dict[str, str | int] = dict(options.columns)
    for task in options.tasks or ():
        if options.on_missing == "stop" or task in (header or ()):
            wanted.setdefault(task, task)
    if "words" in wanted:  # a cell holds a text either way
        wanted.setdefault("text", wanted.pop("words"))
    if "text" not in wanted:
        wanted["text"] = "text" if header is not None else 1
        if "pair" in (header or ()):  # both by their usual names, as in JSON lines
            wanted.setdefault("pair", "pair")
    places: dict[str, int] = {}
    for field, column in wanted.items():
        if isinstance(column, int):
            if not 1 <= column <= n_columns:
                raise InputError(f"{where}: {field}: no column {column}, there are {n_columns}")
            places[field] = column - 1
            continue
        names = list(header or ())
        if column not in names:
            near = difflib.get_close_matches(column, names, n=1)
            known = f"columns: {', '.join(names)}" if names else "give its number in `columns`"
            raise InputError(
                f"{where}: no column {column!r}",
                hint=f"did you mean {near[0]!r}?" if near else known,
            )
        places[field] = names.index(column)
    return places


def read_row(row: Row, options: ReadOptions) -> Record:
    """Make a record of one row; an empty cell is no label."""
    if row.failure is not None:
        raise row.failure
    cells, places, where = row.cells, row.layout.places, row.where
    if len(cells) <= max(places.values()):
        raise InputError(f"{where}: {len(cells)} columns, {max(places.values()) + 1} are needed")
    labels: dict[str, Labels] = {}
    for task in options.tasks or ():
        if task not in places:
            continue
        cell, kind = cells[places[task]], options.kinds.get(task)
        if kind == "classify_many":  # none of the classes is an answer too
            labels[task] = tuple(part for part in cell.split(MANY_SEPARATOR) if part)
        elif kind == "regress" and cell:
            labels[task] = number(cell, task, where)
        elif cell:
            labels[task] = cell
    pair = cells[places["pair"]] if "pair" in places else ""
    return Record(
        words=tuple(cells[places["text"]].split()),
        pair=tuple(pair.split()),
        labels=labels,
        raw=row_text(_object(row)),
        raw_kind="object",
        where=where,
    )


def _object(row: Row) -> dict[str, str]:
    """All cells by their columns' names; a row may have fewer than others, or more."""
    more = range(len(row.layout.names) + 1, len(row.cells) + 1)
    names = [*row.layout.names, *(f"column {i}" for i in more)]
    value = dict(zip(names, row.cells, strict=False))
    if len(value) < len(row.cells):
        raise InputError(f"{row.where}: {len(row.cells)} columns, more than have names")
    return value
