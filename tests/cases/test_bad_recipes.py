"""Every mistake in a recipe is refused with one line that says what, where and how to mend it."""

from pathlib import Path

import pytest

from limbeck.config import parse_recipe, read_recipe
from limbeck.errors import ConfigError

GOOD = """
name = "r"
[[corpus]]
train = "a.tsv"
dev = "b.tsv"
tasks = ["intent"]
[[teacher]]
model = "x"
[student]
[[student.ladder]]
name = "s"
model = "x"
"""


def test_a_good_recipe_has_its_defaults() -> None:
    recipe = parse_recipe(GOOD, where="r.toml")
    assert recipe.teacher[0].seeds == [1]
    assert recipe.compress.max_loss == 0.3


@pytest.mark.parametrize(
    ("old", "new", "message", "hint"),
    [
        ('dev = "b.tsv"', 'dew = "b.tsv"', "unknown key 'corpus 1.dew'", "'dev'"),
        ("[[teacher]]", "[[teachers]]", "unknown key 'teachers'", "'teacher'"),
        (
            'model = "x"\n[student]',
            'model = "x"\nepoch = 3\n[student]',
            "teacher 1.epoch",
            "epochs",
        ),
        ('model = "x"\n[student]', 'model = "x"\nepochs = 0\n[student]', "greater than 0", ""),
        ('model = "x"\n[student]', 'model = "x"\nepochs = "3"\n[student]', "valid integer", ""),
        ('model = "x"\n[student]', 'model = "x"\nrate = nan\n[student]', "(found nan)", ""),
        ('tasks = ["intent"]', "tasks = []", "at least 1 item", ""),
        ('tasks = ["intent"]', 'tasks = ["../x"]', "pattern", ""),
        ('name = "r"', 'name = "r', "not TOML", ""),
        ('name = "r"', "", "'name' is missing", ""),
        ('name = "s"', 'name = "s"\npick = "middle"', "first", ""),
        ('name = "s"', 'name = "s"\npicks = "first"', "student.ladder 1.picks", "pick"),
        ('name = "s"', 'name = "s"\nbody = "static"\nffn = 4', "'ffn' does not go with", ""),
        ("[student]", '[student]\nminimise = "size"', "without a floor", ""),
        ("[student]", "[student]\nconfidence = 2.0", "less than 1", ""),
        ("[[teacher]]", "[teacher]", "teacher: Input should be a valid list", "[[teacher]]"),
        ('tasks = ["intent"]', 'tasks = "intent"', "corpus 1.tasks", 'tasks = ["intent"]'),
        (
            'tasks = ["intent"]',
            'tasks = ["intent"]\ncolumns = { text = 1, intend = 2 }',
            "corpus 1: no task or text is called 'intend'; did you mean 'intent'?",
            "",
        ),
        ('name = "s"', 'name = "s"\nlayers = "two"', "student.ladder 1.layers:", ""),
        ("[[student.ladder]]", "", "unknown key 'student.name'", "under [[student.ladder]]"),
    ],
)
def test_a_mistake_is_named(old: str, new: str, message: str, hint: str) -> None:
    assert old in GOOD
    with pytest.raises(ConfigError, match=r"r\.toml") as caught:
        parse_recipe(GOOD.replace(old, new, 1), where="r.toml")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert hint in caught.value.hint


def test_a_recipe_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot read"):
        read_recipe(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_bytes(b"name = '\xff'")
    with pytest.raises(ConfigError, match="not UTF-8"):
        read_recipe(tmp_path / "bad.toml")
