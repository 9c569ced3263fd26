"""Engines: what runs a graph.

In:  a graph and options.
Out: an `Engine`; named arrays for a batch. Which engines there are is decided here, once.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, Protocol, assert_never

from limbeck.data.pieces import Batch
from limbeck.errors import EngineError
from limbeck.tasks.base import Floats

EngineName = Literal["ort", "openvino"]
EngineChoice = Literal["auto", "ort", "openvino"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineOptions:
    """How an engine may use the machine."""

    n_threads: int  # in all
    n_workers: int = 1  # batches in flight
    key: str | None = None  # names the graph's content; None: what is compiled is not kept


class Engine(Protocol):
    """Law: a row's outputs do not depend on its batch or padding. `run` may be called by
    `n_workers` threads at once.
    """

    @property
    def name(self) -> EngineName: ...

    def run(self, batch: Batch) -> dict[str, Floats]: ...


def installed_engines() -> tuple[EngineName, ...]:
    """Engines that can be opened here, the preferred one first."""
    found: list[EngineName] = []
    if find_spec("openvino") is not None:
        found.append("openvino")
    if find_spec("onnxruntime") is not None:
        found.append("ort")
    return tuple(found)


def pick_engine(choice: EngineChoice) -> EngineName:
    """OpenVINO where it is installed, as it runs int8 twice as fast; else ONNX Runtime."""
    match choice:
        case "auto":
            return "openvino" if find_spec("openvino") is not None else "ort"
        case "ort" | "openvino":
            return choice
        case _:
            assert_never(choice)


def check_inputs(names: Sequence[str], graph: Path) -> None:
    """Refuse a graph that asks for what no batch has."""
    known = {field.name for field in fields(Batch)} - {"n_words"}
    for name in names:
        if name not in known:
            raise EngineError(f"{graph}: input {name!r} is none of {', '.join(sorted(known))}")


def open_engine(name: EngineName, graph: Path, options: EngineOptions) -> Engine:
    """Load a graph into an engine."""
    match name:
        case "ort":
            from limbeck.runtime.ort import OrtEngine

            return OrtEngine(graph, options)
        case "openvino":
            if find_spec("openvino") is None:
                raise EngineError(
                    "engine 'openvino' is not installed",
                    hint="pip install 'limbeck[openvino]', or use --engine ort",
                )
            from limbeck.runtime.openvino import OpenVinoEngine

            return OpenVinoEngine(graph, options)
        case _:
            assert_never(name)
