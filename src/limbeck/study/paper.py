"""The paper's own figures: Lan et al., 2020, ALBERT, arXiv 1909.11942 v6, on its dev sets.

In:  a key, as arms have it.
Out: facts as they are printed there, each with its table. None of them was measured by limbeck.
"""

from collections.abc import Mapping
from dataclasses import dataclass

SOURCE = "Lan et al., 2020, arXiv 1909.11942 v6"
# table 2, speed-up column: training pieces a second, BERT-large = 1
SPEEDUP_ALBERT_LARGE = 1.7


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """One line of one table."""

    table: int
    name: str
    millions: float | None  # parameters, where the table has them
    squad1: str  # F1/EM
    squad2: str
    mnli: float
    sst2: float
    race: float
    average: float
    hours: float | None = None
    steps: int | None = None
    mlm: float | None = None  # accuracies of the tasks of pretraining
    nsp: float | None = None
    sop: float | None = None


def _line(table: int, name: str, millions: float | None, scores: str) -> Figures:
    squad1, squad2, *others = scores.split()
    mnli, sst2, race, average = map(float, others)
    return Figures(
        table=table, name=name, millions=millions, squad1=squad1, squad2=squad2, mnli=mnli,
        sst2=sst2, race=race, average=average,
    )  # fmt: skip


def _timed(name: str, steps: int, hours: float, millions: float, scores: str) -> Figures:
    it = _line(6, name, millions, scores)
    return Figures(
        table=6, name=name, millions=millions, squad1=it.squad1, squad2=it.squad2, mnli=it.mnli,
        sst2=it.sst2, race=it.race, average=it.average, hours=hours, steps=steps,
    )  # fmt: skip


def _ordered(name: str, mlm: float, nsp: float, sop: float, scores: str) -> Figures:
    it = _line(5, name, None, scores)
    return Figures(
        table=5, name=name, millions=None, squad1=it.squad1, squad2=it.squad2, mnli=it.mnli,
        sst2=it.sst2, race=it.race, average=it.average, mlm=mlm, nsp=nsp, sop=sop,
    )  # fmt: skip


PAPER: Mapping[str, Figures] = {
    # parameters of these two are in table 2
    "same-time BERT-large": _timed(
        "BERT-large", 400_000, 34, 334, "93.5/87.4 86.9/84.3 87.8 94.6 77.3 87.2"
    ),
    "same-time ALBERT-xxlarge": _timed(
        "ALBERT-xxlarge", 125_000, 32, 235, "94.0/88.1 88.3/85.3 87.8 95.4 82.5 88.7"
    ),
    # ALBERT-large; from 3 layers on each starts from the depth before
    "depth 1": _line(11, "1 layer", 18, "31.1/22.9 50.1/50.1 66.4 80.8 40.1 52.9"),
    "depth 3": _line(11, "3 layers", 18, "79.8/69.7 64.4/61.7 77.7 86.7 54.0 71.2"),
    "depth 6": _line(11, "6 layers", 18, "86.4/78.4 73.8/71.1 81.2 88.9 60.9 77.2"),
    "depth 12": _line(11, "12 layers", 18, "89.8/83.3 80.7/77.9 83.3 91.7 66.7 81.5"),
    "depth 24": _line(11, "24 layers", 18, "90.3/83.3 81.8/79.0 83.3 91.5 68.7 82.1"),
    "depth 48": _line(11, "48 layers", 18, "90.0/83.1 81.8/78.9 83.4 91.9 66.9 81.8"),
    # ALBERT-xxlarge
    "wide depth 12": _line(13, "12 wide layers", None, "94.0/88.1 88.3/85.3 87.8 95.4 82.5 88.7"),
    "wide depth 24": _line(13, "24 wide layers", None, "94.1/88.3 88.1/85.1 88.0 95.2 82.3 88.7"),
    # ALBERT-base; for E = 128 table 3 prints MNLI 81.6 (all) and 83.7 (none, average 81.7) where
    # table 4, which is quoted here, prints 82.0 and 83.2 (81.6)
    "share all E64": _line(3, "all, E=64", 10, "88.7/81.4 77.5/74.8 80.8 89.4 63.5 79.0"),
    "share none E64": _line(3, "none, E=64", 87, "89.9/82.9 80.1/77.8 82.9 91.5 66.7 81.3"),
    "share all E128": _line(4, "all, E=128", 12, "89.3/82.3 80.0/77.1 82.0 90.3 64.0 80.1"),
    "share attention E128": _line(
        4, "attention, E=128", 64, "89.9/82.8 80.7/77.9 83.4 91.9 67.6 81.7"
    ),
    "share ffn E128": _line(4, "FFN, E=128", 38, "88.9/81.6 78.6/75.6 82.3 91.7 64.4 80.2"),
    "share none E128": _line(4, "none, E=128", 89, "89.9/82.8 80.3/77.3 83.2 91.5 67.9 81.6"),
    "share all E768": _line(4, "all, E=768", 31, "88.6/81.5 79.2/76.6 82.0 90.6 63.3 79.8"),
    "share attention E768": _line(
        4, "attention, E=768", 83, "89.9/82.7 80.0/77.2 84.0 91.4 67.7 81.6"
    ),
    "share ffn E768": _line(4, "FFN, E=768", 57, "89.2/82.1 78.2/75.4 81.5 90.8 62.6 79.5"),
    "share none E768": _line(4, "none, E=768", 108, "90.4/83.2 80.4/77.6 84.5 92.8 68.2 82.3"),
    # ALBERT-base
    "order none": _ordered("none", 54.9, 52.4, 53.3, "88.6/81.5 78.1/75.3 81.5 89.9 61.7 79.0"),
    "order nsp": _ordered("NSP", 54.5, 90.5, 52.0, "88.4/81.5 77.2/74.6 81.6 91.1 62.3 79.2"),
    "order sop": _ordered("SOP", 54.0, 78.9, 86.5, "89.3/82.3 80.0/77.1 82.0 90.3 64.0 80.1"),
}
