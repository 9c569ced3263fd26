"""Heads of pretraining: pieces that were hidden, and the order of two segments.

In:  states of an encoder.
Out: logits. The table of piece vectors is the encoder's own, of its factorised size in ALBERT.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import PretrainedConfig
from transformers.activations import ACT2FN

from limbeck.train.backbones import Backbone

_EPSILON = 1e-12  # of the norm, in BERT's, ALBERT's and DistilBERT's heads
_SPREAD = 0.02  # of weights that start from nothing, as in the encoders themselves


class Transform(nn.Module):
    """From the encoder's width to that of its piece vectors."""

    def __init__(self, config: PretrainedConfig, *, n_inputs: int, n_outputs: int) -> None:
        super().__init__()
        self.dense = nn.Linear(n_inputs, n_outputs)
        nn.init.normal_(self.dense.weight, std=_SPREAD)
        nn.init.zeros_(self.dense.bias)
        name = getattr(config, "hidden_act", None) or config.activation  # DistilBERT's word for it
        self.activation = ACT2FN[name]
        self.norm = nn.LayerNorm(n_outputs, eps=getattr(config, "layer_norm_eps", _EPSILON))

    def forward(self, states: Tensor) -> Tensor:
        return self.norm(self.activation(self.dense(states)))  # type: ignore[no-any-return]


class PieceHead(nn.Module):
    """Which piece stood there."""

    def __init__(self, backbone: Backbone) -> None:
        super().__init__()
        table = backbone.model.get_input_embeddings().weight
        self.bias = nn.Parameter(torch.zeros(len(table)))
        # XLNet asks its table at once
        self.transform = (
            nn.Identity()
            if backbone.config.model_type == "xlnet"
            else Transform(backbone.config, n_inputs=backbone.hidden_size, n_outputs=table.shape[1])
        )

    def forward(self, states: Tensor, table: Tensor) -> Tensor:
        """(n, hidden_size) and (n_vocabulary, embedding) give (n, n_vocabulary)."""
        return functional.linear(self.transform(states), table, self.bias)


class OrderHead(nn.Module):
    """Are the segments as they were written? Reads the encoder's own pooler, so that it learns."""

    def __init__(self, hidden_size: int) -> None:
        super().__init__()
        self.classifier = nn.Linear(hidden_size, 2)
        nn.init.normal_(self.classifier.weight, std=_SPREAD)
        nn.init.zeros_(self.classifier.bias)

    def forward(self, firsts: Tensor, pooler: nn.Linear) -> Tensor:
        """(n_rows, hidden_size) give (n_rows, 2)."""
        return self.classifier(torch.tanh(pooler(firsts)))  # type: ignore[no-any-return]


def pooler_of(backbone: Backbone) -> nn.Linear | None:
    """The layer that BERT and ALBERT put on a row's first state."""
    pooler = getattr(backbone.model, "pooler", None)
    dense = getattr(pooler, "dense", pooler)
    return dense if isinstance(dense, nn.Linear) else None
