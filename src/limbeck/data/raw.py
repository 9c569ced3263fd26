"""Raw English text -> sentences -> words, near enough to treebank words for unlabelled text.

In:  running text, perhaps with line-break tags.
Out: sentences, or their words: punctuation stands alone, contractions are split (do n't, it 's).
Rules only, no model; gold text never passes through here.
"""

import re
from collections.abc import Iterator

_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
# a sentence ends at . ! ? or an ellipsis, with closing quotes, before white space and a capital,
# a digit or an opening quote; common short forms do not end one
_END = re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+(?=[\"'“‘(\[]?[A-Z0-9])")
_LONGEST_SHORT = 8  # letters that may matter to the next pattern
_SHORT = re.compile(r"(?:\b(?:Mr|Mrs|Ms|Dr|Prof|St|vs|etc|Jr|Sr|No|Inc|Lt|Col|Gen)|\b[A-Z])\.$")
_WORD = re.compile(
    r"""
    https?://\S+
    | [^\s@]{1,64}+@[^\s@]{1,255}\.\w+   # addresses, bounded: else time grows with the square
    | \d+(?:[.,:/]\d+)+ | \d+(?:st|nd|rd|th|s)?   # 1,000  3.5  10:30  1st  1980s
    | (?:[A-Z]\.){2,} | (?:Mr|Mrs|Ms|Dr|Prof|St|vs|Jr|Sr)\.
    | \w+(?=n['’]t\b) | n['’]t\b         # do n't
    | ['’](?:s|m|d|re|ve|ll)\b           # it 's
    | \w+
    | \.{2,} | -{2,} | \S
    """,
    re.VERBOSE | re.IGNORECASE,
)


def sentences(text: str) -> Iterator[tuple[str, ...]]:
    """Cut text into sentences of words; empty stretches give nothing."""
    for sentence in sentence_texts(text):
        words = tuple(_WORD.findall(sentence))
        if words:
            yield words


def sentence_texts(text: str) -> Iterator[str]:
    """Cut text into sentences, each as it is written."""
    for paragraph in _BREAK.split(text):
        yield from _sentences(paragraph)


def _sentences(paragraph: str) -> Iterator[str]:
    begin = 0
    for match in _END.finditer(paragraph):
        # the end alone: a copy of all that came before, for each short form, takes squared time
        if _SHORT.search(paragraph, max(begin, match.start() - _LONGEST_SHORT), match.start()):
            continue
        yield paragraph[begin : match.end()].strip()
        begin = match.end()
    rest = paragraph[begin:].strip()
    if rest:
        yield rest
