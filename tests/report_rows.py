"""Made-up rows of a run and of a search, for tests of the report.

Everything follows from a seed; nobody measured any of it.
"""

import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ENVIRONMENT = {
    "cpu": "Toy CPU (family 6)",
    "features": ["avx2", "fma"],
    "n_cpus": 2,
    "n_threads": 2,
    "python": "3.11.7",
    "versions": {"limbeck": "0.1.0", "onnxruntime": "1.32.0"},
}
METRICS = ("UPOS", "LAS")
NEEDED = {"UPOS": 95.2, "LAS": 84.1}
WANTED = {"UPOS": "-0.3", "LAS": "-1.0"}


def model_row(
    name: str, kind: str, *, metrics: Mapping[str, float], **given: Any
) -> dict[str, Any]:
    """A row of results.jsonl."""
    return {
        "name": name,
        "kind": kind,
        "metrics": dict(metrics),
        "size_mb": None,
        "sentences_per_second": None,
        "seconds": None,
        "command": "limbeck run toy.toml",
        "environment": ENVIRONMENT,
        "notes": {},
        **given,
    }


def base_rows() -> list[dict[str, Any]]:
    """Two teachers and their ensemble."""
    return [
        model_row(
            "base-s1",
            "teacher",
            metrics={"UPOS": 95.21, "LAS": 84.63, "CLAS": 81.07},
            size_mb=438.1,
            sentences_per_second=31.7,
            seconds=5_021.0,
        ),
        model_row(
            "small-s1",
            "teacher",
            metrics={"UPOS": 94.37, "LAS": 82.18, "CLAS": 78.46},
            size_mb=133.4,
            sentences_per_second=118.9,
            seconds=1_733.0,
        ),
        model_row(
            "ensemble",
            "ensemble",
            metrics={"UPOS": 95.53, "LAS": 85.14, "CLAS": 81.69},
            size_mb=571.5,
            sentences_per_second=25.02,
            environment={},
            notes={"weights": {"upos": {"base-s1": 0.5, "small-s1": 0.5}}},
        ),
    ]


def candidate_row(name: str, **given: Any) -> dict[str, Any]:
    """A row of candidates.jsonl in which nothing was measured, but for what is given."""
    return {
        "name": name,
        "kind": "candidate",
        "family": None,
        "precision": None,
        "metrics": None,
        "intervals": None,
        "twin": None,
        "fp32_metrics": None,
        "size_mb": None,
        "n_parameters": None,
        "latency_p50_ms": None,
        "latency_p95_ms": None,
        "sentences_per_second": None,
        "peak_memory_mb": None,
        "epochs": None,
        "verdict": None,
        "reason": None,
        "floors": None,
        "chosen": False,
        "confusions": None,
        "command": None,
        "environment": None,
        "seed": None,
        "recipe_hash": None,
        **given,
    }


def measured_candidate(
    name: str, *, scores: Mapping[str, float], size_mb: float, rng: random.Random, **given: Any
) -> dict[str, Any]:
    """A candidate that was judged by its scores."""
    low = {metric: round(score - rng.uniform(0.2, 0.6), 3) for metric, score in scores.items()}
    floors = [
        {
            "metric": metric,
            "half": "search",
            "wanted": WANTED[metric],
            "needed": NEEDED[metric],
            "found": scores[metric],
            "low": low[metric],
            "keeps": low[metric] >= NEEDED[metric],
        }
        for metric in METRICS
    ]
    p50 = round(0.21 * size_mb**0.8, 3)
    row = {
        "family": rng.choice(("cut", "shared")),
        "precision": "int8",
        "metrics": dict(scores),
        "intervals": {m: [low[m], round(s + 0.41, 3)] for m, s in scores.items()},
        "twin": {m: round(s - rng.uniform(0.5, 2), 3) for m, s in scores.items()},
        "fp32_metrics": {m: round(s + rng.uniform(-0.05, 0.2), 3) for m, s in scores.items()},
        "size_mb": size_mb,
        "n_parameters": int(size_mb * 983_000),
        "latency_p50_ms": p50,
        "latency_p95_ms": round(1.4 * p50, 3),
        "sentences_per_second": round(21_000 / size_mb * rng.uniform(0.7, 1.3), 2),
        "peak_memory_mb": round(90 + 2.3 * size_mb, 1),
        "epochs": 4.0,
        "verdict": "keeps" if all(floor["keeps"] for floor in floors) else "misses",
        "floors": floors,
        "confusions": [
            {
                "metric": "UPOS",
                "gold": gold,
                "said": said,
                "n_more": rng.randint(2, 20),
                "sentences": [f"The {gold} of {name} ran home .", "A bird sang ."],
            }
            for gold, said in (("NOUN", "PROPN"), ("VERB", "AUX"), ("ADJ", "VERB"), ("X", "SYM"))
        ],
        "command": "limbeck run toy.toml",
        "environment": ENVIRONMENT,
        "seed": 7,
        "recipe_hash": "5f2ab3c1",
    }
    return candidate_row(name, **{**row, **given})


def search_rows(n: int, *, seed: int = 0) -> list[dict[str, Any]]:
    """A search of `n` candidates; the smallest that keeps its floors is chosen."""
    rng = random.Random(seed)
    rows: list[dict[str, Any]] = []
    for i in range(n):
        size = round(10 ** rng.uniform(0, 2.1), 2)
        # larger is better, with luck
        lost = 6 / size**0.55 + rng.uniform(-0.3, 1.2)
        scores = {"UPOS": round(96.3 - lost / 3, 3), "LAS": round(85.9 - lost, 3)}
        name = f"{rng.randint(1, 12)}x{rng.choice((128, 256, 384))} no. {i}, int8"
        if i % 5 == 3:
            early = {metric: round(score - 12, 3) for metric, score in scores.items()}
            rows.append(
                candidate_row(
                    name,
                    family="cut",
                    precision="int8",
                    metrics=early,
                    size_mb=size,
                    epochs=0.4,
                    verdict="pruned",
                    reason="below the median after 0.4 epochs",
                )
            )
        elif i % 23 == 17:
            rows.append(candidate_row(name, verdict="failed", reason="export refused: no kernel"))
        else:
            rows.append(measured_candidate(name, scores=scores, size_mb=size, rng=rng))
    kept = [row for row in rows if row["verdict"] == "keeps"]
    if kept:
        min(kept, key=lambda row: row["size_mb"])["chosen"] = True
    return rows


def write_run(
    folder: Path, models: Sequence[Mapping[str, Any]], candidates: Sequence[Mapping[str, Any]] = ()
) -> Path:
    """Put rows into a run folder."""
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder / "results.jsonl", models)
    if candidates:
        _write(folder / "candidates.jsonl", candidates)
    return folder


def _write(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
