"""Stock: whether transformers itself can run a bundle's body, for the peers that would use it so.

In:  a bundle, the name of a transformers mapping from bodies to classes.
Out: why it cannot, with the remedy where there is one; the tokenizer's padding.
"""

import json
from importlib.util import find_spec
from typing import Literal

from limbeck.bundle import Bundle
from limbeck.data.vocabulary import load_tokenizer

Head = Literal["token", "sequence"]


def no_pipeline(bundle: Bundle, head: Head) -> str | None:
    """Why a pipeline cannot run the body of this bundle; None: it can."""
    if find_spec("torch") is None or find_spec("transformers") is None:
        return "pip install 'limbeck[train]'"
    config = bundle.folder / "backbone" / "config.json"
    if not config.is_file():
        return "this bundle ships without its fp32 backbone"
    from transformers.models.auto import modeling_auto

    known = {
        "token": modeling_auto.MODEL_FOR_TOKEN_CLASSIFICATION_MAPPING_NAMES,
        "sequence": modeling_auto.MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES,
    }[head]
    body = json.loads(config.read_text(encoding="utf-8"))["model_type"]
    return None if body in known else f"transformers has no {head} classifier with a {body} body"


def pad_token(bundle: Bundle) -> str:
    """What the bundle's tokenizer pads with, as text: vocabularies differ."""
    return str(load_tokenizer(bundle.folder / "tokenizer.json").id_to_token(bundle.pad_id))
