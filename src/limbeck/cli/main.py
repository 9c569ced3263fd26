"""The commands and their options; the work is done elsewhere and imported when it is needed.

In:  argv.
Out: an exit code. Data on stdout, everything else on stderr.
"""

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from limbeck import __version__
from limbeck.cli.narrate import narrated

app = typer.Typer(
    name="limbeck",
    help="Distil an ensemble of transformer encoders; run the small model fast on a CPU.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _tell_version(is_asked: bool) -> None:
    if is_asked:
        sys.stdout.write(f"limbeck {__version__}\n")
        raise typer.Exit


@app.callback()
def limbeck(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_tell_version, is_eager=True, help="say it and stop"),
    ] = False,
) -> None:
    """Distil an ensemble of transformer encoders; run the small model fast on a CPU."""


Format = Literal["conllu", "bio", "jsonl", "csv", "tsv", "parquet", "lines"]
OutFormat = Literal["conllu", "bio", "jsonl"]
EngineOption = Annotated[
    Literal["auto", "ort", "openvino"], typer.Option(help="auto: OpenVINO where installed")
]
ThreadsOption = Annotated[int | None, typer.Option(help="default: all this process may use")]
JsonOption = Annotated[bool, typer.Option("--json", help="print one JSON object")]


@app.command()
def run(
    recipe: Path,
    out: Annotated[Path | None, typer.Option(help="run folder; default: runs/NAME")] = None,
    data: Annotated[Path | None, typer.Option(help="folder that the recipe's files are in")] = None,
    models: Annotated[Path | None, typer.Option(help="folder that local models are in")] = None,
    until: Annotated[
        Literal["corpora", "teachers", "targets", "students", "bundles", "results"],
        typer.Option(help="stop after this stage; twins come with the results"),
    ] = "results",
    budget: Annotated[str | None, typer.Option(help="time for a search: 90s, 60m, 2h")] = None,
    trials: Annotated[int | None, typer.Option(min=1, help="candidates of a search")] = None,
    dry_run: Annotated[bool, typer.Option(help="show the stages, do nothing")] = False,
    json: JsonOption = False,
) -> None:
    """Do the main job: teachers, targets, students, bundles. Continues where it was stopped."""
    from limbeck.cli.jobs import run_recipe

    _leave(
        narrated(
            lambda: run_recipe(
                recipe,
                out=out,
                data=data,
                models=models,
                until=until,
                budget=budget,
                trials=trials,
                is_dry=dry_run,
                as_json=json,
            )
        )
    )


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="run folder")] = Path("limbeck-demo"),
    json: JsonOption = False,
) -> None:
    """Do the whole job on built-in data: a table, a bundle, three annotated sentences."""
    from limbeck.cli.jobs import run_demo

    _leave(narrated(lambda: run_demo(out, as_json=json)))


@app.command()
def pretrain(
    recipe: Path,
    out: Annotated[Path | None, typer.Option(help="run folder; default: runs/NAME")] = None,
    data: Annotated[Path | None, typer.Option(help="folder that the text files are in")] = None,
    models: Annotated[Path | None, typer.Option(help="folder that local models are in")] = None,
    dry_run: Annotated[bool, typer.Option(help="show the stages and sizes, do nothing")] = False,
    json: JsonOption = False,
) -> None:
    """Pretrain an encoder on raw text, for a recipe to name. Continues where it was stopped."""
    from limbeck.cli.pretrain import pretrain_recipe

    _leave(
        narrated(
            lambda: pretrain_recipe(
                recipe, out=out, data=data, models=models, is_dry=dry_run, as_json=json
            )
        )
    )


@app.command()
def annotate(
    bundle: Path,
    files: Annotated[list[str] | None, typer.Argument(help="text files; - or none: stdin")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="default: stdout")] = None,
    format: Annotated[Format | None, typer.Option(help="default: by the file")] = None,
    output_format: Annotated[OutFormat | None, typer.Option(help="default: as the input")] = None,
    tasks: Annotated[str | None, typer.Option(help="comma-separated; default: all")] = None,
    probabilities: Annotated[bool, typer.Option(help="add them (JSONL, CoNLL-U)")] = False,
    engine: EngineOption = "auto",
    threads: ThreadsOption = None,
    workers: Annotated[int | None, typer.Option(min=1, help="batches in flight")] = None,
    read_ahead: Annotated[int, typer.Option(min=1, help="records held before sorting")] = 4_096,
    on_error: Annotated[Literal["stop", "skip"], typer.Option(help="bad records")] = "stop",
    json: JsonOption = False,
) -> None:
    """Annotate text with a bundle; order and number of records are kept."""
    from limbeck.cli.texts import AnnotateJob, annotate_files

    job = AnnotateJob(
        bundle=bundle,
        files=tuple(files or ["-"]),
        output=output,
        format=format,
        output_format=output_format,
        tasks=tuple(name.strip() for name in tasks.split(",")) if tasks else None,
        probabilities=probabilities,
        engine=engine,
        n_threads=threads,
        n_workers=workers,
        read_ahead=read_ahead,
        on_error=on_error,
        as_json=json,
    )
    _leave(narrated(lambda: annotate_files(job)))


@app.command()
def evaluate(
    bundle: Path,
    gold: list[Path],
    format: Annotated[Format | None, typer.Option(help="default: by the file")] = None,
    engine: EngineOption = "auto",
    threads: ThreadsOption = None,
    json: JsonOption = False,
) -> None:
    """Score a bundle on gold files by the field's own metrics."""
    from limbeck.cli.evaluate import evaluate_files

    _leave(
        narrated(
            lambda: evaluate_files(
                bundle, gold, format=format, engine=engine, n_threads=threads, as_json=json
            )
        )
    )


@app.command()
def tune(
    bundle: Path,
    text: Annotated[Path | None, typer.Option(help="your own text; default: built-in")] = None,
    format: Annotated[Format | None, typer.Option(help="default: by the file")] = None,
    threads: ThreadsOption = None,
    seconds: Annotated[float, typer.Option(min=1, help="about how long to try")] = 18.0,
    json: JsonOption = False,
) -> None:
    """Find the engine, workers and batch size that are fastest here, and remember them."""
    from limbeck.cli.tune import tune_bundle

    _leave(
        narrated(
            lambda: tune_bundle(
                bundle,
                text=text,
                format=format,
                n_threads=threads,
                seconds=seconds,
                as_json=json,
            )
        )
    )


@app.command()
def bench(
    bundle: Path,
    text: Annotated[Path | None, typer.Option(help="your own text; default: built-in")] = None,
    format: Annotated[Format | None, typer.Option(help="default: by the file")] = None,
    threads: ThreadsOption = None,
    rounds: Annotated[int, typer.Option(min=1, help="times that each contestant runs")] = 5,
    rows: Annotated[Path | None, typer.Option(help="append result rows to this .jsonl")] = None,
    checks: Annotated[
        bool, typer.Option("--checks", help="start, one record, memory, steady answers instead")
    ] = False,
    load: Annotated[
        Literal["quick", "full"] | None,
        typer.Option(help="`serve` under load instead: half a minute, or 13"),
    ] = None,
    scenario: Annotated[Path | None, typer.Option(help="a race with peers, from a file")] = None,
    data: Annotated[Path, typer.Option(help="a scenario's text is in this folder")] = Path("."),
    models: Annotated[Path, typer.Option(help="and its models in this one")] = Path("."),
    peer_python: Annotated[str, typer.Option(help="the Python that has the peers")] = "",
    json: JsonOption = False,
) -> None:
    """Race a bundle against its bare graph, naive engines, a transformers pipeline, and peers."""
    from limbeck.cli.bench import bench_bundle, bench_scenario, check_bundle

    if checks or load is not None:
        _leave(
            narrated(
                lambda: check_bundle(
                    bundle,
                    text=text,
                    format=format,
                    n_threads=threads,
                    load=load,
                    rows_to=rows,
                    as_json=json,
                )
            )
        )
    if scenario is not None:
        _leave(
            narrated(
                lambda: bench_scenario(
                    bundle,
                    scenario=scenario,
                    data=data,
                    models=models,
                    python=peer_python or sys.executable,
                    n_threads=threads,
                    rows_to=rows,
                    as_json=json,
                )
            )
        )
    _leave(
        narrated(
            lambda: bench_bundle(
                bundle,
                text=text,
                format=format,
                n_threads=threads,
                n_rounds=rounds,
                rows_to=rows,
                as_json=json,
            )
        )
    )


study = typer.Typer(no_args_is_help=True, help="Compare architectures on this machine.")
app.add_typer(study, name="study")


@study.command("cpu")
def study_cpu(
    full: Annotated[bool, typer.Option(help="all encoders, engines and precisions")] = False,
    only: Annotated[str | None, typer.Option(help="comma-separated names")] = None,
    threads: ThreadsOption = None,
    rows: Annotated[Path, typer.Option(help="rows, read first and added to")] = Path(
        "study-cpu.jsonl"
    ),
    json: JsonOption = False,
) -> None:
    """What BERT, ALBERT, XLNet and DistilBERT cost on this CPU. Goes on where it was stopped."""
    from limbeck.cli.study import study_cpu as measure

    names = only.split(",") if only else None
    _leave(
        narrated(lambda: measure(full=full, only=names, n_threads=threads, rows=rows, as_json=json))
    )


TextOption = Annotated[
    list[Path], typer.Option(help="raw text to learn from, plain, .gz or .zst; may be repeated")
]
DocumentsOption = Annotated[
    Literal["lines", "blank-lines"], typer.Option(help="one document a line, or up to a blank one")
]
ScaleOption = Annotated[
    Literal["tiny", "small", "hour"],
    typer.Option(help="tiny: seconds, shows nothing; small: a quarter of an hour; hour"),
]
ProbeOption = Annotated[
    list[Path] | None,
    typer.Option(help="fine-tune on the corpora of this `limbeck run` recipe; may be repeated"),
]
ProbeDataOption = Annotated[
    Path | None, typer.Option(help="folder that the files of these recipes are in")
]
SeedsOption = Annotated[str, typer.Option(help="comma-separated; every arm is run with each")]
StudyOutOption = Annotated[
    Path | None, typer.Option(help="run folder; default: runs/study-NAME-SCALE")
]
StudyRowsOption = Annotated[
    Path | None, typer.Option(help="rows, read first and added to; default: in the run folder")
]
DryOption = Annotated[bool, typer.Option("--dry-run", help="show arms and time, do nothing")]


_Comparison = Literal["same-time", "depth", "sharing", "sop"]
_COMPARISONS: dict[_Comparison, str] = {
    "same-time": "BERT's body against ALBERT's after the same time of training.",
    "depth": "One shared layer repeated 1 to 24 times, after the same steps.",
    "sharing": "What layers share, and the size of piece vectors, after the same steps.",
    "sop": "Sentence order, next sentence or neither, each asked the other's question.",
}


def _add_comparison(name: _Comparison, what: str) -> None:
    @study.command(name, help=what)
    def comparison(
        text: TextOption,
        documents: DocumentsOption = "lines",
        scale: ScaleOption = "small",
        probe: ProbeOption = None,
        data: ProbeDataOption = None,
        seeds: SeedsOption = "1",
        out: StudyOutOption = None,
        rows: StudyRowsOption = None,
        dry_run: DryOption = False,
        json: JsonOption = False,
    ) -> None:
        from limbeck.cli.comparisons import Comparison, compare

        it = Comparison(
            name=name,
            text=tuple(map(str, text)),
            documents=documents,
            scale=scale,
            probes=tuple(probe or ()),
            data=data,
            seeds=seeds,
            out=out,
            rows=rows,
            is_dry=dry_run,
            as_json=json,
        )
        _leave(narrated(lambda: compare(it)))


for _name, _what in _COMPARISONS.items():
    _add_comparison(_name, _what)


@app.command()
def report(
    run: Annotated[Path, typer.Argument(help="run folder with results.jsonl")],
    json: JsonOption = False,
) -> None:
    """Write report.html and report.md into a run's folder, from its result rows alone."""
    from limbeck.cli.report import report_run

    _leave(narrated(lambda: report_run(run, as_json=json)))


@app.command()
def serve(
    bundles: Annotated[list[str], typer.Argument(help="folders of bundles, or NAME=FOLDER")],
    host: Annotated[str, typer.Option(help="address; others than this machine's need a token")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(min=0, max=65_535, help="0: any that is free")] = 8_000,
    insecure: Annotated[bool, typer.Option(help="no token although others may ask")] = False,
    allow_host: Annotated[
        list[str] | None, typer.Option(help="one more name to answer as; may be repeated")
    ] = None,
    engine: EngineOption = "auto",
    threads: ThreadsOption = None,
    workers: Annotated[int, typer.Option(min=1, help="rounds in the engine at once")] = 1,
    max_body_bytes: Annotated[int, typer.Option(min=1, help="of a request")] = 1_048_576,
    max_texts: Annotated[int, typer.Option(min=1, help="of a request")] = 1_024,
    max_pieces: Annotated[int, typer.Option(min=1, help="of a text")] = 2_048,
    max_waiting: Annotated[int, typer.Option(min=1, help="texts in the queue")] = 1_536,
    max_seconds: Annotated[float, typer.Option(min=0.001, help="for a request")] = 30.0,
) -> None:
    """Serve bundles over HTTP, with a page to look at. LIMBECK_TOKEN holds the token."""

    def work() -> int:
        from limbeck.cli.serve import ServeJob, serve_bundles
        from limbeck.serve.limits import Limits

        job = ServeJob(
            bundles=tuple(bundles),
            host=host,
            port=port,
            is_insecure=insecure,
            hosts=tuple(allow_host or ()),
            limits=Limits(
                body_bytes=max_body_bytes,
                texts=max_texts,
                pieces=max_pieces,
                waiting=max_waiting,
                seconds=max_seconds,
            ),
            engine=engine,
            n_threads=threads,
            n_workers=workers,
        )
        return serve_bundles(job)

    _leave(narrated(work))


@app.command()
def doctor(json: JsonOption = False) -> None:
    """Tell what this machine offers: CPU features, threads, engines, versions."""
    from limbeck.cli.doctor import report_machine

    _leave(narrated(lambda: report_machine(as_json=json)))


def _leave(code: int) -> None:
    raise typer.Exit(int(code))


def main() -> None:
    """Entry point of the `limbeck` command."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8", newline="")
    # OpenVINO imports its model converter at once, for a tenth of the time that a start takes; it
    # goes on without, and no command converts models with it
    sys.modules.setdefault("openvino.tools.ovc", None)  # type: ignore[arg-type]
    app()
