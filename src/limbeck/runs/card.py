"""The model card: a bundle's README.md, made from the numbers of its result row.

In:  the recipe and the bundle's evidence, which its row repeats.
Out: Markdown with the front matter that the hub expects. Says nothing that the recipe does not
know: no licence and no language is guessed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from huggingface_hub import EvalResult, ModelCardData

from limbeck.config import CorpusConfig, Recipe
from limbeck.data.corpora import task_kinds
from limbeck.tasks.base import TEXT_KINDS, TaskKind
from limbeck.tasks.metrics import UD_NAMES

NOT_MEASURED = "not measured"
_TASK_OF = {name: task for task, name in UD_NAMES.items()}  # the others without a dot are of dep

# how a metric ends -> what the hub's `evaluate` calls it
_METRIC_TYPES = {
    "accuracy": "accuracy",
    "f1": "f1",
    "micro_f1": "f1",
    "macro_f1": "f1",
    "matthews": "matthews_correlation",
    "spearman": "spearmanr",
    "pearson": "pearsonr",
    "CLAS": "f1",
    "MLAS": "f1",
    "BLEX": "f1",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TextSource:
    """The text that a task was scored on, as the hub names data sets."""

    identifier: str
    name: str
    split: str | None
    is_on_hub: bool


def model_card(name: str, recipe: Recipe, evidence: Mapping[str, Any]) -> str:
    """Write the card."""
    return f"---\n{_front_matter(name, recipe, evidence)}---\n{_text(name, recipe, evidence)}"


def _front_matter(name: str, recipe: Recipe, evidence: Mapping[str, Any]) -> str:
    kinds = task_kinds(recipe)
    sources = {task: _source(recipe, task) for task in kinds}
    types = {_hub_task(kind) for kind in kinds.values()}
    data = ModelCardData(
        language=recipe.card.language or None,
        license=recipe.card.license or "unknown",
        library_name="limbeck",
        pipeline_tag=types.pop() if len(types) == 1 else None,
        tags=["distillation", "onnx", "cpu", str(evidence["shipped"])],
        datasets=sorted({s.identifier for s in sources.values() if s.is_on_hub}) or None,
        model_name=name,
        eval_results=_results(evidence["metrics"], kinds, sources),
    )
    return f"{data.to_yaml()}\n"


def _results(
    metrics: Mapping[str, float], kinds: Mapping[str, TaskKind], sources: Mapping[str, TextSource]
) -> list[EvalResult]:
    found: list[EvalResult] = []
    for metric, value in sorted(metrics.items()):
        task = task_of(metric, kinds)
        source = sources[task]
        found.append(
            EvalResult(
                task_type=_hub_task(kinds[task]),
                dataset_type=source.identifier,
                dataset_name=source.name,
                dataset_split=source.split,
                metric_type=_METRIC_TYPES.get(metric.rpartition(".")[2], "accuracy"),
                metric_name=f"{metric}, percent",
                metric_value=round(float(value), 2),
            )
        )
    return found


def task_of(metric: str, tasks: Sequence[str] | Mapping[str, TaskKind]) -> str:
    """The task that a metric belongs to."""
    task = metric.rpartition(".")[0] or _TASK_OF.get(metric, "dep")
    if task not in tasks:
        raise ValueError(f"metric {metric!r} belongs to none of {', '.join(tasks)}")
    return task


def _hub_task(kind: TaskKind) -> str:
    return "text-classification" if kind in TEXT_KINDS else "token-classification"


def _source(recipe: Recipe, task: str) -> TextSource:
    """Of the corpora that label a task, what its scores come from."""
    labelling = [corpus for corpus in recipe.corpus if task in corpus.tasks]
    files = [name for corpus in labelling for name in _dev_names(corpus)]
    if len(files) == 1 and files[0].startswith("hub:"):
        identifier, _, split = files[0].removeprefix("hub:").partition(":")
        identifier = "/".join(identifier.split("/")[:2])
        return TextSource(
            identifier=identifier, name=identifier, split=split or "train", is_on_hub=True
        )
    # only the files' own names: folders say something of the machine, and nothing of the text
    names = ", ".join(PurePath(name.removeprefix("hub:")).name for name in files)
    # results of one identifier and one kind of task are put together, so it must name the text
    return TextSource(
        identifier=names, name=f"development text of {recipe.name}", split=None, is_on_hub=False
    )


def _dev_names(corpus: CorpusConfig) -> list[str]:
    names = corpus.train if corpus.dev is None else corpus.dev
    return [names] if isinstance(names, str) else list(names)


def _text(name: str, recipe: Recipe, evidence: Mapping[str, Any]) -> str:
    rows = "\n".join(
        f"| {metric} | {value:.2f} | {_score(evidence['reference'].get(metric))} |"
        for metric, value in sorted(evidence["metrics"].items())
    )
    return f"""# {name}

A small model made by limbeck: {evidence["n_parameters"] / 1e6:.1f} million parameters,
{evidence["size_mb"]:.1f} MB, {evidence["shipped"]}. It was distilled from an ensemble of larger
encoders; it runs on a CPU without torch.

Tasks: {", ".join(task_kinds(recipe))}.

## Scores

On the development text that the recipe names, in percent:

| metric | this bundle | before quantisation |
|---|---:|---:|
{rows}

Development text also chose the ensemble's weights and the best epoch, so scores on new text may be
a little lower.

## Speed

{_speed(evidence)}

## Use

    pip install limbeck
    limbeck annotate BUNDLE FILE

`bundle.json` holds the recipe, the versions and all evidence.

## Licence

{_licence(recipe)}
"""


def _speed(evidence: Mapping[str, Any]) -> str:
    rate = evidence.get("sentences_per_second")
    if rate is None:
        return f"{NOT_MEASURED.capitalize()}."
    environment = evidence["environment"]
    return (
        f"{rate:,.0f} sentences/s from records to labels, on\n"
        f"{environment['cpu']}, {environment['n_threads']} threads."
    )


def _licence(recipe: Recipe) -> str:
    if recipe.card.license is not None:
        return f"{recipe.card.license}, as the recipe says."
    return (
        "Not known: the recipe names none. It follows from the licences of the pretrained\n"
        "encoder, of the teachers and of the text."
    )


def _score(value: float | None) -> str:
    return NOT_MEASURED if value is None else f"{value:.2f}"
