"""`limbeck report`: a page and its Markdown from the rows of a run.

In:  a run folder.
Out: report.html and report.md in it; the outcome on stdout.
"""

import json
import sys
from pathlib import Path


def leave_report(run: Path) -> Path:
    """Write both without a word; the page's place."""
    from limbeck.report.writing import write_report

    return write_report(run).html


def report_run(run: Path, *, as_json: bool) -> int:
    """Write both and say where they are."""
    from limbeck.report.writing import write_report  # jinja2 may be missing: that is narrated

    written = write_report(run)
    if as_json:
        found = {
            "html": str(written.html),
            "markdown": str(written.markdown),
            "summary": list(written.report.summary),
        }
        sys.stdout.write(json.dumps(found) + "\n")
        return 0
    sys.stdout.writelines(f"{sentence}\n" for sentence in written.report.summary)
    sys.stdout.write(f"report: {written.html}\nreport: {written.markdown}\n")
    return 0
