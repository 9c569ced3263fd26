"""Codecs by kind: learnt from training labels, rebuilt from JSON.

In:  a kind and labels, or what `to_json` gave.
Out: a `Codec`.
"""

import hashlib
import json
import math
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import assert_never

import numpy as np

from limbeck.data.records import Arc, Labels
from limbeck.errors import BundleError, InputError
from limbeck.tasks.base import TASK_KINDS, Codec, TaskKind, Words
from limbeck.tasks.classify import ClassifyCodec, ClassifyManyCodec, RegressCodec
from limbeck.tasks.edits import IDENTITY, script_name, script_of
from limbeck.tasks.labels import word_labels
from limbeck.tasks.lemma import NO_LEMMA, LemmaCodec
from limbeck.tasks.parse import DepCodec
from limbeck.tasks.tagging import SpanCodec, TagCodec


def learn_codec(
    kind: TaskKind, pairs: Iterable[tuple[Words, Labels]], *, task: str = "task"
) -> Codec:
    """Learn the labels of a task; the most frequent first, so that ids do not depend on order."""
    given = list(pairs)
    if kind == "regress":
        values = np.array([labels for _, labels in given], dtype=np.float64)
        if not len(values):
            raise InputError(f"task {task!r}: no labels in train")
        return RegressCodec(mean=float(values.mean()), std=float(values.std()) or 1.0)
    if kind == "lemma":
        scripts = _scripts(given)
        if not scripts:
            raise InputError(f"task {task!r}: no labels in train")
        return LemmaCodec(scripts)
    counts = Counter(name for _, labels in given for name in _names(labels))
    names = sorted(counts, key=lambda name: (-counts[name], name))
    if not names:
        raise InputError(f"task {task!r}: no labels in train")
    if (odd := unwritable(names)) is not None:
        raise InputError(
            f"task {task!r}: label {odd!r} holds a control character",
            hint="labels are written into lines and columns: take tabs and line ends out",
        )
    match kind:
        case "classify":
            return ClassifyCodec(names)
        case "classify_many":
            return ClassifyManyCodec(names)
        case "tag":
            return TagCodec(names)
        case "spans":
            return SpanCodec(_completed(names))
        case "dep":
            return DepCodec(names)
        case _:
            assert_never(kind)


def unwritable(names: Iterable[str]) -> str | None:
    """The first label that holds a control character or half a character, if there is one."""
    for name in names:
        if any(unicodedata.category(letter) in ("Cc", "Cs") for letter in name):
            return name
    return None


def _names(labels: Labels) -> Iterable[str]:
    if isinstance(labels, str):
        yield labels
    elif isinstance(labels, tuple):
        for label in labels:
            if isinstance(label, Arc):
                yield label.relation
            elif label is not None:
                yield label


def _scripts(given: list[tuple[Words, Labels]]) -> list[str]:
    """Scripts seen twice and identity; one seen once is a quirk of a word, or an error."""
    seen = Counter(
        (form, lemma)
        for words, labels in given
        for form, lemma in zip(words, word_labels(labels, len(words)), strict=True)
        if lemma is not None and lemma != NO_LEMMA
    )
    if not seen:
        return []
    counts: Counter[str] = Counter()
    for (form, lemma), n in seen.items():
        counts[script_name(script_of(form, lemma))] += n
    keep = script_name(IDENTITY)
    names = [n for n, c in counts.items() if c >= 2 and n != keep]
    return [keep, *sorted(names, key=lambda n: (-counts[n], n))]


def _completed(names: list[str]) -> list[str]:
    """Give every type its B tag: without it no span of that type could be opened."""
    missing = sorted({f"B-{n[2:]}" for n in names if n.startswith("I-")} - set(names))
    return [*names, *missing, *(["O"] if "O" not in names else [])]


def codec_from_json(value: Mapping[str, object]) -> Codec:
    """Rebuild a codec; refuses what it does not know."""
    kind = value.get("kind")
    if kind not in TASK_KINDS:
        raise BundleError(f"unknown kind of task {kind!r}", hint="a newer limbeck may know it")
    if kind == "regress":
        mean, spread = value.get("mean"), value.get("std")
        if (
            set(value) != {"kind", "mean", "std"}
            or not isinstance(mean, int | float)
            or not math.isfinite(mean)
        ):
            raise BundleError("a regress codec holds mean and spread")
        if not isinstance(spread, int | float) or not spread > 0 or not math.isfinite(spread):
            raise BundleError("a regress codec's spread must be positive")
        return RegressCodec(mean=float(mean), std=float(spread))
    names = value.get("names")
    if set(value) != {"kind", "names"} or not isinstance(names, list):
        raise BundleError(f"a {kind} codec holds kind and names")
    if not names or not all(isinstance(name, str) for name in names):
        raise BundleError(f"a {kind} codec's names must be texts")
    if len(set(names)) != len(names):
        raise BundleError(f"a {kind} codec names a label twice")
    if kind != "lemma" and (odd := unwritable(names)) is not None:
        raise BundleError(f"label {odd!r} would break the lines that it is written in")
    match kind:
        case "classify":
            return ClassifyCodec(names)
        case "classify_many":
            return ClassifyManyCodec(names)
        case "tag":
            return TagCodec(names)
        case "spans":
            return SpanCodec(names)
        case "lemma":
            return LemmaCodec(names)
        case _:
            return DepCodec(names)


def codec_hash(codec: Codec) -> str:
    """Name a label set by 16 hex digits."""
    text = json.dumps(codec.to_json(), sort_keys=True, ensure_ascii=True)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
