"""Round trips hold for any text, checked against another reader where there is one."""

import json
import tempfile
from pathlib import Path

import conllu as oracle
from hypothesis import given, settings
from hypothesis import strategies as st

from limbeck.data.files import split_lines
from limbeck.data.formats import ReadOptions, open_format_writer, read_records
from limbeck.data.records import Arc, Record
from limbeck.data.tags import to_bio

cells = st.text(
    st.characters(exclude_categories=["Cs", "Zs", "Zl", "Zp", "Cc"]), min_size=1, max_size=6
)
comments = st.lists(cells.map(lambda c: f"# {c}"), max_size=2)


@st.composite
def sentences(draw: st.DrawFn) -> str:
    """A valid sentence with comments, multiword tokens and empty nodes."""
    n = draw(st.integers(1, 5))
    ending = draw(st.sampled_from(["\n", "\r\n"]))
    lines = draw(comments)
    for i in range(1, n + 1):
        if i < n and draw(st.booleans()):
            lines.append(f"{i}-{i + 1}\t{draw(cells)}" + "\t_" * 8)
        lines.append(
            "\t".join([str(i), *(draw(cells) for _ in range(5)), str(i - 1), "x", "_", "_"])
        )
        if draw(st.booleans()):
            lines.append(f"{i}.1\t{draw(cells)}" + "\t_" * 8)
    return ending.join([*lines, "", ""])


def records_of(text: str, ending: str, options: ReadOptions) -> list[Record]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"x{ending}"
        path.write_bytes(text.encode())
        return list(read_records(path, options=options))


@given(st.lists(sentences(), min_size=1, max_size=3))
@settings(max_examples=60, deadline=None)
def test_conllu_is_copied_byte_for_byte(given_sentences: list[str]) -> None:
    text = "".join(given_sentences)
    writer = open_format_writer("conllu")
    records = records_of(text, ".conllu", ReadOptions())
    assert "".join(writer(record, {}, None) for record in records) == text
    assert (
        "".join(writer(record, {"dep": record.labels["dep"]}, None) for record in records) == text
    )
    wanted = oracle.parse(text.replace("\r\n", "\n"))
    words = [tuple(w["form"] for w in s if isinstance(w["id"], int)) for s in wanted]
    assert [record.words for record in records] == words


tags = st.sampled_from(["O", "B-X", "I-X", "B-Y", "I-Y", "E-X", "S-Y"])
gaps = st.sampled_from(["\t", " ", "  ", "   "])


@given(
    st.lists(st.lists(st.tuples(cells, tags), min_size=1, max_size=5), min_size=1, max_size=4),
    gaps,
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
    st.integers(1, 3),
)
@settings(max_examples=80, deadline=None)
def test_bio_is_copied_byte_for_byte(
    sentences: list[list[tuple[str, str]]], gap: str, ending: str, is_marked: bool, n_blank: int
) -> None:
    rows = ["".join(f"{w}{gap}x{gap}{t}{ending}" for w, t in sentence) for sentence in sentences]
    mark = f"-DOCSTART- O{ending}{ending}" if is_marked else ""
    text = mark + (ending * n_blank).join(rows)
    records = records_of(text, ".bio", ReadOptions())
    assert [r.words for r in records] == [tuple(w for w, _ in s) for s in sentences]
    writer = open_format_writer("bio")
    assert "".join(writer(record, {}, None) for record in records) == text
    # with BIO tags in place, reading is a fixed point
    tagged = "".join(writer(record, record.labels, None) for record in records)
    again = records_of(tagged, ".bio", ReadOptions())
    assert [record.labels for record in again] == [record.labels for record in records]


@given(st.lists(tags, min_size=1))
def test_to_bio_keeps_every_span(found: list[str]) -> None:
    fixed = to_bio(found)
    assert to_bio(fixed) == fixed
    assert [tag == "O" for tag in fixed] == [tag == "O" for tag in found]
    for previous, tag in zip(("O", *fixed), fixed, strict=False):
        assert tag[0] != "I" or previous[2:] == tag[2:]


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n")))
def test_any_line_of_text_comes_back_in_json(line: str) -> None:
    (record,) = records_of(f"{line}\n", ".txt", ReadOptions())
    found = json.loads(open_format_writer("jsonl")(record, {"t": "x"}, None))
    assert found == {"text": line.removeprefix("\ufeff").removesuffix("\r"), "t": "x"}


@given(st.lists(st.lists(st.tuples(cells, st.booleans()), min_size=1, max_size=5), min_size=1))
@settings(max_examples=40, deadline=None)
def test_what_is_written_as_jsonl_is_read_back(texts: list[list[tuple[str, bool]]]) -> None:
    writer = open_format_writer("jsonl")
    records = [Record(words=tuple(word for word, _ in text)) for text in texts]
    labels = [tuple("yes" if flag else "no" for _, flag in text) for text in texts]
    arcs = [tuple(Arc(i, "x") for i in range(len(text))) for text in texts]
    text = "".join(
        writer(r, {"t": tags, "d": deps}, None)
        for r, tags, deps in zip(records, labels, arcs, strict=True)
    )
    again = records_of(text, ".jsonl", ReadOptions(tasks=("t", "d")))
    assert [r.words for r in again] == [r.words for r in records]
    assert [r.labels["t"] for r in again] == labels
    assert [r.labels["d"] for r in again] == arcs


@given(st.text())
def test_lines_joined_are_the_text(text: str) -> None:
    lines = split_lines(text)
    assert "".join(lines) == text
    assert all(line.count("\n") <= 1 for line in lines)
