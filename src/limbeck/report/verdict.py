"""What the run came to, in sentences: the chosen model, or that nothing keeps the floor.

In:  models.
Out: sentences; every number in them is a row's, or the quotient of two rows'.
"""

from collections.abc import Container, Sequence
from dataclasses import replace

from limbeck.report.models import Model, largest_teacher, quality
from limbeck.report.rows import Floor, Half
from limbeck.report.wording import counted, listed, quantity, score, times


def summary(models: Sequence[Model], names: Sequence[str]) -> tuple[str, ...]:
    """Say it plainly, the outcome first."""
    candidates = [model for model in models if model.kind == "candidate"]
    if candidates:
        return (*_outcome(candidates, models), _count(candidates))
    bundles = [model for model in models if model.kind == "bundle"]
    if not bundles:
        return ("No bundle has been made yet.",)
    return tuple(line for bundle in bundles for line in _bundle(bundle, models, names))


def with_nearest(models: Sequence[Model]) -> tuple[Model, ...]:
    """Where no candidate keeps its floor, mark the nearest, or what the search took for it."""
    if any(model.keeps for model in models):
        return tuple(models)
    chosen = [model.number for model in models if model.standing == "chosen"]
    near = nearest(models)
    marked = chosen or ([near.number] if near is not None else [])
    return tuple(replace(m, standing="nearest") if m.number in marked else m for m in models)


def nearest(models: Sequence[Model]) -> Model | None:
    """Of the candidates that were judged, the one that misses its worst floor by least.

    Only floors that all of them were judged on count, as in the search: the other half of dev is
    asked about the best one alone, and would put it behind others that were never asked.
    """
    judged = [model for model in models if model.verdict in ("keeps", "misses")]
    asked = [{(floor.metric, floor.half) for floor in model.floors} for model in judged]
    common = set.intersection(*asked) if asked else set()
    missed = [
        (miss, model)
        for model in judged
        if (miss := _shortfall(model, common or set.union(*asked))) is not None
    ]
    return min(missed, key=lambda pair: (pair[0], pair[1].number))[1] if missed else None


def _shortfall(model: Model, among: Container[tuple[str, Half | None]]) -> float | None:
    """Points by which the worst of these floors is missed; below 0 where all are kept."""
    misses = [
        miss
        for floor in model.floors
        if (floor.metric, floor.half) in among and (miss := floor_shortfall(floor)) is not None
    ]
    return max(misses, default=None)


def floor_shortfall(floor: Floor) -> float | None:
    """Points by which one floor is missed; below 0 where it is kept."""
    bound = floor.low if floor.low is not None else floor.found
    return None if floor.needed is None or bound is None else floor.needed - bound


def _floor_sentence(floor: Floor) -> str:
    """One floor, kept or missed, by how much."""
    wanted = f" ({floor.wanted})" if floor.wanted else ""
    half = f" on the {floor.half} half of dev" if floor.half else ""
    sure = "" if floor.low is None else f", at least {score(floor.low)} with 95 % confidence"
    verb = {True: "keeps", False: "misses", None: "was not judged on"}[floor.keeps]
    miss = floor_shortfall(floor)
    by = f" by {quantity(miss)} points" if floor.keeps is False and miss and miss > 0 else ""
    return (
        f"It {verb} {floor.metric}{wanted}{half}{by}: {score(floor.needed)} needed, "
        f"{score(floor.found)} found{sure}."
    )


def _outcome(candidates: Sequence[Model], models: Sequence[Model]) -> list[str]:
    kept = [model for model in candidates if model.keeps]
    chosen = [model for model in candidates if model.standing == "chosen"]
    said: list[str] = []
    if not kept:
        said.append("No candidate keeps the floor.")
        for model in candidates:
            if model.standing != "nearest":
                continue
            said += [f"Nearest: {model.label}.", *_told(model, models)]
        return said
    for model in chosen:
        if model.keeps:
            said.append(f"Chosen: {model.label}.")
        else:
            said.append(f"Marked as chosen, but it does not keep the floor: {model.label}.")
        said += _told(model, models)
    if not chosen:
        names = listed([model.label for model in kept])
        keep = "keeps" if len(kept) == 1 else "keep"
        said.append(f"No candidate is marked as chosen; {names} {keep} the floor.")
    return said


def _told(model: Model, models: Sequence[Model]) -> list[str]:
    return [_cost(model, models), *(_floor_sentence(floor) for floor in model.floors)]


def _cost(model: Model, models: Sequence[Model]) -> str:
    said: list[str] = []
    if model.size_mb is not None:
        said.append(f"{quantity(model.size_mb)} MB")
    if model.sentences_per_second is not None:
        said.append(f"{quantity(model.sentences_per_second)} sentences/s")
    teacher = largest_teacher(models)
    ratios: list[str] = []
    if teacher is not None:
        if model.size_mb and teacher.size_mb:
            ratios.append(times(teacher.size_mb / model.size_mb, more="smaller", less="larger"))
        if model.sentences_per_second and teacher.sentences_per_second:
            ratio = model.sentences_per_second / teacher.sentences_per_second
            ratios.append(times(ratio, more="faster", less="slower"))
    than = teacher.label if teacher is not None else ""
    compared = (
        f": {' and '.join(ratios)} than {than}, the largest teacher in fp32" if ratios else ""
    )
    return f"{', '.join(said) or 'Size and speed were not measured'}{compared}."


def _bundle(bundle: Model, models: Sequence[Model], names: Sequence[str]) -> list[str]:
    ensemble = next((model for model in models if model.kind == "ensemble"), None)
    mean = quality(bundle, names)
    said = [f"{bundle.label}: {_cost(bundle, models)}"]
    if mean is not None:
        other = quality(ensemble, names) if ensemble is not None else None
        beside = "" if other is None else f", the ensemble's is {score(other)}"
        said.append(f"Its quality is {score(mean)}{beside} ({quality_name(names)}).")
        alone = quality(replace(bundle, metrics=bundle.twin), names)
        if alone is not None:
            outcome = "more" if mean > alone else "less"
            said.append(
                f"The same model without distillation has {score(alone)}: distilling gave "
                f"{quantity(abs(mean - alone))} points {outcome}."
                if mean != alone
                else f"The same model without distillation has {score(alone)} as well."
            )
    return said


def quality_name(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"mean of {listed(names, at_most=9)}"


def _count(candidates: Sequence[Model]) -> str:
    kept = sum(model.keeps for model in candidates)
    groups = [f"{kept} kept every floor"]
    for verdict, words in (
        ("pruned", "were pruned early"),
        ("failed", "failed"),
        (None, "were not judged"),
    ):
        n = sum(model.verdict == verdict for model in candidates)
        if n:
            groups.append(f"{n} {words}")
    n_missed = sum(model.verdict in ("keeps", "misses") for model in candidates) - kept
    if n_missed:
        groups.insert(1, f"{n_missed} missed at least one")
    return f"{counted(len(candidates), 'candidate', 'candidates')}: {listed(groups)}."
