"""The report says all that its rows say, on a page that any reader can use."""

import base64
import hashlib
import json
import random
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from html_page import HtmlPage
from markdown_it import MarkdownIt
from report_rows import (
    METRICS,
    base_rows,
    candidate_row,
    measured_candidate,
    model_row,
    search_rows,
    write_run,
)

from limbeck.report.page import TEMPLATES
from limbeck.report.writing import write_report

DEMO = Path(__file__).parents[2] / "benchmarks" / "results" / "2026-12-01-demo.jsonl"
HOSTILE = (
    "<script>alert(1)</script>",
    "]]><!-- </style></svg>",
    '" onload="alert(1)',
    "a | b \\| c",
    "**bold** _it_ `code` [x](https://example.org) ~~no~~",
    "# 1. heading",
    "&lt;b&gt; &amp;",
    "{{ 7*7 }} {% raw %}",
    "1. one",
    "- dash",
    "\u202eright to left",
    "two\nlines\tand\x00nul \ud800",
)


def written(
    folder: Path, models: Sequence[dict[str, Any]], candidates: Sequence[dict[str, Any]] = ()
) -> tuple[HtmlPage, str]:
    """The page and the Markdown of some rows."""
    report = write_report(write_run(folder / "run", models, candidates))
    return HtmlPage(report.html.read_text("utf-8")), report.markdown.read_text("utf-8")


def rendered(markdown: str) -> HtmlPage:
    """Markdown as a forge shows it, without HTML of its own."""
    return HtmlPage(MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(markdown))


def table_rows(page: HtmlPage, caption: str) -> list[dict[str, str]]:
    """The table of the page whose heading has this column, as dictionaries."""
    tables = [table for table in page.tables if caption in table[0]]
    return [dict(zip(table[0], row, strict=True)) for table in tables[:1] for row in table[1:]]


def test_every_name_and_number_of_the_demo_is_there(tmp_path: Path) -> None:
    rows = [json.loads(line) for line in DEMO.read_text("utf-8").splitlines()]
    page, markdown = written(tmp_path, rows)
    for text in (page.text, rendered(markdown).text):
        for row in rows:
            assert row["name"] in text
            for name, value in row["metrics"].items():
                assert name in text
                assert f"{value:.2f}" in text
            if row["size_mb"] is not None:
                assert f"{row['size_mb']:.1f}" in text
            if row["sentences_per_second"] is not None:
                assert f"{row['sentences_per_second']:.1f}" in text
        for version in rows[0]["environment"]["versions"].values():
            assert version in text
        assert rows[0]["environment"]["cpu"] in text


def test_every_measured_number_of_a_search_is_there(tmp_path: Path) -> None:
    candidates = search_rows(24)
    page, markdown = written(tmp_path, base_rows(), candidates)
    for text in (page.text, rendered(markdown).text):
        for row in candidates:
            assert row["name"] in text
            assert (row["reason"] or "") in text
            for scores in (row["metrics"], row["twin"], row["fp32_metrics"]):
                for value in (scores or {}).values():
                    assert f"{value:.2f}" in text
            for low, high in (row["intervals"] or {}).values():
                assert f"{low:.2f} to {high:.2f}" in text
            for floor in row["floors"] or ():
                assert f"{floor['low']:.2f}" in text
        assert "5f2ab3c1" in text


def test_the_chosen_one_is_marked_and_its_three_largest_confusions_shown(tmp_path: Path) -> None:
    candidates = search_rows(24)
    (chosen,) = (row for row in candidates if row["chosen"])
    page, markdown = written(tmp_path, base_rows(), candidates)
    for text in (page.text, rendered(markdown).text):
        assert f"Chosen: {chosen['name']}." in text
        part = text[text.index("Confusions that the student added") :]
        part = part[
            : part.index("ran home", part.index("ran home", part.index("ran home") + 1) + 1)
        ]
        assert chosen["name"] in part
        largest = sorted(chosen["confusions"], key=lambda c: -c["n_more"])[:3]
        for confusion in largest:
            assert f"{confusion['n_more']} more such errors" in part
            assert f"The {confusion['gold']} of {chosen['name']}" in part
    first = table_rows(page, "peak memory, MB")[0]
    assert first["model"].startswith(chosen["name"])
    assert "★ chosen" in first["model"]


def test_where_nothing_keeps_the_floor_the_nearest_is_named(tmp_path: Path) -> None:
    rng = random.Random(1)
    rows = [
        measured_candidate(name, scores={"UPOS": 95.0, "LAS": las}, size_mb=9.0, rng=rng)
        for name, las in (("far", 70.0), ("near", 83.0), ("farther", 60.0))
    ]
    rows.append(candidate_row("gone", verdict="failed", reason="out of memory"))
    page, markdown = written(tmp_path, base_rows(), rows)
    low = rows[1]["floors"][1]["low"]
    for text in (page.text, rendered(markdown).text):
        assert "No candidate keeps the floor." in text
        assert "Nearest: near." in text
        assert f"It misses LAS (-1.0) on the search half of dev by {84.1 - low:.2f} points" in text
        assert "Chosen:" not in text
        assert "out of memory" in text


def test_a_half_of_dev_that_one_alone_was_judged_on_does_not_put_it_behind(tmp_path: Path) -> None:
    rng = random.Random(1)
    near, far = (
        measured_candidate(name, scores={"UPOS": 95.0, "LAS": las}, size_mb=9.0, rng=rng)
        for name, las in (("near", 83.0), ("far", 80.0))
    )
    near["floors"] += [
        floor | {"half": "verdict", "found": 50.0, "low": 49.0, "keeps": False}
        for floor in near["floors"]
    ]
    page, markdown = written(tmp_path, base_rows(), [far, near])
    for text in (page.text, rendered(markdown).text):
        assert "Nearest: near." in text


def test_a_choice_that_its_own_floor_contradicts_is_not_called_good(tmp_path: Path) -> None:
    rng = random.Random(1)
    low = {"UPOS": 90.0, "LAS": 70.0}
    rows = [
        measured_candidate("a", scores=low, size_mb=9, rng=rng, verdict="keeps", chosen=True),
        measured_candidate("b", scores={"UPOS": 96.9, "LAS": 86.9}, size_mb=9, rng=rng),
    ]
    page, _ = written(tmp_path, base_rows(), rows)
    assert "Marked as chosen, but it does not keep the floor: a." in page.text
    assert "Chosen: a" not in page.text.partition("Quality against")[0]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_stay_text(tmp_path: Path, name: str) -> None:
    shown = " ".join(re.sub("[\x00\ud800]", "\ufffd", name).split())
    rng = random.Random(1)
    candidate = measured_candidate(
        name, scores={"UPOS": 96.0, "LAS": 86.0}, size_mb=3.0, rng=rng, reason=name, command=name
    )
    candidate["metrics"][name] = 12.34
    candidate["environment"] = {name: {name: [name]}}
    candidate["confusions"][0] |= {"gold": name, "said": name, "sentences": [name]}
    candidate["floors"][0] |= {"wanted": name}
    models = [*base_rows(), model_row(name, "bundle", metrics={"UPOS": 95.0}, size_mb=1.0)]
    plain, _ = written(tmp_path / "plain", models[:-1], search_rows(1))
    page, markdown = written(tmp_path, models, [candidate])
    assert shown in page.text
    assert shown in rendered(markdown).text
    assert set(page.tags) <= set(plain.tags) | {"details", "summary"}
    assert set(rendered(markdown).tags) <= {
        *("h1", "h2", "h3", "p", "strong", "ul", "li", "table", "thead", "tbody", "tr", "th", "td")
    }
    assert not [a for a in page.attributes if a[1].startswith("on")]


def test_what_was_not_measured_says_so_and_is_never_0(tmp_path: Path) -> None:
    page, markdown = written(
        tmp_path,
        [model_row("t", "teacher", metrics={"UPOS": 95.0})],
        [candidate_row("c", verdict="failed", reason="no memory")],
    )
    for found in (page, rendered(markdown)):
        rows = table_rows(found, "peak memory, MB")
        assert rows[0]["MB"] == "not measured"
        assert rows[0]["sentences/s"] == "not measured"
        assert "no model has both numbers" in found.text
        cells = [cell for table in found.tables for row in table[1:] for cell in row]
        assert not [cell for cell in cells if re.fullmatch(r"0(\.0+)?|nan|None|", cell)]


def test_a_small_amount_is_not_rounded_to_nothing(tmp_path: Path) -> None:
    rows = [model_row("t", "teacher", metrics={"UPOS": 0.0}, size_mb=0.00123)]
    page, _ = written(tmp_path, rows)
    (row,) = table_rows(page, "peak memory, MB")
    assert row["MB"] == "0.00123"
    assert row["UPOS"] == "0.00", "a score of 0 was measured"


@pytest.mark.parametrize("n", [1, 2, 200])
def test_any_number_of_points_and_equal_ones_are_drawn(tmp_path: Path, n: int) -> None:
    rng = random.Random(1)
    equal = [
        measured_candidate(f"c{i}", scores={"UPOS": 96.0, "LAS": 86.0}, size_mb=3.0, rng=rng)
        for i in range(n)
    ]
    for row in equal:
        row["sentences_per_second"] = 100.0
    page, _ = written(tmp_path, [], equal)
    assert page.tags.count("a") == 1 + 2 * n * (1 + len(METRICS)), "a link to skip, and the points"
    for row in table_rows(page, "on the front of"):
        assert row["on the front of"] == "size and speed"


def test_a_search_of_200_makes_a_page_in_which_all_are_found(tmp_path: Path) -> None:
    candidates = search_rows(200, seed=3)
    report = write_report(write_run(tmp_path / "run", base_rows(), candidates))
    page = HtmlPage(report.html.read_text("utf-8"))
    ids = page.values("id")
    assert len(ids) == len(set(ids))
    targets = {value[1:] for value in page.values("href")}
    assert targets <= set(ids), "every point leads to a row"
    assert len([i for i in ids if i.startswith("model-")]) == 203
    assert report.html.stat().st_size < 3_000_000


def test_the_page_needs_nothing_else_and_forbids_it(tmp_path: Path) -> None:
    page, _ = written(tmp_path, base_rows(), search_rows(24))
    assert not {"link", "img", "iframe", "object", "embed", "base", "form"} & set(page.tags)
    assert not page.values("src")
    assert all(value.startswith("#") for value in page.values("href"))
    assert not page.values("style"), "the policy would ignore it"
    (policy,) = (value for value in page.values("content") if "default-src" in value)
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for name, text in page.verbatim.items():
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in policy
        assert not re.search(r"url\(|@import|https?:|fetch|XMLHttp", text)


def test_plots_have_names_for_those_who_do_not_see_them(tmp_path: Path) -> None:
    page, _ = written(tmp_path, base_rows(), search_rows(24))
    ids = set(page.values("id"))
    for name in ("aria-labelledby", "aria-describedby"):
        assert page.values(name)
        assert set(page.values(name)) <= ids
    drawn = [value for tag, name, value in page.attributes if (tag, name) == ("a", "aria-label")]
    assert len(drawn) == page.tags.count("a") - 1
    assert all(drawn)
    assert page.values("lang") == ["en"]
    for table in page.tables:
        assert all(heading.strip() for heading in table[0])
        assert all(len(row) == len(table[0]) for row in table)


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(a: str, b: str) -> float:
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_contrasts_suffice_in_light_in_dark_and_on_paper() -> None:
    css = (TEMPLATES / "page.css").read_text("utf-8")
    schemes = [dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", b)) for b in re.split(":root", css)]
    schemes = [scheme for scheme in schemes if scheme]
    assert len(schemes) == 3
    for scheme in schemes:
        for ground in ("paper", "shade", "chosen-shade"):
            for ink in ("ink", "soft", "link"):
                assert contrast(scheme[ink], scheme[ground]) >= 4.5, (ink, ground)
        for mark in ("teacher", "ensemble", "student", "bundle", "keeps", "misses", "pruned"):
            assert contrast(scheme[mark], scheme["paper"]) >= 3, mark
        assert contrast(scheme["chosen"], scheme["paper"]) >= 3


def test_markdown_tables_are_whole(tmp_path: Path) -> None:
    page, markdown = written(tmp_path, base_rows(), search_rows(24))
    found = rendered(markdown)
    assert len(found.tables) == len(page.tables)
    assert sum(len(table) for table in found.tables) == sum(len(table) for table in page.tables)
    for table in found.tables:
        assert all(len(row) == len(table[0]) for row in table)
        assert all(cell.strip() for row in table for cell in row)


def test_what_int8_cost_is_told_for_bundles_and_candidates(tmp_path: Path) -> None:
    rng = random.Random(2)
    candidate = measured_candidate(
        "c", scores={"UPOS": 96.0, "LAS": 86.0}, size_mb=3.0, rng=rng,
        fp32_metrics={"UPOS": 96.25, "LAS": 86.0},
    )  # fmt: skip
    rows = [
        model_row("s", "twin", metrics={"UPOS": 93.0}),
        model_row("s", "student", metrics={"UPOS": 95.5}),
        model_row("s", "bundle", metrics={"UPOS": 95.25}, notes={
            "shipped": "int8-mixed",
            "trials": [
                {"attempt": "int8", "n_kept_fp32": 0, "largest_loss": 1.75},
                {"attempt": "int8-mixed", "n_kept_fp32": 4, "largest_loss": 0.25},
            ],
        }),
    ]  # fmt: skip
    page, markdown = written(tmp_path, rows, [candidate])
    for text in (page.text, rendered(markdown).text):
        text = text[text.index("What int8 cost") :]
        assert "96.25 → 96.00" in text
        assert "95.50 → 95.25" in text
        assert "tried int8; the worst change of a task was −1.75 points" in text
        assert "tried int8-mixed, 4 products left in fp32" in text


@pytest.mark.parametrize(
    ("alone", "words"),
    [
        (93.0, "without distillation has 93.00: distilling gave 2.25 points more"),
        (95.5, "without distillation has 95.50: distilling gave 0.25 points less"),
        (95.25, "without distillation has 95.25 as well"),
    ],
)
def test_the_twin_is_part_of_the_outcome(tmp_path: Path, alone: float, words: str) -> None:
    rows = [
        model_row("s", "twin", metrics={"UPOS": alone}),
        model_row("s", "student", metrics={"UPOS": 95.5}),
        model_row("s", "bundle", metrics={"UPOS": 95.25}, size_mb=10.0),
    ]
    page, markdown = written(tmp_path, rows)
    for text in (page.text, rendered(markdown).text):
        assert words in text
        assert "Twins, the same models not distilled, are left out" in text


def test_two_environments_are_told_apart(tmp_path: Path) -> None:
    rows = base_rows()
    rows[1] = rows[1] | {"environment": {"cpu": "Another CPU"}}
    page, _ = written(tmp_path, rows)
    assert "The numbers come from 2 environments" in page.text
    assert "The environment of 1 model: teacher small-s1" in page.text


def test_the_same_rows_give_the_same_bytes(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", base_rows(), search_rows(24))
    first = write_report(run)
    before = first.html.read_bytes(), first.markdown.read_bytes()
    write_report(run)
    assert before == (first.html.read_bytes(), first.markdown.read_bytes())
