"""Where the numbers come from: machines, versions, seeds, recipes, commands.

In:  models and rows.
Out: tables of settings, one for each distinct environment.
"""

import json
from collections.abc import Iterable, Mapping, Sequence

from limbeck.report.fields import printable
from limbeck.report.models import Model
from limbeck.report.rows import Candidate, ModelRow, RunRows
from limbeck.report.tables import Cell, Column, Row, Table
from limbeck.report.wording import NOT_RECORDED, counted, listed, quantity

NAMES = {
    "cpu": "processor",
    "features": "instruction sets",
    "n_cpus": "processors",
    "n_threads": "threads",
    "python": "Python",
    "system": "system",
    "versions": "versions",
}
COLUMNS = (Column(name="what", is_number=False), Column(name="value", is_number=False))


def environment_tables(models: Sequence[Model]) -> tuple[Table, ...]:
    """Models that share an environment share a table."""
    groups: dict[str, list[Model]] = {}
    for model in models:
        if model.environment:
            key = json.dumps(model.environment, sort_keys=True)
            groups.setdefault(key, []).append(model)
    return tuple(
        Table(
            caption=_caption(group, n_groups=len(groups)),
            columns=COLUMNS,
            rows=tuple(
                _row(NAMES.get(key, key), _said(value))
                for key, value in group[0].environment.items()
            ),
        )
        for group in groups.values()
    )


def facts_table(rows: RunRows) -> Table:
    """What makes the run repeatable."""
    both: tuple[ModelRow | Candidate, ...] = (*rows.models, *rows.candidates)
    seeds = [str(row.seed) for row in both if row.seed is not None]
    hashes = [row.recipe_hash for row in both if row.recipe_hash]
    commands = [row.command for row in both if row.command]
    return Table(
        caption="What makes the run repeatable",
        columns=COLUMNS,
        rows=(
            _row("seeds", _distinct(seeds)),
            _row("recipe hash", _distinct(hashes)),
            _row("command", _distinct(commands)),
            *(
                _row(f"the whole of {row.name}", f"{quantity(row.seconds)} s")
                for row in rows.models
                if row.kind == "run" and row.seconds is not None
            ),
        ),
    )


def _caption(group: Sequence[Model], *, n_groups: int) -> str:
    if n_groups == 1:
        return "The environment of all models that name one"
    names = listed([model.label for model in group])
    return f"The environment of {counted(len(group), 'model', 'models')}: {names}"


def _row(name: str, value: str) -> Row:
    return Row(cells=(Cell(text=name), Cell(text=value)))


def _distinct(values: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(values)) or NOT_RECORDED


def _said(value: object) -> str:
    """Any JSON value in words."""
    if value is None or value in ("", [], {}):
        return NOT_RECORDED
    if isinstance(value, Mapping):
        return ", ".join(f"{printable(str(key))} {_said(inner)}" for key, inner in value.items())
    if isinstance(value, list):
        return ", ".join(_said(inner) for inner in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return printable(str(value))
