"""Starts: the body that a student begins with, made from a bigger one.

In:  a student's settings, a pretrained or fine-tuned encoder, the text that it will learn from.
Out: `Pretrained`: fewer layers, narrower, shared or static, with a vocabulary trimmed if asked.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import torch
from torch import nn

from limbeck.config import StudentModel
from limbeck.data.pieces import Batch, collate
from limbeck.data.records import Record
from limbeck.data.trimming import trim_vocabulary
from limbeck.runtime.batching import plan_batches
from limbeck.train.backbones import Backbone, Pretrained, keep_layers, load_pretrained
from limbeck.train.fits import student_layers
from limbeck.train.sharing import share_layer
from limbeck.train.slicing import slice_width
from limbeck.train.static import StaticSize, make_static
from limbeck.train.trained import load_trained

N_WEIGHED_RECORDS = 256  # what parts matter shows on a few thousand pieces
WEIGHED_PIECES = 2_048


def student_start(config: StudentModel, model: str | Path, text: Sequence[Record]) -> Pretrained:
    """Load the body that a student starts from and make it as small as its settings say."""
    start = _loaded(model)
    if config.trim_vocabulary:
        start = trimmed(start, text)
    match config.body:
        case "cut":
            backbone = cut(start, config, text)
        case "shared":
            backbone = share_layer(
                start.backbone,
                layer=start.backbone.n_layers // 2,
                repeats=config.depth or start.backbone.n_layers,
                embedding=config.embedding,
            )
        case "static":
            size = StaticSize(
                width=config.width or 256,
                n_layers=config.depth or 1,
                window=config.window,
            )
            backbone = make_static(start.backbone, start.tokenizer, size)
    return Pretrained(backbone=backbone, tokenizer=start.tokenizer)


def _loaded(model: str | Path) -> Pretrained:
    if isinstance(model, Path):
        trained = load_trained(model)
        return Pretrained(backbone=trained.network.backbone, tokenizer=trained.tokenizer)
    return load_pretrained(model)


def cut(start: Pretrained, config: StudentModel, text: Sequence[Record]) -> Backbone:
    """Fewer layers, then fewer dimensions: what matters is weighed in the layers that stay."""
    backbone = start.backbone
    if config.layers is not None:
        keep_layers(backbone, student_layers(config, backbone.n_layers))
    if config.width is None and config.ffn is None:
        return backbone
    return slice_width(
        backbone,
        width=config.width or backbone.hidden_size,
        ffn=config.ffn,
        batches=list(_batches(Pretrained(backbone=backbone, tokenizer=start.tokenizer), text)),
    )


def _batches(start: Pretrained, text: Sequence[Record]) -> Iterator[Batch]:
    """Some of the text, spread over all of it."""
    step = max(1, len(text) // N_WEIGHED_RECORDS)
    piecer = start.piecer()
    rows = [row for record in piecer(text[::step][:N_WEIGHED_RECORDS]) for row in record]
    for positions in plan_batches([len(row.ids) for row in rows], max_padded_pieces=WEIGHED_PIECES):
        yield collate([rows[i] for i in positions], pad_id=piecer.pad_id)


def trimmed(start: Pretrained, text: Sequence[Record]) -> Pretrained:
    """Keep the pieces that the text uses, and the vectors of those."""
    words = (word for record in text for part in (record.words, record.pair) for word in part)
    small = trim_vocabulary(start.tokenizer, words)
    model = start.backbone.model
    kept = torch.tensor(small.kept)
    old = model.get_input_embeddings()
    new = nn.Embedding(len(kept), old.weight.shape[1])
    with torch.no_grad():
        # a vocabulary may name more pieces than the model has vectors for, never the reverse here
        new.weight.copy_(old.weight[kept])
    if getattr(old, "padding_idx", None) is not None:
        new.padding_idx = small.kept.index(old.padding_idx)
    model.set_input_embeddings(new)
    model.config.vocab_size = len(kept)
    for name in ("pad_token_id", "bos_token_id", "eos_token_id", "cls_token_id", "sep_token_id"):
        i = getattr(model.config, name, None)
        if isinstance(i, int) and i in small.kept:
            setattr(model.config, name, small.kept.index(i))
    return Pretrained(backbone=start.backbone, tokenizer=small.tokenizer)
