"""Result rows of studies that train: what one arm with one seed came to.

In:  what was measured.
Out: `ArmRow`, and its way to JSON and back.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from limbeck.errors import ConfigError
from limbeck.study.downstream import Tuned
from limbeck.study.held_out import Frequencies, HeldOut
from limbeck.study.order_heads import OrderFit
from limbeck.study.row_file import Row
from limbeck.study.step_cost import StepCost


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvePoint:
    """A probe while training."""

    step: int
    seconds: float
    piece_accuracy: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmRow:
    """One line of a study's rows."""

    study: str
    scale: str
    arm: str
    seed: int
    key: str  # of all settings and text: equal keys mean the same experiment
    order: str  # question about segments that it was trained with
    model: Mapping[str, Any]  # settings of the body
    n_parameters: int
    n_steps: int
    n_pieces: int
    seconds: float  # of training alone
    epochs: float
    held_out: Mapping[str, HeldOut]  # by the question about segments
    frequencies: Frequencies
    order_fits: Mapping[str, OrderFit]
    step_cost: StepCost | None
    tuned: tuple[Tuned, ...]
    curve: tuple[CurvePoint, ...]
    text: Mapping[str, Any]  # names of files, documents, pieces
    training: Mapping[str, Any]  # settings
    date: str
    command: str
    environment: Mapping[str, Any]

    @property
    def own(self) -> HeldOut:
        """Held-out rows of the kind that it was trained on."""
        return self.held_out[self.order]

    def of_step(self, value: Callable[[StepCost], float]) -> float | None:
        """Something of a step's cost, where that was measured."""
        return None if self.step_cost is None else value(self.step_cost)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def arm_row(row: Row, *, where: str) -> ArmRow:
    """Rebuild from JSON."""
    try:
        cost = row["step_cost"]
        return ArmRow(
            **{
                **row,
                "held_out": {kind: HeldOut(**it) for kind, it in row["held_out"].items()},
                "frequencies": Frequencies(**row["frequencies"]),
                "order_fits": {kind: OrderFit(**it) for kind, it in row["order_fits"].items()},
                "step_cost": None if cost is None else StepCost(**cost),
                "tuned": tuple(Tuned(**it) for it in row["tuned"]),
                "curve": tuple(CurvePoint(**it) for it in row["curve"]),
            }
        )
    except (KeyError, TypeError, AttributeError) as failure:
        raise ConfigError(
            f"{where}: no row of this study ({failure})",
            hint="delete the folder of the arm to have it done again",
        ) from failure


def row_name(row: Row) -> tuple[str, str, str, int, str]:
    """What tells rows of a file apart."""
    return row["study"], row["scale"], row["arm"], row["seed"], row["key"]
