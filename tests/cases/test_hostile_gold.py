"""Gold labels of a wrong shape are refused; layers that the gold does not hold are left out."""

import json
from functools import partial
from pathlib import Path

import commands
import pytest
from toys import KINDS, toy_records

from limbeck.bundle import load_bundle
from limbeck.cli.evaluate import read_gold
from limbeck.data.formats import ReadOptions, open_format_writer, read_records
from limbeck.errors import InputError

evaluate = partial(commands.limbeck, "evaluate")


@pytest.mark.parametrize(
    "labels",
    [
        {"upos": "NOUN VERB"},
        {"upos": ["NOUN"]},
        {"upos": [["NOUN"], ["VERB"]]},
        {"upos": [{"tag": "NOUN"}, None]},
        {"lemma": {"the": "the"}},
        {"ner": ["ANIMAL", "O"]},
        {"ner": 1},
        {"dep": ["2", "0"]},
        {"dep": [2, 0]},
        {"dep": [["2", "det"], ["0", "root"]]},
        {"dep": [[2.0, "det"], [0, "root"]]},
        {"dep": [[True, "det"], [0, "root"]]},
        {"dep": [[2, "det", 1], [0, "root"]]},
        {"dep": [[2, "det"], [3, "x"]]},
        {"dep": [[1, "det"], [0, "root"]]},
        {"dep": [[2, "det"], [1, "x"]]},
        {"dep": "2 0"},
        {"mood": ["positive"]},
        {"mood": {"label": "positive"}},
        {"topics": "cat"},
        {"topics": [["cat"]]},
        {"topics": [None]},
        {"length": "long"},
        {"length": [1]},
        {"length": True},
        {"length": 1e999},
        {"pair": "b", "upos": ["NOUN", "NOUN"]},
    ],
    ids=str,
)
def test_labels_of_another_shape_are_refused_with_their_place(
    labels: dict[str, object], toy_bundle: Path, tmp_path: Path
) -> None:
    path = tmp_path / "gold.jsonl"
    good = {"text": "the cat", "upos": ["DET", None], "dep": [[2, "det"], [0, "root"]]}
    bad = json.dumps({"text": "the cat", **labels}).replace("Infinity", "1e999")
    path.write_text(f"{json.dumps(good)}\n{bad}\n")
    with pytest.raises(InputError, match=r"gold\.jsonl:2: ") as caught:
        read_gold(load_bundle(toy_bundle), str(path), None)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300 + len(str(path))


def gold_conllu(path: Path, *tasks: str) -> Path:
    write = open_format_writer("conllu")
    path.write_text(
        "".join(write(r, {t: r.labels[t] for t in tasks}, None) for r in toy_records(20))
    )
    return path


@pytest.mark.parametrize(
    ("tasks", "held"),
    [
        (("upos", "lemma", "dep", "ner"), {"upos", "lemma", "dep", "ner"}),
        (("upos", "lemma"), {"upos", "lemma"}),
        (("ner",), {"ner"}),
    ],
)
def test_a_layer_that_no_sentence_has_is_not_there(
    tasks: tuple[str, ...], held: set[str], toy_bundle: Path, tmp_path: Path
) -> None:
    path = gold_conllu(tmp_path / "gold.conllu", *tasks)
    records = read_gold(load_bundle(toy_bundle), str(path), None)
    assert {task for record in records for task in record.labels} == held


def test_blank_columns_are_no_layers(tmp_path: Path) -> None:
    from limbeck.data.layers import held_layers

    path = gold_conllu(tmp_path / "gold.conllu", "upos")
    options = ReadOptions(tasks=("upos", "xpos", "feats", "ner"))
    (record, *_) = held_layers(list(read_records(path, options=options)))
    assert set(record.labels) == {"upos"}


def test_what_is_left_out_is_said(toy_bundle: Path, tmp_path: Path) -> None:
    path = gold_conllu(tmp_path / "gold.conllu", "upos")
    done = evaluate(toy_bundle, path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[0] == "UPOS"
    assert "ner" not in done.stdout
    assert f"{path}: no gold labels for lemma, dep, ner, mood, topics, length" in done.stderr


def test_a_table_is_scored_by_the_columns_that_it_has(toy_bundle: Path, tmp_path: Path) -> None:
    path = tmp_path / "gold.csv"
    rows = [f"{' '.join(r.words)},{r.labels['mood']},x\n" for r in toy_records(20)]
    path.write_text("text,mood,upos\n" + "".join(rows))
    done = evaluate(toy_bundle, path, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert {name.split(".")[0] for name in found["metrics"]} == {"mood"}
    assert found["left_out"] == {str(path): [task for task in KINDS if task != "mood"]}


@pytest.mark.parametrize("name", ["x.csv", "x.jsonl", "x.txt", "x.conllu"])
def test_gold_that_holds_nothing_is_refused(name: str, toy_bundle: Path, tmp_path: Path) -> None:
    row = "1\tcat" + "\t_" * 8
    texts = {"csv": "text,id\na,1\n", "jsonl": '{"text": "a"}\n', "txt": "a\n", "conllu": row}
    (tmp_path / name).write_text(texts[name.split(".")[1]])
    done = evaluate(toy_bundle, tmp_path / name)
    assert done.returncode == 2
    assert "no labels of this bundle's tasks" in done.stderr
    assert "hint: tasks: upos" in done.stderr
    assert done.stdout == ""


def test_a_recipe_cannot_take_labels_of_words_from_a_table(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("text,upos\na,NOUN\n")
    options = ReadOptions(tasks=("upos",), kinds={"upos": "tag"})
    with pytest.raises(InputError, match=r"x\.csv:1: 'upos' labels words"):
        list(read_records(tmp_path / "x.csv", options=options))
