"""Whether transformers can run a bundle's body, and what its rows are padded with."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from limbeck.bench.contestants import line_up
from limbeck.bench.stock import Head, no_pipeline, pad_token
from limbeck.bundle import Bundle, load_bundle
from limbeck.data.formats import ReadOptions


@pytest.fixture
def bundle_with(toy_bundle: Path, tmp_path: Path) -> Callable[[str], Bundle]:
    def make(body: str) -> Bundle:
        folder = tmp_path / body
        shutil.copytree(toy_bundle, folder)
        (folder / "backbone").mkdir()
        config = {"model_type": body, "hidden_size": 8, "num_attention_heads": 2, "vocab_size": 200}
        (folder / "backbone" / "config.json").write_text(json.dumps(config))
        return load_bundle(folder)

    return make


@pytest.mark.parametrize("head", ["token", "sequence"])
def test_a_body_of_transformers_own_can_be_run(
    bundle_with: Callable[[str], Bundle], head: Head
) -> None:
    assert no_pipeline(bundle_with("bert"), head) is None
    assert "limbeck-static" in str(no_pipeline(bundle_with("limbeck-static"), head))


def test_a_bundle_without_its_encoder_is_left_out(toy_bundle: Path) -> None:
    assert "ships without" in str(no_pipeline(load_bundle(toy_bundle), "token"))


def test_a_race_is_run_without_a_pipeline_that_cannot_be(
    bundle_with: Callable[[str], Bundle], tmp_path: Path
) -> None:
    text = tmp_path / "text.txt"
    text.write_text("The cat sees a dog .\n" * 3)
    field = line_up(bundle_with("limbeck-static"), text, ReadOptions(format="lines"), n_threads=1)
    names = [contestant.name for contestant in field.contestants]
    assert names[:2] == ["limbeck", "bare graph"]
    assert "transformers pipeline" not in names
    assert "limbeck-static" in field.absent["transformers pipeline"]


def test_padding_is_named_by_the_vocabulary(toy_bundle: Path) -> None:
    assert pad_token(load_bundle(toy_bundle)) == "[PAD]"
