"""Tables of studies that train: our numbers, the paper's beside them, and the paper's in full.

In:  a study, summaries of its arms.
Out: Markdown. What nobody measured is an empty cell.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from limbeck.study.arms import Study, StudyName
from limbeck.study.findings import findings, pieces_per_second
from limbeck.study.markdown import markdown_table
from limbeck.study.paper import PAPER, SOURCE, Figures
from limbeck.study.summaries import Estimate, Summary

Cells = list[list[str]]
# what the keys of the paper's lines have in common
_ABOUT: Mapping[StudyName, str] = {
    "same-time": "same-time",
    "depth": "depth",
    "sharing": "share",
    "sop": "order",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Column:
    title: str
    cell: Callable[[Summary], str]


def study_page(study: Study, summaries: Sequence[Summary], *, command: str, plot: str) -> str:
    """The whole result: question, table, findings, plot, the paper's lines, environment."""
    row = summaries[0].rows[0]
    lines = [
        f"# limbeck study {study.name}",
        "",
        study.question,
        "",
        study_table(study, summaries),
        *(f"- {sentence}" for sentence in findings(study, summaries)),
        "",
        f"![{study.name}, here and in the paper]({plot})",
        "",
        f"## The paper's lines ({SOURCE})",
        "",
        paper_table(study),
        "## How it was made",
        "",
        f"`{command}`",
        "",
        f"Text: {', '.join(row.text['files'])}, {row.text['n_documents']:,} documents, "
        f"{row.text['n_pieces']:,} pieces. {row.environment['cpu']}, "
        f"{row.environment['n_threads']} threads, {row.date}.",
        "",
    ]
    return "\n".join(lines)


def study_table(study: Study, summaries: Sequence[Summary]) -> str:
    """One line an arm, and one for the frequencies of pieces."""
    columns = [*_own_columns(study, summaries), *_paper_columns(study)]
    cells = [[column.cell(it) for column in columns] for it in summaries]
    known = summaries[0].rows[0].frequencies
    last = {
        "arm": "*frequencies alone*",
        "loss": f"{known.piece_loss:.3f}",
        "pieces right %": f"{100 * known.piece_accuracy:.1f}",
    }
    for it in summaries[0].rows[0].tuned:
        last[it.name] = "" if it.majority is None else f"{it.majority:.1f}"
    cells.append([last.get(column.title, "") for column in columns])
    return markdown_table([column.title for column in columns], cells)


def paper_table(study: Study) -> str:
    """Every line of the paper that this study is about."""
    lines = [it for key, it in PAPER.items() if _ABOUT[study.name] in key]
    titles = ["table", "", "M parameters", "SQuAD 1.1", "SQuAD 2.0", "MNLI", "SST-2", "RACE"]
    titles += ["average"]
    cells = [
        [
            str(it.table), it.name, _printed(it.millions), it.squad1, it.squad2, f"{it.mnli}",
            f"{it.sst2}", f"{it.race}", f"{it.average}",
        ]
        for it in lines
    ]  # fmt: skip
    extra: tuple[tuple[str, Callable[[Figures], float | None]], ...] = (
        ("steps", lambda it: it.steps),
        ("hours", lambda it: it.hours),
        ("MLM", lambda it: it.mlm),
        ("NSP", lambda it: it.nsp),
        ("SOP", lambda it: it.sop),
    )
    for title, value in extra:
        if any(value(it) is not None for it in lines):
            titles.append(title)
            for cell, it in zip(cells, lines, strict=True):
                cell.append(_printed(value(it)))
    return markdown_table(titles, cells)


def _own_columns(study: Study, summaries: Sequence[Summary]) -> Iterator[_Column]:
    yield _Column(title="arm", cell=lambda it: it.arm)
    yield _Column(title="layers", cell=lambda it: str(it.rows[0].model["layers"]))
    yield _Column(title="width", cell=lambda it: str(it.rows[0].model["width"]))
    yield _Column(title="M parameters", cell=lambda it: f"{it.rows[0].n_parameters / 1e6:.2f}")
    yield _Column(title="steps", cell=lambda it: f"{it.mean(lambda row: row.n_steps) or 0:,.0f}")
    yield _Column(title="seconds", cell=lambda it: f"{it.mean(lambda row: row.seconds) or 0:,.0f}")
    yield _Column(title="pieces/s", cell=lambda it: f"{pieces_per_second(it):,.0f}")
    if "step cost" in study.extras:
        yield _Column(
            title="update, % of a step",
            cell=lambda it: _share(
                it.mean(lambda row: row.of_step(lambda cost: cost.update_share))
            ),
        )
    yield _Column(title="loss", cell=lambda it: f"{it.loss.mean:.3f} ± {it.loss.error:.3f}")
    yield _Column(title="pieces right %", cell=lambda it: _percent(it.piece_accuracy))
    if "order heads" in study.extras:
        for order in study.orders:
            if order != "none":
                yield from _order_columns(order)
    for one in summaries[0].rows[0].tuned:
        yield _tuned_column(one.name)


def _order_columns(order: str) -> Iterator[_Column]:
    name = order.upper()
    yield _Column(title=f"{name} %, own head", cell=lambda it: _percent(it.own_order(order)))
    yield _Column(title=f"{name} %, fitted head", cell=lambda it: _percent(it.fitted_order(order)))


def _tuned_column(name: str) -> _Column:
    return _Column(title=name, cell=lambda it: _sure(it.tuned(name)))


def _paper_columns(study: Study) -> Iterator[_Column]:
    def column(title: str, cell: Callable[[Figures], str]) -> _Column:
        return _Column(
            title=f"paper: {title}", cell=lambda it: "" if it.paper is None else cell(it.paper)
        )

    yield column("line", lambda it: f"{it.name} (table {it.table})")
    if study.name == "sop":
        yield column("MLM %", lambda it: _printed(it.mlm))
        yield column("NSP %", lambda it: _printed(it.nsp))
        yield column("SOP %", lambda it: _printed(it.sop))
    else:
        yield column("M parameters", lambda it: _printed(it.millions))
    if study.name == "same-time":
        yield column("hours", lambda it: _printed(it.hours))
    yield column("SST-2", lambda it: f"{it.sst2}")
    yield column("average", lambda it: f"{it.average}")


def _printed(value: float | None) -> str:
    """As the paper prints it: 52.0 is not 52."""
    return "" if value is None else f"{value:,}"


def _percent(value: Estimate | None) -> str:
    return "" if value is None else f"{100 * value.mean:.1f} ± {100 * value.error:.1f}"


def _share(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.1f}"


def _sure(value: Estimate | None) -> str:
    return "" if value is None else f"{value.mean:.1f} ± {value.error:.1f}"
