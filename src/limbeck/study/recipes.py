"""Recipes of pretraining that a study's arms stand for.

In:  a study, an arm, a scale, the user's text, a seed.
Out: `PretrainRecipe`. All that is not the arm's own is the same for all arms.
"""

from limbeck.pretrain.config import (
    DocumentStyle,
    MasksConfig,
    PretrainRecipe,
    SegmentsConfig,
    TextConfig,
    TrainingConfig,
    VocabularyConfig,
)
from limbeck.study.arms import Arm, Budget, Study
from limbeck.study.scales import Scale

HELD_OUT = 0.05  # share of the documents; pretraining takes 500 at most
PROBES = 10  # points of each arm's curve
# one for all arms, since a study has no time to look for each one's best
RATE = 1e-3
# so long that deep bodies learn at all: of a shared layer, six times, the loss came to 6.21 after
# 500 steps at `small`, with the usual 0.06 to 6.26; frequencies alone reach 6.28
WARMUP = 0.4
# stretches of three words, as in the paper, are more than so short a training learns to fill
LONGEST = 1


def make_recipe(
    study: Study,
    arm: Arm,
    scale: Scale,
    *,
    text: tuple[str, ...],
    documents: DocumentStyle,
    seed: int,
) -> PretrainRecipe:
    """Spell an arm out."""
    return PretrainRecipe(
        name=f"{study.name}-{arm.name}",
        seed=seed,
        text=TextConfig(
            files=list(text), documents=documents, limit=scale.documents, held_out=HELD_OUT
        ),
        vocabulary=VocabularyConfig(size=scale.vocabulary),
        model=arm.model,
        segments=SegmentsConfig(length=scale.length, order=arm.order),
        masks=MasksConfig(longest=LONGEST),
        training=_training(study.budget, scale),
    )


def _training(budget: Budget, scale: Scale) -> TrainingConfig:
    return TrainingConfig(
        steps=budget.steps,
        minutes=None if budget.seconds is None else budget.seconds / 60,
        rate=RATE,
        warmup=WARMUP,
        max_padded_pieces=scale.batch,
        probes=PROBES,
    )
