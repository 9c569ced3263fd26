"""The model card: front matter that the hub reads, with the numbers of the row."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from huggingface_hub import ModelCard

from limbeck.config import Recipe, parse_recipe
from limbeck.errors import ConfigError
from limbeck.runs.card import model_card
from limbeck.runs.plan import TextHashes, plan_run

METRICS = {
    "UPOS": 96.226,
    "LAS": 85.5,
    "UAS": 88.25,
    "CLAS": 81.1,
    "ner.f1": 70.9,
    "mood.accuracy": 72.5,
    "mood.matthews": 44.125,
}
EVIDENCE: dict[str, Any] = {
    "metrics": METRICS,
    "reference": {name: value + 0.25 for name, value in METRICS.items() if name != "UAS"},
    "shipped": "int8",
    "n_parameters": 19_632_015,
    "size_mb": 20.659,
    "sentences_per_second": 1650.1,
    "environment": {"cpu": "Toy CPU", "n_threads": 2},
}
RECIPE = """
name = "toy"
[[corpus]]
train = "somewhere/deep/train.conllu"
dev = "somewhere/deep/dev #1: 'x'.conllu"
tasks = ["upos", "dep"]
[[corpus]]
train = "hub:owner/moods/en:train"
dev = "hub:owner/moods/en:validation"
tasks = ["mood"]
[[corpus]]
train = "somewhere/deep/train.bio"
dev = "somewhere/deep/dev.bio"
tasks = ["ner"]
[[teacher]]
model = "bert"
[student]
[[student.ladder]]
name = "small"
model = "bert"
"""


def recipe(card: str = "") -> Recipe:
    return parse_recipe(RECIPE + card, where="toy.toml")


def front_matter(card: str) -> dict[str, Any]:
    empty, front, _ = card.split("---\n", 2)
    assert empty == ""
    found: dict[str, Any] = yaml.safe_load(front)
    return found


def test_every_metric_of_the_row_is_in_the_model_index() -> None:
    found = front_matter(model_card("toy-small", recipe(), EVIDENCE))
    (index,) = found["model-index"]
    assert index["name"] == "toy-small"
    metrics = {
        metric["name"]: (metric["value"], metric["type"], result["task"], result["dataset"])
        for result in index["results"]
        for metric in result["metrics"]
    }
    assert metrics.keys() == {f"{name}, percent" for name in METRICS}
    for name, value in METRICS.items():
        assert metrics[f"{name}, percent"][0] == pytest.approx(value, abs=0.0051)
    _, kind, task, source = metrics["mood.matthews, percent"]
    assert kind == "matthews_correlation"
    assert task == {"type": "text-classification"}
    assert source == {"type": "owner/moods", "name": "owner/moods", "split": "validation"}
    _, kind, task, source = metrics["CLAS, percent"]
    assert (kind, task) == ("f1", {"type": "token-classification"})
    assert source == {"type": "dev #1: 'x'.conllu", "name": "development text of toy"}
    assert metrics["ner.f1, percent"][3]["type"] == "dev.bio"
    assert found["library_name"] == "limbeck"
    assert found["datasets"] == ["owner/moods"]
    assert {"distillation", "onnx", "cpu", "int8"} <= set(found["tags"])


def test_licence_and_language_are_told_where_known_and_never_guessed() -> None:
    found = front_matter(model_card("a", recipe(), EVIDENCE))
    assert found["license"] == "unknown"
    assert "language" not in found
    assert "pipeline_tag" not in found, "there are two kinds of tasks"
    known = recipe('[card]\nlicense = "apache-2.0"\nlanguage = ["en", "no"]\n')
    card = model_card("a", known, EVIDENCE)
    assert front_matter(card)["license"] == "apache-2.0"
    assert front_matter(card)["language"] == ["en", "no"], "no is a language, not a truth value"
    assert "apache-2.0, as the recipe says" in card


def test_the_hubs_own_reader_understands_the_card(tmp_path: Path) -> None:
    path = tmp_path / "README.md"
    path.write_text(model_card("toy-small", recipe(), EVIDENCE), encoding="utf-8")
    card = ModelCard.load(path)
    assert card.data.library_name == "limbeck"
    assert {result.metric_value for result in card.data.eval_results} == {
        round(value, 2) for value in METRICS.values()
    }


def test_the_text_has_every_number_and_says_what_is_missing() -> None:
    slow = {key: value for key, value in EVIDENCE.items() if key != "sentences_per_second"}
    card = model_card("toy-small", recipe(), EVIDENCE)
    for name, value in METRICS.items():
        assert f"| {name} | {value:.2f} |" in card
    assert "| UAS | 88.25 | not measured |" in card
    assert "1,650 sentences/s" in card
    assert "## Speed\n\nNot measured.\n" in model_card("a", recipe(), slow)
    assert "somewhere" not in card, "folders are the machine's"
    assert "nan" not in card


@pytest.mark.parametrize("card", ['license = "Apache 2"', 'language = ["English"]', "licence = 1"])
def test_a_wrong_card_section_is_refused(card: str) -> None:
    with pytest.raises(ConfigError, match="card"):
        recipe(f"[card]\n{card}\n")


def test_only_a_recipe_that_says_something_for_the_card_renames_its_bundles() -> None:
    text = TextHashes(labelled="a", unlabelled="b", labels={})
    plans = [
        plan_run(recipe(card), text, {"bert": "m"}).students[0]
        for card in ("", "[card]\n", '[card]\nlicense = "mit"\n')
    ]
    assert plans[0].bundle.key == plans[1].bundle.key != plans[2].bundle.key
    assert len({plan.stage.key for plan in plans}) == 1
