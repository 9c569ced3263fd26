"""The report: everything that both the page and the Markdown say, in its order.

In:  `RunRows` and a title.
Out: `Report`: text, tables and plots, without any markup.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from limbeck.report.environments import environment_tables, facts_table
from limbeck.report.models import Model, main_metrics, models_of
from limbeck.report.plots import MARK_NAMES, Mark, Plot, make_plot, marks_in
from limbeck.report.rows import Confusion, RunRows
from limbeck.report.tables import (
    Table,
    attempts,
    floors_table,
    int8_table,
    models_table,
    other_metrics_table,
    plot_table,
)
from limbeck.report.verdict import quality_name, summary, with_nearest
from limbeck.report.wording import counted

N_CONFUSIONS = 3  # the largest tell enough; the rows keep all


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """Quality against size and against speed, and the same as data."""

    title: str
    plots: tuple[Plot, ...]
    data: Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Confused:
    """What one model mixes up more often than the ensemble."""

    label: str
    confusions: tuple[Confusion, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sign:
    """A line of the legend."""

    mark: Mark
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The whole content."""

    title: str
    summary: tuple[str, ...]
    view: View
    views: tuple[View, ...]  # the same for each metric, where there are several
    legend: tuple[Sign, ...]
    speeds: str
    models: Table
    given_up: Table | None
    floors: Table | None
    other_metrics: Table | None
    int8: Table | None
    attempts: tuple[str, ...]
    confused: tuple[Confused, ...]
    confused_others: tuple[Confused, ...]
    facts: Table
    environments: tuple[Table, ...]


SPEEDS = (
    "Sentences/s of teachers, the ensemble, students and twins are PyTorch in fp32, sorted by "
    "length, the network alone; the ensemble's members run one after another. Those of bundles and "
    "candidates are end to end in the engine that users get."
)


def make_report(rows: RunRows, *, title: str) -> Report:
    """Lay out the content."""
    models = with_nearest(models_of(rows))
    names = main_metrics(models)
    given_up = [m for m in models if m.verdict in ("pruned", "failed") and m.standing == "other"]
    others = [m for m in models if m not in given_up]
    view = _view(models, names, "all")
    views = tuple(_view(models, (name,), f"m{i}") for i, name in enumerate(names))
    first = [model for model in models if model.standing != "other"]
    return Report(
        title=title,
        summary=summary(models, names),
        view=view,
        views=views if len(names) > 1 else (),
        legend=tuple(Sign(mark=m, name=MARK_NAMES[m]) for m in marks_in(view.plots)),
        speeds=SPEEDS,
        models=models_table(
            others or models,
            names,
            "All models: scores on dev in percent, with the 95 % interval where there is one; "
            "twin: the same model not distilled",
        ),
        given_up=models_table(
            given_up,
            names,
            f"{counted(len(given_up), 'candidate', 'candidates')} pruned early or failed",
        )
        if given_up and others
        else None,
        floors=floors_table(models),
        other_metrics=other_metrics_table(models, names),
        int8=int8_table(models, names),
        attempts=attempts(models),
        confused=_confused(first),
        confused_others=_confused([m for m in models if m not in first]),
        facts=facts_table(rows),
        environments=environment_tables(models),
    )


def _view(models: Sequence[Model], names: Sequence[str], key: str) -> View:
    plots = (
        make_plot(models, names, cost="size", key=f"{key}-size"),
        make_plot(models, names, cost="speed", key=f"{key}-speed"),
    )
    return View(title=quality_name(names), plots=plots, data=plot_table(models, names, plots))


def _confused(models: Sequence[Model]) -> tuple[Confused, ...]:
    return tuple(
        Confused(
            label=model.label,
            confusions=tuple(
                sorted(model.confusions, key=lambda c: c.n_more, reverse=True)[:N_CONFUSIONS]
            ),
        )
        for model in models
        if model.confusions
    )
