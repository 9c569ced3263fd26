"""limbeck: distil an ensemble of transformer encoders, run the small model fast on a CPU.

`limbeck.load(bundle)` gives an annotator; `limbeck.run(recipe)` does the main job,
`limbeck.find_smallest(recipe)` the search. Importing this
package imports nothing else: each name is found when it is first used.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_PLACES = {
    "load": "limbeck.runtime.annotate",
    "Annotator": "limbeck.runtime.annotate",
    "AnnotateConfig": "limbeck.runtime.annotate",
    "Record": "limbeck.data.records",
    "Arc": "limbeck.data.records",
    "LimbeckError": "limbeck.errors",
    "run": "limbeck.runs.pipeline",
    "find_smallest": "limbeck.search.job",
}

__all__ = [*_PLACES, "__version__"]


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module 'limbeck' has no attribute {name!r}")
    return getattr(import_module(_PLACES[name]), name)
