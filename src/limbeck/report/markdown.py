"""The same report in Markdown, for a terminal, a commit or a forge.

In:  `Report`.
Out: CommonMark with tables as GitHub writes them. Whatever comes from rows is escaped, so that no
name becomes markup. Plots become their sentences and their data.
"""

import re
from collections.abc import Iterable, Iterator

from limbeck.report.report import Confused, Report, View
from limbeck.report.tables import Cell, Table

# "<" and "&" would begin HTML, a colon before "//" a link, the others some kind of Markdown
_SPECIAL = re.compile(r"([\\`*_\[\]<>|~&$]|:(?=//))")
_SPECIAL_FIRST = re.compile(r"^(\d*)([-+=#.)])(?=\W|$)")  # lists, headings, rules


def markdown(report: Report) -> str:
    """Lay the report out in text."""
    return "\n".join(_lines(report)).rstrip() + "\n"


def escaped(text: str) -> str:
    """Text that stays text, in a paragraph and in a table's cell."""
    return _SPECIAL_FIRST.sub(r"\1\\\2", _SPECIAL.sub(r"\\\1", " ".join(text.split())))


def _lines(report: Report) -> Iterator[str]:
    yield f"# {escaped(report.title)}"
    yield ""
    for sentence in report.summary:
        yield escaped(sentence)
        yield ""
    yield from _view(report.view, "## Quality against size and speed")
    yield escaped(report.speeds)
    yield ""
    yield "## Models"
    yield ""
    yield from _tables((report.models, report.given_up, report.floors, report.other_metrics))
    yield "## What int8 cost"
    yield ""
    if report.int8 is None:
        yield "Not measured: no row has an int8 graph and the same network in fp32."
        yield ""
    yield from _tables((report.int8,))
    yield from _list(report.attempts)
    yield "## Confusions that the student added over the ensemble"
    yield ""
    if not report.confused:
        yield "None are recorded."
        yield ""
    for confused in (*report.confused, *report.confused_others):
        yield from _confused(confused)
    yield "## Environment"
    yield ""
    yield from _tables((report.facts, *report.environments))
    if report.views:
        yield "## The plots' data for each metric"
        yield ""
    for view in report.views:
        yield from _view(view, f"### {escaped(view.title)}")


def _view(view: View, heading: str) -> Iterator[str]:
    yield heading
    yield ""
    for plot in view.plots:
        yield escaped(plot.sentence)
        yield ""
    yield from _tables((view.data,))


def _confused(confused: Confused) -> Iterator[str]:
    yield f"### {escaped(confused.label)}"
    yield ""
    for confusion in confused.confusions:
        yield (
            f"- {escaped(confusion.metric)}: {escaped(confusion.gold)} taken for "
            f"{escaped(confusion.said)}, "
            f"{confusion.n_more} more such errors than the ensemble makes"
        )
        for sentence in confusion.sentences:
            yield f"  - {escaped(sentence)}"
    yield ""


def _tables(tables: Iterable[Table | None]) -> Iterator[str]:
    for table in tables:
        if table is None:
            continue
        yield f"**{escaped(table.caption)}**"
        yield ""
        yield _row(escaped(column.name) for column in table.columns)
        yield _row("---:" if column.is_number else "---" for column in table.columns)
        for row in table.rows:
            yield _row(_cell(cell) for cell in row.cells)
        yield ""


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(cell: Cell) -> str:
    return escaped("; ".join((cell.text, *cell.small)))


def _list(sentences: Iterable[str]) -> Iterator[str]:
    for sentence in sentences:
        yield f"- {escaped(sentence)}"
    yield ""
