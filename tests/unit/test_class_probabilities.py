"""Probabilities of all classes agree with the labels that decoding gives."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from limbeck.tasks.base import Scores
from limbeck.tasks.classify import ClassifyCodec, ClassifyManyCodec, class_probabilities

NAMES = ("a", "b", "c")
logits = arrays(np.float32, (4, 3), elements=st.floats(-500, 500, width=32))
WORDS = [("x",)] * 4


@given(logits)
def test_one_class_of_several_sums_to_one_and_the_first_is_the_label(main: np.ndarray) -> None:
    codec, scores = ClassifyCodec(NAMES), Scores(main=main)
    labels = codec.decode(scores, WORDS)
    alone = codec.probabilities(scores, WORDS)
    for found, label, chance in zip(class_probabilities(codec, scores), labels, alone, strict=True):
        assert set(found) == set(NAMES)
        assert np.isclose(sum(found.values()), 1)
        assert list(found.values()) == sorted(found.values(), reverse=True)
        assert np.isclose(found[str(label)], float(chance))  # type: ignore[arg-type]
        assert np.isclose(max(found.values()), found[str(label)])


@given(logits)
def test_any_number_of_classes_are_those_above_a_half(main: np.ndarray) -> None:
    codec, scores = ClassifyManyCodec(NAMES), Scores(main=main)
    chosen = codec.decode(scores, WORDS)
    for found, labels in zip(class_probabilities(codec, scores), chosen, strict=True):
        assert isinstance(labels, tuple)
        assert {name for name, p in found.items() if p > 0.5 + 1e-9} <= set(map(str, labels))
        assert all(found[str(name)] >= 0.5 for name in labels)
