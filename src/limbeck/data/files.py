"""Text files as streams of numbered lines: plain, .gz, .zst, or standard input.

In:  a path, or "-".
Out: (line number, line with its end); strict UTF-8, a byte-order mark is passed over. A line that
is no UTF-8 comes out as a `BrokenLine`, so that who passes over bad records can go on after it.
"""

import gzip
import io
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import IO, BinaryIO, cast

from limbeck.data.zst import ZstFrames
from limbeck.errors import InputError

STDIN = "-"
PEEK_BYTES = 1 << 16  # of standard input, to tell its format
MAX_LINE_BYTES = 1 << 26  # a packed file may hold one line larger than memory
BLOCK_RECORDS = 512  # joined before they are written


class BrokenLine(str):
    """A line with broken bytes, each shown as U+FFFD; whoever makes a record of it is refused."""

    failure: InputError


def sound(line: str) -> str:
    """The line, or what is wrong with its bytes."""
    if isinstance(line, BrokenLine):
        raise line.failure
    return line


@cache
def _stdin() -> io.BufferedReader:
    """Standard input by a reader of our own: Python ends badly while a thread waits for its own."""
    if sys.stdin is None:
        raise InputError("standard input is closed", hint="name a file, or pipe text in")
    raw = io.FileIO(sys.stdin.fileno(), closefd=False)
    return io.BufferedReader(raw, buffer_size=PEEK_BYTES)


def first_lines_of_stdin() -> list[str]:
    """What has come in so far, without taking it; only whole lines but for a single one."""
    lines = _stdin().peek(PEEK_BYTES).decode("utf-8", "replace").splitlines(keepends=True)
    return lines[:-1] if len(lines) > 1 and not lines[-1].endswith("\n") else lines


@contextmanager
def open_bytes(path: str) -> Iterator[BinaryIO]:
    """Open for reading, unpacked by the file's ending."""
    if path == STDIN:
        yield cast(BinaryIO, _stdin())
        return
    try:
        raw = Path(path).open("rb")  # noqa: SIM115  closed by the `with` below
    except OSError as failure:
        raise InputError(f"{path}: {failure.strerror}") from failure
    with raw:
        if path.endswith(".gz"):
            with gzip.open(raw) as unpacked:
                yield cast(BinaryIO, unpacked)
        elif path.endswith(".zst"):
            try:
                frames = ZstFrames(raw)
            except ModuleNotFoundError as missing:
                raise InputError(
                    f"{path}: reading .zst needs zstandard", hint="pip install 'limbeck[data]'"
                ) from missing
            yield io.BufferedReader(frames)
        else:
            yield raw


def numbered_lines(path: str) -> Iterator[tuple[int, str]]:
    """Lines from 1, each with its own ending kept."""
    with open_bytes(path) as file:
        yield from decoded_lines(file, path)


def decoded_lines(file: IO[bytes], path: str) -> Iterator[tuple[int, str]]:
    """Decode line by line, so that a broken byte is reported where it is."""
    n = 0
    try:
        for n, raw in enumerate(iter(partial(file.readline, MAX_LINE_BYTES), b""), 1):
            if len(raw) == MAX_LINE_BYTES:
                raise InputError(
                    f"{path}:{n}: a line of more than {MAX_LINE_BYTES >> 20} MB",
                    hint="this is no text file, or its line ends are lost",
                )
            try:
                line = raw.decode("utf-8")
            except UnicodeDecodeError as failure:
                yield n, _broken(raw, f"{path}:{n}", failure)
                continue
            yield n, line.removeprefix("\ufeff") if n == 1 else line
    except (OSError, EOFError, zlib.error) as failure:  # a damaged archive
        raise InputError(f"{path}:{n + 1}: cannot read on ({failure})") from failure


def _broken(raw: bytes, where: str, failure: UnicodeDecodeError) -> BrokenLine:
    line = BrokenLine(raw.decode("utf-8", "replace"))
    line.failure = InputError(
        f"{where}: not UTF-8 (byte 0x{raw[failure.start]:02x})",
        hint="convert the file, for example with iconv -t utf-8",
    )
    return line


def split_lines(text: str) -> list[str]:
    """Lines with their ends; unlike str.splitlines, only a line feed ends one."""
    lines = [line + "\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def write_blocks(texts: Iterable[str], file: IO[bytes]) -> None:
    """Join many records into one write; the bytes are the same, the calls are few."""
    stream = iter(texts)
    while block := "".join(islice(stream, BLOCK_RECORDS)):
        file.write(block.encode("utf-8", "surrogatepass"))
