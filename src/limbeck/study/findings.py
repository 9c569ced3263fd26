"""Findings: what a study showed, beside what the paper found, also where it showed nothing.

In:  a study, summaries of its arms.
Out: sentences. A difference counts where it is beyond twice its standard error; the paper's own
numbers are never mixed with ours.
"""

import math
from collections.abc import Iterator, Mapping, Sequence

from limbeck.study.arms import Study
from limbeck.study.claims import Claim, OrderClaim, claims_of, order_claims
from limbeck.study.paper import SPEEDUP_ALBERT_LARGE
from limbeck.study.summaries import Estimate, Summary

BEYOND = 2.0  # standard errors
CHANCE = 0.5


def findings(study: Study, summaries: Sequence[Summary]) -> list[str]:
    """Say all that can be said, caveats first."""
    arms = {it.arm: it for it in summaries}
    said = [*_caveats(study, summaries)]
    said += [_judged(it, arms) for it in claims_of(study) if {it.first, it.second} <= arms.keys()]
    said += [_told(it, arms) for it in order_claims(study) if it.arm in arms]
    if study.name == "sharing":
        said += _speed(summaries)
    return said


def _caveats(study: Study, summaries: Sequence[Summary]) -> Iterator[str]:
    row = summaries[0].rows[0]
    if row.scale == "tiny":
        yield "The scale tiny shows that everything works, and nothing about architectures."
    n_seeds = min(len(it.rows) for it in summaries)
    if n_seeds == 1:
        yield (
            "One seed: errors are those of the held-out rows alone, and another seed may move an "
            "arm by more than they say (--seeds 1,2,3 tells)."
        )
    yield (
        "The paper judges by the average of five downstream tasks after 125,000 steps or more of "
        f"4,096 rows; here the loss of hidden pieces judges, after {_steps(summaries)} steps of "
        f"{row.training['max_padded_pieces']:,} pieces."
    )
    unlearnt = [it.arm for it in summaries if not _is_beyond_frequencies(it)]
    if unlearnt:
        yield (
            f"Not better than the frequencies of pieces alone: {', '.join(unlearnt)}. Training was "
            "too short for what these arms would show."
        )
    if study.name == "sop" and "sop" in (it.arm for it in summaries):
        yield (
            "Heads of their own are asked as they are, also about what they were not trained for: "
            "0 means as written in both. Fitted ones are linear, on states that stay as they are."
        )


def _steps(summaries: Sequence[Summary]) -> str:
    counts = [round(it.mean(lambda row: row.n_steps) or 0) for it in summaries]
    low, high = min(counts), max(counts)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _is_beyond_frequencies(it: Summary) -> bool:
    known = it.mean(lambda row: row.frequencies.piece_loss) or 0.0
    return it.loss.mean + BEYOND * it.loss.error < known


def _judged(claim: Claim, arms: Mapping[str, Summary]) -> str:
    first, second = arms[claim.first].loss, arms[claim.second].loss
    gain = second.mean - first.mean  # a lower loss is better
    noise = BEYOND * math.hypot(first.error, second.error)
    verdict = "neither is better than frequencies alone, so this shows nothing"
    is_learnt = any(_is_beyond_frequencies(arms[name]) for name in (claim.first, claim.second))
    match claim.relation:
        case _ if not is_learnt:
            pass
        case "ahead":
            if gain > noise:
                verdict = "shown here too"
            elif gain < -noise:
                verdict = "here the other way round"
            else:
                verdict = "not shown here: the difference is within the error"
        case "level":
            verdict = (
                "here too the difference is within the error"
                if abs(gain) <= noise
                else f"not so here: {claim.first if gain > 0 else claim.second} is ahead"
            )
    return (
        f"Paper: {claim.paper}. Here: {claim.first} loss {first.mean:.3f}, {claim.second} "
        f"{second.mean:.3f}, {abs(gain):.3f} apart, error {noise:.3f}: {verdict}."
    )


def _told(claim: OrderClaim, arms: Mapping[str, Summary]) -> str:
    found = arms[claim.arm].own_order(claim.order)
    start = f"Paper (table 5): {claim.paper}. Here: "
    if found is None:
        return f"{start}not measured, for want of held-out rows of two segments."
    here = f"{100 * found.mean:.1f}, chance 50, error {100 * BEYOND * found.error:.1f}"
    is_told = _is_told(found)
    if claim.is_told:
        verdict = "shown here too" if is_told else "not shown here: it is not told from chance"
    elif is_told:
        verdict = "not so here: it is above chance"
    else:
        own = arms[claim.arm].own_order(claim.arm)
        verdict = (
            "here too it is not told from chance"
            if own is not None and _is_told(own)
            else "not told from chance, but neither is its own question, so this shows nothing"
        )
    return f"{start}{here}: {verdict}."


def _is_told(found: Estimate) -> bool:
    return found.mean - BEYOND * found.error > CHANCE


def _speed(summaries: Sequence[Summary]) -> Iterator[str]:
    """Does sharing train faster, and why: for each size of piece vectors, all against none."""
    by_body = {(it.rows[0].model["embedding"], it.rows[0].model["sharing"]): it for it in summaries}
    for (embedding, sharing), shared in by_body.items():
        own = by_body.get((embedding, "none"))
        if sharing != "all" or own is None:
            continue
        parts = [_parts(it) for it in (shared, own)]
        if None in parts:
            continue
        (products, update), (own_products, own_update) = (part for part in parts if part)
        ratio = pieces_per_second(shared) / max(1e-9, pieces_per_second(own))
        yield (
            f"E={embedding}: sharing all trains {ratio:.2f} times as many pieces a second as "
            f"sharing none (paper, table 2: ALBERT-large {SPEEDUP_ALBERT_LARGE} times BERT-large, "
            "on TPUs, for less communication and fewer computations). A step alone: products "
            f"{products:.1f} ms shared, {own_products:.1f} not; clipping and optimizer "
            f"{update:.1f} ms shared, {own_update:.1f} not, which is "
            f"{own_update / (own_products + own_update):.0%} of the step, and the most that "
            "sharing can save."
        )


def _parts(it: Summary) -> tuple[float, float] | None:
    products = it.mean(lambda row: row.of_step(lambda cost: cost.products_ms))
    update = it.mean(lambda row: row.of_step(lambda cost: cost.update_ms))
    return None if products is None or update is None else (products, update)


def pieces_per_second(it: Summary) -> float:
    """In training."""
    return it.mean(lambda row: row.n_pieces / max(1e-9, row.seconds)) or 0.0
