"""Every recipe in examples/ and the demo's are valid and lay out their stages."""

import re
from pathlib import Path

import pytest

from limbeck.config import read_recipe
from limbeck.data.corpora import task_kinds
from limbeck.pretrain.config import read_pretrain_recipe
from limbeck.pretrain.students import model_config, sizes_of
from limbeck.runs.plan import TextHashes, plan_run
from limbeck.search.floor import floors_of

ROOT = Path(__file__).parents[2]
RECIPES = [*sorted((ROOT / "examples").glob("*.toml")), ROOT / "src/limbeck/demo/demo.toml"]


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_it_can_be_planned(path: Path) -> None:
    recipe = read_recipe(path)
    models = {t.model: "t" for t in recipe.teacher}
    models |= {s.model: "s" for s in recipe.student.listed}
    floors_of(recipe.student.floor, list(task_kinds(recipe)))
    text = TextHashes(labelled="a", unlabelled="b", labels={})
    plan = plan_run(recipe, text, models)
    names = [stage.folder_name for stage in plan.stages()]
    assert len(set(names)) == len(names)
    assert len(plan.teachers) == sum(len(t.seeds) for t in recipe.teacher)


def test_what_is_said_to_serve_again_does() -> None:
    plans = {}
    texts = {path.stem: path.read_text("utf-8") for path in RECIPES}
    for path in RECIPES:
        recipe = read_recipe(path)
        models = {t.model: t.model for t in recipe.teacher}
        models |= {s.model: s.model for s in recipe.student.listed}
        # what the text hashes are made of
        given = [recipe.seed, *(c.model_dump_json() for c in recipe.corpus)]
        text = TextHashes(labelled=str(given), unlabelled=str(recipe.unlabelled), labels={})
        plans[path.stem] = plan_run(recipe, text, models)
    again = {name: re.findall(r"folder of (\S+)\.toml", text) for name, text in texts.items()}
    assert sum(map(len, again.values())) >= 4
    for name, bases in again.items():
        for base in bases:
            assert plans[name].teachers == plans[base].teachers, name
            assert plans[name].targets == plans[base].targets, name


@pytest.mark.parametrize(
    "path", sorted((ROOT / "examples/pretrain").glob("*.toml")), ids=lambda path: path.stem
)
def test_it_can_be_pretrained(path: Path) -> None:
    recipe = read_pretrain_recipe(path)
    assert recipe.model is not None
    size = recipe.learnt_vocabulary.size
    config = model_config(recipe, recipe.model, vocabulary=size, pad_id=0)
    assert config.hidden_size == sizes_of(recipe.model).width
    assert config.max_position_embeddings == recipe.segments.length


def test_the_demos_text_is_as_large_and_as_hard_as_it_says() -> None:
    folder = ROOT / "src/limbeck/demo"
    rows = [
        line.split("\t")
        for part in ("train", "dev")
        for line in (folder / f"messages_{part}.tsv").read_text("utf-8").splitlines()[1:]
    ]
    assert len(rows) >= 1_000
    assert len({text.lower() for text, _, _ in rows}) == len(rows)
    assert len({intent for _, intent, _ in rows}) == 12
    assert sum(kind != "plain" for _, _, kind in rows) >= len(rows) / 3
    n_sentences = sum(
        (folder / f"sentences_{part}.conllu").read_text("utf-8").count("# sent_id")
        for part in ("train", "dev")
    )
    assert n_sentences >= 300
