"""Floors: what a student must keep of the ensemble, and whether it does, with what confidence.

In:  floors as a recipe writes them, outcomes of ensemble and student on the same records.
Out: verdicts. Pure: numbers in, numbers out.
The confidence is that of a paired bootstrap (Efron, 1979): records are drawn again and again, both
models are scored on the same draw, and the floor must hold in all but the worst few draws.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from limbeck.errors import ConfigError
from limbeck.search.outcomes import Draws, Outcome, all_once

N_DRAWS = 1_000
FORMS = '"99%" (share of the ensemble), "-0.5" (points lost), ">= 90" (points)'
_ROUNDING = 1e-9  # a student equal to the ensemble keeps "100%" and "-0"


@dataclass(frozen=True, slots=True, kw_only=True)
class Floor:
    """What must be kept of one task's main metric."""

    kind: Literal["share", "loss", "absolute"]
    value: float  # share in 0..1, points lost, or points
    text: str  # as the recipe has it

    def needed(self, ensemble: NDArray[np.float64]) -> NDArray[np.float64]:
        """The least that keeps the floor, in percent."""
        match self.kind:
            case "share":
                # of a negative correlation a share would be more than the whole
                return np.where(ensemble > 0, ensemble * self.value, ensemble)
            case "loss":
                return ensemble - self.value
            case "absolute":
                return np.full_like(ensemble, self.value)


def parse_floor(text: str, *, where: str) -> Floor:
    """Read "99%", "-0.5" or ">= 90"."""
    compact = text.replace(" ", "").replace("≥", ">=")
    found = re.fullmatch(r"(-|>=)?([0-9]+(?:\.[0-9]+)?)(%)?", compact)
    if found is None or bool(found.group(1)) == bool(found.group(3)):
        raise ConfigError(f"{where}: floor {text!r} is none", hint=f"forms: {FORMS}")
    value = float(found.group(2))
    if value > 100 or (found.group(3) and value == 0):
        raise ConfigError(
            f"{where}: floor {text!r} cannot be kept by any student or by all",
            hint=f"forms: {FORMS}",
        )
    if found.group(3):
        return Floor(kind="share", value=value / 100, text=text)
    return Floor(kind="loss" if found.group(1) == "-" else "absolute", value=value, text=text)


def floors_of(settings: Mapping[str, str], tasks: Sequence[str]) -> dict[str, Floor]:
    """A floor for every task that has one: its own, or the default."""
    for name in settings:
        if name != "default" and name not in tasks:
            raise ConfigError(
                f"floor of {name!r}: the recipe has no such task", hint=f"tasks: {', '.join(tasks)}"
            )
    floors: dict[str, Floor] = {}
    for task in tasks:
        text = settings.get(task, settings.get("default"))
        if text is not None:
            floors[task] = parse_floor(text, where=f"[student] floor.{task}")
    return floors


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One task of one student."""

    floor: Floor
    needed: float
    found: float
    margin: float  # found - needed
    low: float  # the margin that all but the worst draws reach
    interval: tuple[float, float]  # of `found`, two-sided at the same confidence

    @property
    def keeps(self) -> bool:
        return self.low >= -_ROUNDING


def judge(
    floor: Floor, ensemble: Outcome, student: Outcome, *, confidence: float, draws: Draws
) -> Verdict:
    """Compare on the same draws."""
    once = all_once(ensemble.n_records)
    needed = float(floor.needed(ensemble.of(once))[0])
    found = float(student.of(once)[0])
    drawn = student.of(draws)
    margins = drawn - floor.needed(ensemble.of(draws))
    tail = 100 * (1 - confidence)
    low, high = np.percentile(drawn, [tail / 2, 100 - tail / 2])
    return Verdict(
        floor=floor,
        needed=needed,
        found=found,
        margin=found - needed,
        low=min(found - needed, float(np.percentile(margins, tail))),
        interval=(float(low), float(high)),
    )


def make_draws(n_records: int, *, seed: int) -> Draws:
    """Bootstrap draws, the same for every model."""
    return np.random.default_rng([seed, n_records]).integers(
        0, max(1, n_records), size=(N_DRAWS, n_records)
    )


def halves(n_records: int, *, seed: int) -> tuple[list[int], list[int]]:
    """Positions for the search and for the final verdict: disjoint, drawn by the seed."""
    order = np.random.default_rng([seed, 2]).permutation(n_records).tolist()
    middle = (n_records + 1) // 2
    return sorted(order[:middle]), sorted(order[middle:])
