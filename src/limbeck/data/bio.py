"""BIO columns: one word a line, its tag in the last column, a blank line after each sentence.

In:  numbered lines; tabs or spaces; IOB1 or BIO.
Out: records with BIO tags; the writer puts tags back where they stood.
"""

import re
from collections.abc import Mapping

from limbeck.data.files import split_lines
from limbeck.data.records import Labels, Record
from limbeck.errors import InputError

DOCSTART = "-DOCSTART-"
_GAP = re.compile(r"[ \t]+")


def read_block(
    first: int, block: list[str], path: str, tasks: tuple[str, ...], strip_prefix: str
) -> Record | None:
    """Make a record of a sentence; None for document marks and stray blank lines."""
    words: list[str] = []
    tags: list[str] = []
    n_columns = 0
    for offset, line in enumerate(block):
        text = line.strip(" \r\n")
        if not text.strip() or text.startswith(DOCSTART):
            continue
        cells = text.split("\t") if "\t" in text else _GAP.split(text)
        where = f"{path}:{first + offset}"
        n_columns = n_columns or len(cells)
        if len(cells) != n_columns:
            raise InputError(f"{where}: {len(cells)} columns where {n_columns} are due")
        words.append(cells[0].removeprefix(strip_prefix))
        if n_columns > 1:
            if cells[-1] != "O" and not re.fullmatch(r"[BIES]-.+", cells[-1]):
                raise InputError(
                    f"{where}: {cells[-1]!r} is no BIO tag", hint="tags are O, B-TYPE or I-TYPE"
                )
            tags.append(cells[-1])
    if not words:
        return None
    labels: dict[str, Labels] = {}
    if tags and tasks:
        labels[tasks[0]] = to_bio(tags)
    return Record(words=tuple(words), labels=labels, raw="".join(block), where=f"{path}:{first}")


def to_bio(tags: list[str]) -> tuple[str, ...]:
    """Let every span open with B: IOB1 writes B only between spans of one type."""
    fixed: list[str] = []
    previous = "O"
    for tag in tags:
        opens = tag.startswith("I-") and (previous == "O" or previous[2:] != tag[2:])
        fixed.append(f"B-{tag[2:]}" if opens else tag)
        previous = tag
    return tuple(fixed)


def write_bio(record: Record, predicted: Mapping[str, Labels], task: str) -> str:
    """Words and tags; columns between them are kept where the record came from BIO."""
    tags = predicted.get(task)
    assert isinstance(tags, tuple)
    lines = _own_lines(record)
    if lines is None:
        for word in record.words:
            if not word or any(c.isspace() for c in word):
                raise InputError(f"{record.where}: the word {word!r} cannot stand in BIO columns")
        rows = [f"{w}\t{t}\n" for w, t in zip(record.words, tags, strict=True)]
        return "".join(rows) + "\n"
    done: list[str] = []
    at = 0
    for line in lines:
        text = line.strip(" \r\n")
        if not text.strip() or text.startswith(DOCSTART):
            done.append(line)
            continue
        ending = line[len(line.rstrip("\r\n")) :]
        gap = "\t" if "\t" in text else " "
        cells = text.split("\t") if "\t" in text else _GAP.split(text)
        kept = cells[:-1] if len(cells) > 1 else cells
        done.append(gap.join([*kept, str(tags[at])]) + ending)
        at += 1
    return "".join(done)


def _own_lines(record: Record) -> list[str] | None:
    """The record's lines, if it came from a file of this format."""
    lines = split_lines(record.raw)
    real = [t for t in (line.strip(" \r\n") for line in lines) if t and not t.startswith(DOCSTART)]
    if len(real) != len(record.words) or (len(real) == 1 and not _GAP.search(real[0])):
        return None
    firsts = ((t.split("\t")[0] if "\t" in t else _GAP.split(t)[0]) for t in real)
    matches = all(f.endswith(w) for f, w in zip(firsts, record.words, strict=True))
    return lines if matches else None
