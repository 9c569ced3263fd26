"""Vocabulary: words -> piece ids, each distinct word cut once.

In:  the tokenizer.json of a model.
Out: ids of words, and where a model wants its special pieces.
A pre-split word has the same pieces in any company, so a word is cut when it is first seen and
looked up after that: six times as fast as cutting every text anew.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from tokenizers import Encoding, Tokenizer

from limbeck.data.shape import word_shape
from limbeck.errors import InputError

# A longer word is cut before it is split: the vector of a word is that of its first piece, and
# WordPiece gives up at 100 letters anyway. The record keeps the whole word.
MAX_WORD_LETTERS = 64
# Stands for a word that leaves no piece: control characters, lone marks that the vocabulary drops.
UNREADABLE = "?"
# Waking the tokenizer's threads takes about as long as cutting so many words
MAX_ONE_BY_ONE = 16
MAX_KNOWN_WORDS = 100_000  # some 50 MB; then all are forgotten


class Word(NamedTuple):
    """What a model reads of one word."""

    ids: list[int]  # at least one
    shape: tuple[int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """Special pieces around one text, or around and between two."""

    before: tuple[int, ...]
    between: tuple[int, ...]  # empty for one text
    after: tuple[int, ...]
    before_types: tuple[int, ...]
    between_types: tuple[int, ...]
    after_types: tuple[int, ...]
    text_types: tuple[int, int]  # of the first text and of the second

    @property
    def n_special(self) -> int:
        return len(self.before) + len(self.between) + len(self.after)


def load_tokenizer(path: Path) -> Tokenizer:
    """Read a tokenizer.json so that pre-split words get the pieces they have inside a text."""
    try:
        return tokenizer_from_text(path.read_text(encoding="utf-8"))
    except Exception as failure:
        raise InputError(f"{path}: no readable tokenizer ({failure})") from failure


def tokenizer_from_text(text: str) -> Tokenizer:
    """As `load_tokenizer`, from the text of a tokenizer.json."""
    if '"ByteLevel"' in text:  # reading and writing a vocabulary takes as long as loading it
        settings: dict[str, Any] = json.loads(text)
        _open_words_with_space(settings.get("pre_tokenizer"))
        text = json.dumps(settings)
    tokenizer = Tokenizer.from_str(text)
    tokenizer.no_padding()
    tokenizer.no_truncation()
    tokenizer.encode_special_tokens = True  # input is data: "[SEP]" in a text is just letters
    return tokenizer


def _open_words_with_space(pre_tokenizer: dict[str, Any] | None) -> None:
    """Byte-level vocabularies mark a word by the space before it, which splitting took away."""
    if pre_tokenizer is None:
        return
    if pre_tokenizer["type"] == "ByteLevel":
        pre_tokenizer["add_prefix_space"] = True
    for part in pre_tokenizer.get("pretokenizers", ()):
        _open_words_with_space(part)


class Vocabulary:
    """Knows the pieces of the words seen so far. May be used by several threads."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self._known: dict[str, Word] = {}
        self.single = _template(tokenizer.encode([UNREADABLE], is_pretokenized=True))
        self.pair = _template(tokenizer.encode([UNREADABLE], [UNREADABLE], is_pretokenized=True))

    def learn(self, words: Iterable[str]) -> dict[str, Word]:
        """Give a table that has at least these words; a word's pieces are never its caller's."""
        known = self._known
        distinct = set(words)
        new = [word for word in distinct if word not in known]
        if len(known) + len(new) > MAX_KNOWN_WORDS:
            # another thread may still read the old table, so it is left as it is
            known, new = {}, list(distinct)
            self._known = known
        if not new:  # a call of the tokenizer costs more than a sentence of known words
            return known
        for word, ids in zip(new, self._cut(new), strict=True):
            known[word] = Word(ids=ids, shape=word_shape(word[:MAX_WORD_LETTERS]))
        return known

    def _cut(self, words: Sequence[str]) -> list[list[int]]:
        texts = [[word[:MAX_WORD_LETTERS]] for word in words]
        found: list[Encoding]
        if len(texts) <= MAX_ONE_BY_ONE:
            encode = self.tokenizer.encode
            found = [encode(t, is_pretokenized=True, add_special_tokens=False) for t in texts]
        else:
            found = self.tokenizer.encode_batch(
                texts, is_pretokenized=True, add_special_tokens=False
            )
        cut: list[list[int]] = [encoding.ids for encoding in found]
        if not all(cut):
            (unreadable,) = self.tokenizer.encode_batch(
                [[UNREADABLE]], is_pretokenized=True, add_special_tokens=False
            )
            cut = [ids or unreadable.ids for ids in cut]
        return cut


def _template(encoding: Encoding) -> Template:
    """Tell special pieces from those of the text, in an encoding of one or two short texts."""
    texts = [i for i, text in enumerate(encoding.sequence_ids) if text is not None]
    seconds = [i for i in texts if encoding.sequence_ids[i] == 1]
    firsts = [i for i in texts if encoding.sequence_ids[i] == 0]
    ids, types = encoding.ids, encoding.type_ids
    begin, end = firsts[0], texts[-1] + 1
    gap = slice(firsts[-1] + 1, seconds[0]) if seconds else slice(0, 0)
    return Template(
        before=tuple(ids[:begin]),
        between=tuple(ids[gap]),
        after=tuple(ids[end:]),
        before_types=tuple(types[:begin]),
        between_types=tuple(types[gap]),
        after_types=tuple(types[end:]),
        text_types=(types[begin], types[seconds[0]] if seconds else types[begin]),
    )
