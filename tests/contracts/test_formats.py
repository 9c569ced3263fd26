"""Every format keeps the contract: records stream, round trips hold, errors name file and line."""

import gzip
import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import ClassVar, get_args

import pytest
import zstandard

from limbeck.data import files
from limbeck.data.conllu import blocks
from limbeck.data.formats import (
    FormatName,
    OutputFormat,
    ReadOptions,
    Skipped,
    infer_format,
    open_format_writer,
    read_records,
)
from limbeck.data.records import Arc, Labels, Record
from limbeck.errors import InputError

SENTENCE = """# sent_id = 1
# text = It's fine
1-2	It's	_	_	_	_	_	_	_	Typo=No
1	It	it	PRON	PRP	Case=Nom	3	nsubj	3:nsubj	_
2	's	be	AUX	VBZ	_	3	cop	3:cop	NER=B-X|Zed=1
2.1	so	so	ADV	RB	_	_	_	3:advmod	_
3	fine	fine	ADJ	JJ	Degree=Pos	0	root	0:root	SpaceAfter=No

"""
# what a file of each format may hold for the same two records, words "a b" and "c"
SMALL: dict[str, str] = {
    "conllu": "1\ta\t_\tX\t_\t_\t0\troot\t_\t_\n2\tb\t_\tY\t_\t_\t1\tdep\t_\t_\n\n"
    "1\tc\t_\tX\t_\t_\t0\troot\t_\t_\n\n",
    "bio": "a\tB-X\nb\tI-X\n\nc\tO\n\n",
    "jsonl": '{"text": "a b"}\n{"words": ["c"]}\n',
    "csv": "text,other\na b,1\nc,2\n",
    "tsv": "text\tother\na b\t1\nc\t2\n",
    "lines": "a b\nc\n",
}
ENDINGS = {"conllu": ".conllu", "bio": ".bio", "jsonl": ".jsonl", "csv": ".csv", "tsv": ".tsv"}
NO_TASKS = ReadOptions(tasks=())


def write(path: Path, text: str) -> Path:
    path.write_bytes(text.encode())
    return path


def read(path: Path, options: ReadOptions | None = None) -> list[Record]:
    return list(read_records(path, options=options or ReadOptions()))


def test_each_text_format_has_a_sample_here() -> None:
    assert {*SMALL, "parquet", "hub"} == set(get_args(FormatName))


@pytest.mark.parametrize("format", SMALL)
@pytest.mark.parametrize("packing", ["", ".gz", ".zst"])
def test_it_reads_the_words_packed_or_not(format: str, packing: str, tmp_path: Path) -> None:
    path = tmp_path / f"file{ENDINGS.get(format, '.txt')}{packing}"
    data = SMALL[format].encode()
    match packing:
        case ".gz":
            data = gzip.compress(data)
        case ".zst":
            data = zstandard.compress(data)
    path.write_bytes(data)
    assert infer_format(str(path)) == format
    records = read(path, NO_TASKS)
    assert [record.words for record in records] == [("a", "b"), ("c",)]
    assert all(record.where.startswith(f"{path}:") for record in records)


def test_parquet_gives_the_same_records(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "file.parquet"
    pq.write_table(pa.table({"text": ["a b", "c"], "mood": ["x", "y"]}), path)
    records = read(path, ReadOptions(tasks=("mood",)))
    assert [record.words for record in records] == [("a", "b"), ("c",)]
    assert [record.labels["mood"] for record in records] == ["x", "y"]


def test_a_data_set_of_the_hub_streams_with_the_names_of_its_classes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class ClassLabel:
        names = ("sad", "glad")

    class Rows:
        features: ClassVar = {"text": object(), "mood": ClassLabel()}

        def __iter__(self) -> Iterator[dict[str, object]]:
            yield {"text": "a b", "mood": 1}
            raise AssertionError("read ahead of need")

    asked: list[object] = []

    def load_dataset(path: str, config: str | None, *, split: str, streaming: bool) -> Rows:
        asked.extend([path, config, split, streaming])
        return Rows()

    stub = ModuleType("datasets")
    vars(stub).update(ClassLabel=ClassLabel, load_dataset=load_dataset)
    monkeypatch.setitem(sys.modules, "datasets", stub)
    record = next(read_records("hub:who/what/part:dev", options=ReadOptions(tasks=("mood",))))
    assert asked == ["who/what", "part", "dev", True]
    assert (record.words, record.labels) == (("a", "b"), {"mood": "glad"})


@pytest.mark.parametrize(
    ("name", "module"),
    [("hub:a/b:train", "datasets"), ("x.parquet", "pyarrow.parquet"), ("x.txt.zst", "zstandard")],
)
def test_a_missing_package_is_named_with_its_remedy(
    name: str, module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x.txt.zst").write_bytes(zstandard.compress(b"a"))
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(InputError, match=module.partition(".")[0]) as caught:
        list(read_records(name, options=ReadOptions()))
    assert "limbeck[data]" in caught.value.hint


@pytest.mark.parametrize("format", SMALL)
def test_it_streams(format: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "file", SMALL[format] * 1_000 if format not in ("csv", "tsv") else "")
    if format in ("csv", "tsv"):
        head, _, rest = SMALL[format].partition("\n")
        write(path, f"{head}\n{rest * 1_000}")
    n_pulled = 0
    real = files.decoded_lines

    def counted(file: "io.BufferedReader", name: str) -> Iterator[tuple[int, str]]:
        nonlocal n_pulled
        for line in real(file, name):
            n_pulled += 1
            yield line

    monkeypatch.setattr(files, "decoded_lines", counted)
    options = ReadOptions(format=format, tasks=())  # type: ignore[arg-type]
    next(iter(read_records(path, options=options)))
    assert n_pulled <= 6


@pytest.mark.parametrize("format", SMALL)
def test_a_broken_byte_is_reported_where_it_is(format: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(SMALL[format].encode() + b"caf\xe9\n")
    n_line = SMALL[format].count("\n") + 1
    with pytest.raises(InputError, match=rf"file:{n_line}: not UTF-8 \(byte 0xe9\)") as caught:
        read(path, ReadOptions(format=format, tasks=()))  # type: ignore[arg-type]
    assert "iconv" in caught.value.hint


@pytest.mark.parametrize("format", SMALL)
def test_an_empty_file_is_an_error(format: str, tmp_path: Path) -> None:
    path = write(tmp_path / "file", "")
    with pytest.raises(InputError, match="empty file"):
        read(path, ReadOptions(format=format))  # type: ignore[arg-type]


def test_a_byte_order_mark_is_passed_over(tmp_path: Path) -> None:
    path = write(tmp_path / "x.tsv", "\ufefftext\tq\na b\t1\n")
    assert read(path, ReadOptions(tasks=("q",)))[0].labels == {"q": "1"}


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.txt: No such file"):
        read(tmp_path / "none.txt")


# CoNLL-U


@pytest.mark.parametrize("text", [SENTENCE, SENTENCE * 3, SENTENCE[:-1], SENTENCE.rstrip("\n")])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_conllu_is_copied_byte_for_byte(text: str, ending: str, tmp_path: Path) -> None:
    text = text.replace("\n", ending)
    path = write(tmp_path / "x.conllu", text)
    writer = open_format_writer("conllu")
    records = read(path)
    assert "".join(writer(record, {}, None) for record in records) == text
    options = ReadOptions(tasks=("upos", "xpos", "feats", "lemma", "dep", "ner"))
    again = read(path, options)
    assert "".join(writer(record, record.labels, None) for record in again) == text


def test_conllu_reads_words_and_labels(tmp_path: Path) -> None:
    path = write(tmp_path / "x.conllu", SENTENCE)
    (record,) = read(path, ReadOptions(tasks=("upos", "feats", "dep", "ner")))
    assert record.words == ("It", "'s", "fine")
    assert record.labels["feats"] == ("Case=Nom", "_", "Degree=Pos")
    assert record.labels["dep"] == (Arc(3, "nsubj"), Arc(3, "cop"), Arc(0, "root"))
    assert record.labels["ner"] == ("O", "B-X", "O")


def test_conllu_writes_predictions_and_leaves_the_rest(tmp_path: Path) -> None:
    path = write(tmp_path / "x.conllu", SENTENCE)
    (record,) = read(path, NO_TASKS)
    predicted: dict[str, Labels] = {
        "upos": ("A", "B", "C"),
        "ner": ("B-Y", "O", "O"),
        "dep": (Arc(0, "root"),) * 3,
    }
    found = open_format_writer("conllu")(record, predicted, None).splitlines()
    assert found[:3] == SENTENCE.splitlines()[:3]
    assert found[3] == "1\tIt\tit\tA\tPRP\tCase=Nom\t0\troot\t3:nsubj\tNER=B-Y"
    assert found[4] == "2\t's\tbe\tB\tVBZ\t_\t0\troot\t3:cop\tZed=1"
    assert found[5] == SENTENCE.splitlines()[5]


def test_conllu_has_a_place_for_labels_without_a_column(tmp_path: Path) -> None:
    (record,) = read(write(tmp_path / "x.conllu", SENTENCE), NO_TASKS)
    writer = open_format_writer("conllu", text_tasks=["mood", "score"])
    predicted: dict[str, Labels] = {"mood": "glad", "score": 0.5, "sense": ("p", "q", "r")}
    found = writer(record, predicted, None).splitlines()
    assert found[2:4] == ["# mood = glad", "# score = 0.5000"]
    assert found[5].endswith("\tsense=p")
    assert found[8].endswith("\tSpaceAfter=No|sense=r")
    (again,) = read(write(tmp_path / "y.conllu", "\n".join(found) + "\n"), NO_TASKS)
    assert writer(again, predicted, None).splitlines() == found


def test_a_line_separator_inside_a_word_ends_no_line(tmp_path: Path) -> None:
    text = "1\ta\u2028b\x85\t_\tX\t_\t_\t0\troot\t_\t_\n\n"
    (record,) = read(write(tmp_path / "x.conllu", text), NO_TASKS)
    assert record.words == ("a\u2028b\x85",)
    written = open_format_writer("conllu")(record, {"upos": ("Y",)}, None)
    assert written == text.replace("\tX\t", "\tY\t")


@pytest.mark.parametrize("text", [f"\n{SENTENCE}\n\n{SENTENCE}\n", SENTENCE + " \n\n"])
def test_conllu_keeps_stray_blank_lines(text: str, tmp_path: Path) -> None:
    records = read(write(tmp_path / "x.conllu", text))
    assert "".join(open_format_writer("conllu")(r, {}, None) for r in records) == text
    assert all(len(record.words) == 3 for record in records)


def test_a_word_without_a_label_keeps_what_it_has(tmp_path: Path) -> None:
    text = "1\ta\t_\t_\t_\t_\t_\t_\t_\t_\n2\tb\t_\tX\t_\t_\t0\troot\t_\t_\n\n"
    (record,) = read(write(tmp_path / "x.conllu", text), ReadOptions(tasks=("upos", "dep")))
    assert record.labels == {"upos": (None, "X"), "dep": (None, Arc(0, "root"))}
    assert open_format_writer("conllu")(record, record.labels, None) == text


def test_a_comment_never_joins_a_line_without_its_end(tmp_path: Path) -> None:
    line = "1\ta" + "\t_" * 8
    (record,) = read(write(tmp_path / "x.conllu", line), NO_TASKS)
    written = open_format_writer("conllu", text_tasks=["mood"])(record, {"mood": "glad"}, None)
    assert written == f"# mood = glad\n{line}"


@pytest.mark.parametrize("misc", ["_", "Zed=1", "NER=B-X"])
def test_ner_goes_to_misc_before_a_carriage_return(misc: str, tmp_path: Path) -> None:
    line = "1\ta" + "\t_" * 7
    (record,) = read(write(tmp_path / "x.conllu", f"{line}\t{misc}\r\n\r\n"), NO_TASKS)
    rest = "|Zed=1" if misc == "Zed=1" else ""
    written = open_format_writer("conllu")(record, {"ner": ("B-Y",)}, None)
    assert written == f"{line}\tNER=B-Y{rest}\r\n\r\n"


# BIO


@pytest.mark.parametrize(
    "text",
    [
        "-DOCSTART- O\n\na O\n\n\n-DOCSTART- O\n\nb O\n",
        "a  NN   B-X \nb  VB  O\n\n",
        "a\tx y\tB-X\r\n\r\n",
        "a O\n\n-DOCSTART- O\n\n",
        "a\nb\n\n",
    ],
)
def test_bio_is_copied_byte_for_byte(text: str, tmp_path: Path) -> None:
    writer = open_format_writer("bio")
    records = read(write(tmp_path / "x.bio", text))
    assert "".join(writer(record, {}, None) for record in records) == text
    assert "".join(writer(record, record.labels, None) for record in records) == text


def test_iobes_becomes_bio(tmp_path: Path) -> None:
    path = write(tmp_path / "x.bio", "a S-P\nb S-P\nc B-P\nd E-P\ne I-P\nf O\ng E-P\n")
    (record,) = read(path)
    assert record.labels["ner"] == ("B-P", "B-P", "B-P", "I-P", "B-P", "O", "B-P")


def test_bio_columns_can_be_given_by_number(tmp_path: Path) -> None:
    path = write(tmp_path / "x.bio", "1\ta\tB-X\tO\n2\tb\tO\tB-Y\n\n")
    options = ReadOptions(columns={"words": 2, "spans": 3}, tasks=("spans",))
    (record,) = read(path, options)
    assert (record.words, record.labels) == (("a", "b"), {"spans": ("B-X", "O")})


@pytest.mark.parametrize(
    ("source", "text"),
    [(".conllu", "1\t1" + "\t_" * 8 + "\n\n"), (".txt", "1\n"), (".jsonl", '{"text":"1"}\n')],
)
def test_a_lone_number_is_not_taken_for_a_line_of_bio(
    source: str, text: str, tmp_path: Path
) -> None:
    (record,) = read(write(tmp_path / f"x{source}", text), NO_TASKS)
    assert open_format_writer("bio")(record, {"ner": ("B-X",)}, None) == "1\tB-X\n\n"


def test_ten_columns_of_bio_are_not_taken_for_conllu(tmp_path: Path) -> None:
    (record,) = read(write(tmp_path / "x.bio", "1" + "\t_" * 8 + "\tO\n\n"), NO_TASKS)
    written = open_format_writer("conllu")(record, {"upos": ("NUM",)}, None)
    assert written == "# text = 1\n1\t1\t_\tNUM" + "\t_" * 6 + "\n\n"


def test_iob1_becomes_bio(tmp_path: Path) -> None:
    path = write(tmp_path / "x.bio", "-DOCSTART- O\n\na I-P\nb I-P\nc B-P\nd I-Q\ne O\nf I-Q\n")
    (record,) = read(path)
    assert record.labels["ner"] == ("B-P", "I-P", "B-P", "B-Q", "O", "B-Q")


def test_bio_keeps_its_other_columns_and_separators(tmp_path: Path) -> None:
    text = "en:a NN B-P\nen:b VB O\n\n"
    (record,) = read(write(tmp_path / "x.bio", text), ReadOptions(strip_prefix="en:"))
    assert record.words == ("a", "b")
    found = open_format_writer("bio")(record, {"ner": ("O", "B-Q")}, None)
    assert found == "en:a NN O\nen:b VB B-Q\n\n"


# tables


def test_tables_find_columns_by_name_and_by_number(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", 'id,s1,s2,score\n7,"a, b",c,2.5\n')
    options = ReadOptions(
        columns={"text": "s1", "pair": "s2"}, tasks=("score",), kinds={"score": "regress"}
    )
    (record,) = read(path, options)
    assert (record.words, record.pair, record.labels) == (("a,", "b"), ("c",), {"score": 2.5})
    path = write(tmp_path / "x.tsv", 'a "b\t1|2\n')
    options = ReadOptions(columns={"text": 1, "k": 2}, tasks=("k",), kinds={"k": "classify_many"})
    (record,) = read(path, options)
    assert (record.words, record.labels) == (("a", '"b'), {"k": ("1", "2")})


def test_a_missing_column_suggests_the_nearest(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", "text,category\na,b\n")
    with pytest.raises(InputError, match=r"x.csv:1: no column 'categoyr'") as caught:
        read(path, ReadOptions(tasks=("categoyr",)))
    assert "'category'" in caught.value.hint


def test_an_empty_cell_is_no_label(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", "text,a,b,c\nx,,,\n")
    options = ReadOptions(tasks=("a", "b", "c"), kinds={"b": "regress", "c": "classify_many"})
    assert read(path, options)[0].labels == {"c": ()}


def test_a_column_of_words_holds_a_text_too(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", "id,sentence\n1,a b\n")
    assert read(path, ReadOptions(columns={"words": "sentence"}))[0].words == ("a", "b")


# JSON lines


@pytest.mark.parametrize("line", ["{lol} a", '{"a": 1}', "{", "a\tb", "a  b", ""])
def test_a_plain_text_comes_out_as_it_stood(line: str, tmp_path: Path) -> None:
    (record,) = read(write(tmp_path / "x.txt", f"{line}\n"))
    found = open_format_writer("jsonl")(record, {"mood": "glad"}, None)
    assert json.loads(found) == {"text": line, "mood": "glad"}


def test_a_line_of_bio_is_no_text(tmp_path: Path) -> None:
    (record,) = read(write(tmp_path / "x.bio", "c O"))
    assert json.loads(open_format_writer("jsonl")(record, {}, None)) == {"words": ["c"]}


def test_an_object_under_other_keys_is_known_again(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", '{"q": "a b", "s": "c", "id": 1}\n')
    (record,) = read(path, ReadOptions(columns={"text": "q", "pair": "s"}))
    found = open_format_writer("jsonl")(record, {"t": "x"}, None)
    assert json.loads(found) == {"q": "a b", "s": "c", "id": 1, "t": "x"}


def test_jsonl_adds_to_the_object_that_came_in(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", '{"id": 3, "text": "é b", "mood": "old"}\n')
    (record,) = read(path, NO_TASKS)
    predicted: dict[str, Labels] = {"mood": "new", "dep": (Arc(0, "root"), Arc(1, "dep"))}
    found = open_format_writer("jsonl")(record, predicted, {"mood": 0.98765})
    assert "é" in found
    assert json.loads(found) == {
        "id": 3,
        "text": "é b",
        "mood": "new",
        "dep": [[0, "root"], [1, "dep"]],
        "mood_probability": 0.9877,
    }
    assert list(json.loads(found))[:2] == ["id", "text"]


@pytest.mark.parametrize("output", get_args(OutputFormat))
@pytest.mark.parametrize("format", SMALL)
def test_any_record_can_be_written_in_any_format(
    format: str, output: OutputFormat, tmp_path: Path
) -> None:
    path = write(tmp_path / "x", SMALL[format])
    writer = open_format_writer(output)
    options = ReadOptions(format=format, tasks=())  # type: ignore[arg-type]
    ending = {"conllu": ".conllu", "bio": ".bio", "jsonl": ".jsonl"}[output]
    records = read(path, options)
    text = "".join(writer(r, {"ner": ("B-X",) * len(r.words)}, None) for r in records)
    again = read(write(tmp_path / f"y{ending}", text), ReadOptions(tasks=("ner",)))
    assert [(r.words, r.labels["ner"]) for r in again] == [
        (record.words, ("B-X",) * len(record.words)) for record in records
    ]


def test_bad_records_are_skipped_counted_and_listed_on_request(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", '{"text": "a"}\n{\n{"text": "b"}\n[]\n')
    skipped = Skipped()
    options = ReadOptions(tasks=(), on_error="skip")
    records = list(read_records(path, options=options, skipped=skipped))
    assert [record.words for record in records] == [("a",), ("b",)]
    assert skipped.n_records == 2
    assert [reason.partition(": ")[0] for reason in skipped.reasons] == [f"{path}:2", f"{path}:4"]


def test_a_blank_line_of_plain_text_is_an_empty_record(tmp_path: Path) -> None:
    records = read(write(tmp_path / "x.txt", "a\n\nb\n"))
    assert [record.words for record in records] == [("a",), (), ("b",)]


def test_blocks_end_at_blank_lines_and_keep_all_of_them() -> None:
    lines = list(enumerate(["\n", "a\n", "\n", "\n", "b"], 1))
    assert list(blocks(lines)) == [(1, ["\n", "a\n", "\n", "\n"]), (5, ["b"])]


def test_a_mark_of_a_document_stays_before_its_first_sentence() -> None:
    lines = list(enumerate(["-X-\n", "\n", "a\n", "\n", "-X-\n", "\n"], 1))
    found = list(blocks(lines, mark="-X-"))
    assert found == [(1, ["-X-\n", "\n", "a\n", "\n"]), (5, ["-X-\n", "\n"])]
