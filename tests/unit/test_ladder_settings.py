"""What a recipe says of an automatic ladder reaches its students; a list says it of each."""

import pytest
from pydantic import ValidationError

from limbeck.config import AUTO_KEYS, StudentConfig
from limbeck.search.ladder import Base, auto_ladder


def test_all_of_an_automatic_ladder_learn_as_the_recipe_says() -> None:
    base = Base(model="bert", n_layers=4, width=64, n_heads=4, can_slice=True, can_share=True)
    said = {"epochs": 7, "rate": 0.01, "hard": 0.25, "temperature": 2.0, "states": 1.0}
    config = StudentConfig.model_validate({"ladder": "auto", "floor": {"default": "9%"}, **said})
    for student in auto_ladder(base, config):
        assert {key: getattr(student, key) for key in said} == said
        assert student.model == "bert"


@pytest.mark.parametrize("key", sorted(AUTO_KEYS))
def test_a_list_of_students_refuses_what_only_an_automatic_ladder_reads(key: str) -> None:
    value = "bert" if key == "base" else 0.5 if key in ("rate", "states", "hard") else 2
    listed = {"ladder": [{"name": "s", "model": "bert"}], key: value}
    with pytest.raises(ValidationError, match=f"'{key}' goes with ladder"):
        StudentConfig.model_validate(listed)
