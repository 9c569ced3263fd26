"""`study cpu`: what each encoder costs on this CPU, in every engine and precision.

In:  names of architectures, a folder for graphs, a file for rows.
Out: one row for each way of running each encoder. Rows that are in the file already are kept, so
a study that was stopped goes on.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any

from limbeck.columns import in_columns
from limbeck.environment import cpu_features, environment
from limbeck.errors import ConfigError
from limbeck.progress import Progress
from limbeck.study.batches import text_lengths
from limbeck.study.measure import Asked
from limbeck.study.row_file import read_rows, write_rows
from limbeck.train.architectures import ARCHITECTURES, architecture, make_config, n_parameters

QUICK = ("bert-base", "albert-base", "distilbert", "minilm-6x384")
WAYS = (
    ("torch", "fp32"),
    ("torch", "bf16"),
    ("ort", "fp32"),
    ("ort", "int8"),
    ("openvino", "fp32"),
    ("openvino", "int8"),
)
QUICK_WAYS = (("torch", "fp32"), ("openvino", "int8"))
MEMORY_FACTOR = 12  # bytes for each parameter while a graph is exported and quantised
N_TEXTS = {"quick": 64, "full": 256}
N_SINGLE = {"quick": 10, "full": 50}


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuStudy:
    """What to measure."""

    names: tuple[str, ...]
    ways: tuple[tuple[str, str], ...]
    threads: tuple[int, ...]
    size: str  # "quick" or "full"


def plan_study(
    *, full: bool, only: Sequence[str] | None, n_threads: int, free_bytes: int
) -> CpuStudy:
    """Choose encoders and ways; refuse what does not fit in memory, with the estimate."""
    names = tuple(only or (ARCHITECTURES if full else QUICK))
    for name in names:
        needed = MEMORY_FACTOR * n_parameters(make_config(architecture(name)))
        if needed > free_bytes:
            raise ConfigError(
                f"{name}: needs about {needed / 1e9:.0f} GB while it is exported, "
                f"{free_bytes / 1e9:.0f} GB are free",
                hint="leave it out: --only NAME,NAME",
            )
    ways: tuple[tuple[str, str], ...] = WAYS if full else QUICK_WAYS
    if "avx512_bf16" not in cpu_features() and "amx_bf16" not in cpu_features():
        ways = tuple(way for way in ways if way[1] != "bf16")  # emulated: nobody would use it
    threads = (1, n_threads) if full and n_threads > 1 else (n_threads,)
    return CpuStudy(names=names, ways=ways, threads=threads, size="full" if full else "quick")


def run_study(study: CpuStudy, rows: Path, progress: Progress, *, command: str) -> list[Any]:
    """Measure what is missing from `rows`, and give all rows of this study."""
    done = {_key(row): row for row in read_rows(rows, _key)}
    wanted = [
        (name, engine, precision, n)
        for name in study.names
        for engine, precision in study.ways
        for n in study.threads
    ]
    missing = [key for key in wanted if (*key, study.size) not in done]
    progress.start("study cpu", len(wanted), n_before=len(wanted) - len(missing))
    with tempfile.TemporaryDirectory() as folder:
        for name in dict.fromkeys(key[0] for key in missing):
            ways = [key for key in missing if key[0] == name]
            sizes: dict[str, float] = {}
            if any(engine != "torch" for _, engine, _, _ in ways):
                sizes = _graphs(name, Path(folder))
            for _, engine, precision, n in ways:
                row = _row(study, name, engine, precision, n, folder, sizes, command)
                done[_key(row)] = row
                write_rows(rows, list(done.values()))
                progress.advance(1, f"{name} {engine} {precision}")
            for path in Path(folder).glob("*.onnx"):
                path.unlink()
    progress.finish()
    return [done[(*key, study.size)] for key in wanted]


def gflop(name: str, n_pieces: int) -> float:
    """Billions of multiplications and additions of one row, products with weights and attention."""
    it = architecture(name)
    layer = 2 * 12 * it.width**2 * n_pieces + 4 * n_pieces**2 * it.width
    if it.family == "xlnet":
        layer += 2 * it.width**2 * 2 * n_pieces + 2 * 2 * n_pieces**2 * it.width
    embedding = 2 * it.embedding * it.width * n_pieces if it.embedding else 0
    return (it.n_layers * layer + embedding) / 1e9


def _row(
    study: CpuStudy,
    name: str,
    engine: str,
    precision: str,
    n_threads: int,
    folder: str,
    sizes: Mapping[str, float],
    command: str,
) -> dict[str, Any]:
    asked = Asked(
        name=name,
        engine=engine,
        precision=precision,
        n_threads=n_threads,
        graphs=folder,
        n_single=N_SINGLE[study.size],
        lengths=text_lengths(N_TEXTS[study.size]),
    )
    n = n_parameters(make_config(architecture(name)))
    return {
        "name": name,
        "engine": engine,
        "precision": precision,
        "n_threads": n_threads,
        "size": study.size,
        "n_parameters": n,
        "disk_mb": round(sizes.get(precision, 4 * n / 1e6), 2),
        "gflop_128": round(gflop(name, 128), 2),
        **_measured(asked),
        "date": date.today().isoformat(),
        "command": command,
        "environment": environment(n_threads=n_threads),
    }


def _measured(asked: Asked) -> dict[str, Any]:
    """Measure in a process of its own; one that dies leaves a row that says so."""
    done = subprocess.run(
        [sys.executable, "-m", "limbeck.study.measure", json.dumps(asdict(asked))],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": str(asked.n_threads)},
    )
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or [f"ended with {done.returncode}"])[-1]
        return {"failed": last}
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def _graphs(name: str, folder: Path) -> dict[str, float]:
    """Export in a process of its own too, so that its memory is given back."""
    code = (
        "import sys; from pathlib import Path; from limbeck.study.bodies import write_graphs; "
        "write_graphs(sys.argv[1], Path(sys.argv[2]))"
    )
    subprocess.run(
        [sys.executable, "-c", code, name, str(folder)], capture_output=True, check=False
    )
    return {
        precision: path.stat().st_size / 1e6
        for precision in ("fp32", "int8")
        if (path := folder / f"{name}.{precision}.onnx").is_file()
    }


def _key(row: Mapping[str, Any]) -> tuple[str, str, str, int, str]:
    return row["name"], row["engine"], row["precision"], row["n_threads"], row["size"]


def study_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """One line a row; what failed says why."""
    header = (
        "", "engine", "", "threads", "Mpar", "MB disk", "GFLOP", "load s", "MB memory",
        "ms 16", "ms 32", "ms 128", "sent/s",
    )  # fmt: skip
    lines = [list(header)]
    for row in rows:
        start = [
            row["name"], row["engine"], row["precision"], str(row["n_threads"]),
            f"{row['n_parameters'] / 1e6:.1f}", f"{row['disk_mb']:.1f}", f"{row['gflop_128']:.1f}",
        ]  # fmt: skip
        if "failed" in row:
            lines.append([*start, f"failed: {row['failed']}", "", "", "", "", ""])
            continue
        latency = row["latency_ms"]
        lines.append(
            [
                *start,
                f"{row['load_seconds']:.1f}",
                f"{row['memory_mb']:.0f}",
                *(f"{latency[n][0]:.1f}" for n in ("16", "32", "128")),
                f"{row['sentences_per_second']:.0f}",
            ]
        )
    return in_columns(lines, n_left=3)
