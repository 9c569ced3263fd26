"""The network of pretraining: an encoder with its heads.

In:  a batch.
Out: logits of the slots and of the segments' order, and the last states.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from limbeck.errors import ConfigError
from limbeck.pretrain.batches import Batch
from limbeck.pretrain.heads import OrderHead, PieceHead, pooler_of
from limbeck.pretrain.permutation import permuted
from limbeck.train.backbones import Backbone


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """What the network says of a batch."""

    pieces: Tensor  # (n_slots, n_vocabulary)
    orders: Tensor | None  # (n_rows, 2)
    states: Tensor  # last ones: (n_rows, n_pieces, hidden_size); XLNet: those of its targets


class PretrainNetwork(nn.Module):
    """Everything that is trained."""

    def __init__(self, backbone: Backbone, *, has_order: bool) -> None:
        super().__init__()
        self.backbone = backbone
        self.piece_head = PieceHead(backbone)
        if has_order and pooler_of(backbone) is None:
            raise ConfigError(
                f"{backbone.config.model_type} has no part for the order of segments",
                hint='[segments] order = "none"',
            )
        self.order_head = OrderHead(backbone.hidden_size) if has_order else None

    @property
    def table(self) -> Tensor:
        """Vectors of all pieces, (n_vocabulary, embedding)."""
        weight: Tensor = self.backbone.model.get_input_embeddings().weight
        return weight

    def forward(self, batch: Batch) -> Scores:
        if self.backbone.config.model_type == "xlnet":
            return self._permuted(batch)
        device = self.table.device
        states: Tensor = self.backbone(
            _to(batch.piece_ids, device), _to(batch.mask, device), _to(batch.type_ids, device)
        )[-1]
        asked = states.flatten(0, 1)[_to(batch.slots, device)]
        orders = None
        pooler = pooler_of(self.backbone)
        if self.order_head is not None and pooler is not None:
            rows = torch.arange(len(states), device=device)
            orders = self.order_head(states[rows, _to(batch.cls_at, device)], pooler).float()
        return Scores(
            pieces=self.piece_head(asked, self.table).float(), orders=orders, states=states
        )

    def _permuted(self, batch: Batch) -> Scores:
        device = self.table.device
        order = permuted(batch)
        states: Tensor = self.backbone.model(
            input_ids=_to(batch.piece_ids, device),
            attention_mask=_to(batch.mask, device).float(),
            token_type_ids=_to(batch.type_ids, device),
            perm_mask=_to(order.unseen, device),
            target_mapping=_to(order.targets, device),
        ).last_hidden_state  # (n_rows, n_targets, hidden_size)
        asked = states.flatten(0, 1)[_to(order.state_at, device)]
        return Scores(pieces=self.piece_head(asked, self.table).float(), orders=None, states=states)


def _to(values: object, device: torch.device) -> Tensor:
    return torch.as_tensor(values).to(device)
