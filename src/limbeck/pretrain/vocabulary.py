"""Vocabularies: learnt from the text or taken from a file, and what masking must know of them.

In:  sentences, or a tokenizer.json.
Out: a tokenizer, and its `Alphabet`: special pieces, pieces that open a word, pieces to draw from.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import (
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

from limbeck.data.vocabulary import Template, Vocabulary, load_tokenizer
from limbeck.errors import ConfigError, InputError
from limbeck.pretrain.config import VocabularyConfig
from limbeck.train.architectures import Family

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_PAD, _UNK, _CLS, _SEP, _MASK = range(len(SPECIAL))
PAD_NAMES = ("[PAD]", "<pad>")
MASK_NAMES = ("[MASK]", "<mask>")
CLS_NAMES = ("[CLS]", "<cls>", "<s>")
CONTINUES = "##"  # WordPiece
OPENS = ("▁", "Ġ")  # Unigram and byte-level vocabularies write the space before a word
XLNET_CLS_TYPE = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Alphabet:
    """The pieces of a vocabulary as numbers."""

    n_pieces: int
    pad_id: int
    mask_id: int
    cls_id: int
    opens_word: NDArray[np.bool_]  # (n_pieces,)
    ordinary: NDArray[np.int64]  # ids of all pieces but special ones
    single: Template
    pair: Template


def learn_vocabulary(
    sentences: Iterable[str], config: VocabularyConfig, *, family: Family
) -> Tokenizer:
    """Learn pieces; special ones stand where the family has them."""
    match config.kind:
        case "wordpiece":
            tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
            tokenizer.normalizer = normalizers.BertNormalizer(lowercase=config.lowercase)
            tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
            tokenizer.decoder = decoders.WordPiece(prefix=CONTINUES)
            trainer: trainers.Trainer = trainers.WordPieceTrainer(
                vocab_size=config.size,
                special_tokens=list(SPECIAL),
                continuing_subword_prefix=CONTINUES,
                show_progress=False,
            )
        case "unigram":
            tokenizer = Tokenizer(models.Unigram())
            steps: list[normalizers.Normalizer] = [normalizers.NFKC()]
            if config.lowercase:
                steps = [normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase()]
            tokenizer.normalizer = normalizers.Sequence(steps)
            tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
            tokenizer.decoder = decoders.Metaspace()
            trainer = trainers.UnigramTrainer(
                vocab_size=config.size,
                special_tokens=list(SPECIAL),
                unk_token="[UNK]",
                show_progress=False,
            )
    tokenizer.train_from_iterator(sentences, trainer)
    tokenizer.add_special_tokens(list(SPECIAL))
    tokenizer.post_processor = _frame(family)
    return tokenizer


def _frame(family: Family) -> processors.TemplateProcessing:
    special = [("[CLS]", _CLS), ("[SEP]", _SEP)]
    if family == "xlnet":
        return processors.TemplateProcessing(
            single=f"$A:0 [SEP]:0 [CLS]:{XLNET_CLS_TYPE}",
            pair=f"$A:0 [SEP]:0 $B:1 [SEP]:1 [CLS]:{XLNET_CLS_TYPE}",
            special_tokens=special,
        )
    return processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=special
    )


def read_alphabet(path: Path, *, masks: bool) -> Alphabet:
    """Look at a tokenizer.json; `masks` says whether a piece that stands for others is needed."""
    tokenizer = load_tokenizer(path)
    # the table has gaps where pieces were added under numbers of their own
    pieces = {i: piece for piece, i in tokenizer.get_vocab(with_added_tokens=True).items()}
    n = max(pieces) + 1
    added = {i for i, piece in tokenizer.get_added_tokens_decoder().items() if piece.special}
    vocabulary = Vocabulary(tokenizer)
    framing = {*vocabulary.pair.before, *vocabulary.pair.between, *vocabulary.pair.after}
    mask_id = _find(tokenizer, MASK_NAMES)
    if mask_id is None:
        if masks:
            raise ConfigError(
                f"{path}: the vocabulary has no {' or '.join(MASK_NAMES)}",
                hint="masked pieces need one; leave [vocabulary] file out to learn a vocabulary",
            )
        mask_id = -1
    pad_id = _find(tokenizer, PAD_NAMES)
    cls_id = _find(tokenizer, CLS_NAMES)
    if pad_id is None or cls_id is None or cls_id not in framing:
        raise ConfigError(f"{path}: the vocabulary lacks a piece for padding or one for the text")
    special = {*added, *framing, mask_id, pad_id}
    ordinary = [i for i in sorted(pieces) if i not in special]
    has_prefix = any(piece.startswith(CONTINUES) for piece in pieces.values())
    opens = np.zeros(n, dtype=np.bool_)
    for i, piece in pieces.items():
        opens[i] = _opens_word(piece, has_prefix=has_prefix)
    return Alphabet(
        n_pieces=n,
        pad_id=pad_id,
        mask_id=mask_id,
        cls_id=cls_id,
        opens_word=opens,
        ordinary=np.array(ordinary, dtype=np.int64),
        single=vocabulary.single,
        pair=vocabulary.pair,
    )


def _opens_word(piece: str, *, has_prefix: bool) -> bool:
    """Punctuation is a word of its own, whatever is written before it."""
    if has_prefix:
        return not piece.startswith(CONTINUES)
    return piece.startswith(OPENS) or not any(letter.isalnum() for letter in piece)


def _find(tokenizer: Tokenizer, names: Iterable[str]) -> int | None:
    return next((i for name in names if (i := tokenizer.token_to_id(name)) is not None), None)


def check_size(tokenizer: Tokenizer, where: str) -> None:
    """Refuse a vocabulary that learnt nothing."""
    if tokenizer.get_vocab_size() <= len(SPECIAL):
        raise InputError(f"{where}: no text to learn a vocabulary from")
