"""Text that looks like another format, JSON that Python would change, rows with more columns."""

import json
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from limbeck.data.formats import (
    OutputFormat,
    ReadOptions,
    Skipped,
    infer_format,
    open_format_writer,
    read_records,
)
from limbeck.data.json_text import MAX_DEPTH, members, parse_json
from limbeck.data.records import Labels, Record
from limbeck.data.sniff import sniff_format
from limbeck.errors import InputError

ROW = "1\tcat\t_\tNOUN\t_\t_\t0\troot\t_\t_"


def annotate(*arguments: object, text: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "limbeck", "annotate", *map(str, arguments)],
        input=text, capture_output=True, check=False,
    )  # fmt: skip


def read(path: Path, options: ReadOptions | None = None) -> list[Record]:
    return list(read_records(path, options=options or ReadOptions(tasks=())))


def as_json(record: Record, predicted: dict[str, Labels] | None = None) -> str:
    return open_format_writer("jsonl")(record, predicted or {}, None)


# formats


@pytest.mark.parametrize(
    ("lines", "format"),
    [
        ([ROW], "conllu"),
        (["# text = cat", "1-2\t_" + "\t_" * 8, ROW, "", ROW], "conllu"),
        (["# A heading", "", "# Another"], "lines"),
        (["# A heading", "and text"], "lines"),
        ([ROW, "and text"], "lines"),
        (["1\ta price\tand a word"], "lines"),
        (["7\tcat" + "\t_" * 8], "lines"),
        (["x\tcat" + "\t_" * 8], "lines"),
        (['{"text": "a"}'], "jsonl"),
        (['  { "text": "cut short'], "jsonl"),
        (["{}"], "jsonl"),
        (["{lol} a"], "lines"),
        (["Blood of type O"], "lines"),
        (["They flew the B-52", "We saw the B-52"], "lines"),
        (["O", "O", "O"], "lines"),
        (["cat\tB-X"], "bio"),
        (["-DOCSTART- O", "", "cat O"], "bio"),
        (["a B-X", "b I-X", "c O"], "bio"),
        (["a b O", "b I-X", "c O"], "lines"),
        ([], "lines"),
    ],
)
def test_a_format_is_taken_from_lines_that_leave_no_doubt(
    lines: Sequence[str], format: str, tmp_path: Path
) -> None:
    assert sniff_format([f"{line}\n" for line in lines]) == format
    (tmp_path / "text").write_text("".join(f"{line}\n" for line in lines))
    assert infer_format(str(tmp_path / "text")) == format
    (tmp_path / "text.txt").write_text("".join(f"{line}\n" for line in lines))
    assert infer_format(str(tmp_path / "text.txt")) == "lines"


LOOKALIKES = [
    ROW,
    "# text = cat",
    "cat\tB-X",
    '{"text": "other"}',
    '{"words": ["{\\"words\\":"]}',
    "-DOCSTART- O",
    "a\rb",
    "a\r",
    " a  b\t",
    "\u2028",
    "",
]
anything = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n"))


@given(st.lists(anything | st.sampled_from(LOOKALIKES), min_size=1, max_size=5))
@settings(max_examples=60, deadline=None)
def test_a_plain_line_stays_text_whatever_it_looks_like(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str]
) -> None:
    path = tmp_path_factory.mktemp("lines") / "x.conllu"  # the option goes before the ending
    path.write_bytes("".join(f"{line}\r\n" for line in lines).encode())
    records = read(path, ReadOptions(format="lines"))
    found = [json.loads(as_json(record)) for record in records]
    first, *rest = lines
    assert found == [{"text": line} for line in (first.removeprefix("\ufeff"), *rest)]


@pytest.mark.parametrize("line", LOOKALIKES)
@pytest.mark.parametrize("output", get_args(OutputFormat))
def test_its_words_are_those_of_the_text_in_every_format(
    line: str, output: OutputFormat, tmp_path: Path
) -> None:
    (tmp_path / "x.txt").write_text(f"{line}\n", newline="")
    (record,) = read(tmp_path / "x.txt")
    writer = open_format_writer(output)
    if output == "bio" and line.startswith("-DOCSTART-"):
        with pytest.raises(InputError, match="cannot stand in BIO"):
            writer(record, {}, None)
        return
    text = writer(record, {"ner": ("B-Y",) * len(record.words)}, None)
    if output != "jsonl" and not record.words:
        assert text == ""
        return
    again = tmp_path / "again"
    again.write_text(text, newline="")
    (found,) = read(again, ReadOptions(format=output, tasks=("ner",)))
    assert found.words == record.words == tuple(line.split())
    assert found.labels["ner"] == ("B-Y",) * len(record.words)


# JSON as it stands

NUMBERS = ["1.0", "1e400", "-0", "-0.0", "12345678901234567890", "1E+2", "9" * 5_000]


@pytest.mark.parametrize("number", NUMBERS)
def test_numbers_come_out_as_they_were_written(number: str, tmp_path: Path) -> None:
    line = f'{{"a": {number}, "text": "caf\\u00e9", "b": [{{"c":{number} }}], "t": 1.0}}'
    (tmp_path / "x.jsonl").write_text(f" {line}\n")
    (record,) = read(tmp_path / "x.jsonl")
    assert record.words == ("café",)
    assert as_json(record, {"t": "x"}) == line.replace('"t": 1.0', '"t": "x"') + "\n"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | anything.map(lambda t: t),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(anything, inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@given(
    st.dictionaries(anything, json_values, max_size=5),
    st.booleans(),
    st.sampled_from([None, 1, "\t"]),
)
def test_members_are_an_objects_own_text(
    value: dict[str, object], is_ascii: bool, indent: int | str | None
) -> None:
    text = json.dumps(value, ensure_ascii=is_ascii, indent=indent)
    assert parse_json(text, "x:1") == value
    found = members(text)
    assert [member.key for member in found] == list(value)
    assert all(member.text in text for member in found)
    assert json.loads("{" + ",".join(member.text for member in found) + "}") == value


@given(
    st.dictionaries(st.sampled_from(["mood", "t", 'a"b', "é", "x"]), json_values, max_size=4),
    st.dictionaries(st.sampled_from(["mood", "t", "é"]), anything, max_size=3),
    st.booleans(),
)
def test_labels_are_set_in_the_object_as_in_a_dictionary(
    given_members: dict[str, object], predicted: dict[str, str], is_ascii: bool
) -> None:
    own = {"text": "a", **given_members}
    raw = json.dumps(own, ensure_ascii=is_ascii)
    record = Record(words=("a",), raw=raw, raw_kind="object")
    found = json.loads(as_json(record, dict(predicted)))
    assert found == own | predicted
    assert list(found) == list(own | predicted)


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


@pytest.mark.parametrize(
    ("member", "message"),
    [
        ('"a": NaN', "NaN is no JSON"),
        ('"a": [-Infinity]', "-Infinity is no JSON"),
        ('"a": 1, "a": 1', "the key 'a' stands twice"),
        ('"a": 1, "\\u0061": 2', "the key 'a' stands twice"),
        ('"a": {"b": 1, "b": 2}', "the key 'b' stands twice"),
        ('"text": "b"', "the key 'text' stands twice"),
        (f'"a": {nested(MAX_DEPTH)}', "nested deeper"),
        (f'"a": {nested(100_000)}', "nested deeper"),
        (f'"a": "\\u0061", "b": {nested(100_000)}', "nested deeper"),
        ('"a": ' + '{"b":' * 5_000 + "1" + "}" * 5_000, "nested deeper"),
        ('"a": 01', "not JSON"),
    ],
    ids=lambda text: text[:20],
)
def test_json_that_would_be_lost_or_never_end_is_refused(
    member: str, message: str, tmp_path: Path
) -> None:
    (tmp_path / "x.jsonl").write_text('{"text": "a"}\n{"text": "a", ' + member + "}\n")
    with pytest.raises(InputError, match=rf"x\.jsonl:2: {message}") as caught:
        read(tmp_path / "x.jsonl")
    assert caught.value.hint
    skipped = Skipped()
    options = ReadOptions(tasks=(), on_error="skip")
    assert len(list(read_records(tmp_path / "x.jsonl", options=options, skipped=skipped))) == 1
    assert skipped.n_records == 1


@pytest.mark.parametrize("depth", [1, MAX_DEPTH - 1])
def test_what_may_be_read_can_be_written(depth: int, tmp_path: Path) -> None:
    brackets = '"' + "[" * 1_000 + '"'  # those of texts do not count
    line = f'{{"text": {brackets}, "a": {nested(depth)}}}\n'
    (tmp_path / "x.jsonl").write_text(line)
    (record,) = read(tmp_path / "x.jsonl")
    assert as_json(record) == line


def test_a_label_that_is_no_number_is_told() -> None:
    record = Record(words=("a",), raw="a", where="x.txt:1")
    with pytest.raises(InputError, match=r"x\.txt:1: a label is no finite number"):
        as_json(record, {"length": float("nan")})


# rows


@pytest.mark.parametrize(
    ("ending", "text", "found"),
    [
        (".csv", 'id,text,no te\n007,a b,"x\ny"\n', {"id": "007", "text": "a b", "no te": "x\ny"}),
        (".tsv", 'id\ttext\t\n1\ta\t"\n', {"id": "1", "text": "a", "column 3": '"'}),
        (".tsv", "text\na\tb\n", {"text": "a", "column 2": "b"}),
        (".tsv", "text\tid\na\n", {"text": "a"}),
        (".csv", "text,mood\na,old\n", {"text": "a", "mood": "new"}),
    ],
)
def test_other_columns_of_a_row_are_kept(
    ending: str, text: str, found: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / f"x{ending}").write_text(text)
    (record,) = read(tmp_path / f"x{ending}")
    written = json.loads(as_json(record, {"mood": "new"}))
    assert written == {**found, "mood": "new"}
    assert list(written)[: len(found)] == list(found)


def test_a_pair_by_its_usual_name_is_one_in_a_table_too(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("text,pair\na,b c\n")
    assert read(tmp_path / "x.csv")[0].pair == ("b", "c")


def test_a_column_that_stands_twice_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("text,id,id\na,1,2\n")
    with pytest.raises(InputError, match=r"x\.csv:1: two columns are called 'id'"):
        read(tmp_path / "x.csv")


def test_a_long_cell_is_no_bad_one(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text(f"text\n{'a ' * 200_000}\n")
    assert len(read(tmp_path / "x.csv")[0].words) == 200_000


def test_columns_of_parquet_that_stand_twice_are_refused(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"])], names=["text", "text"])
    pq.write_table(table, tmp_path / "x.parquet")
    with pytest.raises(InputError, match="two columns are called 'text'"):
        read(tmp_path / "x.parquet")


def test_a_second_text_is_not_lost(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text('{"text": "a", "pair": "b c"}\n')
    (record,) = read(tmp_path / "x.jsonl")
    written = open_format_writer("conllu", text_tasks=["mood"])(record, {"mood": "glad"}, None)
    assert written.splitlines()[:3] == ["# text = a", "# pair = b c", "# mood = glad"]
    with pytest.raises(InputError, match=r"x\.jsonl:1: .* second text"):
        open_format_writer("bio")(record, {}, None)


def test_other_columns_of_parquet_are_kept(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    row: dict[str, object] = {
        "text": "a",
        "id": 2**60,
        "price": Decimal("1.50"),
        "when": datetime(2026, 12, 1, tzinfo=UTC),
        "bytes": b"\xff\x00",
        "missing": float("nan"),
        "list": [{"a": None}],
    }
    pq.write_table(pa.Table.from_pylist([row]), tmp_path / "x.parquet")
    (record,) = read(tmp_path / "x.parquet")
    assert json.loads(as_json(record, {"mood": "glad"})) == {
        **row,
        "price": "1.50",
        "when": "2026-12-01T00:00:00+00:00",
        "bytes": "/wA=",
        "missing": None,
        "mood": "glad",
    }


# what is passed over

GOOD_AND_BROKEN = {
    "lines": b"a b\nc\xe9\nd\n",
    "jsonl": b'{"text": "a b"}\n{"text": "c\xe9"}\n{"text": "d"}\n',
    "csv": b'text,o\na b,1\n"c\n\xe9",2\nd,3\n',
    "tsv": b"text\to\na b\t1\nc\xe9\t2\nd\t3\n",
    "bio": b"a\tO\nb\tO\n\nc\xe9\tO\n\nd\tO\n",
    "conllu": f"{ROW}\n\n# caf\xe9\n{ROW}\n\n{ROW}\n".encode("latin-1"),
}


@pytest.mark.parametrize("format", GOOD_AND_BROKEN)
def test_a_record_with_broken_bytes_can_be_passed_over(format: str, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(GOOD_AND_BROKEN[format])
    skipped = Skipped()
    options = ReadOptions(format=format, tasks=(), on_error="skip")  # type: ignore[arg-type]
    records = list(read_records(tmp_path / "x", options=options, skipped=skipped))
    assert len(records) == 2
    assert skipped.n_records == 1
    assert "not UTF-8 (byte 0xe9)" in skipped.reasons[0]


def test_what_cannot_be_written_is_passed_over_counted_and_listed(
    toy_bundle: Path, tmp_path: Path
) -> None:
    (tmp_path / "x.jsonl").write_bytes(
        b'{"words": ["the", "cat"]}\n{"words": ["a b"]}\n\xff\n{"words": ["dog"]}\n'
    )
    arguments = (toy_bundle, tmp_path / "x.jsonl", "--output-format", "conllu", "--tasks", "upos")
    done = annotate(*arguments, "-o", tmp_path / "o", "--on-error", "skip", "--json")
    assert done.returncode == 1, done.stderr
    summary = json.loads(done.stderr)
    assert (summary["n_records"], summary["n_skipped"]) == (2, 2)
    assert [reason.split(":")[1] for reason in sorted(summary["skipped"])] == ["2", "3"]
    assert len(read(tmp_path / "o", ReadOptions(format="conllu"))) == 2
    done = annotate(*arguments, "-o", tmp_path / "p")
    assert done.returncode == 2
    assert not (tmp_path / "p").exists()


# probabilities


def test_probabilities_have_a_place_in_conllu(toy_bundle: Path) -> None:
    done = annotate(
        toy_bundle, "-", "--format", "lines", "--output-format", "conllu", "--probabilities",
        text=b"the cat\n",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = done.stdout.decode().splitlines()
    comments = [line.split(" = ") for line in lines if line.startswith("#")]
    chances = {name: value for name, value in comments if name.endswith("_probability")}
    assert 0 < float(chances["# mood_probability"]) <= 1
    assert "# length_probability" not in chances
    for line in lines:
        if line[:1].isdigit():
            misc = dict(part.split("=") for part in line.split("\t")[9].split("|"))
            for task in ("upos", "lemma", "dep", "ner"):
                assert 0 <= float(misc[f"{task}_probability"]) <= 1


def test_probabilities_are_refused_where_there_is_no_place(toy_bundle: Path) -> None:
    done = annotate(
        toy_bundle, "-", "--format", "lines", "--output-format", "bio", "--probabilities",
        text=b"the cat\n",
    )  # fmt: skip
    assert done.returncode == 2
    assert b"--probabilities: BIO" in done.stderr
    assert done.stdout == b""


def test_what_an_error_quotes_stays_on_its_line(toy_bundle: Path) -> None:
    done = annotate(toy_bundle, "-", "--format", "jsonl", text=b'{"a\\n\\u001b[31mb": 1}\n')
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 2
    assert b"\x1b" not in done.stderr
