"""`limbeck evaluate`: a bundle against gold labels.

In:  gold files.
Out: metrics on stdout; on stderr, file by file, which of the bundle's tasks have no gold labels.
A task without gold is left out and named: a score of nothing would pass for a bad model.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from limbeck.bundle import Bundle, load_bundle
from limbeck.data.formats import FormatName, ReadOptions, infer_format, read_records
from limbeck.data.layers import held_layers
from limbeck.data.records import Record
from limbeck.errors import ExitCode, InputError
from limbeck.runtime.annotate import AnnotateConfig, Annotated, Annotator
from limbeck.runtime.engines import EngineChoice
from limbeck.tasks.base import TEXT_KINDS


def evaluate_files(
    folder: Path,
    gold: Sequence[Path],
    *,
    format: FormatName | None,
    engine: EngineChoice,
    n_threads: int | None,
    as_json: bool,
) -> int:
    """Score a bundle on gold files."""
    from limbeck.tasks.metrics import score_all

    bundle = load_bundle(folder)
    files = {str(path): read_gold(bundle, str(path), format) for path in gold}
    left_out = {name: _without_gold(bundle, records) for name, records in files.items()}
    records = [record for own in files.values() for record in own]
    if all(len(names) == len(bundle.tasks) for names in left_out.values()):
        raise InputError(
            f"{', '.join(files)}: no labels of this bundle's tasks",
            hint=f"tasks: {', '.join(task.name for task in bundle.tasks)}",
        )
    annotator = Annotator(bundle, AnnotateConfig(engine=engine, n_threads=n_threads))
    annotated: list[Annotated] = annotator.annotate(records)
    scores = score_all(records, [a.labels for a in annotated], bundle.tasks)
    if as_json:
        found = {"n_records": len(records), "metrics": scores, "left_out": left_out}
        sys.stdout.write(json.dumps(found) + "\n")
        return ExitCode.DONE
    width = max(len(name) for name in scores)
    sys.stdout.writelines(f"{name:{width}}  {value:6.2f}\n" for name, value in scores.items())
    sys.stderr.writelines(
        f"{name}: no gold labels for {', '.join(names)}\n"
        for name, names in left_out.items()
        if names
    )
    return ExitCode.DONE


def read_gold(bundle: Bundle, name: str, format: FormatName | None) -> list[Record]:
    """Records of one file with the labels that it holds for the bundle's tasks."""
    known = format or infer_format(name)
    options = ReadOptions(
        format=known,
        tasks=_tasks_in(bundle, known),
        kinds={task.name: task.kind for task in bundle.tasks},
        on_missing="leave",
    )
    return held_layers(list(read_records(name, options=options)))


def _without_gold(bundle: Bundle, records: Sequence[Record]) -> list[str]:
    held = {task for record in records for task in record.labels}
    return [task.name for task in bundle.tasks if task.name not in held]


def _tasks_in(bundle: Bundle, format: FormatName) -> tuple[str, ...]:
    """Those of the bundle's tasks that files of this format can hold labels for."""
    names = [task.name for task in bundle.tasks]
    match format:
        case "conllu":
            kinds = ("upos", "xpos", "feats", "lemma", "dep", "ner")
            return tuple(name for name in names if name in kinds)
        case "bio":
            return tuple(task.name for task in bundle.tasks if task.kind == "spans")[:1]
        case "csv" | "tsv":
            return tuple(task.name for task in bundle.tasks if task.kind in TEXT_KINDS)
        case _:
            return tuple(names)
