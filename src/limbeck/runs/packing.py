"""Packing: a trained student -> graph -> int8 -> bundle, measured with the real engine.

In:  the job and a trained network's folder.
Out: a bundle in the stage's folder; its manifest holds the evidence.
"""

import shutil
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from limbeck.bundle import GRAPH, BundleContents, fill_bundle, load_bundle
from limbeck.compress.export import MAX_ABS_DIFF, export_graph, graph_parity, task_outputs
from limbeck.compress.quantise import Quantised, Trial, quantise
from limbeck.data.pieces import Batch, Piecer, collate
from limbeck.data.records import Record
from limbeck.environment import environment, versions
from limbeck.runs.card import model_card
from limbeck.runs.work import Job, calibration_records, n_parameters
from limbeck.runtime.annotate import AnnotateConfig, Annotator
from limbeck.runtime.batching import plan_batches
from limbeck.runtime.choices import DEFAULT_PIECES
from limbeck.runtime.engines import EngineOptions, open_engine, pick_engine
from limbeck.runtime.scoring import score_records
from limbeck.runtime.threads import pick_threads
from limbeck.tasks.metrics import main_metric, score_all
from limbeck.tasks.scores import VECTORS
from limbeck.train.evaluate import dev_metrics
from limbeck.train.trained import Trained, load_trained

CALIBRATION_PIECES = 512  # a few rows of like length: calibration runs the graph batch by batch
N_SPEED_RUNS = 3  # the median counts


def pack(
    job: Job,
    trained_folder: Path,
    *,
    name: str,
    recipe_text: str,
    made: str,
    folder: Path,
    scratch: Path,
) -> None:
    """Fill `folder` with the bundle."""
    trained = load_trained(trained_folder)
    piecer = trained.piecer()
    records = calibration_records(job)
    batches = batches_of(records, piecer, max_padded_pieces=CALIBRATION_PIECES)
    job.progress.start(f"bundle {name}", 4)
    fp32 = scratch / "fp32.onnx"
    # a batch of one row would be traced as if there were never more: small data ends in one
    trace = max(batches, key=lambda batch: len(batch.n_words))
    outputs = task_outputs(trained.network) + ((VECTORS,) if job.recipe.compress.vectors else ())
    export_graph(trained.network, trace, fp32, outputs=outputs)
    parity = graph_parity(trained.network, fp32, [batches[0], batches[-1]])
    parity.check(max_abs_diff=MAX_ABS_DIFF)
    job.progress.advance(1, "exported")
    reference = score_graph(job, piecer, fp32)
    target = scratch / GRAPH
    if job.recipe.compress.precision == "int8":
        quantised = quantise(
            fp32,
            target,
            batches,
            score=lambda path: score_graph(job, piecer, path),
            main_metrics=[main_metric(task) for task in job.tasks],
            reference=reference,
            max_loss=job.recipe.compress.max_loss,
            scratch=scratch,
        )
    else:
        only = Trial(attempt="fp32", n_kept_fp32=0, metrics=reference, largest_loss=0.0)
        quantised = Quantised(shipped="fp32", trials=(only,))
        fp32.replace(target)
    job.progress.advance(1, quantised.shipped)
    if quantised.shipped != job.recipe.compress.precision:
        worst = max(trial.largest_loss for trial in quantised.trials)
        job.progress.say(
            f"{name}: int8 would lose {worst:.2f} points, more than "
            f"{job.recipe.compress.max_loss}; shipped as {quantised.shipped}"
        )
    evidence: dict[str, Any] = {
        "metrics": dict(quantised.trials[-1].metrics),
        "reference": reference,
        "shipped": quantised.shipped,
        "trials": [asdict(trial) for trial in quantised.trials],
        "parity": asdict(parity),
        "n_parameters": n_parameters(trained),
        "size_mb": target.stat().st_size / 1e6,
        "environment": environment(n_threads=pick_threads(None)),
    }
    first = scratch / "bundle"
    _fill(first, job, trained, evidence, name, made, recipe_text, target, trained_folder)
    metrics, rate = measure_bundle(job, first)
    job.progress.advance(1, "measured")
    evidence |= {"metrics": metrics, "sentences_per_second": rate}
    _fill(folder, job, trained, evidence, name, made, recipe_text, target, trained_folder)
    job.progress.advance(1, "saved")
    job.progress.finish()


def _fill(
    folder: Path,
    job: Job,
    trained: Trained,
    evidence: dict[str, Any],
    name: str,
    made: str,
    recipe_text: str,
    graph: Path,
    trained_folder: Path,
) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    piecer = trained.piecer()
    contents = BundleContents(
        name=name,
        made=made,
        tasks=trained.tasks,
        max_pieces=piecer.max_pieces,
        pad_id=piecer.pad_id,
        precision=evidence["shipped"],
        vector_size=trained.network.backbone.hidden_size if job.recipe.compress.vectors else None,
        evidence=evidence,
        versions=versions(),
        recipe=recipe_text,
        card=model_card(name, job.recipe, evidence),
    )
    fill_bundle(
        folder,
        contents,
        graph=graph,
        tokenizer=(trained_folder / "tokenizer.json").read_text(encoding="utf-8"),
        backbone=trained_folder / "backbone",
    )


def batches_of(records: list[Record], piecer: Piecer, *, max_padded_pieces: int) -> list[Batch]:
    """Batches of like length, longest first."""
    rows = [row for record in piecer(records) for row in record]
    plan = plan_batches([len(row.ids) for row in rows], max_padded_pieces=max_padded_pieces)
    return [collate([rows[i] for i in positions], pad_id=piecer.pad_id) for positions in plan]


def score_graph(job: Job, piecer: Piecer, graph: Path) -> dict[str, float]:
    """Dev metrics of a graph in the engine that users get."""
    engine = open_engine(pick_engine("auto"), graph, EngineOptions(n_threads=pick_threads(None)))
    scores = score_records(
        piecer(job.corpora.dev),
        engine.run,
        pad_id=piecer.pad_id,
        max_pieces=piecer.max_pieces,
        kinds={task.name: task.kind for task in job.tasks},
        max_padded_pieces=DEFAULT_PIECES,
    )
    return dev_metrics(job.corpora.dev, scores, job.tasks)


def measure_bundle(job: Job, folder: Path) -> tuple[dict[str, float], float]:
    """Dev metrics and sentences/s of the saved bundle, from records to labels."""
    annotator = Annotator(load_bundle(folder), AnnotateConfig())
    dev = list(job.corpora.dev)
    seconds: list[float] = []
    for _ in range(N_SPEED_RUNS):
        began = time.perf_counter()
        annotated = annotator.annotate(dev)
        seconds.append(time.perf_counter() - began)
    metrics = score_all(dev, [a.labels for a in annotated], job.tasks)
    return metrics, len(dev) / float(np.median(seconds))
