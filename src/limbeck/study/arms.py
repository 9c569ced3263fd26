"""Arms: what each study compares, as pure descriptions.

In:  the name of a study, a scale.
Out: `Study`: arms that differ in named settings and have the same budget. Trains nothing.
The comparisons are those of the ALBERT paper (Lan et al., 2020, arXiv 1909.11942), made small.
"""

from dataclasses import dataclass
from typing import Literal, assert_never, get_args

from limbeck.pretrain.config import ModelConfig, OrderTask
from limbeck.study.scales import Scale

StudyName = Literal["same-time", "depth", "sharing", "sop"]
STUDY_NAMES: tuple[StudyName, ...] = get_args(StudyName)
Extra = Literal["step cost", "order heads"]  # what a study measures beside the held-out text
_ALBERT, _BERT = "albert-base", "bert-base"  # what is not said of an arm is as in these


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """When training ends; one of the two."""

    steps: int | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """One way of doing it."""

    name: str
    model: ModelConfig
    order: OrderTask = "sop"
    paper: str | None = None  # key of the paper's figures for what this arm stands for


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """A comparison."""

    name: StudyName
    question: str
    arms: tuple[Arm, ...]
    budget: Budget
    orders: tuple[OrderTask, ...] = ("sop",)  # kinds of held-out rows that every arm is asked
    extras: tuple[Extra, ...] = ()


def make_study(name: StudyName, scale: Scale) -> Study:
    """Describe a study at a scale."""
    match name:
        case "same-time":
            return _same_time(scale)
        case "depth":
            return _depth(scale)
        case "sharing":
            return _sharing(scale)
        case "sop":
            return _sop(scale)
        case _:
            assert_never(name)


def albert(*, layers: int, width: int, embedding: int) -> ModelConfig:
    """One layer, repeated."""
    return ModelConfig(architecture=_ALBERT, layers=layers, width=width, embedding=embedding)


def _same_time(scale: Scale) -> Study:
    it = scale.same_time
    embedding = min(128, it.width)
    return Study(
        name="same-time",
        question="Which body has learnt most after the same time of training?",
        arms=(
            Arm(
                name="bert-deep",
                model=ModelConfig(architecture=_BERT, layers=it.layers, width=it.width),
                paper="same-time BERT-large",
            ),
            Arm(
                name="albert-same-shape",
                model=albert(layers=it.layers, width=it.width, embedding=embedding),
            ),
            # a layer's cost grows with the square of its width
            Arm(
                name="albert-wide-equal-cost",
                model=albert(layers=it.layers // 4, width=2 * it.width, embedding=embedding),
            ),
            # as xxlarge (12 x 4096) stands to BERT-large (24 x 1024)
            Arm(
                name="albert-wide-as-paper",
                model=albert(layers=it.layers // 2, width=4 * it.width, embedding=embedding),
                paper="same-time ALBERT-xxlarge",
            ),
        ),
        budget=Budget(seconds=it.seconds),
        extras=("step cost",),
    )


def _depth(scale: Scale) -> Study:
    it = scale.depth
    known, wide_known = (1, 3, 6, 12, 24, 48), (12, 24)  # depths that the paper has figures for
    narrow = tuple(
        Arm(
            name=f"layers-{n}",
            model=albert(layers=n, width=it.width, embedding=min(128, it.width)),
            paper=f"depth {n}" if n in known else None,
        )
        for n in it.depths
    )
    wide = tuple(
        Arm(
            name=f"wide-layers-{n}",
            model=albert(layers=n, width=it.wide, embedding=min(128, it.width)),
            paper=f"wide depth {n}" if n in wide_known else None,
        )
        for n in it.wide_depths
    )
    return Study(
        name="depth",
        question="How many repetitions of one shared layer are enough?",
        arms=narrow + wide,
        budget=Budget(steps=it.steps),
    )


def _sharing(scale: Scale) -> Study:
    it = scale.sharing
    arms = []
    for size, embedding in (
        ("E64", it.small_embedding),
        ("E128", it.embedding),
        ("E768", it.width),
    ):
        for sharing in ("all", "attention", "ffn", "none"):
            if size == "E64" and sharing in ("attention", "ffn"):
                continue  # nor are they in the paper
            arms.append(
                Arm(
                    name=f"share-{sharing}-E{embedding}",
                    model=ModelConfig(
                        architecture=_ALBERT, layers=it.layers, width=it.width,
                        embedding=embedding, sharing=sharing,
                    ),
                    paper=f"share {sharing} {size}",
                )
            )  # fmt: skip
    return Study(
        name="sharing",
        question="What does sharing cost in accuracy, what does it save, and does it train faster?",
        arms=tuple(arms),
        budget=Budget(steps=it.steps),
        extras=("step cost",),
    )


def _sop(scale: Scale) -> Study:
    it = scale.sop
    model = albert(layers=it.layers, width=it.width, embedding=min(128, it.width))
    orders: tuple[OrderTask, ...] = ("none", "nsp", "sop")
    return Study(
        name="sop",
        question="What does each question about two segments teach, and does it answer the other?",
        arms=tuple(Arm(name=o, model=model, order=o, paper=f"order {o}") for o in orders),
        budget=Budget(steps=it.steps),
        orders=orders,
        extras=("order heads",),
    )
