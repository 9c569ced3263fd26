"""Studies that train, as descriptions: arms, the paper's figures, estimates. Nothing is trained."""

from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from raw_text import PLENTY, toy_text

from limbeck.errors import ConfigError, InputError, LimbeckError
from limbeck.study.arms import STUDY_NAMES, Study, make_study
from limbeck.study.claims import claims_of
from limbeck.study.estimate import measured_rate, operations_per_piece
from limbeck.study.paper import PAPER
from limbeck.study.planning import Asked, plan_study
from limbeck.study.recipes import make_recipe
from limbeck.study.scales import SCALE_NAMES, SCALES, Scale

EVERY = [make_study(name, SCALES[scale]) for name in STUDY_NAMES for scale in SCALE_NAMES]


def cost(study: Study, arm: str, scale: Scale) -> float:
    (it,) = (it for it in study.arms if it.name == arm)
    recipe = make_recipe(study, it, scale, text=("t",), documents="lines", seed=1)
    return operations_per_piece(recipe)


@pytest.mark.parametrize("study", EVERY, ids=lambda it: it.name)
def test_arms_differ_and_share_one_budget(study: Study) -> None:
    names = [arm.name for arm in study.arms]
    assert len(set(names)) == len(names) > 1
    assert (study.budget.steps is None) != (study.budget.seconds is None)
    for arm in study.arms:
        assert arm.paper is None or arm.paper in PAPER
        assert arm.order in study.orders
    assert {it.first for it in claims_of(study)} <= set(names)


def test_only_the_study_of_time_ends_by_time() -> None:
    by_time = {study.name for study in EVERY if study.budget.seconds is not None}
    assert by_time == {"same-time"}


def test_the_wide_shared_body_costs_as_much_a_step_as_the_deep_one() -> None:
    for scale in SCALES.values():
        if scale.name == "tiny":
            continue  # there the head weighs as much as the body
        study = make_study("same-time", scale)
        deep = cost(study, "bert-deep", scale)
        assert cost(study, "albert-wide-equal-cost", scale) == pytest.approx(deep, rel=0.15)
        assert cost(study, "albert-wide-as-paper", scale) > 4 * deep


def test_the_depths_are_those_of_the_issue_and_twelve_meets_twentyfour_when_wide() -> None:
    names = [arm.name for arm in make_study("depth", SCALES["small"]).arms]
    assert names[:6] == [f"layers-{n}" for n in (1, 2, 4, 6, 12, 24)]
    assert names[6:] == ["wide-layers-12", "wide-layers-24"]


def test_the_papers_averages_follow_from_its_scores() -> None:
    """As table 2 says: the two numbers of each SQuAD are averaged first."""
    for key, it in PAPER.items():
        squads = [fmean(map(float, pair.split("/"))) for pair in (it.squad1, it.squad2)]
        # 0.2: the paper's own rounding; a slip of a digit is more
        assert fmean([*squads, it.mnli, it.sst2, it.race]) == pytest.approx(it.average, abs=0.2), (
            key
        )


def test_a_rate_is_taken_from_what_is_done() -> None:
    assert measured_rate([(10.0, 2.0), (30.0, 2.0)]) == 10.0


def asked(folder: Path) -> Asked:
    (folder / "text.txt").write_text(toy_text(20), encoding="utf-8")
    return Asked(
        name="sop",
        scale=SCALES["tiny"],
        text=(str(folder / "text.txt"),),
        run=folder / "run",
    )


def test_equal_experiments_have_equal_names_and_others_do_not(tmp_path: Path) -> None:
    plan = plan_study(replace(asked(tmp_path), seeds=(1, 2)), free_bytes=PLENTY)
    names = [it.stage.folder_name for it in plan.arms]
    assert len(set(names)) == len(names) == 2 * len(plan.study.arms)
    again = plan_study(replace(asked(tmp_path), seeds=(2,)), free_bytes=PLENTY)
    assert {it.stage.folder_name for it in again.arms} <= set(names)
    assert len({it.prepared.text.key for it in plan.arms}) == 1  # one text for all
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("changes", "kind", "message"),
    [
        ({"text": ("nowhere.txt",)}, InputError, "nowhere.txt: no such file"),
        ({"text": ()}, ConfigError, "no text"),
        ({"seeds": ()}, ConfigError, "--seeds"),
        ({"seeds": (1, 1)}, ConfigError, "--seeds 1,1"),
        ({"seeds": (-1,)}, ConfigError, "--seeds -1"),
        ({"probes": (Path("none.toml"),)}, ConfigError, "none.toml: cannot read"),
    ],
)
def test_a_mistake_is_named(
    changes: dict[str, Any], kind: type[LimbeckError], message: str, tmp_path: Path
) -> None:
    with pytest.raises(kind, match=message) as caught:
        plan_study(replace(asked(tmp_path), **changes), free_bytes=PLENTY)
    assert caught.value.exit_code == 2
    assert "\n" not in str(caught.value)


def test_what_does_not_fit_in_memory_is_refused_with_the_estimate(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"needs about .* GB are free") as caught:
        plan_study(asked(tmp_path), free_bytes=1_000)
    assert "--scale" in caught.value.hint
