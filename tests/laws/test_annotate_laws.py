"""Annotation keeps number and order, and its answers depend on nothing but the record."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Protocol

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from toys import toy_record, toy_records

from limbeck.bundle import load_bundle
from limbeck.data.pieces import BatchSize, collate
from limbeck.data.records import Record
from limbeck.errors import BundleError, StageError
from limbeck.runtime.annotate import AnnotateConfig, Annotator, load
from limbeck.runtime.batching import (
    BATCH_COST,
    LANES,
    full_batches,
    plan_batches,
)
from limbeck.runtime.scoring import make_batch
from limbeck.runtime.sizes import FEW_PIECES, MAX_GROWTH, Sizes


class Planner(Protocol):
    def __call__(self, n_pieces: Sequence[int], *, max_padded_pieces: int) -> list[list[int]]: ...


MAX_PIECES = 60  # no multiple of LANES
lengths = st.lists(st.integers(1, 200), max_size=60)
SLOW = settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


planners = pytest.mark.parametrize("plan", [plan_batches, full_batches])


@planners
@given(n_pieces=lengths, budget=st.integers(1, 4_096))
def test_every_row_lands_in_exactly_one_batch(
    plan: Planner, n_pieces: list[int], budget: int
) -> None:
    batches = plan(n_pieces, max_padded_pieces=budget)
    assert sorted(i for batch in batches for i in batch) == list(range(len(n_pieces)))


@planners
@given(n_pieces=lengths, budget=st.integers(1, 4_096))
def test_only_a_row_that_is_alone_exceeds_the_budget(
    plan: Planner, n_pieces: list[int], budget: int
) -> None:
    for batch in plan(n_pieces, max_padded_pieces=budget):
        assert len(batch) == 1 or len(batch) * max(n_pieces[i] for i in batch) <= budget


@planners
@given(n_pieces=lengths, budget=st.integers(1, 4_096))
def test_batches_come_longest_first(plan: Planner, n_pieces: list[int], budget: int) -> None:
    longest = [max(n_pieces[i] for i in b) for b in plan(n_pieces, max_padded_pieces=budget)]
    assert longest == sorted(longest, reverse=True)


def padding_share(n_pieces: Sequence[int], batches: Sequence[Sequence[int]]) -> float:
    padded = sum(len(batch) * max(n_pieces[i] for i in batch) for batch in batches)
    return 1 - sum(n_pieces) / padded


def test_sorting_leaves_little_padding() -> None:
    rng = random.Random(0)
    n_pieces = [rng.randint(5, 60) for _ in range(4_096)]
    planned = plan_batches(n_pieces, max_padded_pieces=2_048)
    full = full_batches(n_pieces, max_padded_pieces=2_048)
    assert padding_share(n_pieces, planned) < 0.015 < padding_share(n_pieces, full) < 0.05
    assert len(planned) < 1.5 * len(full)


@given(n_pieces=lengths, budget=st.integers(200, 4_096))
def test_no_plan_of_whole_lengths_costs_less(n_pieces: list[int], budget: int) -> None:
    def cost(plan: Sequence[Sequence[int]]) -> int:
        return sum(len(b) * max(n_pieces[i] for i in b) + BATCH_COST for b in plan)

    one_length_a_batch = [
        [i for i, n in enumerate(n_pieces) if n == length][begin : begin + budget // length]
        for length in set(n_pieces)
        for begin in range(0, n_pieces.count(length), budget // length)
    ]
    found = cost(plan_batches(n_pieces, max_padded_pieces=budget))
    assert found <= cost(one_length_a_batch)
    if len({n // LANES for n in n_pieces}) == 1 and len(n_pieces) * max(n_pieces) <= budget:
        assert found <= cost([range(len(n_pieces))])


@given(n_pieces=lengths, budget=st.integers(1, 4_096))
def test_no_row_is_padded_into_the_next_vector(n_pieces: list[int], budget: int) -> None:
    for batch in plan_batches(n_pieces, max_padded_pieces=budget):
        longest = max(n_pieces[i] for i in batch)
        assert {n_pieces[i] // LANES for i in batch} == {longest // LANES}


least_sizes = st.builds(
    BatchSize,
    n_rows=st.integers(1, 300),
    n_pieces=st.integers(1, MAX_PIECES),
    n_words=st.integers(0, 3_000),
    n_grid=st.integers(1, 40),
)


@given(asked=st.lists(least_sizes, min_size=1, max_size=60))
def test_a_size_holds_what_was_asked_and_changes_no_output(asked: list[BatchSize]) -> None:
    sizes = Sizes(MAX_PIECES)
    for one in asked:
        least = replace(one, n_words=min(one.n_words, one.n_rows * one.n_grid))
        size = sizes.holding(least)
        for field in fields(BatchSize):
            assert getattr(size, field.name) >= getattr(least, field.name)
        assert size.n_pieces // LANES == least.n_pieces // LANES
        assert size.n_pieces <= MAX_PIECES
        if least.n_rows * least.n_pieces > FEW_PIECES:
            assert size.n_rows * size.n_pieces <= MAX_GROWTH * least.n_rows * least.n_pieces
        assert sizes.holding(least) == size, "the same rows have the same size again"


def test_large_batches_of_a_corpus_come_to_few_sizes() -> None:
    draw = random.Random(5)
    sizes = Sizes(512)
    found = []
    for _ in range(60):
        lengths = [max(3, min(120, int(draw.gauss(26, 12)))) for _ in range(4_096)]
        for batch in plan_batches(lengths, max_padded_pieces=2_048):
            longest = max(lengths[i] for i in batch)
            n_words = sum(lengths[i] - 4 for i in batch)
            least = BatchSize(
                n_rows=len(batch), n_pieces=longest, n_words=max(0, n_words), n_grid=longest
            )
            found.append((least, sizes.holding(least)))
    recent = found[-1_000:-100]
    new_without = sum(least not in [one for one, _ in recent] for least, _ in found[-100:])
    new = sum(size not in [one for _, one in recent] for _, size in found[-100:])
    assert new < 0.6 * new_without


def test_small_batches_have_few_shapes(toy_bundle: Path) -> None:
    piecer = load_bundle(toy_bundle).piecer()
    draw = random.Random(4)
    sizes = Sizes(piecer.max_pieces)
    shapes = set()
    for _ in range(300):
        n_rows = draw.randint(1, FEW_PIECES // 40)
        longest = draw.randint(1, 40)
        records = [toy_record(draw, n_words=draw.randint(1, longest)) for _ in range(n_rows)]
        rows = [row for windows in piecer(records) for row in windows]
        batch = make_batch(rows, pad_id=piecer.pad_id, sizes=sizes)
        assert batch.mask.any(axis=1).all(), "attention to nothing is no number"
        assert len(batch.n_words) == n_rows
        plain = collate(rows, pad_id=piecer.pad_id)
        found = batch.piece_ids.ravel()[batch.word_at[: plain.n_words.sum()]]
        assert (found == plain.piece_ids.ravel()[plain.word_at]).all()
        assert len(batch.piece_ids) <= 1.5 * n_rows
        assert batch.piece_ids.shape[1] // LANES == plain.piece_ids.shape[1] // LANES
        assert batch.piece_ids.shape[1] <= piecer.max_pieces
        shapes.add((batch.piece_ids.shape, batch.word_grid.shape, batch.word_at.shape))
    assert len(shapes) < 100


@pytest.fixture(scope="module")
def reference(toy_bundle: Path) -> tuple[list[Record], list[dict[str, object]]]:
    records = [
        *toy_records(60, seed=1),
        Record(words=()),
        toy_record(random.Random(2), n_words=150),
    ]
    annotator = load(toy_bundle)
    return records, [dict(annotator.annotate([record])[0].labels) for record in records]


@SLOW
@given(
    read_ahead=st.integers(1, 80),
    budget=st.integers(1, 4_096),
    n_workers=st.integers(1, 2),
    order=st.randoms(use_true_random=False),
)
def test_labels_are_the_same_in_any_plan(
    toy_bundle: Path,
    reference: tuple[list[Record], list[dict[str, object]]],
    read_ahead: int,
    budget: int,
    n_workers: int,
    order: random.Random,
) -> None:
    records, alone = reference
    positions = list(range(len(records)))
    order.shuffle(positions)
    config = AnnotateConfig(
        read_ahead=read_ahead, max_padded_pieces=budget, n_workers=n_workers, n_threads=1
    )
    annotated = Annotator(load_bundle(toy_bundle), config).annotate([records[i] for i in positions])
    assert [a.record for a in annotated] == [records[i] for i in positions]
    # to the last bit: `length` is a number that no threshold rounds
    assert [a.labels for a in annotated] == [alone[i] for i in positions]


def test_a_text_has_the_same_vector_in_any_company(
    toy_bundle: Path, reference: tuple[list[Record], list[dict[str, object]]]
) -> None:
    records, _ = reference
    annotator = load(toy_bundle)
    together = annotator.vectors(records)
    alone = np.concatenate([annotator.vectors([record]) for record in records])
    assert np.array_equal(together, alone)
    assert np.linalg.norm(together, axis=1) == pytest.approx(1)  # of several windows too
    assert annotator.vectors([]).shape == (0, annotator.bundle.vector_size)
    assert len(np.unique(together.round(6), axis=0)) > len(records) / 2


def test_a_bundle_of_labels_alone_gives_no_vectors(toy_bundle: Path) -> None:
    bundle = replace(load_bundle(toy_bundle), vector_size=None)
    with pytest.raises(BundleError, match="labels, not vectors"):
        Annotator(bundle).vectors([Record(words=("a",))])
    with pytest.raises(BundleError, match="vectors of 32 numbers, the manifest says 7"):
        Annotator(replace(bundle, vector_size=7)).vectors([Record(words=("a",))])


def test_every_record_has_a_label_for_every_word(toy_bundle: Path) -> None:
    annotator = load(toy_bundle)
    for annotated in annotator.annotate([*toy_records(30), Record(words=())]):
        for task in ("upos", "lemma", "dep", "ner"):
            labels = annotated.labels[task]
            assert isinstance(labels, tuple)
            assert len(labels) == len(annotated.record.words)


def test_a_long_record_is_read_in_windows_and_counted(toy_bundle: Path) -> None:
    annotator = load(toy_bundle)
    (annotated,) = annotator.annotate([toy_record(random.Random(0), n_words=5_000)])
    assert len(annotated.labels["upos"]) == 5_000  # type: ignore[arg-type]
    assert annotator.tally.n_windows_cut == 1


def test_probabilities_lie_between_none_and_all(toy_bundle: Path) -> None:
    for annotated in load(toy_bundle).annotate(toy_records(10), probabilities=True):
        assert annotated.probabilities is not None
        for task in ("upos", "dep", "ner", "lemma"):
            chances = np.array(annotated.probabilities[task])
            assert ((chances > 0) & (chances <= 1)).all()


def test_a_stream_is_read_no_further_than_two_windows_ahead(toy_bundle: Path) -> None:
    n_read = 0

    def records() -> Iterator[Record]:
        nonlocal n_read
        for record in toy_records(100):
            n_read += 1
            yield record

    annotator = Annotator(load_bundle(toy_bundle), AnnotateConfig(read_ahead=5))
    next(iter(annotator.stream(records())))
    assert n_read <= 20


def test_a_failing_engine_names_the_records_and_does_not_hang(
    toy_bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    annotator = load(toy_bundle)

    def broken(_batch: object) -> None:
        raise RuntimeError("out of order")

    monkeypatch.setattr(annotator.engine, "run", broken)
    records = [Record(words=("a",), where="x.txt:1"), Record(words=("a",), where="x.txt:2")]
    with pytest.raises(StageError, match=r"between x.txt:1 and x.txt:2.*out of order"):
        annotator.annotate(records)


def test_a_failing_reader_is_heard(toy_bundle: Path) -> None:
    def records() -> Iterator[Record]:
        yield Record(words=("a",))
        raise ValueError("bad line")

    with pytest.raises(ValueError, match="bad line"):
        list(load(toy_bundle).stream(records()))


def test_pairs_beside_single_texts_get_the_labels_of_texts_alone(toy_bundle: Path) -> None:
    annotator = load(toy_bundle)
    single = Record(words=("the", "cat"))
    pair = Record(words=("the", "cat"), pair=("a", "dog", "sees"))
    for records in ([pair], [single, pair, single]):
        for record, annotated in zip(
            records, annotator.annotate(records, probabilities=True), strict=True
        ):
            names = {"mood", "topics", "length"}
            wanted = names if record.pair else {t.name for t in annotator.bundle.tasks}
            assert set(annotated.labels) == wanted
            assert annotated.probabilities is not None
            assert set(annotated.probabilities) == wanted
    alone, beside = annotator.annotate([pair]), annotator.annotate([single, pair])
    assert alone[0].labels["mood"] == beside[1].labels["mood"]
