"""Static students: a table of piece vectors and a small window, no attention.

In:  piece ids and their mask.
Out: hidden states as any encoder gives them, so that heads, export and bundles stay the same.
The floor of speed that every student with attention must beat. The table starts from a teacher
that reads each piece by itself, turned by its principal components (after model2vec).
"""

from dataclasses import dataclass
from typing import Any

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn
from transformers import AutoConfig, AutoModel, PretrainedConfig, PreTrainedModel
from transformers.modeling_outputs import BaseModelOutput

from limbeck.train.backbones import Backbone

STATIC = "limbeck-static"
ALONE_PIECES = 256  # pieces read at a time, each by itself


class StaticConfig(PretrainedConfig):  # type: ignore[misc]  # transformers is untyped
    """Sizes of a static encoder."""

    model_type = STATIC

    def __init__(
        self,
        vocab_size: int = 100,
        hidden_size: int = 256,
        num_hidden_layers: int = 1,
        window: int = 2,
        hidden_dropout_prob: float = 0.1,
        pad_token_id: int = 0,
        **others: Any,  # transformers hands every config its own bookkeeping this way
    ) -> None:
        super().__init__(pad_token_id=pad_token_id, **others)
        self.vocab_size = vocab_size
        self.hidden_size = hidden_size
        self.num_hidden_layers = num_hidden_layers
        self.window = window
        self.hidden_dropout_prob = hidden_dropout_prob


class WindowLayer(nn.Module):
    """Each piece sees `window` neighbours on either side: a convolution, written as one product
    so that int8 treats it like any other.
    """

    def __init__(self, config: StaticConfig) -> None:
        super().__init__()
        self.window = config.window
        self.mix = nn.Linear((2 * config.window + 1) * config.hidden_size, config.hidden_size)
        self.norm = nn.LayerNorm(config.hidden_size)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """(n_rows, n_pieces, hidden_size) and (n_rows, n_pieces, 1) to the same shape."""
        n_pieces = states.shape[1]
        # beyond the ends of a row, and where there is padding, there is nothing
        wide = nn.functional.pad(states * mask, (0, 0, self.window, self.window))
        seen = torch.cat([wide[:, i : i + n_pieces] for i in range(2 * self.window + 1)], dim=-1)
        return self.norm(states + self.dropout(nn.functional.gelu(self.mix(seen))))  # type: ignore[no-any-return]


class StaticModel(PreTrainedModel):  # type: ignore[misc]  # transformers is untyped
    """An encoder as transformers knows them; loads and saves as all others do."""

    config_class = StaticConfig
    base_model_prefix = "static"
    _no_split_modules = ("WindowLayer",)
    _supports_sdpa = True  # it has no attention, so every kind of it is fine
    _supports_flash_attn = True

    def __init__(self, config: StaticConfig) -> None:
        super().__init__(config)
        self.word_embeddings = nn.Embedding(config.vocab_size, config.hidden_size)
        self.norm = nn.LayerNorm(config.hidden_size)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.layers = nn.ModuleList(WindowLayer(config) for _ in range(config.num_hidden_layers))
        self.post_init()

    def get_input_embeddings(self) -> nn.Module:
        return self.word_embeddings

    def set_input_embeddings(self, value: nn.Module) -> None:
        self.word_embeddings = value  # type: ignore[assignment]

    def _init_weights(self, module: nn.Module) -> None:
        if isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, std=0.02)
            nn.init.zeros_(module.bias)
        elif isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight)

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, output_hidden_states: bool = True
    ) -> BaseModelOutput:
        mask = attention_mask.unsqueeze(-1).to(self.word_embeddings.weight.dtype)
        states = [self.dropout(self.norm(self.word_embeddings(input_ids)))]
        for layer in self.layers:
            states.append(layer(states[-1], mask))
        return BaseModelOutput(
            last_hidden_state=states[-1],
            hidden_states=tuple(states) if output_hidden_states else None,
        )


AutoConfig.register(STATIC, StaticConfig)
AutoModel.register(StaticConfig, StaticModel)


@dataclass(frozen=True, slots=True, kw_only=True)
class StaticSize:
    """What a static student is made of."""

    width: int
    n_layers: int = 1
    window: int = 2


def make_static(teacher: Backbone, tokenizer: Tokenizer, size: StaticSize) -> Backbone:
    """Start a static student from what `teacher` makes of every piece by itself."""
    table = principal(piece_table(teacher, tokenizer), size.width)
    model = StaticModel(
        StaticConfig(
            vocab_size=len(table),
            hidden_size=size.width,
            num_hidden_layers=size.n_layers,
            window=size.window,
            pad_token_id=int(teacher.config.pad_token_id or 0),
        )
    )
    with torch.no_grad():
        model.word_embeddings.weight.copy_(table)
    return Backbone(model)


def piece_table(teacher: Backbone, tokenizer: Tokenizer) -> Tensor:
    """Vector of each piece alone between the special pieces, (n_pieces, hidden_size)."""
    empty = tokenizer.encode("", add_special_tokens=True).ids
    before, after = empty[: len(empty) // 2], empty[len(empty) // 2 :]
    n_pieces = tokenizer.get_vocab_size()
    vectors = []
    teacher.eval()
    with torch.inference_mode():
        for begin in range(0, n_pieces, ALONE_PIECES):
            ids = torch.tensor(
                [[*before, i, *after] for i in range(begin, min(n_pieces, begin + ALONE_PIECES))]
            )
            last = teacher(ids, torch.ones_like(ids), torch.zeros_like(ids))[-1]
            vectors.append(last[:, len(before)])
    return torch.cat(vectors).float()


def principal(table: Tensor, width: int) -> Tensor:
    """The first `width` principal components, at unit variance over the table as a whole."""
    centred = table - table.mean(dim=0)
    _, _, directions = torch.linalg.svd(centred, full_matrices=False)
    turned = centred @ directions[:width].T
    if turned.shape[1] < width:  # a teacher narrower than the student
        turned = nn.functional.pad(turned, (0, width - turned.shape[1]))
    scaled: Tensor = turned / turned.std().clamp_min(1e-6)
    return scaled
