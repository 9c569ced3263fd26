"""Laws of the report: the front, the axes, the labels, the escaping."""

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from limbeck.report.axes import MAX_TICKS, linear_axis, log_axis
from limbeck.report.fields import printable
from limbeck.report.front import front
from limbeck.report.labels import Box, Wanted, place_labels
from limbeck.report.markdown import escaped
from limbeck.report.wording import shortened

gains = st.tuples(st.integers(-6, 6), st.integers(-6, 6))
amounts = st.floats(1e-6, 1e9)


def beats(a: tuple[float, float], b: tuple[float, float]) -> bool:
    return a != b and a[0] >= b[0] and a[1] >= b[1]


@given(st.lists(gains, min_size=1, max_size=40))
def test_a_point_is_on_the_front_if_and_only_if_none_beats_it(
    points: list[tuple[float, float]],
) -> None:
    unbeaten = {i for i, a in enumerate(points) if not any(beats(b, a) for b in points)}
    assert set(front(points)) == unbeaten


@given(st.lists(amounts, min_size=1, max_size=20))
def test_a_log_axis_holds_all_values_and_has_ticks(values: list[float]) -> None:
    axis = log_axis(values)
    assert all(0 < axis.share(value) < 1 for value in values)
    assert 2 <= len(axis.ticks) <= MAX_TICKS
    assert list(axis.ticks) == sorted(set(axis.ticks))
    assert all(-1e-9 <= axis.share(tick) <= 1 + 1e-9 for tick in axis.ticks)


@given(st.lists(st.floats(-100, 100), min_size=1, max_size=20))
def test_a_linear_axis_holds_all_values_and_has_ticks(values: list[float]) -> None:
    axis = linear_axis(values)
    assert all(0 < axis.share(value) < 1 for value in values)
    assert 2 <= len(axis.ticks) <= MAX_TICKS
    assert list(axis.ticks) == sorted(set(axis.ticks))


@given(st.lists(st.tuples(st.floats(0, 400), st.floats(0, 300)), min_size=1, max_size=15))
def test_labels_cover_no_mark_and_no_other_label(points: list[tuple[float, float]]) -> None:
    area = Box(left=0, top=0, right=400, bottom=300)
    wanted = [Wanted(x=x, y=y, text="a name", reach=5.0) for x, y in points]
    placed = place_labels(wanted, marks=points, lines=(), area=area)
    assert len(placed) == len(points)
    boxes = [label.box for label in placed if label is not None]
    for i, box in enumerate(boxes):
        assert box.is_inside(area)
        assert not any(box.overlaps(other) for other in boxes[:i])
        for x, y in points:
            assert not box.overlaps(Box(left=x, top=y, right=x + 0.01, bottom=y + 0.01))


def test_a_needed_label_is_placed_even_in_a_crowd() -> None:
    marks = [(float(x), float(y)) for x in range(0, 400, 8) for y in range(0, 300, 8)]
    area = Box(left=0, top=0, right=400, bottom=300)
    plain = Wanted(x=200, y=150, text="a name", reach=5.0)
    needed = Wanted(x=200, y=150, text="a name", reach=5.0, is_needed=True)
    assert place_labels([plain], marks=marks, lines=(), area=area) == [None]
    assert place_labels([needed], marks=marks, lines=(), area=area) != [None]


@given(st.text(max_size=60))
def test_escaped_text_is_rendered_as_it_was(text: str) -> None:
    text = printable(text)
    wanted = " ".join(text.split())
    md = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    (inline,) = (t for t in md.parse(f"x {escaped(text)}") if t.type == "inline")
    assert "".join(child.content for child in inline.children or ()) == f"x {wanted}".strip()
    assert {child.type for child in inline.children or ()} <= {"text", "text_special"}


@given(st.text("-+=#.)1a *>`~|", max_size=8))
def test_escaped_text_begins_no_list_and_no_heading(text: str) -> None:
    wanted = " ".join(text.split())
    types = {token.type for token in MarkdownIt("commonmark").parse(escaped(text))}
    assert types <= {"paragraph_open", "inline", "paragraph_close"}, wanted


@given(st.text(st.characters(codec=None), max_size=40))
def test_printable_text_can_be_written_and_keeps_its_length(text: str) -> None:
    shown = printable(text)
    shown.encode("utf-8")
    assert len(shown) == len(text)
    assert printable(shown) == shown


@given(st.text(max_size=60), st.integers(6, 40))
def test_shortened_text_is_short_and_keeps_its_ends(text: str, n: int) -> None:
    short = shortened(text, n)
    assert len(short) <= n
    if len(text) > n:
        assert short[0] == text[0]
        assert short[-1] == text[-1]
