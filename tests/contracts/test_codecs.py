"""Every codec keeps the laws of `base.Codec`, whatever its kind."""

import json

import numpy as np
import pytest

from limbeck.data.records import Arc, Labels
from limbeck.errors import BundleError, InputError
from limbeck.tasks.base import MISSING, TASK_KINDS, WORD_KINDS, Codec, Scores, TaskKind, Words
from limbeck.tasks.codecs import codec_from_json, codec_hash, learn_codec

Pair = tuple[Words, Labels]

WORDS: list[Words] = [("Dogs", "bark"), (), ("The", "cats", "sleep"), ("Run",)]
TREES: list[tuple[Arc, ...]] = [
    (Arc(2, "nsubj"), Arc(0, "root")),
    (),
    (Arc(2, "det"), Arc(3, "nsubj"), Arc(0, "root")),
    (Arc(0, "root"),),
]
GOLD: dict[TaskKind, list[Labels]] = {
    "classify": ["good", "bad", "good", "odd"],
    "classify_many": [("a", "b"), (), ("b",), ("a",)],
    "regress": [1.0, 2.5, -4.0, 0.0],
    "tag": [("NOUN", "VERB"), (), ("DET", "NOUN", "VERB"), ("VERB",)],
    "spans": [("B-X", "I-X"), (), ("O", "B-Y", "B-X"), ("B-Y",)],
    "lemma": [("dog", "bark"), (), ("the", "cat", "sleep"), ("run",)],
    "dep": list(TREES),
}


def learnt(kind: TaskKind) -> Codec:
    # twice over: lemma scripts seen once are not kept
    return learn_codec(kind, [*pairs(kind), *pairs(kind)])


def pairs(kind: TaskKind) -> list[Pair]:
    return list(zip(WORDS, GOLD[kind], strict=True))


def sure_scores(codec: Codec, given: list[Pair]) -> Scores:
    """Put all weight on the encoded ids."""
    encoded = [codec.encode(words, labels) for words, labels in given]
    match codec.kind:
        case "regress":
            return Scores(main=np.array(encoded, dtype=np.float32).reshape(-1, 1))
        case "classify_many":
            return Scores(main=(np.array(encoded) * 20 - 10).astype(np.float32))
        case "dep":
            arcs = tuple(
                np.eye(len(w) + 1, dtype=np.float32)[e[:, 0]] * 10
                for (w, _), e in zip(given, encoded, strict=True)
            )
            ids = np.concatenate([e[:, 1] for e in encoded])
            return Scores(main=np.eye(codec.n_outputs, dtype=np.float32)[ids] * 10, arcs=arcs)
        case _:
            ids = np.concatenate([np.atleast_1d(e) for e in encoded]).astype(np.int64)
            return Scores(main=np.eye(codec.n_outputs, dtype=np.float32)[ids] * 10)


def random_scores(codec: Codec, words: list[Words], seed: int) -> list[Scores]:
    """Scores of each record by itself."""
    rng = np.random.default_rng(seed)
    made = []
    for w in words:
        n = len(w) if codec.kind in WORD_KINDS else 1
        main = rng.normal(size=(n, codec.n_outputs)).astype(np.float32)
        arcs = (rng.normal(size=(n, n + 1)).astype(np.float32),) if codec.kind == "dep" else ()
        made.append(Scores(main=main, arcs=arcs))
    return made


def joined(parts: list[Scores]) -> Scores:
    return Scores(
        main=np.concatenate([p.main for p in parts]), arcs=tuple(a for p in parts for a in p.arcs)
    )


@pytest.mark.parametrize("kind", TASK_KINDS)
def test_decoding_sure_scores_gives_the_labels_back(kind: TaskKind) -> None:
    codec = learnt(kind)
    found = codec.decode(sure_scores(codec, pairs(kind)), WORDS)
    if kind == "regress":
        assert found == pytest.approx(GOLD[kind], abs=1e-5)
    else:
        assert found == GOLD[kind]


@pytest.mark.parametrize("kind", TASK_KINDS)
def test_a_codec_survives_json(kind: TaskKind) -> None:
    codec = learnt(kind)
    again = codec_from_json(json.loads(json.dumps(codec.to_json())))
    assert (again.kind, again.names, again.n_outputs) == (kind, codec.names, codec.n_outputs)
    assert codec_hash(again) == codec_hash(codec)
    assert len(codec_hash(codec)) == 16
    scores = joined(random_scores(codec, WORDS, 3))
    assert again.decode(scores, WORDS) == codec.decode(scores, WORDS)


@pytest.mark.parametrize("kind", TASK_KINDS)
@pytest.mark.parametrize("seed", range(5))
def test_decoding_together_equals_decoding_one_by_one(kind: TaskKind, seed: int) -> None:
    codec = learnt(kind)
    words = [*WORDS, tuple("abcdefghijklm"), ("x", "I", "Dogs")]
    parts = random_scores(codec, words, seed)
    together = codec.decode(joined(parts), words)
    assert together == [codec.decode(part, [w])[0] for part, w in zip(parts, words, strict=True)]
    assert len(together) == len(words)


@pytest.mark.parametrize("kind", TASK_KINDS)
def test_probabilities_have_the_shape_of_the_labels(kind: TaskKind) -> None:
    codec = learnt(kind)
    scores = joined(random_scores(codec, WORDS, 1))
    labels = codec.decode(scores, WORDS)
    for found, label in zip(codec.probabilities(scores, WORDS), labels, strict=True):
        if isinstance(label, tuple):
            assert isinstance(found, list | tuple)
            assert len(found) == len(label)
            assert all(0 < p <= 1 + 1e-6 for p in found)
        elif kind == "classify":
            assert isinstance(found, float)
            assert 0 < found <= 1 + 1e-6


@pytest.mark.parametrize("kind", WORD_KINDS)
def test_records_without_words_give_empty_labels(kind: TaskKind) -> None:
    codec = learnt(kind)
    scores = joined(random_scores(codec, [(), ()], 0))
    assert codec.decode(scores, [(), ()]) == [(), ()]
    assert [len(p) for p in codec.probabilities(scores, [(), ()])] == [0, 0]  # type: ignore[arg-type]
    assert len(codec.encode((), ())) == 0


@pytest.mark.parametrize("kind", WORD_KINDS)
def test_words_without_label_are_missing(kind: TaskKind) -> None:
    assert (learnt(kind).encode(("a", "b"), (None, None)) == MISSING).all()


@pytest.mark.parametrize("kind", ["classify", "tag", "spans"])
def test_labels_that_training_never_saw_are_missing(kind: TaskKind) -> None:
    label: Labels = "B-new" if kind == "classify" else ("B-new",)
    assert (learnt(kind).encode(("a",), label) == MISSING).all()


@pytest.mark.parametrize("kind", TASK_KINDS)
def test_learning_from_nothing_is_refused(kind: TaskKind) -> None:
    with pytest.raises(InputError, match="no labels"):
        learn_codec(kind, [], task="mood")


@pytest.mark.parametrize("kind", TASK_KINDS)
def test_the_order_of_labels_does_not_depend_on_the_order_of_records(kind: TaskKind) -> None:
    there = learn_codec(kind, pairs(kind) * 2)
    back = learn_codec(kind, pairs(kind)[::-1] * 2)
    assert codec_hash(there) == codec_hash(back)


@pytest.mark.parametrize("kind", TASK_KINDS)
def test_unknown_keys_are_refused(kind: TaskKind) -> None:
    with pytest.raises(BundleError):
        codec_from_json({**learnt(kind).to_json(), "colour": 1})


@pytest.mark.parametrize("value", [{}, {"kind": "poem", "names": ["a"]}, {"kind": "tag"}])
def test_damaged_codecs_are_refused(value: dict[str, object]) -> None:
    with pytest.raises(BundleError):
        codec_from_json(value)


def test_a_lemma_codec_with_broken_scripts_is_refused() -> None:
    for names in (["oops"], ['["lower", 0, "", 0, ""]']):
        with pytest.raises(BundleError):
            codec_from_json({"kind": "lemma", "names": names})


@pytest.mark.parametrize("seed", range(20))
def test_decoded_spans_are_legal_and_the_best_legal_ones(seed: int) -> None:
    codec = codec_from_json({"kind": "spans", "names": ["O", "B-X", "I-X", "B-Y", "I-Y"]})
    words = tuple("abcd")
    scores = random_scores(codec, [words], seed)[0]
    (found,) = codec.decode(scores, [words])
    assert isinstance(found, tuple)
    tags = [str(tag) for tag in found]
    assert legal(tags)
    best = max(total(scores, ids) for ids in np.ndindex(5, 5, 5, 5) if legal(named(codec, ids)))
    assert total(scores, [codec.names.index(tag) for tag in tags]) == pytest.approx(best, abs=1e-5)


@pytest.mark.parametrize("kind", WORD_KINDS)
@pytest.mark.parametrize("seed", range(5))
def test_records_are_decoded_together_as_each_is_alone(kind: TaskKind, seed: int) -> None:
    names = ["root", *"abcd"] if kind == "dep" else ["O", "B-X", "I-X", "B-Y", "I-Y"]
    codec = learnt(kind) if kind == "lemma" else codec_from_json({"kind": kind, "names": names})
    sizes = np.random.default_rng(seed).integers(0, 40, size=30)
    words: list[Words] = [tuple(f"w{i}" for i in range(n)) for n in sizes]
    alone = [random_scores(codec, [one], seed + i)[0] for i, one in enumerate(words)]
    wanted = [codec.decode(one, [own])[0] for one, own in zip(alone, words, strict=True)]
    assert codec.decode(joined(alone), words) == wanted


def named(codec: Codec, ids: tuple[int, ...]) -> list[str]:
    return [codec.names[i] for i in ids]


def legal(tags: list[str]) -> bool:
    before = ["O", *tags]
    return all(
        tag[0] != "I" or previous in (f"B{tag[1:]}", f"I{tag[1:]}")
        for previous, tag in zip(before, tags, strict=False)
    )


def total(scores: Scores, ids: tuple[int, ...] | list[int]) -> float:
    return float(sum(scores.main[i, tag] for i, tag in enumerate(ids)))


@pytest.mark.parametrize("seed", range(10))
def test_only_the_word_on_the_root_has_the_root_relation(seed: int) -> None:
    codec = learnt("dep")
    words = tuple("abcdefgh")
    (found,) = codec.decode(random_scores(codec, [words], seed)[0], [words])
    assert isinstance(found, tuple)
    for arc in found:
        assert isinstance(arc, Arc)
        assert (arc.head == 0) == (arc.relation == "root")
