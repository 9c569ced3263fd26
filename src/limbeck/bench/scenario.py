"""Scenarios: a race that can be repeated: which text, which peers, with which settings.

In:  a TOML file. It names peers and settings, never commands.
Out: frozen values; unknown keys are refused.
"""

import tomllib
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from limbeck.errors import ConfigError


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class SpacyPeer(_Strict):
    """A pipeline trained by spaCy's own command line."""

    peer: Literal["spacy"]
    model: str  # folder, from --models


class CTranslate2Peer(_Strict):
    """The bundle's own body, converted; BERT-like ones only."""

    peer: Literal["ctranslate2"]


class SentenceTransformersPeer(_Strict):
    """Frozen vectors and a linear head."""

    peer: Literal["sentence-transformers"]
    encoder: str
    backend: Literal["torch", "onnx", "openvino"] = "torch"


class Model2VecPeer(_Strict):
    """Static vectors distilled from an encoder, and a linear head."""

    peer: Literal["model2vec"]
    encoder: str


class SetFitPeer(_Strict):
    """An encoder fine-tuned on pairs, and a linear head."""

    peer: Literal["setfit"]
    encoder: str
    max_steps: Annotated[int, Field(gt=0)] = 200


class TfidfPeer(_Strict):
    """TF-IDF and logistic regression."""

    peer: Literal["tfidf"]


AnyPeer = Annotated[
    SpacyPeer | CTranslate2Peer | SentenceTransformersPeer | Model2VecPeer | SetFitPeer | TfidfPeer,
    Field(discriminator="peer"),
]
SCRIPTS = {
    "spacy": "spacy_words",
    "ctranslate2": "ctranslate2_words",
    "sentence-transformers": "sentence_transformers_texts",
    "model2vec": "model2vec_texts",
    "setfit": "setfit_texts",
    "tfidf": "tfidf_texts",
}
LEARNS = ("sentence-transformers", "model2vec", "setfit", "tfidf")  # need `train` and a task


class Scenario(_Strict):
    """One race."""

    text: str
    columns: dict[str, str | int] = {}
    train: str | None = None  # for peers that learn a head
    train_limit: Annotated[int, Field(gt=0)] | None = None
    task: str | None = None  # the text label that is compared
    rounds: Annotated[int, Field(gt=0)] = 5
    peer: list[AnyPeer] = []


def read_scenario(path: Path) -> Scenario:
    """Read and check a scenario."""
    try:
        scenario = Scenario.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError) as failure:
        raise ConfigError(f"{path}: cannot read the scenario") from failure
    except tomllib.TOMLDecodeError as failure:
        raise ConfigError(f"{path}: not TOML: {failure}") from failure
    except ValidationError as failure:
        error = failure.errors()[0]
        place = ".".join(str(part) for part in error["loc"])
        raise ConfigError(f"{path}: {place}: {error['msg']}") from failure
    for peer in scenario.peer:
        if peer.peer in LEARNS and (scenario.train is None or scenario.task is None):
            raise ConfigError(f"{path}: {peer.peer} learns a head and needs `train` and `task`")
    return scenario
