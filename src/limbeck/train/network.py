"""The network: one backbone, a learned mix of its layers for each task, and the tasks' heads.

In:  a batch as tensors.
Out: named logits: "<task>" and, for dep, "<task>.arcs". The exported graph has the same names.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from limbeck.data.pieces import Batch
from limbeck.data.shape import SHAPE_SIZES
from limbeck.tasks.base import WORD_KINDS, TaskKind
from limbeck.train.backbones import Backbone
from limbeck.train.heads import ParseHead, make_head

SHAPE_WIDTH = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadPlan:
    """What the network must know of a task."""

    name: str
    kind: TaskKind
    n_outputs: int

    @property
    def is_word_task(self) -> bool:
        return self.kind in WORD_KINDS


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorBatch:
    """A `Batch` on a device; see there for the shapes."""

    piece_ids: Tensor
    mask: Tensor
    type_ids: Tensor
    word_at: Tensor
    shapes: Tensor
    word_grid: Tensor


def to_tensors(batch: Batch, device: torch.device) -> TensorBatch:
    """Copy a batch to a device."""
    return TensorBatch(
        piece_ids=torch.from_numpy(batch.piece_ids).to(device),
        mask=torch.from_numpy(batch.mask).to(device),
        type_ids=torch.from_numpy(batch.type_ids).to(device),
        word_at=torch.from_numpy(batch.word_at).to(device),
        shapes=torch.from_numpy(batch.shapes).to(device),
        word_grid=torch.from_numpy(batch.word_grid).to(device),
    )


class Network(nn.Module):
    """All tasks in one pass."""

    def __init__(self, backbone: Backbone, plans: Sequence[HeadPlan], *, dropout: float) -> None:
        super().__init__()
        self.backbone = backbone
        self.plans = tuple(plans)
        self.word_plans = tuple(p for p in plans if p.is_word_task)
        self.text_plans = tuple(p for p in plans if not p.is_word_task)
        # rows of `mix`; each kind its own product, or quantisers see one weight read in two ways
        self._words = [i for i, p in enumerate(plans) if p.is_word_task]
        self._texts = [i for i, p in enumerate(plans) if not p.is_word_task]
        n_states = backbone.n_layers + 1
        # all layers weigh the same at first, the last a little more: it was trained last
        start = torch.zeros(len(self.plans), n_states)
        start[:, -1] = 1.0
        self.mix = nn.Parameter(start)
        width = backbone.hidden_size
        if self.word_plans:
            self.shape_tables = nn.ModuleList(nn.Embedding(n, SHAPE_WIDTH) for n in SHAPE_SIZES)
        self.heads = nn.ModuleList(
            make_head(
                p.kind,
                width + SHAPE_WIDTH if p.is_word_task else width,
                p.n_outputs,
                dropout=dropout,
            )
            for p in self.plans
        )

    def forward(
        self, batch: TensorBatch, heads: Mapping[str, Tensor] | None = None
    ) -> dict[str, Tensor]:
        """Score a batch; `heads` gives (n_words,) heads for relations of dep tasks, if known."""
        return self.score(self.states(batch), batch, heads)

    def states(self, batch: TensorBatch) -> list[Tensor]:
        """Hidden states of all layers, (n_rows, n_pieces, hidden_size) each."""
        return self.backbone(batch.piece_ids, batch.mask, batch.type_ids)  # type: ignore[no-any-return]

    def score(
        self, states: Sequence[Tensor], batch: TensorBatch, heads: Mapping[str, Tensor] | None
    ) -> dict[str, Tensor]:
        logits: dict[str, Tensor] = {}
        weights = self.mix.softmax(dim=-1)
        vectors: dict[str, Tensor] = {}
        if self.word_plans:
            # first pieces are gathered before layers are mixed: fewer rows to mix
            gathered = [state.flatten(0, 1)[batch.word_at] for state in states]
            shapes = sum(table(batch.shapes[:, i]) for i, table in enumerate(self.shape_tables))
            for plan, mixed in zip(
                self.word_plans, _mixed(weights[self._words], gathered), strict=True
            ):
                vectors[plan.name] = torch.cat([mixed, shapes.to(mixed.dtype)], dim=-1)
        if self.text_plans:
            means = [_mean(state, batch.mask) for state in states]
            mixes = _mixed(weights[self._texts], means)
            vectors |= {p.name: mixed for p, mixed in zip(self.text_plans, mixes, strict=True)}
        for plan, head in zip(self.plans, self.heads, strict=True):
            if isinstance(head, ParseHead):
                given = None if heads is None else heads.get(plan.name)
                arcs, relations = head(vectors[plan.name], batch.word_grid, given)
                logits[f"{plan.name}.arcs"] = arcs.float()
                logits[plan.name] = relations.float()
            else:
                logits[plan.name] = head(vectors[plan.name]).float()
        return logits


def text_vectors(last: Tensor, mask: Tensor) -> Tensor:
    """Vectors of whole texts: the mean of the last layer's states, of length 1; (n_rows, width).

    As sentence encoders are read (Reimers and Gurevych, 2019).
    """
    return nn.functional.normalize(_mean(last, mask), dim=-1)


def _mixed(weights: Tensor, states: Sequence[Tensor]) -> Tensor:
    """Weigh layers: (n_tasks, n_states) and states (n, width) give (n_tasks, n, width).

    One product with the layers side by side: written as a sum for each task, engines spend a third
    of a small encoder's time here.
    """
    layers = torch.stack(list(states))  # (n_states, n, width)
    mixed = weights.to(layers.dtype) @ layers.flatten(1)
    return mixed.view(len(weights), -1, layers.shape[-1])


def _mean(state: Tensor, mask: Tensor) -> Tensor:
    """Mean vector of the real pieces of each row, (n_rows, width)."""
    weights = mask.to(state.dtype).unsqueeze(-1)
    return (state * weights).sum(dim=1) / weights.sum(dim=1)


def head_plans(kinds: Mapping[str, TaskKind], sizes: Mapping[str, int]) -> tuple[HeadPlan, ...]:
    """Plans in the order of the tasks."""
    return tuple(
        HeadPlan(name=name, kind=kind, n_outputs=sizes[name]) for name, kind in kinds.items()
    )
