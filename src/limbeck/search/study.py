"""The journal: which candidate was tried on which rung, with what outcome, kept by optuna.

In:  candidates' names and measured values.
Out: what earlier processes of the same search have found; a kill loses only what was under way.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import TrialState


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """One candidate on one rung."""

    name: str
    margin: float  # over the worst of its floors, in points
    cost: float  # of what the search makes small


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """A candidate that could not be trained, exported or measured."""

    name: str
    reason: str


class Rung:
    """All trials of one rung: two objectives, margin up and cost down."""

    def __init__(self, path: Path, name: str, candidates: Sequence[str]) -> None:
        optuna.logging.set_verbosity(logging.WARNING)
        self._study = optuna.create_study(
            study_name=name,
            storage=JournalStorage(JournalFileBackend(str(path))),
            directions=["maximize", "minimize"],
            load_if_exists=True,
        )
        self._space: dict[str, BaseDistribution] = {
            "candidate": CategoricalDistribution(list(candidates))
        }
        for trial in self._study.get_trials(deepcopy=False):
            if not trial.state.is_finished():  # was under way when its process died
                self._study.tell(trial.number, state=TrialState.FAIL)

    def found(self) -> dict[str, Tried | Failed]:
        """Outcomes so far, in the order in which they came."""
        outcomes: dict[str, Tried | Failed] = {}
        for trial in self._study.get_trials(deepcopy=False):
            name = str(trial.params.get("candidate", ""))
            if trial.state == TrialState.COMPLETE:
                outcomes[name] = Tried(name=name, margin=trial.values[0], cost=trial.values[1])
            elif trial.state == TrialState.FAIL and "reason" in trial.user_attrs:
                outcomes[name] = Failed(name=name, reason=str(trial.user_attrs["reason"]))
        return outcomes

    def begin(self, name: str) -> int:
        """Say that a candidate is being tried."""
        self._study.enqueue_trial({"candidate": name})
        return int(self._study.ask(self._space).number)

    def end(self, number: int, outcome: Tried | Failed) -> None:
        """Say how it went."""
        match outcome:
            case Tried():
                self._study.tell(number, [outcome.margin, outcome.cost])
            case Failed():
                trial = optuna.trial.Trial(self._study, number)
                trial.set_user_attr("reason", outcome.reason)
                self._study.tell(number, state=TrialState.FAIL)
