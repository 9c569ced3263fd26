"""Quantise: fp32 graph -> int8 QDQ graph with fixed scales, if no task loses too much.

In:  model.onnx, calibration batches, and a way to score a graph on dev.
Out: the graph to ship and a `Quantised` that says what was tried and what it cost.
Scales are fixed by calibration, so an answer does not depend on its batch or padding; one file
runs in every engine.
"""

import io
import logging
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import onnx

from limbeck.compress.slim import shares_weights, slim
from limbeck.data.pieces import Batch
from limbeck.errors import StageError

_ON_THE_WAY = ("Add", "Mul", "Div", "Where", "IsNaN")  # scale and mask, between product and softmax

Attempt = Literal["int8", "int8-mixed", "fp32"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One graph and its dev metrics."""

    attempt: Attempt
    n_kept_fp32: int  # matrix products left in fp32
    metrics: Mapping[str, float]
    largest_loss: float  # points, over the main metrics of all tasks


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantised:
    """What was shipped and what was refused."""

    shipped: Attempt
    trials: tuple[Trial, ...]


Score = Callable[[Path], Mapping[str, float]]


def quantise(
    source: Path,
    target: Path,
    calibration: Sequence[Batch],
    *,
    score: Score,
    main_metrics: Sequence[str],
    reference: Mapping[str, float],
    max_loss: float,
    scratch: Path,
) -> Quantised:
    """Ship int8 if it passes; else int8 with sensitive layers in fp32; else fp32."""
    trials: list[Trial] = []

    def judge(path: Path, attempt: Attempt, n_kept: int) -> bool:
        metrics = score(path)
        loss = max(reference[name] - metrics[name] for name in main_metrics)
        trials.append(
            Trial(attempt=attempt, n_kept_fp32=n_kept, metrics=metrics, largest_loss=loss)
        )
        return loss <= max_loss

    whole = scratch / "int8.onnx"
    to_int8(source, whole, calibration, keep_fp32=())
    if judge(whole, "int8", 0):
        shutil.copyfile(whole, target)
        return Quantised(shipped="int8", trials=tuple(trials))
    for keep in sensitive_groups(source):
        mixed = scratch / "mixed.onnx"
        try:
            to_int8(source, mixed, calibration, keep_fp32=keep)
        except StageError:  # some scales must be alike, and are not if these products are left out
            continue
        if judge(mixed, "int8-mixed", len(keep)):
            shutil.copyfile(mixed, target)
            return Quantised(shipped="int8-mixed", trials=tuple(trials))
    shutil.copyfile(source, target)
    judge(source, "fp32", 0)
    return Quantised(shipped="fp32", trials=tuple(trials))


def sensitive_groups(graph: Path) -> list[tuple[str, ...]]:
    """Products to keep in fp32, the likeliest culprits first, each group larger than the last.

    Attention multiplies what it computed itself, softmax among it; it has no weights, so that fp32
    costs no byte and little time. Heads end in logits, where a small error flips a label; after
    them the last products of the body, whose inputs have the outliers.
    """
    model = onnx.load(str(graph), load_external_data=False)
    weights = {tensor.name for tensor in model.graph.initializer}
    products = [n for n in model.graph.node if n.op_type in ("MatMul", "Gemm")]
    weighted = [n.name for n in products if weights.intersection(n.input)]
    attention = _attention(model.graph)
    n_heads = max(1, len(weighted) // 6)
    heads, bodies = tuple(weighted[-n_heads:]), weighted[:-n_heads]
    later = tuple(bodies[len(bodies) // 2 :])
    groups = [attention, attention + heads, attention + heads + later]
    return [group for group in groups if group]


def _attention(graph: onnx.GraphProto) -> tuple[str, ...]:
    """Names of the products before and after each softmax, in the order of the graph."""
    maker = {output: node for node in graph.node for output in node.output}
    found: set[str] = set()
    seen: set[str] = set()  # what comes of a softmax
    for node in graph.node:
        if node.op_type == "Softmax":
            seen.update(node.output)
            before = maker.get(node.input[0])
            while before is not None and before.op_type in _ON_THE_WAY:
                before = next((maker[i] for i in before.input if i in maker), None)
            if before is not None and before.op_type == "MatMul":
                found.add(before.name)
        elif seen.intersection(node.input):
            if node.op_type == "MatMul":
                found.add(node.name)
            elif node.op_type in _ON_THE_WAY:
                seen.update(node.output)
    return tuple(node.name for node in graph.node if node.name in found)


def weights_on_the_left(graph: onnx.GraphProto) -> list[str]:
    """Products whose first operand is constant, as the mix of layers is.

    With more than one stream OpenVINO (2026.4) computes wrong numbers from them in int8. They are
    a thousandth of the work.
    """
    constant = {tensor.name for tensor in graph.initializer}
    found: list[str] = []
    for node in graph.node:
        if all(name in constant for name in node.input):
            constant.update(node.output)
        elif node.op_type == "MatMul" and node.input[0] in constant:
            found.append(node.name)
    return found


def to_int8(
    source: Path, target: Path, calibration: Sequence[Batch], *, keep_fp32: Sequence[str]
) -> None:
    """Quantise with nncf; `keep_fp32` names nodes to leave alone, besides the mix of layers."""
    import nncf

    logging.getLogger("nncf").setLevel(logging.ERROR)
    model = onnx.load(str(source))
    names = [i.name for i in model.graph.input]
    inputs = [{name: getattr(batch, name) for name in names} for batch in calibration]
    left_alone = [*keep_fp32, *weights_on_the_left(model.graph)]
    try:
        with redirect_stdout(io.StringIO()):  # it draws bars there; stdout is for data
            small = nncf.quantize(
                model,
                nncf.Dataset(inputs),
                model_type=nncf.ModelType.TRANSFORMER,
                preset=nncf.QuantizationPreset.MIXED,
                subset_size=len(inputs),
                advanced_parameters=nncf.AdvancedQuantizationParameters(
                    # smoothing scales a shared weight anew for each of its readers
                    smooth_quant_alphas=nncf.AdvancedSmoothQuantParameters(matmul=-1)
                )
                if shares_weights(model)
                else None,
                ignored_scope=nncf.IgnoredScope(names=left_alone) if left_alone else None,
            )
    except Exception as failure:
        raise StageError(f"int8: nncf refused the graph ({failure})") from failure
    onnx.save(slim(small), str(target))
