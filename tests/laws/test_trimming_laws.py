"""A trimmed vocabulary cuts its own text as before, and leaves no readable word unreadable."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from vocabularies import KINDS, TEXT

from limbeck.data.trimming import trim_vocabulary
from limbeck.data.vocabulary import Vocabulary

SEEN = sorted({word for line in TEXT[:3] for word in line.split()})
some_words = st.lists(st.sampled_from(SEEN), min_size=1, max_size=4)
any_words = st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=8)


@pytest.mark.parametrize("kind", KINDS)
@given(text=some_words | any_words)
@settings(deadline=None, max_examples=30)
def test_its_own_text_is_cut_as_before(kind: str, text: list[str]) -> None:
    before = KINDS[kind]
    small = trim_vocabulary(before, text)
    assert list(small.kept) == sorted(set(small.kept))
    assert small.tokenizer.get_vocab_size() == len(small.kept)
    old, new = Vocabulary(before), Vocabulary(small.tokenizer)
    was, now = old.learn(text), new.learn(text)
    for word in text:
        assert [small.kept[i] for i in now[word].ids] == was[word].ids
    for template in ("single", "pair"):
        wanted, found = getattr(old, template), getattr(new, template)
        for part in ("before", "between", "after"):
            assert tuple(small.kept[i] for i in getattr(found, part)) == getattr(wanted, part)


@pytest.mark.parametrize("kind", KINDS)
@given(words=any_words)
@settings(deadline=None, max_examples=50)
def test_no_word_becomes_unreadable(kind: str, words: list[str]) -> None:
    before = KINDS[kind]
    small = trim_vocabulary(before, ["the"])
    model = json.loads(before.to_str())["model"]
    unknown = model.get("unk_token") or "<unk>"
    was = Vocabulary(before).learn(words)
    now = Vocabulary(small.tokenizer).learn(words)
    old_unknown, new_unknown = before.token_to_id(unknown), small.tokenizer.token_to_id(unknown)
    for word in words:
        if old_unknown not in was[word].ids:
            assert new_unknown not in now[word].ids


def test_it_is_smaller() -> None:
    before = KINDS["word pieces"]
    small = trim_vocabulary(before, ["cat"])
    assert small.tokenizer.token_to_id("cat") is not None
    assert small.tokenizer.token_to_id("dog") is None
    assert small.tokenizer.get_vocab_size() < before.get_vocab_size()
