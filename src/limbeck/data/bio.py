"""BIO columns: one word a line, its tag in the last column, a blank line after each sentence.

In:  numbered lines; tabs or spaces; IOB1, BIO or IOBES.
Out: records with BIO tags; the writer puts tags back where they stood.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from limbeck.data.files import sound
from limbeck.data.options import ReadOptions
from limbeck.data.records import Labels, Record
from limbeck.data.tags import check_tag, to_bio
from limbeck.errors import InputError

DOCSTART = "-DOCSTART-"
_GAP = re.compile(r"[ \t]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class BioLayout:
    """Where words and tags stand; the same on every line of a file."""

    n_columns: int
    word: int
    tag: int
    task: str | None  # None: tags are checked and not kept
    strip_prefix: str


def find_layout(block: Sequence[str], path: str, options: ReadOptions) -> BioLayout | None:
    """Take the columns from the first word of a file; None while there is none."""
    for line in block:
        if _is_word(line):
            tasks = ("ner",) if options.tasks is None else options.tasks
            task = tasks[0] if tasks else None
            n_columns = len(_cells(line.strip(" \r\n")))
            word = _place("words", 1, n_columns, path, options)
            tag = _place(task or "ner", n_columns, n_columns, path, options)
            return BioLayout(
                n_columns=n_columns,
                word=word,
                tag=tag,
                task=task,
                strip_prefix=options.strip_prefix,
            )
    return None


def _place(field: str, default: int, n_columns: int, path: str, options: ReadOptions) -> int:
    column = options.columns.get(field, default)
    if not isinstance(column, int) or not 1 <= column <= n_columns:
        raise InputError(
            f"{path}: {field}: no column {column!r}", hint=f"columns are 1 to {n_columns}"
        )
    return column - 1


def _is_word(line: str) -> bool:
    return not line.isspace() and bool(line) and not line.startswith(DOCSTART)


def _cells(text: str) -> list[str]:
    return text.split("\t") if "\t" in text else _GAP.split(text)


def read_block(first: int, block: list[str], path: str, layout: BioLayout | None) -> Record | None:
    """Make a record of a sentence; marks of documents alone give one without words.

    None for blank lines alone.
    """
    for line in block:
        sound(line)
    if layout is None or not any(map(_is_word, block)):
        raw = "".join(block)
        if not raw.strip():
            return None
        return Record(words=(), raw=raw, raw_kind="bio", where=f"{path}:{first}")
    words: list[str] = []
    tags: list[str] = []
    place = 0
    for n, line in enumerate(block, first):
        if not _is_word(line):
            continue
        place = place or n
        cells = _cells(line.strip(" \r\n"))
        if len(cells) != layout.n_columns:
            raise InputError(f"{path}:{n}: {len(cells)} columns where {layout.n_columns} are due")
        word = cells[layout.word].removeprefix(layout.strip_prefix)
        if not word:
            raise InputError(f"{path}:{n}: empty word")
        words.append(word)
        if layout.n_columns > 1:
            tag = cells[layout.tag]
            if tag != "O":
                check_tag(tag, f"{path}:{n}")
            tags.append(tag)
    labels: dict[str, Labels] = {}
    if tags and layout.task is not None:
        labels[layout.task] = to_bio(tags)
    return Record(
        words=tuple(words),
        labels=labels,
        raw="".join(block),
        raw_kind="bio",
        where=f"{path}:{place}",
    )


def write_bio(record: Record, predicted: Mapping[str, Labels], task: str) -> str:
    """Words and tags; all else on their lines is kept where the record came from BIO.

    Without tags a record of BIO is copied, and others give words alone.
    """
    found = predicted.get(task)
    assert found is None or isinstance(found, tuple)
    tags = tuple(None if t is None else str(t) for t in found or (None,) * len(record.words))
    filled = _fill_lines(record, tags) if record.raw_kind == "bio" else None
    return filled if filled is not None else _new_lines(record, tags)


def _fill_lines(record: Record, tags: Sequence[str | None]) -> str | None:
    """The record's own lines with new tags; None if words stand elsewhere than in front."""
    done: list[str] = []
    at = n_columns = 0
    for line in record.raw.split("\n"):
        if not _is_word(line):
            done.append(line)
            continue
        body = line.rstrip(" \r")
        cells = _cells(body.lstrip(" "))
        n_columns = n_columns or len(cells)
        if at == len(tags) or not cells[0].endswith(record.words[at]):
            return None
        tag = tags[at]
        if tag is not None:
            kept = body[: len(body) - len(cells[-1])] if n_columns > 1 else f"{body}\t"
            line = kept + tag + line[len(body) :]
        done.append(line)
        at += 1
    return "\n".join(done) if at == len(tags) else None


def _new_lines(record: Record, tags: Sequence[str | None]) -> str:
    if record.pair:
        raise InputError(f"{record.where}: BIO columns have no place for a second text")
    for word in record.words:
        if not word or any(c.isspace() for c in word) or word.startswith(DOCSTART):
            raise InputError(f"{record.where}: the word {word!r} cannot stand in BIO columns")
    if not record.words:
        return ""
    if all(tag is None for tag in tags):
        return "".join(f"{word}\n" for word in record.words) + "\n"
    rows = [f"{w}\t{t or 'O'}\n" for w, t in zip(record.words, tags, strict=True)]
    return "".join(rows) + "\n"
