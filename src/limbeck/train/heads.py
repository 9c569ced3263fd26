"""Heads: what stands on a backbone, one for each task.

In:  vectors of words (n_words, width) or texts (n_rows, width).
Out: logits; arcs as (n_rows, n_words, n_words + 1) with the root in column 0.
"""

from typing import assert_never

import torch
from torch import Tensor, nn

from limbeck.tasks.base import TaskKind
from limbeck.train.dropout import ByteDropout

WORD_HIDDEN = 256  # dev scores flat between 128 and 512
ARC_SIZE = 256
RELATION_SIZE = 128
NO_ARC = -1e4  # far below any logit, finite in half precision


class LabelHead(nn.Module):
    """One hidden layer, then a logit for each label."""

    def __init__(self, width: int, n_outputs: int, *, hidden: int, dropout: float) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            ByteDropout(dropout),
            nn.Linear(width, hidden),
            nn.GELU(),
            ByteDropout(dropout),
            nn.Linear(hidden, n_outputs),
        )

    def forward(self, vectors: Tensor) -> Tensor:
        logits: Tensor = self.layers(vectors)
        return logits


class ParseHead(nn.Module):
    """Deep biaffine arcs and relations (Dozat and Manning, 2017).

    Relations are scored for one head of each word only: the given one in training, the likeliest
    one otherwise; scoring all pairs would cost n_words times as much.
    """

    def __init__(self, width: int, n_relations: int, *, dropout: float) -> None:
        super().__init__()
        self.dependent = _projection(width, ARC_SIZE + RELATION_SIZE, dropout)
        self.head = _projection(width, ARC_SIZE + RELATION_SIZE, dropout)
        self.root = nn.Parameter(torch.randn(ARC_SIZE + RELATION_SIZE) * 0.1)
        self.arc = nn.Linear(ARC_SIZE, ARC_SIZE)  # the bias scores a word as a head by itself
        self.relation = nn.Linear(RELATION_SIZE, n_relations * RELATION_SIZE)
        self.relation_sum = nn.Linear(2 * RELATION_SIZE, n_relations)
        self.n_relations = n_relations

    def forward(
        self, words: Tensor, word_grid: Tensor, heads: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """Score arcs (n_rows, n_grid, n_grid + 1) and relations (n_words, n_relations).

        `word_grid` (n_rows, n_grid) holds positions in `words`, -1 padding; `heads` (n_words,)
        counts words of the row from 1, or is None for the likeliest. `words` may end in padding
        that is in no row; what is scored for it means nothing, and `heads` may leave it out.
        """
        n_rows, n_grid = word_grid.shape
        present = word_grid >= 0
        dependent = self.dependent(words)  # (n_words, ARC_SIZE + RELATION_SIZE)
        head = self.head(words)
        at = word_grid.clamp(min=0)
        root = self.root.to(head.dtype).expand(n_rows, 1, -1)
        heads_grid = torch.cat([root, head[at]], dim=1)  # (n_rows, n_grid + 1, ...)
        dependents_grid = dependent[at][..., :ARC_SIZE]
        # not scaled by the root of the size, as attention is: that slows learning several times
        arcs = self.arc(dependents_grid) @ heads_grid[..., :ARC_SIZE].transpose(1, 2)
        allowed = torch.cat([torch.ones_like(present[:, :1]), present], dim=1)[:, None, :]
        own = torch.arange(n_grid, device=words.device)
        allowed = allowed & (
            own[None, :, None] + 1 != torch.arange(n_grid + 1, device=words.device)
        )
        arcs = arcs.float().masked_fill(~allowed, NO_ARC)
        picked = arcs.argmax(dim=-1) if heads is None else heads[at]  # (n_rows, n_grid)
        # where the head of each word stands among all rows' heads, brought into the order of words
        rows = torch.arange(n_rows, device=words.device)[:, None]
        place_grid = rows * (n_grid + 1) + picked
        n_words = words.shape[0]
        slots = torch.where(present, word_grid, n_words)  # padding goes to one slot past the end
        place = torch.zeros(n_words + 1, dtype=torch.int64, device=words.device)
        place = place.scatter(0, slots.flatten(), place_grid.flatten())[:n_words]
        chosen = heads_grid[..., ARC_SIZE:].reshape(n_rows * (n_grid + 1), RELATION_SIZE)[place]
        own_part = dependent[:, ARC_SIZE:]
        bilinear = self.relation(own_part).view(-1, self.n_relations, RELATION_SIZE)
        relations = (bilinear @ chosen.unsqueeze(-1)).squeeze(-1)
        return arcs, relations + self.relation_sum(torch.cat([own_part, chosen], dim=-1))


def _projection(width: int, size: int, dropout: float) -> nn.Module:
    return nn.Sequential(
        ByteDropout(dropout), nn.Linear(width, size), nn.GELU(), ByteDropout(dropout)
    )


def make_head(kind: TaskKind, width: int, n_outputs: int, *, dropout: float) -> nn.Module:
    """Build the head of a task."""
    match kind:
        case "tag" | "spans" | "lemma":
            return LabelHead(width, n_outputs, hidden=WORD_HIDDEN, dropout=dropout)
        case "classify" | "classify_many" | "regress":
            return LabelHead(width, n_outputs, hidden=width, dropout=dropout)
        case "dep":
            return ParseHead(width, n_outputs, dropout=dropout)
        case _:
            assert_never(kind)
