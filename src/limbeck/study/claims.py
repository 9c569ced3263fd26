"""Claims: what the paper found, as questions that a study's numbers answer.

In:  the name of a study, its arms.
Out: claims, each with the paper's figures. Judged in `findings`, by nobody's wish.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, assert_never

from limbeck.study.arms import Arm, Study
from limbeck.study.paper import PAPER, Figures

Relation = Literal["ahead", "level"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One arm is ahead of another, or level with it, by the paper's average of five tasks."""

    first: str
    relation: Relation
    second: str
    paper: str  # its figures, as a sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderClaim:
    """What an arm's own head makes of a question about two segments; chance is half."""

    arm: str
    order: str
    is_told: bool  # above chance
    paper: str


def claims_of(study: Study) -> tuple[Claim, ...]:
    """Claims about what is learnt in all."""
    by_paper = {arm.paper: arm for arm in study.arms if arm.paper is not None}
    match study.name:
        case "same-time":
            wanted: Sequence[tuple[str, Relation, str]] = [
                ("same-time ALBERT-xxlarge", "ahead", "same-time BERT-large")
            ]
        case "depth":
            wanted = [
                ("depth 6", "ahead", "depth 1"),
                ("depth 12", "ahead", "depth 6"),
                ("depth 24", "level", "depth 12"),
                ("wide depth 24", "level", "wide depth 12"),
            ]
        case "sharing":
            wanted = [
                ("share none E128", "ahead", "share all E128"),
                ("share attention E128", "level", "share none E128"),
                ("share attention E128", "ahead", "share ffn E128"),
                ("share none E768", "ahead", "share all E768"),
                ("share all E128", "ahead", "share all E64"),
                ("share all E128", "level", "share all E768"),
                ("share none E768", "ahead", "share none E128"),
            ]
        case "sop":
            wanted = []  # losses of hidden pieces hardly differ in the paper either
        case _:
            assert_never(study.name)
    return tuple(
        _claim(by_paper[first], relation, by_paper[second])
        for first, relation, second in wanted
        if first in by_paper and second in by_paper
    )


def order_claims(study: Study) -> tuple[OrderClaim, ...]:
    """What `study sop` asks beside."""
    if study.name != "sop":
        return ()
    nsp, sop = PAPER["order nsp"], PAPER["order sop"]
    return (
        OrderClaim(arm="sop", order="sop", is_told=True, paper=f"SOP on SOP {sop.sop}"),
        OrderClaim(arm="nsp", order="nsp", is_told=True, paper=f"NSP on NSP {nsp.nsp}"),
        OrderClaim(arm="sop", order="nsp", is_told=True, paper=f"SOP on NSP {sop.nsp}"),
        OrderClaim(arm="nsp", order="sop", is_told=False, paper=f"NSP on SOP {nsp.sop}"),
    )


def _claim(first: Arm, relation: Relation, second: Arm) -> Claim:
    one, other = PAPER[str(first.paper)], PAPER[str(second.paper)]
    return Claim(
        first=first.name,
        relation=relation,
        second=second.name,
        paper=f"{_said(one)}, {_said(other)} (table {one.table})",
    )


def _said(it: Figures) -> str:
    hours = "" if it.hours is None else f" after {it.hours:g} h"
    return f"{it.name} {it.average}{hours}"
