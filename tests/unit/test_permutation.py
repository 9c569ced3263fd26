"""XLNet's order: nothing sees what comes after it, least of all itself."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from backbones import tiny_model, write_tokenizer

from limbeck.pretrain.batches import Batch, BatchMaker
from limbeck.pretrain.config import MasksConfig
from limbeck.pretrain.network import PretrainNetwork
from limbeck.pretrain.permutation import permuted
from limbeck.pretrain.segments import Rows
from limbeck.pretrain.text import Text
from limbeck.pretrain.vocabulary import read_alphabet
from limbeck.tasks.base import MISSING


def make_batch(folder: Path) -> Batch:
    write_tokenizer(folder)
    alphabet = read_alphabet(folder / "tokenizer.json", masks=False)
    pieces = np.random.default_rng(3).choice(alphabet.ordinary, size=60).astype(np.uint16)
    text = Text(pieces=pieces, sentences=np.array([0, 60]), documents=np.array([0, 1]))
    rows = Rows(
        spans=np.array([[0, 30, 30, 30], [30, 52, 52, 52]]), orders=np.array([MISSING, MISSING])
    )
    masks = MasksConfig(share=0.3)
    maker = BatchMaker(text, alphabet, masks, max_padded_pieces=128, seed=1, hides=False)
    return maker.make(rows, [0, 1], epoch=0)


def test_what_may_be_seen_follows_the_order(tmp_path: Path) -> None:
    batch = make_batch(tmp_path)
    order = permuted(batch)
    n_rows, n_pieces = batch.piece_ids.shape
    slots = set(batch.slots[batch.labels != MISSING].tolist())
    for row in range(n_rows):
        for i in range(n_pieces):
            for j in range(n_pieces):
                later = row * n_pieces + j in slots and (
                    row * n_pieces + i not in slots or batch.ranks[row, j] >= batch.ranks[row, i]
                )
                assert order.unseen[row, i, j] == float(later)
    flat = order.targets.reshape(-1, n_pieces)
    for slot, at, label in zip(batch.slots, order.state_at, batch.labels, strict=True):
        if label == MISSING:
            continue
        row, position = divmod(int(slot), n_pieces)
        assert at // order.targets.shape[1] == row
        assert flat[at].argmax() == position
        assert flat[at].sum() == 1
        assert batch.piece_ids[row, position] == label  # nothing is hidden in the row itself


def test_a_prediction_depends_on_what_comes_before_it_and_on_nothing_after(tmp_path: Path) -> None:
    batch = make_batch(tmp_path)
    network = PretrainNetwork(tiny_model("xlnet"), has_order=False).eval()
    n_pieces = batch.piece_ids.shape[1]
    real = np.flatnonzero((batch.labels != MISSING) & (batch.slots < n_pieces))  # of the first row
    by_rank = sorted(real.tolist(), key=lambda i: float(batch.ranks[0, batch.slots[i]]))
    middle = by_rank[len(by_rank) // 2]
    ids = batch.piece_ids.copy()
    ids[0, batch.slots[middle]] = 7 if ids[0, batch.slots[middle]] != 7 else 8
    with torch.no_grad():
        before = network(batch).pieces
        after = network(replace(batch, piece_ids=ids)).pieces
    changed = (before - after).abs().amax(dim=-1) > 1e-6
    for place, i in enumerate(by_rank):
        assert bool(changed[i]) == (place > len(by_rank) // 2), place
