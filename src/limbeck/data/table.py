"""CSV and TSV: one record a row, columns by name or by number from 1.

In:  numbered lines; CSV with quotes, TSV without.
Out: records with text, pair and text labels.
"""

import csv
import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from limbeck.data.jsonl import number
from limbeck.data.options import ReadOptions
from limbeck.data.records import Labels, Record
from limbeck.errors import InputError

MANY_SEPARATOR = "|"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row, or why there is none: a bad one must not stop who wants the rest."""

    where: str
    cells: Sequence[str]
    places: Mapping[str, int]  # field -> position
    failure: str = ""


def read_table(
    lines: Iterable[tuple[int, str]], path: str, options: ReadOptions, *, delimiter: str
) -> Iterator[Row]:
    """Rows with where they stand and the position of each field."""
    places: Mapping[str, int] | None = None
    has_header = options.header
    if has_header is None:
        has_header = not options.columns or any(
            isinstance(column, str) for column in options.columns.values()
        )
    rows = _unquoted(lines) if delimiter == "\t" else _quoted(lines, delimiter, path)
    for n, cells in rows:
        where = f"{path}:{n}"
        if isinstance(cells, str):
            if places is None:
                raise InputError(f"{where}: {cells}")
            yield Row(where=where, cells=(), places=places, failure=cells)
            continue
        if places is None:
            places = _places(cells if has_header else None, len(cells), where, options)
            if has_header:
                continue
        yield Row(where=where, cells=cells, places=places)


def _unquoted(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, list[str]]]:
    """Cells of TSV; a quote is a character like others, as real files have stray ones."""
    for n, line in lines:
        text = line.rstrip("\r\n")
        if text:
            yield n, text.split("\t")


def _quoted(
    lines: Iterable[tuple[int, str]], delimiter: str, path: str
) -> Iterator[tuple[int, list[str] | str]]:
    """Cells of CSV with the line on which the row begins, or what is wrong with it."""
    at = 0

    def texts() -> Iterator[str]:
        nonlocal at
        for n, line in lines:
            at = n
            yield line

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
            yield begin, str(failure)
            continue
        if cells:
            yield begin, cells


def _places(
    header: Sequence[str] | None, n_columns: int, where: str, options: ReadOptions
) -> dict[str, int]:
    """Where each field stands: text, pair, and the tasks."""
    wanted: dict[str, str | int] = dict(options.columns)
    for task in options.tasks or ():
        wanted.setdefault(task, task)
    if "words" in wanted:  # a cell holds a text either way
        wanted.setdefault("text", wanted.pop("words"))
    if "text" not in wanted:
        wanted["text"] = "text" if header is not None else 1
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
    if row.failure:
        raise InputError(f"{row.where}: {row.failure}")
    cells, places, where = row.cells, row.places, row.where
    if len(cells) <= max(places.values()):
        raise InputError(f"{where}: {len(cells)} columns, {max(places.values()) + 1} are needed")
    labels: dict[str, Labels] = {}
    for task in options.tasks or ():
        cell = cells[places[task]]
        if task in options.many:  # none of the classes is an answer too
            labels[task] = tuple(part for part in cell.split(MANY_SEPARATOR) if part)
        elif task in options.numeric and cell:
            labels[task] = number(cell, task, where)
        elif cell:
            labels[task] = cell
    pair = cells[places["pair"]] if "pair" in places else ""
    text = cells[places["text"]]
    return Record(
        words=tuple(text.split()), pair=tuple(pair.split()), labels=labels, raw=text, where=where
    )
