"""Every bad input is refused with one line that says what is wrong and where."""

import gzip
import os
from pathlib import Path

import pytest
import zstandard

from limbeck.data.formats import (
    OutputFormat,
    ReadOptions,
    Skipped,
    open_format_writer,
    read_records,
)
from limbeck.data.records import Record
from limbeck.errors import InputError


def word(number: int | str, form: str = "a", head: int | str = "_", misc: str = "_") -> str:
    return f"{number}\t{form}\t_\t_\t_\t_\t{head}\tx\t_\t{misc}\n"


BAD = [
    (".conllu", "1\ta\tb\n\n", ":1: 3 columns instead of 10"),
    (".conllu", "# c\n" + word(1) + "2 b\n\n", ":3: 1 columns instead of 10"),
    (".conllu", word(1, head=0) + "\n" + word(2), ":3: word number '2' where 1 is due"),
    (".conllu", word(1) + word(3) + "\n", ":2: word number '3' where 2 is due"),
    (".conllu", word("x"), ":1: word number 'x' where 1 is due"),
    (".conllu", word(1) + word("5.1"), ":2: word number '5.1' where 2 is due"),
    (".conllu", word("x-y") + word(1), ":1: multiword token 'x-y' where word 1 is due"),
    (".conllu", word(1) + word("1-2") + word(2), ":2: multiword token '1-2' where word 2 is due"),
    (".conllu", word("1-2") + word(1), ":1: a multiword token reaches to word 2 of 1 words"),
    (".conllu", word(1, head=0) + word(2, head=7), ":2: word 2 has the head 7, outside"),
    (".conllu", word(1, head="x"), ":1: word 1 has the head 'x', not a number"),
    (".conllu", word(1, head=-1), ":1: word 1 has the head '-1', not a number"),
    (".conllu", word(1, head=1), ":1: word 1 is its own head"),
    (".conllu", word(1, form=""), ":1: empty word"),
    (".conllu", "# only a comment\n\n", ":1: sentence without words"),
    (
        ".conllu",
        word(1, head=2) + word(2, head=3) + word(3, head=2) + word(4, head=0),
        ":1: the heads of words [2, 3] form a cycle",
    ),
    (".conllu", word(1, head=2) + word(2, head=1), ":1: no word hangs on the root"),
    (".conllu", word(1, head=0, misc="NER=PER"), ":1: 'PER' is no BIO tag"),
    (".bio", "a\tB-X\nb\n\n", ":2: 1 columns where 2 are due"),
    (".bio", "a\tB-X\n\nb\n\n", ":3: 1 columns where 2 are due"),
    (".bio", "a\tfoo\n\n", ":1: 'foo' is no BIO tag"),
    (".bio", "a\tB-X\n\tO\n\n", ":2: empty word"),
    (".jsonl", '{"text": "a"\n', ":1: not JSON"),
    (".jsonl", "[1]\n", ":1: not a JSON object"),
    (".jsonl", '{"txt": "a"}\n', ":1: neither a text"),
    (".jsonl", '{"words": ["a", 1]}\n', ":1: 'words' must be a list of texts"),
    (".jsonl", '{"words": ["a", ""]}\n', ":1: empty word"),
    (".jsonl", '{"text": "a", "pair": 1}\n', ":1: 'pair' must be a text"),
    (".jsonl", '{"text": "a b c d e f", "t": [1,2,3,4,5,6,7]}\n', "'t' has 7 labels for 6 words"),
    (".jsonl", '{"text": "a", "t": [[9, "x"]]}\n', "no [head, relation]"),
    (".jsonl", '{"text": "a", "t": {"k": 1}}\n', ":1: 't' holds {'k': 1} where a label is due"),
    (".jsonl", '{"text": "a \\ud800"}\n', r":1: half of a surrogate pair (\ud800)"),
    (".csv", 'text,t\n"a,1\n', ":2: "),
    (".csv", 'text,t\nb,1\n"a"x,1\n', ":3: "),
    (".csv", "text,t\na\n", ":2: 1 columns, 2 are needed"),
    (".tsv", "text\tt\na\n", ":2: 1 columns, 2 are needed"),
    (".tsv", "text\tu\na\tb\n", ":1: no column 't'"),
]
TASKS = {".conllu": ("dep", "ner"), ".bio": ("ner",)}


@pytest.mark.parametrize(("ending", "text", "message"), BAD)
def test_bad_text_is_refused_with_its_place(
    ending: str, text: str, message: str, tmp_path: Path
) -> None:
    path = tmp_path / f"bad{ending}"
    path.write_bytes(text.encode())
    with pytest.raises(InputError) as caught:
        list(read_records(path, options=ReadOptions(tasks=TASKS.get(ending, ("t",)))))
    assert message in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("ending", "text", "task"),
    [(".conllu", word(1), "mood"), (".bio", "a\tO\n", "ner")],
)
def test_what_the_format_does_not_have_is_refused(
    ending: str, text: str, task: str, tmp_path: Path
) -> None:
    path = tmp_path / f"x{ending}"
    path.write_text(text)
    options = ReadOptions(tasks=(task,), columns={"ner": 3})
    with pytest.raises(InputError, match=str(path)) as caught:
        list(read_records(path, options=options))
    assert caught.value.hint


@pytest.mark.parametrize("number", ["many", "nan", "inf", "1,5"])
def test_a_number_must_be_one(number: str, tmp_path: Path) -> None:
    path = tmp_path / "x.tsv"
    path.write_text(f"text\tscore\na\t{number}\n")
    options = ReadOptions(tasks=("score",), kinds={"score": "regress"})
    with pytest.raises(InputError, match=r"x\.tsv:2: 'score' is "):
        list(read_records(path, options=options))


LONG_TEXT = os.urandom(1 << 16).hex().encode() + b"\n"


@pytest.mark.parametrize(
    ("ending", "data"),
    [
        (".gz", gzip.compress(LONG_TEXT)[:-12]),
        (".gz", b"nonsense"),
        (".gz", gzip.compress(LONG_TEXT)[:500] + b"\xff" * 999),
        (".zst", zstandard.compress(LONG_TEXT)[:-12]),
        (".zst", b"nonsense"),
    ],
)
def test_a_damaged_archive_never_passes_for_a_short_one(
    ending: str, data: bytes, tmp_path: Path
) -> None:
    path = tmp_path / f"x.txt{ending}"
    path.write_bytes(data)
    with pytest.raises(InputError, match=r":1: cannot read on"):
        list(read_records(path, options=ReadOptions()))


def test_all_frames_of_an_archive_are_read(tmp_path: Path) -> None:
    path = tmp_path / "x.txt.zst"
    path.write_bytes(b"".join(zstandard.compress(LONG_TEXT) for _ in range(5)))
    assert len(list(read_records(path, options=ReadOptions()))) == 5


@pytest.mark.parametrize("output", ["conllu", "bio"])
@pytest.mark.parametrize("bad", ["", "a b", "a\tb", "a\u2028b"])
def test_a_word_that_would_break_columns_is_not_written(output: OutputFormat, bad: str) -> None:
    record = Record(words=("ok", bad), where="x.jsonl:3")
    with pytest.raises(InputError, match=r"x\.jsonl:3: the word"):
        open_format_writer(output)(record, {"ner": ("O", "O")}, None)


def test_a_broken_row_of_csv_can_be_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text('text\n"a"x\nb\n')
    skipped = Skipped()
    options = ReadOptions(on_error="skip")
    records = list(read_records(path, options=options, skipped=skipped))
    assert [record.words for record in records] == [("b",)]
    assert skipped.n_records == 1
    assert skipped.reasons[0].startswith(f"{path}:2: ")


def test_what_one_file_skipped_does_not_excuse_an_empty_one(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("")
    with pytest.raises(InputError, match="empty file"):
        list(read_records(path, options=ReadOptions(), skipped=Skipped(n_records=1)))
