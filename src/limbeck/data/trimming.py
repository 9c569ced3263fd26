"""Trimming a vocabulary to the pieces that a text uses, with letters kept for all other words.

In:  the text of a tokenizer.json and the words of a text.
Out: a smaller tokenizer.json that cuts that text exactly as before, and which old piece each new
one is. Other words fall back to smaller pieces, down to single letters or bytes, as they always
could; none becomes unreadable that was readable.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tokenizers import Tokenizer

from limbeck.data.vocabulary import Vocabulary, tokenizer_from_text
from limbeck.errors import StageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Trimmed:
    """A smaller vocabulary."""

    tokenizer: Tokenizer
    kept: tuple[int, ...]  # old id of each new one, ascending: special pieces first stay first


def trim_vocabulary(tokenizer: Tokenizer, words: Iterable[str]) -> Trimmed:
    """Keep pieces that occur in `words`, single letters and special pieces."""
    settings: dict[str, Any] = json.loads(tokenizer.to_str())
    distinct = set(words)
    vocabulary = Vocabulary(tokenizer)
    known = vocabulary.learn(distinct)
    used = {piece for word in distinct for piece in known[word].ids}
    old = _ids(settings)
    wanted = {piece for piece, i in old.items() if i in used or _is_fallback(piece)}
    wanted |= {token["content"] for token in settings.get("added_tokens", ())}
    unknown = _unknown(settings)
    if unknown is not None:
        wanted.add(unknown)
    wanted |= {piece for piece in old if not _is_spelled(piece, wanted)}
    if settings["model"]["type"] == "BPE":
        wanted |= _parents(settings["model"], wanted)
    kept = sorted(old[piece] for piece in wanted if piece in old)
    new = {i: n for n, i in enumerate(kept)}
    _rewrite(settings, new)
    trimmed = tokenizer_from_text(json.dumps(settings))
    _check(tokenizer, trimmed, kept, list(distinct))
    return Trimmed(tokenizer=trimmed, kept=tuple(kept))


def _ids(settings: dict[str, Any]) -> dict[str, int]:
    """Piece -> id, added ones included."""
    model = settings["model"]
    match model["type"]:
        case "WordPiece" | "BPE":
            ids = dict(model["vocab"])
        case "Unigram":
            ids = {piece: i for i, (piece, _) in enumerate(model["vocab"])}
        case other:
            raise StageError(f"a vocabulary of type {other} cannot be trimmed")
    return ids | {token["content"]: token["id"] for token in settings.get("added_tokens", ())}


def _is_fallback(piece: str) -> bool:
    """Single letters, inside words too; and bytes."""
    letters = piece.removeprefix("##").removeprefix("▁").removeprefix("Ġ")
    return len(letters) <= 1 or (piece.startswith("<0x") and piece.endswith(">"))


def _is_spelled(piece: str, kept: set[str]) -> bool:
    """Tell whether single letters can stand for a piece; else it is the only way to write them."""
    inside = piece.removeprefix("##")
    if inside != piece:
        return all(f"##{letter}" in kept for letter in inside)
    by_letters = all(letter in kept for letter in piece)
    by_word_pieces = piece[:1] in kept and all(f"##{letter}" in kept for letter in piece[1:])
    return by_letters or by_word_pieces


def _unknown(settings: dict[str, Any]) -> str | None:
    model = settings["model"]
    if model["type"] == "Unigram":
        return None if model.get("unk_id") is None else str(model["vocab"][model["unk_id"]][0])
    unknown = model.get("unk_token")
    return None if unknown is None else str(unknown)


def _parents(model: dict[str, Any], wanted: set[str]) -> set[str]:
    """All pieces on the way from letters to the wanted ones."""
    made: dict[str, list[tuple[str, str]]] = {}
    for left, right in _merges(model):
        made.setdefault(left + right, []).append((left, right))
    found: set[str] = set()
    waiting = list(wanted)
    while waiting:
        for pair in made.get(waiting.pop(), ()):
            waiting += [part for part in pair if part not in found]
            found.update(pair)
    return found


def _merges(model: dict[str, Any]) -> list[tuple[str, str]]:
    """Merges, which are written as pairs or as "left right"."""
    pairs = (m.split(" ", 1) if isinstance(m, str) else m for m in model["merges"])
    return [(str(left), str(right)) for left, right in pairs]


def _rewrite(settings: dict[str, Any], new: dict[int, int]) -> None:
    """Renumber everything that holds an id."""
    model = settings["model"]
    if model["type"] == "Unigram":
        pieces = model["vocab"]
        model["vocab"] = [pieces[i] for i in sorted(new) if i < len(pieces)]
        if model.get("unk_id") is not None:
            model["unk_id"] = new[model["unk_id"]]
    else:
        model["vocab"] = {p: new[i] for p, i in model["vocab"].items() if i in new}
    if model["type"] == "BPE":
        kept = set(model["vocab"])
        model["merges"] = [
            [left, right]
            for left, right in _merges(model)
            if left in kept and right in kept and left + right in kept
        ]
    for token in settings.get("added_tokens", ()):
        token["id"] = new[token["id"]]
    _renumber(settings.get("post_processor"), new)


def _renumber(part: Any, new: dict[int, int]) -> None:
    """Post-processors name special pieces with their ids, each kind in its own way."""
    if isinstance(part, list):
        for inner in part:
            _renumber(inner, new)
    if not isinstance(part, dict):
        return
    for inner in part.get("processors", ()):
        _renumber(inner, new)
    special = part.get("special_tokens")
    if isinstance(special, dict):
        for token in special.values():
            token["ids"] = [new[i] for i in token["ids"]]
    for name in ("cls", "sep"):
        if isinstance(part.get(name), list):
            piece, i = part[name]
            part[name] = [piece, new[i]]


def _check(before: Tokenizer, after: Tokenizer, kept: Sequence[int], words: Sequence[str]) -> None:
    """Refuse a vocabulary that cuts the text in another way."""
    old, new = Vocabulary(before).learn(words), Vocabulary(after).learn(words)
    for word in words:
        if old[word].ids != [kept[i] for i in new[word].ids]:
            raise StageError(
                f"the trimmed vocabulary would cut {word!r} in another way",
                hint="leave trim_vocabulary out for this encoder",
            )
