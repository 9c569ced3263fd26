"""Writing: report.html and report.md into a run folder.

In:  a run folder with rows.
Out: two files, each complete or as it was before; the same rows give the same bytes.
"""

from dataclasses import dataclass
from pathlib import Path

from limbeck.artefacts import atomic_file
from limbeck.report.markdown import markdown
from limbeck.report.page import page
from limbeck.report.reading import read_run
from limbeck.report.report import Report, make_report


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What was written, and the report itself."""

    html: Path
    markdown: Path
    report: Report


def write_report(run: Path) -> Written:
    """Report on the rows that a run folder holds at this moment."""
    report = make_report(read_run(run), title=f"limbeck report: {run.resolve().name}")
    written = Written(html=run / "report.html", markdown=run / "report.md", report=report)
    for path, text in ((written.html, page(report)), (written.markdown, markdown(report))):
        with atomic_file(path) as file:
            file.write(text.encode("utf-8"))
    return written
