"""Edit scripts: how a lemma is made from a form, short enough to be learnt as a label.

In:  a form and a lemma, or a script and a form.
Out: the script, or the lemma; strings only.
Knows no model. After UDPipe's rules (Straka, 2018): letter case, then both ends of the word.
"""

import json
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Literal, assert_never, get_args

Casing = Literal["lower", "keep", "title", "upper"]
CASINGS: tuple[Casing, ...] = get_args(Casing)  # in this order where several do equally well


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """Set the case, cut from both ends, add to both ends.

    Only lengths are cut, so that `running` and `getting` share a script. `casing` None replaces
    the whole word by `add_front`.
    """

    casing: Casing | None
    cut_front: int = 0
    add_front: str = ""
    cut_back: int = 0
    add_back: str = ""

    @property
    def cost(self) -> int:
        return self.cut_front + len(self.add_front) + self.cut_back + len(self.add_back)


IDENTITY = Script(casing="keep")


def set_casing(form: str, casing: Casing) -> str:
    """Change the case of a whole word."""
    match casing:
        case "lower":
            return form.lower()
        case "keep":
            return form
        case "title":
            return form[:1].upper() + form[1:].lower()
        case "upper":
            return form.upper()
        case _:
            assert_never(casing)


@lru_cache(maxsize=100_000)  # a corpus repeats its pairs; about 20 MB when full
def script_of(form: str, lemma: str) -> Script:
    """Find the one script of a pair: the cheapest, then the first casing.

    Law: `apply_script(script_of(form, lemma), form) == lemma`, for any two strings. What stays is
    the longest common part, the leftmost of equals; words with nothing in common are replaced.
    """
    best: Script | None = None
    for casing in CASINGS:
        script = _ends(set_casing(form, casing), lemma, casing)
        if script is not None and (best is None or script.cost < best.cost):
            best = script
    return best or Script(casing=None, add_front=lemma)


def _ends(cased: str, lemma: str, casing: Casing) -> Script | None:
    matcher = SequenceMatcher(None, cased, lemma, autojunk=False)
    kept = matcher.find_longest_match()
    if kept.size == 0:
        return None
    return Script(
        casing=casing,
        cut_front=kept.a,
        add_front=lemma[: kept.b],
        cut_back=len(cased) - kept.a - kept.size,
        add_back=lemma[kept.b + kept.size :],
    )


def apply_script(script: Script, form: str) -> str | None:
    """Make the lemma; None where the form is too short for the script."""
    if script.casing is None:
        return script.add_front
    if script == IDENTITY:
        return form  # also where it is empty
    cased = set_casing(form, script.casing)
    end = len(cased) - script.cut_back
    if end <= script.cut_front:
        return None
    return script.add_front + cased[script.cut_front : end] + script.add_back


def script_name(script: Script) -> str:
    """Name a script in one line of JSON."""
    if script.casing is None:
        return json.dumps([None, script.add_front])
    return json.dumps(
        [script.casing, script.cut_front, script.add_front, script.cut_back, script.add_back]
    )


def script_named(name: str) -> Script:
    """Read a name back; ValueError if it is none."""
    match json.loads(name):
        case [None, str(lemma)]:
            return Script(casing=None, add_front=lemma)
        case [casing, int(cut_front), str(add_front), int(cut_back), str(add_back)] if (
            casing in CASINGS and cut_front >= 0 and cut_back >= 0
        ):
            return Script(
                casing=casing,
                cut_front=cut_front,
                add_front=add_front,
                cut_back=cut_back,
                add_back=add_back,
            )
    raise ValueError(f"{name!r} is not an edit script")
