"""Settings of pretraining: every key of its recipe, its type, its default and why.

In:  a TOML file.
Out: frozen values; mistakes are told as those of any other recipe.
"""

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from limbeck.config import Name, Positive, Rate, Share, Strict, read_settings
from limbeck.train.architectures import Sharing

DocumentStyle = Literal["lines", "blank-lines"]
OrderTask = Literal["sop", "nsp", "none"]
MaskUnit = Literal["words", "pieces"]
OptimizerName = Literal["adamw", "lamb"]
Weight = Annotated[float, Field(ge=0)]
Dropout = Annotated[float, Field(ge=0, lt=1)]


class TextConfig(Strict):
    """Raw text. Files may be .gz or .zst; `<br />` ends a paragraph."""

    files: Annotated[list[str], Field(min_length=1)]
    documents: DocumentStyle = "lines"  # one a line; or lines up to a blank one
    limit: Positive | None = None  # first documents
    held_out: Rate = 0.01  # share of the documents that only the probes read


class VocabularyConfig(Strict):
    """A vocabulary to learn from the text, or a tokenizer.json to take."""

    file: str | None = None
    kind: Literal["wordpiece", "unigram"] = "wordpiece"  # BERT's; ALBERT's and XLNet's
    size: Annotated[int, Field(ge=64)] = 30_000
    lowercase: bool = True  # and without accents, as the uncased checkpoints

    @model_validator(mode="after")
    def _is_learnt_or_taken(self) -> Self:
        if self.file is not None:
            for key in sorted(self.model_fields_set - {"file"}):
                raise ValueError(f"{key!r} says how to learn a vocabulary, and `file` gives one")
        return self


class ModelConfig(Strict):
    """A named encoder, and what of it is to be other than in its paper."""

    architecture: str
    layers: Positive | None = None
    width: Positive | None = None
    heads: Positive | None = None  # None: as many as fit, of the paper's size
    embedding: Positive | None = None  # ALBERT: size of the factorised piece vectors
    sharing: Sharing | None = None  # ALBERT
    groups: Positive = 1  # ALBERT
    # ALBERT's authors found none to be best; a short run never sees its text often enough to need
    # it. The model that is saved keeps its family's own for fine-tuning.
    dropout: Dropout = 0.0


class SegmentsConfig(Strict):
    """Rows: one segment, or two with a question about their order."""

    length: Annotated[int, Field(ge=16, le=512)] = 128  # pieces of a row, special ones included
    short: Share = 0.1  # of the rows: a length drawn from 2 upwards
    order: OrderTask = "sop"


class MasksConfig(Strict):
    """What is to be predicted."""

    unit: MaskUnit = "words"  # whole words, or single pieces
    longest: Annotated[int, Field(ge=1, le=8)] = 3  # words in a row, n with p proportional to 1/n
    share: Rate = 0.15  # of the pieces

    @model_validator(mode="after")
    def _counts_words(self) -> Self:
        if self.unit == "pieces" and "longest" in self.model_fields_set:
            raise ValueError("'longest' counts words, and unit = 'pieces' has none")
        return self


class DistilConfig(Strict):
    """DistilBERT's way: a student of every other layer. Weights are those of its authors' code."""

    teacher: str  # a checkpoint with its head for masked pieces
    layers: Positive | None = None  # None: half of the teacher's
    hard: Weight = 2.0  # weight of the masked pieces
    soft: Weight = 5.0  # weight of the teacher's probabilities for them
    states: Weight = 1.0  # weight of the cosine between last hidden states
    temperature: Annotated[float, Field(gt=0)] = 2.0
    dropout: Dropout = 0.1  # it starts from trained layers, so it can overfit


class TrainingConfig(Strict):
    """How long and how fast."""

    steps: Positive | None = None
    minutes: Annotated[float, Field(gt=0)] | None = None  # of training alone, probes not counted
    optimizer: OptimizerName = "adamw"
    rate: Rate | None = None  # None: 5e-4 for AdamW, 2e-3 for LAMB (ALBERT's was 1.76e-3)
    warmup: Share = 0.06  # share of the whole, then down to nothing, both in a line
    weight_decay: Weight = 0.01
    max_norm: Annotated[float, Field(gt=0)] = 1.0
    max_padded_pieces: Positive = 2_048  # of a batch
    accumulate: Positive = 1  # batches that make one step
    probes: Positive = 20  # looks at the held-out text, evenly spread

    @model_validator(mode="after")
    def _has_one_end(self) -> Self:
        if (self.steps is None) == (self.minutes is None):
            raise ValueError("give either `steps` or `minutes`")
        return self

    @property
    def peak_rate(self) -> float:
        if self.rate is not None:
            return self.rate
        return {"adamw": 5e-4, "lamb": 2e-3}[self.optimizer]


class PretrainRecipe(Strict):
    """From raw text to an encoder."""

    name: Name
    seed: int = 1
    text: TextConfig
    vocabulary: VocabularyConfig | None = None  # None: learnt; [distil]: the teacher's
    model: ModelConfig | None = None
    distil: DistilConfig | None = None
    segments: SegmentsConfig = SegmentsConfig()
    masks: MasksConfig = MasksConfig()
    training: TrainingConfig
    precision: Literal["auto", "fp32", "bf16"] = "auto"
    device: str = "auto"

    @model_validator(mode="after")
    def _has_one_start(self) -> Self:
        if (self.model is None) == (self.distil is None):
            raise ValueError("give either [model] or [distil]")
        if self.distil is not None:
            if self.vocabulary is not None:
                raise ValueError("[distil]: the student has its teacher's vocabulary")
            if self.segments.order != "none":
                raise ValueError('[distil] has no sentence order: [segments] order = "none"')
        return self

    @property
    def learnt_vocabulary(self) -> VocabularyConfig:
        return self.vocabulary or VocabularyConfig()


def read_pretrain_recipe(path: Path) -> PretrainRecipe:
    """Read and check a recipe."""
    return read_settings(path, PretrainRecipe)
