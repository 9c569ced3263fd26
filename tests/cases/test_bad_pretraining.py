"""What cannot be pretrained is refused in one line, before work begins where that can be."""

import json
from pathlib import Path

import pytest
from backbones import write_checkpoint
from raw_text import RECIPE, prepared, toy_text, write_toy

from limbeck.errors import ConfigError, ExitCode, InputError, LimbeckError
from limbeck.pretrain.pipeline import execute
from limbeck.pretrain.plan import prepare
from limbeck.progress import NoProgress

ONE_LINE = " ".join(toy_text(6).split("\n"))


@pytest.mark.parametrize(
    ("old", "new", "message", "hint"),
    [
        ("held_out", "heldout", "unknown key 'text.heldout'", "'held_out'"),
        ("steps = 6", "", "`steps` or `minutes`", ""),
        ("steps = 6", "steps = 6\nminutes = 3", "`steps` or `minutes`", ""),
        ("width = 32", "width = 33", "no multiple of its 2 heads", "heads"),
        ('"albert-base"', '"albert-bass"', "albert-bass", "albert-base"),
        ('"albert-base"', '"bert-base"', "ALBERT's alone", ""),
        ("length = 32", 'length = 32\norder = "sap"', "segments.order", ""),
        ("[training]", '[masks]\nunit = "pieces"\nlongest = 2\n[training]', "'longest'", ""),
        ('file = "words"', 'file = "words"\nsize = 99', "'size'", ""),
        ('file = "words"', 'file = "wards"', "no such vocabulary", "tokenizer.json"),
        ('"text.txt"', '"test.txt"', "test.txt: no such file", "--data"),
        ("[segments]", '[distil]\nteacher = "t"\n[segments]', "[model] or [distil]", ""),
    ],
)
def test_a_mistake_is_named(old: str, new: str, message: str, hint: str, tmp_path: Path) -> None:
    write_toy(tmp_path)
    assert old in RECIPE
    with pytest.raises(LimbeckError) as caught:
        prepared(tmp_path, RECIPE.replace(old, new, 1))
    assert caught.value.exit_code == ExitCode.WRONG_INPUT
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    ("text", "order", "message"),
    [
        ("", "sop", "the text is empty"),
        (ONE_LINE, "sop", "one document only: SOP is impossible"),
        (ONE_LINE, "nsp", "one document only: NSP is impossible"),
        (toy_text(3), "nsp", "3 documents are too few for NSP"),
        ("The cat.\nA dog.\nThe bird sees.\n", "sop", "too short for two segments"),
        ("The cat", "none", "one sentence"),
    ],
)
def test_text_that_cannot_be_learnt_from_is_refused(
    text: str, order: str, message: str, tmp_path: Path
) -> None:
    write_toy(tmp_path, text=text)
    recipe = RECIPE.replace("length = 32", f'length = 32\norder = "{order}"')
    with pytest.raises(InputError, match=message) as caught:
        execute(prepared(tmp_path, recipe), NoProgress(), command="test")
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "run" / "model").exists()


def test_one_document_is_enough_where_no_order_is_asked(tmp_path: Path) -> None:
    write_toy(tmp_path, text=ONE_LINE)
    recipe = RECIPE.replace("length = 32", 'length = 32\norder = "none"')
    execute(prepared(tmp_path, recipe), NoProgress(), command="test")


def test_a_vocabulary_without_a_mask_is_refused(tmp_path: Path) -> None:
    write_toy(tmp_path)
    path = tmp_path / "words" / "tokenizer.json"
    path.write_text(path.read_text("utf-8").replace("[MASK]", "[MISC]"), encoding="utf-8")
    with pytest.raises(ConfigError, match=r"no \[MASK\]") as caught:
        prepared(tmp_path)
    assert str(path) in str(caught.value)


def test_a_size_that_does_not_fit_is_refused_with_the_estimate(tmp_path: Path) -> None:
    write_toy(tmp_path)
    recipe = RECIPE.replace("layers = 2\nwidth = 32\nheads = 2\nembedding = 16\n", "")
    (tmp_path / "toy.toml").write_text(recipe.replace("albert-base", "albert-xxlarge"))
    with pytest.raises(ConfigError, match=r"needs about \d+\.\d GB .* 4\.0 GB are free") as caught:
        prepare(tmp_path / "toy.toml", root=None, models=None, run=None, free_bytes=4_000_000_000)
    assert "max_padded_pieces" in caught.value.hint


DISTIL = RECIPE.replace('[vocabulary]\nfile = "words"\n', "").replace(
    "length = 32", 'length = 32\norder = "none"'
)
DISTIL = DISTIL[: DISTIL.index("[model]")] + (
    '[distil]\nteacher = "teacher"\n' + DISTIL[DISTIL.index("[segments]") :]
)


def test_a_teacher_of_another_architecture_is_refused(tmp_path: Path) -> None:
    write_toy(tmp_path)
    write_checkpoint("mpnet", tmp_path / "teacher")
    with pytest.raises(ConfigError, match="another architecture: mpnet") as caught:
        prepared(tmp_path, DISTIL)
    assert "bert" in caught.value.hint


def test_a_teacher_without_its_head_is_refused(tmp_path: Path) -> None:
    write_toy(tmp_path)
    write_checkpoint("bert", tmp_path / "teacher")
    with pytest.raises(ConfigError, match="cannot predict hidden pieces"):
        execute(prepared(tmp_path, DISTIL), NoProgress(), command="test")


def test_a_teacher_has_its_own_vocabulary_and_no_order(tmp_path: Path) -> None:
    write_toy(tmp_path)
    with pytest.raises(ConfigError, match="its teacher's vocabulary"):
        prepared(tmp_path, DISTIL.replace("[distil]", '[vocabulary]\nfile = "words"\n[distil]'))
    with pytest.raises(ConfigError, match="no sentence order"):
        prepared(tmp_path, DISTIL.replace('"none"', '"sop"'))
    write_checkpoint("bert", tmp_path / "teacher")
    about = json.loads((tmp_path / "teacher" / "config.json").read_text("utf-8"))
    about["max_position_embeddings"] = 20
    (tmp_path / "teacher" / "config.json").write_text(json.dumps(about), encoding="utf-8")
    with pytest.raises(ConfigError, match="20 pieces at most"):
        prepared(tmp_path, DISTIL)
