"""`limbeck study`: comparisons of architectures on the user's machine.

In:  which study, how large.
Out: a table; rows in a .jsonl file, a page and a plot beside it.
"""

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from limbeck.cli.bars import make_progress
from limbeck.runtime.threads import pick_threads


def study_cpu(
    *, full: bool, only: Sequence[str] | None, n_threads: int | None, rows: Path, as_json: bool
) -> int:
    """Measure encoders on this CPU."""
    from limbeck.study.cpu import plan_study, run_study, study_table
    from limbeck.study.cpu_page import write_cpu_page

    study = plan_study(
        full=full, only=only, n_threads=pick_threads(n_threads), free_bytes=free_memory()
    )
    words = ["limbeck study cpu", *(["--full"] if full else [])]
    words += ["--only " + ",".join(only)] if only else []
    found = run_study(study, rows, make_progress(), command=" ".join(words))
    written = write_cpu_page(found, rows)
    sys.stdout.write(
        json.dumps(found) + "\n"
        if as_json
        else f"{study_table(found)}rows: {rows}\npage: {written.page}\nplot: {written.plot}\n"
    )
    return 0


def free_memory() -> int:
    """Bytes that new processes can have without swapping."""
    try:
        text = Path("/proc/meminfo").read_text(encoding="utf-8")
    except OSError:  # not Linux: all there is
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    fields = dict(line.split(":", 1) for line in text.splitlines())
    return 1_024 * int(fields["MemAvailable"].split()[0])
