"""Rows from a run folder, strictly: a bad row is refused with its file and line.

In:  a run folder with results.jsonl and perhaps candidates.jsonl.
Out: `RunRows`. Nothing is guessed and nothing skipped; what a row calls null stays None.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import cast, get_args

from limbeck.errors import InputError
from limbeck.report.fields import Fields, check_keys, fields_of
from limbeck.report.rows import (
    Attempt,
    Candidate,
    Confusion,
    Family,
    Floor,
    Half,
    ModelRow,
    RowKind,
    RunRows,
    Verdict,
)

RESULTS = "results.jsonl"
CANDIDATES = "candidates.jsonl"
MODEL_KEYS = (
    "name",
    "kind",
    "metrics",
    "size_mb",
    "sentences_per_second",
    "seconds",
    "command",
    "environment",
    "notes",
)
CANDIDATE_KEYS = (
    "name",
    "kind",
    "family",
    "precision",
    "metrics",
    "intervals",
    "twin",
    "fp32_metrics",
    "size_mb",
    "n_parameters",
    "latency_p50_ms",
    "latency_p95_ms",
    "sentences_per_second",
    "peak_memory_mb",
    "epochs",
    "verdict",
    "reason",
    "floors",
    "chosen",
    "confusions",
    "command",
    "environment",
    "seed",
    "recipe_hash",
)
FLOOR_KEYS = ("metric", "half", "wanted", "needed", "found", "low", "keeps")
CONFUSION_KEYS = ("metric", "gold", "said", "n_more", "sentences")


def read_run(folder: Path) -> RunRows:
    """Read all rows of a run."""
    results = folder / RESULTS
    if not results.is_file():
        raise InputError(
            f"{folder}: no {RESULTS}", hint="name the folder of a run; `limbeck run` writes rows"
        )
    models = tuple(_model(fields) for fields in _lines(results))
    candidates: tuple[Candidate, ...] = ()
    if (folder / CANDIDATES).is_file():
        candidates = tuple(_candidate(fields) for fields in _lines(folder / CANDIDATES))
    if not models and not candidates:
        raise InputError(f"{results}: no rows yet", hint="let the run finish one teacher first")
    return RunRows(models=models, candidates=candidates)


def _lines(path: Path) -> Iterator[Fields]:
    try:
        raw = path.read_bytes()
    except OSError as failure:
        raise InputError(f"{path}: cannot be read ({failure.strerror})") from failure
    lines = raw.split(b"\n")
    for n, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"{path}:{n}"
        try:
            value = json.loads(line.decode("utf-8"), parse_constant=_no_constant)
        except (ValueError, RecursionError) as failure:  # bad UTF-8 is a ValueError too
            # a killed writer leaves a last line without its end
            hint = "the line was cut short; delete it" if n == len(lines) else ""
            raise InputError(f"{where}: not JSON ({failure})", hint=hint) from failure
        yield fields_of(value, where=where)


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is no number")


def _model(fields: Fields) -> ModelRow:
    check_keys(fields, MODEL_KEYS)
    notes = Fields(values=fields.mapping("notes"), where=f"{fields.where}: notes")
    return ModelRow(
        name=fields.text("name"),
        kind=cast(RowKind, _required(fields, "kind", get_args(RowKind))),  # just checked
        metrics=fields.scores("metrics"),
        size_mb=fields.amount_or_none("size_mb"),
        sentences_per_second=fields.amount_or_none("sentences_per_second"),
        seconds=fields.amount_or_none("seconds"),
        command=fields.text_or_none("command") or "",
        environment=fields.mapping("environment"),
        shipped=notes.text_or_none("shipped"),
        n_parameters=notes.count_or_none("n_parameters"),
        latency_p50_ms=notes.amount_or_none("latency_p50_ms"),
        latency_p95_ms=notes.amount_or_none("latency_p95_ms"),
        peak_memory_mb=notes.amount_or_none("peak_memory_mb"),
        reference=notes.scores("reference"),
        attempts=tuple(_attempt(trial) for trial in notes.objects("trials")),
        seed=notes.count_or_none("seed"),
        recipe_hash=notes.text_or_none("recipe_hash"),
    )


def _attempt(fields: Fields) -> Attempt:
    return Attempt(
        name=fields.text("attempt"),
        n_kept_fp32=fields.count_or_none("n_kept_fp32"),
        largest_loss=fields.number_or_none("largest_loss"),
    )


def _candidate(fields: Fields) -> Candidate:
    check_keys(fields, CANDIDATE_KEYS)
    _required(fields, "kind", ("candidate",))
    return Candidate(
        name=fields.text("name"),
        # the casts below follow a check of the same choices
        family=cast(Family | None, fields.choice_or_none("family", get_args(Family))),
        precision=fields.text_or_none("precision"),
        metrics=fields.scores("metrics"),
        intervals=fields.intervals("intervals"),
        twin=fields.scores("twin"),
        fp32_metrics=fields.scores("fp32_metrics"),
        size_mb=fields.amount_or_none("size_mb"),
        n_parameters=fields.count_or_none("n_parameters"),
        latency_p50_ms=fields.amount_or_none("latency_p50_ms"),
        latency_p95_ms=fields.amount_or_none("latency_p95_ms"),
        sentences_per_second=fields.amount_or_none("sentences_per_second"),
        peak_memory_mb=fields.amount_or_none("peak_memory_mb"),
        epochs=fields.amount_or_none("epochs"),
        verdict=cast(Verdict | None, fields.choice_or_none("verdict", get_args(Verdict))),
        reason=fields.text_or_none("reason") or "",
        floors=tuple(_floor(floor) for floor in fields.objects("floors")),
        is_chosen=fields.truth_or_none("chosen") or False,
        confusions=tuple(_confusion(confusion) for confusion in fields.objects("confusions")),
        command=fields.text_or_none("command") or "",
        environment=fields.mapping("environment"),
        seed=fields.count_or_none("seed"),
        recipe_hash=fields.text_or_none("recipe_hash"),
    )


def _floor(fields: Fields) -> Floor:
    check_keys(fields, FLOOR_KEYS)
    return Floor(
        metric=fields.text("metric"),
        half=cast(Half | None, fields.choice_or_none("half", get_args(Half))),
        wanted=fields.text_or_none("wanted") or "",
        needed=fields.number_or_none("needed"),
        found=fields.number_or_none("found"),
        low=fields.number_or_none("low"),
        keeps=fields.truth_or_none("keeps"),
    )


def _confusion(fields: Fields) -> Confusion:
    check_keys(fields, CONFUSION_KEYS)
    n_more = fields.count_or_none("n_more")
    if n_more is None:
        raise InputError(f"{fields.where}: 'n_more' must be a whole number")
    return Confusion(
        metric=fields.text("metric"),
        gold=fields.text("gold"),
        said=fields.text("said"),
        n_more=n_more,
        sentences=fields.texts("sentences"),
    )


def _required(fields: Fields, key: str, choices: tuple[str, ...]) -> str:
    value = fields.choice_or_none(key, choices)
    if value is None:
        raise InputError(f"{fields.where}: {key!r} must be one of {', '.join(choices)}")
    return value
