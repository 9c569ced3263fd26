"""What a study says of its numbers: the paper's beside, and no more than they show."""

from dataclasses import replace
from xml.etree import ElementTree

import pytest

from limbeck.study.arm_rows import ArmRow, CurvePoint, arm_row
from limbeck.study.arm_tables import paper_table, study_page, study_table
from limbeck.study.arms import STUDY_NAMES, Study, StudyName, make_study
from limbeck.study.downstream import Tuned
from limbeck.study.findings import findings
from limbeck.study.held_out import Frequencies, HeldOut
from limbeck.study.order_heads import OrderFit
from limbeck.study.panels import Panel, Point, Series, panels_of
from limbeck.study.scales import SCALES
from limbeck.study.step_cost import StepCost
from limbeck.study.summaries import Summary, summarise
from limbeck.study.svg import HEIGHT, WIDTH, draw


def held_out(loss: float, *, order: float | None = None) -> HeldOut:
    return HeldOut(
        n_slots=10_000, piece_loss=loss, piece_loss_error=0.01, piece_accuracy=0.3,
        n_orders=1_000, order_accuracy=order,
    )  # fmt: skip


def row(study: Study, number: int, *, loss: float = 4.0, seed: int = 1) -> ArmRow:
    """As if the arm had been run."""
    arm = study.arms[number]
    return ArmRow(
        study=study.name, scale="small", arm=arm.name, seed=seed, key="k", order=arm.order,
        model=arm.model.model_dump(), n_parameters=1_000_000 * (number + 1), n_steps=100,
        n_pieces=100_000, seconds=50.0, epochs=0.5,
        held_out={
            order: held_out(loss, order=None if arm.order == "none" else 0.5)
            for order in study.orders
        },
        frequencies=Frequencies(piece_loss=6.0, piece_accuracy=0.05),
        order_fits={
            order: OrderFit(accuracy=0.6, n_fitted=100, n_scored=100)
            for order in study.orders
            if "order heads" in study.extras and order != "none"
        },
        step_cost=StepCost(products_ms=90.0, update_ms=10.0 + number, update_mb=4.0, n_trained=9)
        if "step cost" in study.extras
        else None,
        tuned=(
            Tuned(probe="<p>", metric="x.accuracy", value=70.0, majority=50.0, n_train=9, n_dev=9),
        ),
        curve=(
            CurvePoint(step=50, seconds=25.0, piece_accuracy=0.2),
            CurvePoint(step=100, seconds=50.0, piece_accuracy=0.3),
        ),
        text={"files": ["t.txt"], "n_documents": 10, "n_pieces": 100},
        training={"max_padded_pieces": 1_024}, date="2026-12-03", command="limbeck study x",
        environment={"cpu": "c", "n_threads": 2},
    )  # fmt: skip


def summaries_of(study: Study, rows: list[ArmRow]) -> list[Summary]:
    return summarise(rows, {arm.name: arm.paper for arm in study.arms})


def all_rows(name: StudyName) -> tuple[Study, list[ArmRow]]:
    study = make_study(name, SCALES["small"])
    return study, [row(study, i) for i in range(len(study.arms))]


@pytest.mark.parametrize("name", STUDY_NAMES)
def test_every_arm_has_its_line_with_the_papers_beside(name: StudyName) -> None:
    study, rows = all_rows(name)
    lines = study_table(study, summaries_of(study, rows)).splitlines()
    assert len({line.count("|") for line in lines}) == 1
    for arm, line in zip(study.arms, lines[2:], strict=False):
        assert line.startswith(f"| {arm.name} |")
        assert ("(table " in line) == (arm.paper is not None)
    assert "frequencies alone" in lines[-1]
    assert "6.000" in lines[-1]
    assert "table" in paper_table(study)
    page = study_page(study, summaries_of(study, rows), command="limbeck study x", plot="p.svg")
    assert "1909.11942" in page


def test_the_papers_own_figures_stand_in_the_table() -> None:
    study, rows = all_rows("sop")
    table = study_table(study, summaries_of(study, rows))
    assert "| 54.5 | 90.5 | 52.0 | 91.1 | 79.2 |" in table  # table 5, NSP


@pytest.mark.parametrize("name", STUDY_NAMES)
def test_a_plot_is_well_formed_and_holds_both_panels(name: StudyName) -> None:
    study, rows = all_rows(name)
    drawing = draw(panels_of(study, summaries_of(study, rows)), title="a <b> & c")
    root = ElementTree.fromstring(drawing)
    texts = " ".join(root.itertext())
    assert "a <b> & c" in texts
    assert "here" in texts
    assert "in the paper (table" in texts
    assert len(root.findall("{http://www.w3.org/2000/svg}g")) == 2


def said(loss_of_none: float, *, frequencies: float = 6.0) -> str:
    """The finding that compares sharing none with sharing all."""
    study, rows = all_rows("sharing")
    rows = [
        replace(
            it,
            held_out={"sop": held_out(loss_of_none if "none" in it.arm else 4.0)},
            frequencies=Frequencies(piece_loss=frequencies, piece_accuracy=0.05),
        )
        for it in rows
    ]
    sentences = findings(study, summaries_of(study, rows))
    (found,) = (it for it in sentences if "none, E=128 81.6, all, E=128 80.1" in it)
    return found


def test_a_difference_counts_where_it_is_beyond_its_error() -> None:
    assert "shown here too" in said(3.9)
    assert "not shown here: the difference is within the error" in said(3.99)
    assert "the other way round" in said(4.2)
    assert "shows nothing" in said(3.9, frequencies=3.8)


def test_what_was_not_learnt_cannot_be_carried_over() -> None:
    study, rows = all_rows("sop")
    sentences = findings(study, summaries_of(study, rows))
    assert any("neither is its own question" in it for it in sentences)
    learnt = [
        replace(it, held_out={**it.held_out, "nsp": held_out(4.0, order=0.9)})
        if it.arm == "nsp"
        else it
        for it in rows
    ]
    sentences = findings(study, summaries_of(study, learnt))
    assert any("here too it is not told from chance" in it for it in sentences)
    assert any(it.startswith("One seed") for it in sentences)


def test_why_sharing_saves_what_it_saves_is_told_from_the_parts_of_a_step() -> None:
    study, rows = all_rows("sharing")
    (first, *_) = (it for it in findings(study, summaries_of(study, rows)) if "A step" in it)
    assert "products 90.0 ms shared, 90.0 not" in first
    assert "1.7" in first


def test_seeds_that_disagree_make_the_error_larger() -> None:
    study = make_study("depth", SCALES["small"])
    rows = [row(study, 0, loss=loss, seed=i) for i, loss in enumerate((3.0, 4.0, 5.0))]
    (summary,) = summaries_of(study, rows)
    assert summary.loss.mean == 4.0
    assert summary.loss.error == pytest.approx(1 / 3**0.5)


def test_a_row_comes_back_from_json_as_it_was() -> None:
    _, rows = all_rows("sharing")
    back = arm_row(rows[0].to_json(), where="x")
    assert back == replace(rows[0], text=back.text, training=back.training)


@pytest.mark.parametrize("rises", [True, False])
def test_the_legend_stands_where_no_line_is(rises: bool) -> None:
    ends = (1.0, 9.0) if rises else (9.0, 1.0)
    panel = Panel(
        title="t",
        x_name="x",
        y_name="y",
        x_scaling="log",
        series=(
            Series(name="the line", points=(Point(x=1, y=ends[0]), Point(x=10, y=ends[1]))),
            Series(name="another", points=(Point(x=1, y=ends[0]), Point(x=9, y=ends[1]))),
        ),
    )
    root = ElementTree.fromstring(draw([panel], title="t"))
    texts = {it.text: it.attrib for it in root.iter("{http://www.w3.org/2000/svg}text")}
    assert float(texts["the line"]["y"]) > HEIGHT / 2
    assert (float(texts["the line"]["x"]) > WIDTH / 2) == rises
