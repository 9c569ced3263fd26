"""Models by name: from a folder, from the hub's local cache, or from the hub, asked once.

In:  what a recipe's `model` was resolved to, and how transformers loads what is wanted of it.
Out: what was loaded, or one line that says how to get it. The hub's own library asks for half a
minute before it says that there is no network, so a short question goes before it.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from transformers import AutoConfig, PretrainedConfig

from limbeck.errors import ConfigError, first_line

ASK_SECONDS = 10.0

T = TypeVar("T")


def load_named(reference: str, load: Callable[[bool], T]) -> T:
    """Call `load(local_files_only)`, with True wherever that is enough."""
    try:
        if Path(reference).is_dir():
            return load(True)
        try:
            return load(True)
        except OSError:  # not in the cache, or not all of it
            _ask_hub(reference)
            return load(False)
    except (OSError, ValueError, KeyError, ImportError) as failure:
        raise _unreachable(reference, failure) from failure


def read_config(reference: str) -> PretrainedConfig:
    """Sizes and family of a model, without its weights."""
    return load_named(
        reference,
        lambda is_local: AutoConfig.from_pretrained(
            reference, trust_remote_code=False, local_files_only=is_local
        ),
    )


def _ask_hub(reference: str) -> None:
    from huggingface_hub import HfApi

    try:
        HfApi().model_info(reference, timeout=ASK_SECONDS)
    except Exception as failure:  # of whichever library carries its requests
        raise _unreachable(reference, failure) from failure


def _unreachable(reference: str, failure: Exception) -> ConfigError:
    return ConfigError(
        f"model {reference!r} is neither a folder nor reachable on the hub ({first_line(failure)})",
        hint="offline: copy the model's folder (config.json, model.safetensors, "
        "tokenizer.json) here and name that folder",
    )
