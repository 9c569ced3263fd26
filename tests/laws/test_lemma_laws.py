"""Edit scripts: any lemma can be made from any form, and regular pairs share their scripts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from limbeck.tasks.base import Scores
from limbeck.tasks.edits import IDENTITY, apply_script, script_name, script_named, script_of
from limbeck.tasks.lemma import LemmaCodec

words = st.text(max_size=12) | st.text("abAB", max_size=8) | st.sampled_from(["İ", "ß", "ŉ", "ǅ"])


@given(words, words)
def test_the_script_of_a_pair_makes_its_lemma(form: str, lemma: str) -> None:
    assert apply_script(script_of(form, lemma), form) == lemma


@given(words, words)
def test_a_script_survives_its_name(form: str, lemma: str) -> None:
    script = script_of(form, lemma)
    assert script_named(script_name(script)) == script


@given(words)
def test_identity_fits_every_word(form: str) -> None:
    assert apply_script(IDENTITY, form) == form


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("dogs", "dog"), ("Cats", "cat")),
        (("running", "run"), ("getting", "get")),
        (("is", "be"), ("am", "be")),
        (("LONDON", "London"), ("PARIS", "Paris")),
    ],
)
def test_regular_pairs_share_a_script(one: tuple[str, str], other: tuple[str, str]) -> None:
    assert script_of(*one) == script_of(*other)


@pytest.mark.parametrize("name", ["", "[]", '["lower", -1, "", 0, ""]', '["odd", 0, "", 0, ""]'])
def test_what_is_no_script_is_refused(name: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  json's own error is one
        script_named(name)


def test_the_next_best_script_is_taken_where_the_best_does_not_fit() -> None:
    names = [script_name(script_of(*pair)) for pair in (("running", "run"), ("as", "a"))]
    codec = LemmaCodec([*names, script_name(IDENTITY)])
    scores = Scores(main=np.array([[3, 2, 1]] * 3, dtype=np.float32))
    forms = ("running", "is", "a")
    for _ in range(2):  # the second time from the cache
        assert codec.decode(scores, [forms]) == [("run", "i", "a")]
    (found,) = codec.probabilities(scores, [forms])
    assert found == pytest.approx([0.665, 0.245, 0.090], abs=1e-3)
