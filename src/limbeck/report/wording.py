"""How numbers and lists are said: one place, so that the page and the Markdown agree.

In:  values, None where nothing was measured.
Out: text. A missing value is never 0 and never blank.
"""

from collections.abc import Sequence

NOT_MEASURED = "not measured"
NOT_RECORDED = "not recorded"


def score(value: float | None) -> str:
    """A metric, in percent."""
    return NOT_MEASURED if value is None else _signed(f"{value:.2f}")


def change(value: float | None) -> str:
    """A difference in points, with its sign."""
    return NOT_MEASURED if value is None else _signed(f"{value:+.2f}")


def interval(bounds: tuple[float, float]) -> str:
    return f"{score(bounds[0])} to {score(bounds[1])}"


def quantity(value: float | None) -> str:
    """A measured amount, to three figures or more: a small one must not be rounded to 0."""
    if value is None:
        return NOT_MEASURED
    if value >= 1_000:
        return f"{value:,.0f}"
    if value >= 10:
        return f"{value:.1f}"
    if value >= 1:
        return f"{value:.2f}"
    return f"{value:.3g}"


def parameters(n: int | None) -> str:
    if n is None:
        return NOT_MEASURED
    return f"{n / 1e6:.2f} M" if n >= 1_000_000 else f"{n:,}"


def times(ratio: float, *, more: str, less: str) -> str:
    """A ratio as people say it: "4.8 times smaller"."""
    return (
        f"{quantity(ratio)} times {more}" if ratio >= 1 else f"{quantity(1 / ratio)} times {less}"
    )


def counted(n: int, one: str, many: str) -> str:
    return f"{n} {one if n == 1 else many}"


def listed(names: Sequence[str], *, at_most: int = 6) -> str:
    """Names in a sentence; of a long list the first, and how many more."""
    comma = "; " if any("," in name for name in names) else ", "
    if len(names) > at_most:
        return f"{comma.join(names[:at_most])} and {len(names) - at_most} more"
    return f"{comma.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)


def shortened(text: str, n_characters: int) -> str:
    """Without its middle: names of one family often differ at their ends only."""
    if len(text) <= n_characters:
        return text
    n_last = n_characters // 3
    return f"{text[: n_characters - n_last - 1]}…{text[-n_last:]}"


def _signed(text: str) -> str:
    """A true minus sign, which screen readers say; and no sign before zero."""
    if not text.strip("+-0."):
        return text.strip("+-")
    return text.replace("-", "\u2212")
