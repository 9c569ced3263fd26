"""The ladder: candidate students, from the largest to the smallest.

In:  the sizes of the encoder to be made small.
Out: settings of students, each a complete description of one candidate. Pure: nothing is loaded.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from limbeck.config import AUTO_KEYS, StudentConfig, StudentModel

N_ANCHORS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """What the ladder must know of an encoder."""

    model: str  # as a recipe names it
    n_layers: int
    width: int
    n_heads: int
    can_slice: bool
    can_share: bool


def auto_ladder(base: Base, student: StudentConfig) -> list[StudentModel]:
    """Cut, shared and static students of `base`, by falling number of parameters in the body.

    All have a trimmed vocabulary: it costs no quality on the recipe's own text.
    """
    common = {"model": base.model, "trim_vocabulary": True} | {
        key: getattr(student, key) for key in AUTO_KEYS - {"base"}
    }
    found: list[StudentModel] = []
    depths = _depths(base.n_layers)
    for width in _widths(base) if base.can_slice else [base.width]:
        for depth in depths:
            whole = {"width": width} if width < base.width else {}
            part = {"layers": depth, "pick": "first"} if depth < base.n_layers else {}
            found.append(
                StudentModel.model_validate(
                    {**common, **whole, **part, "name": f"{depth}x{width}", "body": "cut"}
                )
            )
    if base.can_share:
        for depth in depths[:2]:
            for embedding in (128, 64):
                if embedding < base.width:
                    found.append(
                        StudentModel.model_validate(
                            {
                                **common,
                                "name": f"shared-{depth}x{base.width}-e{embedding}",
                                "body": "shared",
                                "layers": depth,
                                "embedding": embedding,
                            }
                        )
                    )
    for width in (256, 128, 64):
        found.append(
            StudentModel.model_validate(
                {**common, "name": f"static-{width}", "body": "static", "width": width}
            )
        )
    return sorted(found, key=lambda s: -body_parameters(s, base))


def _depths(n_layers: int) -> list[int]:
    """All, two thirds, a half, a third, ... and one."""
    wanted = {n_layers, n_layers * 2 // 3, n_layers // 2, n_layers // 3, n_layers // 6, 1}
    return sorted((d for d in wanted if d >= 1), reverse=True)


def _widths(base: Base) -> list[int]:
    """All of the width, two thirds and a half, in whole heads."""
    size = base.width // base.n_heads
    wanted = {base.n_heads, base.n_heads * 2 // 3, base.n_heads // 2}
    return sorted((n * size for n in wanted if n >= 1), reverse=True)


def body_parameters(student: StudentModel, base: Base) -> int:
    """Parameters between the piece vectors and the heads, about."""
    match student.body:
        case "cut":
            return (student.depth or base.n_layers) * layer_parameters(student.width or base.width)
        case "shared":
            return layer_parameters(base.width) + student.embedding * base.width
        case "static":
            width = student.width or 256
            return (student.depth or 1) * (2 * student.window + 1) * width**2


def layer_parameters(width: int) -> int:
    """Of a transformer layer whose intermediate size is four times its width."""
    return 12 * width**2


def operations(student: StudentModel, base: Base) -> int:
    """Multiplications and additions of one piece's forward pass through the body, about."""
    if student.body == "shared":
        return 2 * (student.depth or base.n_layers) * layer_parameters(base.width)
    return 2 * body_parameters(student, base)


def in_order(ladder: Sequence[StudentModel], n: int, *, seed: int) -> list[StudentModel]:
    """Which candidates are tried: spread ones first, then others as the seed draws them; from large
    to small, so that what a large one has learnt can start a smaller one.
    """
    n = min(n, len(ladder))
    anchors = np.linspace(0, len(ladder) - 1, min(n, N_ANCHORS)).round().astype(int).tolist()
    chosen = dict.fromkeys(anchors)
    for i in np.random.default_rng([seed, 3]).permutation(len(ladder)).tolist():
        if len(chosen) >= n:
            break
        chosen[i] = None
    return [ladder[i] for i in sorted(chosen)]


def rung_shares(n_candidates: int) -> list[tuple[float, int]]:
    """Successive halving by thirds (Jamieson & Talwalkar, 2016): how much of its training each
    candidate gets on a rung, and how many get there. The first costs a tenth, the last all.
    """
    middle = max(2, -(-n_candidates // 3))
    last = max(2, -(-n_candidates // 6))
    rungs = [(0.1, n_candidates)]
    if middle < n_candidates:
        rungs.append((1 / 3, middle))
    rungs.append((1.0, min(last, rungs[-1][1])))
    return rungs
