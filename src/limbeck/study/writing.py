"""Writing: a study's page and its plot into its folder.

In:  a study, its rows.
Out: NAME.md and NAME.svg, each complete or as it was before; the same rows give the same bytes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from limbeck.artefacts import atomic_file
from limbeck.study.arm_rows import ArmRow
from limbeck.study.arm_tables import study_page
from limbeck.study.arms import Study
from limbeck.study.panels import panels_of
from limbeck.study.summaries import summarise
from limbeck.study.svg import draw


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """Where the result is, and its text."""

    page: Path
    plot: Path
    text: str


def write_study(study: Study, rows: Sequence[ArmRow], folder: Path) -> Written:
    """Lay out what the rows say."""
    summaries = summarise(rows, {arm.name: arm.paper for arm in study.arms})
    page, plot = folder / f"{study.name}.md", folder / f"{study.name}.svg"
    text = study_page(study, summaries, command=rows[-1].command, plot=plot.name)
    drawing = draw(panels_of(study, summaries), title=f"{study.name}, here and in the paper")
    for path, content in ((page, text), (plot, drawing)):
        with atomic_file(path) as file:
            file.write(content.encode("utf-8"))
    return Written(page=page, plot=plot, text=text)
