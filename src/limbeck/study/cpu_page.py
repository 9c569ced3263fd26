"""The page and the plot of `study cpu`: what each encoder costs, and what its cost follows.

In:  rows of the study.
Out: Markdown and panels; written beside the rows, each complete or as it was before.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from limbeck.artefacts import atomic_file
from limbeck.study.markdown import markdown_table
from limbeck.study.panels import Panel, Point, Series
from limbeck.study.svg import draw

Rows = Sequence[Mapping[str, Any]]
_TITLES = (
    "encoder", "engine", "threads", "million parameters", "MB on disk", "GFLOP of 128 pieces",
    "load, s", "memory, MB", "ms for 16 pieces", "32", "128", "p95 of 32", "sentences/s",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenCpu:
    """Where the page and its plot are."""

    page: Path
    plot: Path


def write_cpu_page(rows: Rows, place: Path) -> WrittenCpu:
    """Write both beside `place`, the file of rows, under its name."""
    page, plot = place.with_suffix(".md"), place.with_suffix(".svg")
    drawing = draw(cpu_panels(rows), title="speed by parameters and by operations")
    for path, content in ((page, cpu_page(rows, plot=plot.name)), (plot, drawing)):
        with atomic_file(path) as file:
            file.write(content.encode("utf-8"))
    return WrittenCpu(page=page, plot=plot)


def cpu_page(rows: Rows, *, plot: str) -> str:
    """The whole result. What failed has its reason below the table."""
    failed = [row for row in rows if "failed" in row]
    row = rows[0]
    lines = [
        "# limbeck study cpu",
        "",
        "What does each encoder cost on this CPU?",
        "",
        markdown_table(_TITLES, [_cells(it) for it in rows]),
        *(f"- {_way(it)}: {it['failed']}" for it in failed),
        "",
        f"![speed by parameters and by operations]({plot})",
        "",
        "Times of one text are medians; sentences/s are of texts of mixed lengths, sorted into "
        "batches. Weights are drawn by chance, which changes no time. Memory is what stays "
        "after loading and a first text, the engine's own library included.",
        "",
        f"`{row['command']}`",
        "",
        f"{row['environment']['cpu']}, {row['environment']['n_cpus']} CPUs, {row['date']}.",
        "",
    ]
    return "\n".join(lines)


def cpu_panels(rows: Rows) -> tuple[Panel, Panel]:
    """Sentences a second against parameters and against operations, a series for each way."""
    n_threads = max(row["n_threads"] for row in rows)
    measured = [row for row in rows if "failed" not in row and row["n_threads"] == n_threads]
    return (
        _panel(measured, "by parameters", "million parameters", "n_parameters", 1e6),
        _panel(measured, "by operations", "GFLOP of a text of 128 pieces", "gflop_128", 1.0),
    )


def _panel(rows: Rows, title: str, x_name: str, key: str, unit: float) -> Panel:
    ways = list(dict.fromkeys(_engine(row) for row in rows))
    return Panel(
        title=title,
        x_name=f"{x_name} (log axis)",
        y_name="sentences/s (log axis)",
        x_scaling="log",
        y_scaling="log",
        series=tuple(
            Series(
                name=way,
                points=tuple(
                    Point(
                        x=row[key] / unit,
                        y=row["sentences_per_second"],
                        # named once: the ways of one encoder stand above each other
                        name=row["name"] if way == ways[-1] else "",
                    )
                    for row in sorted(rows, key=lambda row: float(row[key]))
                    if _engine(row) == way
                ),
            )
            for way in ways
        ),
    )


def _cells(row: Mapping[str, Any]) -> list[str]:
    start = [
        row["name"], _engine(row), str(row["n_threads"]), f"{row['n_parameters'] / 1e6:.1f}",
        f"{row['disk_mb']:.1f}", f"{row['gflop_128']:.1f}",
    ]  # fmt: skip
    if "failed" in row:
        return [*start, *[""] * (len(_TITLES) - len(start))]
    latency = row["latency_ms"]
    return [
        *start,
        f"{row['load_seconds']:.1f}",
        f"{row['memory_mb']:.0f}",
        *(f"{latency[length][0]:.1f}" for length in ("16", "32", "128")),
        f"{latency['32'][1]:.1f}",
        f"{row['sentences_per_second']:.0f}",
    ]


def _engine(row: Mapping[str, Any]) -> str:
    return f"{row['engine']} {row['precision']}"


def _way(row: Mapping[str, Any]) -> str:
    return f"{row['name']}, {_engine(row)}, {row['n_threads']} threads"
