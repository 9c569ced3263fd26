"""`limbeck bench`: a bundle beside what a user would run instead, on the user's machine.

In:  a bundle, perhaps the user's own text.
Out: a table; rows with the environment in a .jsonl file, if one is named.
"""

import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import date
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from limbeck.bench.checks import run_checks
from limbeck.bench.contestants import Field, line_up
from limbeck.bench.race import Finish, pairwise_ratio, race
from limbeck.bundle import Bundle, load_bundle
from limbeck.cli.bars import make_progress
from limbeck.cli.texts import check_output
from limbeck.data.formats import FormatName, ReadOptions, infer_format, read_records
from limbeck.data.records import Labels, Record
from limbeck.environment import environment
from limbeck.errors import InputError
from limbeck.runtime.annotate import AnnotateConfig, Annotator
from limbeck.runtime.threads import pick_threads
from limbeck.tasks.metrics import score_all

if TYPE_CHECKING:
    from limbeck.bench.load import Length

BUILT_IN = Path(__file__).parent.parent / "demo" / "sentences_train.conllu"


def bench_bundle(
    folder: Path,
    *,
    text: Path | None,
    format: FormatName | None,
    n_threads: int | None,
    n_rounds: int,
    rows_to: Path | None,
    as_json: bool,
) -> int:
    """Race a bundle alone: its own parts and the engines at hand."""
    if rows_to is not None:
        check_output(rows_to)
    bundle = load_bundle(folder)
    text = text or BUILT_IN
    threads = pick_threads(n_threads)
    options = ReadOptions(format=format or infer_format(str(text)), tasks=())
    field = _with_text(line_up(bundle, text, options, n_threads=threads), text)
    finishes = race(field.contestants, n_rounds=n_rounds, progress=make_progress())
    command = f"limbeck bench {bundle.name} --text {text.name}"
    return _tell(bundle, field, finishes, {}, command, threads, rows_to, as_json=as_json)


def check_bundle(
    folder: Path,
    *,
    text: Path | None,
    format: FormatName | None,
    n_threads: int | None,
    load: "Length | None",
    rows_to: Path | None,
    as_json: bool,
) -> int:
    """What a race does not show, of a process that annotates or of `limbeck serve` under load."""
    bundle = load_bundle(folder)
    text = text or BUILT_IN
    threads = pick_threads(n_threads)
    options = ReadOptions(format=format or infer_format(str(text)), tasks=())
    records = list(read_records(text, options=options))
    if not any(record.words for record in records):
        raise InputError(f"{text}: no text", hint="name a file with text to annotate")
    progress = make_progress()
    if load is None:
        part = "--checks"
        checks = run_checks(bundle, records, n_threads=threads, progress=progress)
    else:
        from limbeck.bench.load import PLANS, run_load

        part = f"--load {load}"
        checks = run_load(bundle, records, n_threads=threads, plan=PLANS[load], progress=progress)
    rows = [
        {
            "bundle": bundle.name,
            **asdict(check),
            "ratio": round(check.ratio, 4) if math.isfinite(check.ratio) else None,
            "date": date.today().isoformat(),
            "command": f"limbeck bench {bundle.name} --text {text.name} {part}",
            "environment": environment(n_threads=threads),
        }
        for check in checks
    ]
    _append(rows_to, rows)
    if as_json:
        sys.stdout.write(json.dumps({"rows": rows}) + "\n")
        return 0
    for check in checks:
        sys.stdout.write(
            f"{check.name:24} {check.measured:10.4g} {check.unit:6} against {check.against:10.4g}"
            f"  {check.what}\n"
        )
    return 0


def _append(rows_to: Path | None, rows: Sequence[Mapping[str, object]]) -> None:
    if rows_to is not None:
        with rows_to.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)


def bench_scenario(
    folder: Path,
    *,
    scenario: Path,
    data: Path,
    models: Path,
    python: str,
    n_threads: int | None,
    rows_to: Path | None,
    as_json: bool,
) -> int:
    """Race a bundle against the peers of a scenario, all on the same text."""
    from limbeck.bench.against import opponents, peer_metrics
    from limbeck.bench.scenario import read_scenario

    bundle = load_bundle(folder)
    plan = read_scenario(scenario)
    threads = pick_threads(n_threads)
    text = data / plan.text
    options = ReadOptions(format=infer_format(str(text)), columns=plan.columns, tasks=())
    wanted = None if plan.task is None else (plan.task,)
    kinds = {task.name: task.kind for task in bundle.tasks}
    gold = list(read_records(text, options=replace(options, tasks=wanted, kinds=kinds)))
    field = _with_text(line_up(bundle, text, options, n_threads=threads), text)
    annotated = Annotator(bundle, AnnotateConfig(n_threads=threads)).annotate(gold)
    metrics = {"limbeck": _own_metrics(bundle, gold, [a.labels for a in annotated])}
    with opponents(
        plan, bundle, gold, data=data, models=models, python=python, n_threads=threads
    ) as against:
        field = replace(
            field,
            contestants=(*field.contestants, *against.contestants),
            absent={**field.absent, **against.absent},
        )
        finishes = race(field.contestants, n_rounds=plan.rounds, progress=make_progress())
        for name, peer in against.peers.items():
            metrics[name] = peer_metrics(bundle, gold, peer.said(), plan.task)
    command = f"limbeck bench {bundle.name} --scenario {scenario.name}"
    return _tell(bundle, field, finishes, metrics, command, threads, rows_to, as_json=as_json)


def _with_text(field: Field, text: Path) -> Field:
    if not field.n_pieces or not field.contestants[0].n_words:
        raise InputError(f"{text}: no text", hint="name a file with text to annotate")
    return field


def _own_metrics(
    bundle: Bundle, gold: Sequence[Record], said: Sequence[Mapping[str, Labels]]
) -> dict[str, float]:
    tasks = [t for t in bundle.tasks if any(t.name in record.labels for record in gold)]
    return score_all(gold, said, tasks)


def _tell(
    bundle: Bundle,
    field: Field,
    finishes: Sequence[Finish],
    metrics: Mapping[str, Mapping[str, float]],
    command: str,
    threads: int,
    rows_to: Path | None,
    *,
    as_json: bool,
) -> int:
    """Print the table, append the rows."""
    limit = _limit(bundle.graph, field, finishes[1], threads)
    rows = _rows(bundle.name, command, field, finishes, metrics, limit, threads)
    _append(rows_to, rows)
    if as_json:
        sys.stdout.write(json.dumps({"rows": rows, "absent": field.absent}) + "\n")
        return 0
    sys.stdout.write(_table(finishes))
    for name, found in metrics.items():
        if found:
            shown = "  ".join(f"{metric} {value:.2f}" for metric, value in found.items())
            sys.stdout.write(f"{name}: {shown}\n")
    sys.stdout.write(f"padding: {100 * field.padding:.1f} % of the pieces computed\n")
    for kind, reached in limit.items():
        sys.stdout.write(f"{kind}: {reached:.3g}\n")
    for name, remedy in field.absent.items():
        sys.stderr.write(f"left out: {name} ({remedy})\n")
    return 0


def _limit(graph: Path, field: Field, bare: Finish, n_threads: int) -> dict[str, float]:
    """What one large product reaches here, and the share of it that the bare graph does."""
    if find_spec("onnx") is None or find_spec("openvino") is None:
        return {}
    from limbeck.bench.peak import operations_per_piece, peak

    pieces = bare.records_per_second * field.n_pieces / bare.contestant.n_records
    reached = pieces * operations_per_piece(graph)
    peaks = {
        "peak fp32 Gop/s": peak("fp32", n_threads=n_threads),
        "peak bf16 Gop/s": peak("bf16", n_threads=n_threads),
        "peak int8 Gop/s": peak("int8", n_threads=n_threads),
    }
    return {**peaks, "bare graph Gop/s": reached}


def _rows(
    bundle: str,
    command: str,
    field: Field,
    finishes: Sequence[Finish],
    metrics: Mapping[str, Mapping[str, float]],
    limit: dict[str, float],
    n_threads: int,
) -> list[dict[str, object]]:
    first = finishes[0]
    about = {
        "date": date.today().isoformat(),
        "command": command,
        "environment": environment(n_threads=n_threads),
    }
    return [
        {
            "bundle": bundle,
            "name": finish.contestant.name,
            "what": finish.contestant.what,
            "n_records": finish.contestant.n_records,
            "n_words": finish.contestant.n_words,
            "seconds": [round(s, 4) for s in finish.seconds],
            "records_per_second": round(finish.records_per_second, 1),
            "words_per_second": round(finish.words_per_second, 1),
            "spread": round(finish.spread, 3),
            "limbeck_is_times_as_fast": round(pairwise_ratio(first, finish), 3),
            "metrics": dict(metrics.get(finish.contestant.name, {})),
            "padding": round(field.padding, 4),
            "limit": {kind: round(found, 1) for kind, found in limit.items()},
            **about,
        }
        for finish in finishes
    ]


def _table(finishes: Sequence[Finish]) -> str:
    first = finishes[0]
    width = max(len(finish.contestant.name) for finish in finishes)
    lines = [f"{'':{width}} {'records/s':>10} {'words/s':>9} {'spread':>7} {'limbeck is':>11}"]
    for finish in finishes:
        lines.append(
            f"{finish.contestant.name:{width}} {finish.records_per_second:10.0f} "
            f"{finish.words_per_second:9.0f} {finish.spread:6.2f}x "
            f"{pairwise_ratio(first, finish):10.2f}x  {finish.contestant.what}"
        )
    return "\n".join(lines) + "\n"
