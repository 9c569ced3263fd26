"""Tags of spans: which texts are tags, and the three schemes brought to one.

In:  tags in IOB1, BIO or IOBES, as files have them.
Out: BIO. No file format, no scores.
"""

import re
from collections.abc import Iterable

from limbeck.errors import InputError

_TAG = re.compile(r"O|[BIES]-.+")


def is_tag(text: str) -> bool:
    """Whether a text can be a tag of a span."""
    return _TAG.fullmatch(text) is not None


def check_tag(tag: str, where: str) -> None:
    """Refuse what is no tag of a span."""
    if not is_tag(tag):
        raise InputError(f"{where}: {tag!r} is no BIO tag", hint="tags are O, B-TYPE or I-TYPE")


def to_bio(tags: Iterable[str]) -> tuple[str, ...]:
    """Let every span open with B and go on with I.

    IOB1 writes B only between spans of one type; IOBES writes E at ends, S for spans of one word.
    """
    fixed: list[str] = []
    open_type = ""
    for tag in tags:
        if tag == "O":
            fixed.append(tag)
            open_type = ""
            continue
        prefix, kind = tag[0], tag[2:]
        goes_on = prefix in "IE" and kind == open_type
        fixed.append(f"I-{kind}" if goes_on else f"B-{kind}")
        open_type = "" if prefix in "ES" else kind
    return tuple(fixed)
