"""What is measured of an arm once it is trained, beside fine-tuning.

In:  a plan, an arm, its encoder on disk.
Out: `Measured`. The rows that are asked are the same ones for all arms of a seed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from limbeck.pretrain.batches import Batch
from limbeck.pretrain.config import OrderTask, PretrainRecipe
from limbeck.pretrain.feed import Feed
from limbeck.pretrain.holdout import Divided
from limbeck.pretrain.layout import load_heads
from limbeck.pretrain.loop import Clock
from limbeck.pretrain.network import PretrainNetwork
from limbeck.pretrain.pipeline import Finished, feed_over, make_networks
from limbeck.pretrain.text import read_text
from limbeck.pretrain.vocabulary import Alphabet, read_alphabet
from limbeck.study.held_out import Frequencies, HeldOut, divide_for_all, frequencies, score
from limbeck.study.order_heads import OrderFit, fit_order
from limbeck.study.planning import Planned, StudyPlan
from limbeck.study.step_cost import StepCost, measure_step
from limbeck.train.backbones import load_pretrained
from limbeck.train.devices import pick_device

FITTED_EPOCH = 1_000_000  # a number that no training reaches: its cuts and masks were not seen


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """By the kind of rows, that is, the question about segments."""

    held_out: Mapping[str, HeldOut]
    frequencies: Frequencies
    order_fits: Mapping[str, OrderFit]
    step_cost: StepCost | None


def measure_arm(plan: StudyPlan, it: Planned, trained: Finished, *, clock: Clock) -> Measured:
    """Load the encoder with its heads, and ask it."""
    recipe, scale = it.prepared.recipe, plan.asked.scale
    device = pick_device(recipe.device)
    alphabet = read_alphabet(trained.tokenizer, masks=True)
    divided = divide_for_all(
        read_text(trained.text),
        share=recipe.text.held_out,
        orders=plan.study.orders,
        seed=it.seed,
    )
    cost = None
    if "step cost" in plan.study.extras:
        fresh, _ = make_networks(it.prepared, alphabet)
        feed = _feed(divided, recipe, alphabet, it.arm.order)
        batches = _fullest(feed)
        cost = measure_step(fresh, batches, recipe, device=device, clock=clock)
        del fresh
    network = PretrainNetwork(
        load_pretrained(str(trained.folder)).backbone, has_order=it.arm.order != "none"
    )
    load_heads(network, str(trained.folder))
    network.to(device)
    asked = {
        order: _feed(divided, recipe, alphabet, order).held_out(scale.held_out_rows)
        for order in plan.study.orders
    }
    fits: dict[str, OrderFit] = {}
    if "order heads" in plan.study.extras:
        for order in plan.study.orders:
            if order == "none":
                continue
            shown = _training_rows(_feed(divided, recipe, alphabet, order), scale.fitted_rows)
            fit = fit_order(network, shown, asked[order], precision=recipe.precision)
            if fit is not None:
                fits[order] = fit
    return Measured(
        held_out={
            order: score(network, batches, precision=recipe.precision)
            for order, batches in asked.items()
        },
        frequencies=frequencies(divided, asked[it.arm.order], n_pieces=alphabet.n_pieces),
        order_fits=fits,
        step_cost=cost,
    )


def _feed(divided: Divided, recipe: PretrainRecipe, alphabet: Alphabet, order: OrderTask) -> Feed:
    segments = recipe.segments.model_copy(update={"order": order})
    return feed_over(
        divided, recipe.model_copy(update={"segments": segments}), alphabet, hides=True
    )


def _training_rows(feed: Feed, n_rows: int) -> Sequence[Batch]:
    epoch = feed.epoch(FITTED_EPOCH)
    batches: list[Batch] = []
    for step in range(len(epoch.steps)):
        if sum(batch.n_real_rows for batch in batches) >= n_rows:
            break
        batches += feed.batches(epoch, step)
    return batches


def _fullest(feed: Feed) -> Sequence[Batch]:
    """A step as most of a run's are."""
    epoch = feed.epoch(FITTED_EPOCH)
    some = (feed.batches(epoch, step) for step in range(min(8, len(epoch.steps))))
    return max(some, key=lambda batches: sum(batch.n_real for batch in batches))
