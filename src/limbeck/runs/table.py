"""The table of a run: one line a model, one column a metric.

In:  result rows.
Out: text for a terminal; every number comes from a row.
"""

from collections.abc import Sequence

from limbeck.columns import in_columns
from limbeck.runs.results import ResultRow

NAMES = {
    "teacher": "teacher {}",
    "ensemble": "ensemble",
    "twin": "{} without distillation",
    "student": "{} distilled",
    "bundle": "{} bundle ({})",
}


def result_table(rows: Sequence[ResultRow]) -> str:
    """Lay rows out in columns; metrics in percent, on dev."""
    if not rows:
        return ""
    metrics = [name for name in rows[0].metrics if _is_main(name)]
    header = ["", *metrics, "MB", "sentences/s"]
    lines = [header]
    for row in rows:
        shipped = str(row.notes.get("shipped", ""))
        lines.append(
            [
                NAMES[row.kind].format(row.name, shipped),
                *(f"{row.metrics[name]:.2f}" if name in row.metrics else "" for name in metrics),
                "" if row.size_mb is None else f"{row.size_mb:.1f}",
                "" if row.sentences_per_second is None else f"{row.sentences_per_second:.0f}",
            ]
        )
    return in_columns(lines)


def _is_main(name: str) -> bool:
    """Leave out what refines another number; rows keep everything."""
    return not name.endswith((".macro_f1", ".matthews", ".pearson")) and name not in (
        "CLAS",
        "MLAS",
        "BLEX",
    )
