"""The wire: bodies of requests, checked, and bodies of answers, described.

In:  JSON.
Out: frozen models; what they forbid, the OpenAPI document forbids too.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag


def _whole(value: object) -> object:
    """JSON does not tell 1.0 from 1."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Split = Literal["space", "words", "sentences"]
Word = Annotated[str, Field(min_length=1)]
Words = Annotated[list[Word], Field(description="a sentence that is already split into words")]


class _Body(BaseModel):
    """Unknown keys are refused: a misspelt option must not pass in silence."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class _Asked(_Body):
    model: Annotated[str | None, Field(description="a bundle's name; default: the first")] = None


class _Annotate(_Asked):
    tasks: Annotated[list[str] | None, Field(description="default: all of the bundle")] = None
    probabilities: Annotated[bool, Field(description="add them to each result")] = False


_SPLIT = Field(
    description="space: words are split at white space, as `limbeck annotate` does. "
    "words: by rules for English, punctuation stands alone. "
    "sentences: by the same rules, one result a sentence."
)


class AnnotateText(_Annotate):
    """One text."""

    text: str
    pair: Annotated[str | None, Field(description="the second text, for tasks on pairs")] = None
    split: Annotated[Split, _SPLIT] = "space"


class AnnotateTexts(_Annotate):
    """Many texts."""

    texts: list[str]
    split: Annotated[Split, _SPLIT] = "space"


class AnnotateWords(_Annotate):
    """Sentences that are already split into words."""

    words: list[Words]


def _form(value: object) -> str | None:
    """Which of the forms a body has, so that a mistake is told of that form alone."""
    keys = value if isinstance(value, dict) else {}
    return next((form for form in ("text", "texts", "words") if form in keys), None)


AnnotateBody = Annotated[
    Annotated[AnnotateText, Tag("text")]
    | Annotated[AnnotateTexts, Tag("texts")]
    | Annotated[AnnotateWords, Tag("words")],
    Discriminator(
        _form, custom_error_type="form", custom_error_message="one of text, texts and words is due"
    ),
]


class ClassifyText(_Asked):
    """One text, perhaps with a second."""

    text: str
    pair: str | None = None


class ClassifyTexts(_Asked):
    """Many texts."""

    texts: list[str]


ClassifyBody = Annotated[
    Annotated[ClassifyText, Tag("text")] | Annotated[ClassifyTexts, Tag("texts")],
    Discriminator(
        _form, custom_error_type="form", custom_error_message="one of text and texts is due"
    ),
]


class EmbeddingsBody(_Body):
    """As OpenAI's, but for pieces given as numbers; `user` is read and left alone."""

    model: str
    input: str | list[str]
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: Annotated[int, Field(ge=1), BeforeValidator(_whole)] | None = None
    user: str | None = None


class InferInput(_Body):
    """A tensor of texts: one string each."""

    name: Literal["text"]
    shape: Annotated[
        list[Annotated[int, Field(ge=0), BeforeValidator(_whole)]],
        Field(min_length=1, max_length=1),
    ]
    datatype: Literal["BYTES"]
    data: list[str]
    parameters: dict[str, Any] | None = None


class InferOutput(_Body):
    """An output that is asked for: a task."""

    name: str
    parameters: dict[str, Any] | None = None


class InferBody(_Body):
    """As the Open Inference Protocol, version 2, has it."""

    inputs: Annotated[list[InferInput], Field(min_length=1, max_length=1)]
    outputs: list[InferOutput] | None = None
    id: str | None = None
    parameters: dict[str, Any] | None = None


class Problem(BaseModel):
    """Why a request was refused."""

    error: str


class Result(BaseModel):
    """What the bundle says of one text."""

    input: Annotated[int, Field(description="which of the request's texts this belongs to")]
    words: list[str]
    labels: Annotated[
        dict[str, Any],
        Field(description="by task: one label a word ([head, relation] for trees), or the text's"),
    ]
    probabilities: Annotated[
        dict[str, Any] | None,
        Field(description="by task: one number a word; for a text's classes one for every class"),
    ] = None


class Results(BaseModel):
    """All of a request's."""

    model: str
    results: list[Result]


class ClassProbability(BaseModel):
    """A class with its probability."""

    label: str
    probability: float


class Classified(BaseModel):
    """Tasks of one text: all classes, the likeliest first, or a value."""

    input: int
    classes: dict[str, list[ClassProbability]]
    chosen: Annotated[
        dict[str, str | list[str]], Field(description="by task: the label, or all above 0.5")
    ]
    values: Annotated[dict[str, float], Field(description="by task that gives a number")]


class ClassifyResults(BaseModel):
    """All of a request's."""

    model: str
    results: list[Classified]


class Embedding(BaseModel):
    """A vector of length 1, as numbers or as base64 of little-endian float32."""

    object: Literal["embedding"]
    index: int
    embedding: list[float] | str


class Usage(BaseModel):
    """Pieces that were read."""

    prompt_tokens: int
    total_tokens: int


class EmbeddingsResult(BaseModel):
    """As OpenAI's."""

    object: Literal["list"]
    data: list[Embedding]
    model: str
    usage: Usage


class OpenAiError(BaseModel):
    """OpenAI's shape of an error."""

    message: str
    type: str
    param: str | None
    code: str | None


class OpenAiProblem(BaseModel):
    """OpenAI's shape of a refusal."""

    error: OpenAiError


class Tensor(BaseModel):
    """An array of the Open Inference Protocol."""

    name: str
    shape: list[int]
    datatype: str
    data: list[Any]


class Inferred(BaseModel):
    """Answer of an inference."""

    model_name: str
    model_version: str
    id: str | None = None
    outputs: list[Tensor]


class TensorMeta(BaseModel):
    """Describes an array of the Open Inference Protocol."""

    name: str
    shape: list[int]
    datatype: str


class ModelMeta(BaseModel):
    """Describes a model of the Open Inference Protocol."""

    name: str
    versions: list[str]
    platform: str
    inputs: list[TensorMeta]
    outputs: list[TensorMeta]


class ServerMeta(BaseModel):
    """Describes the server of the Open Inference Protocol."""

    name: str
    version: str
    extensions: list[str]


class ServerLive(BaseModel):
    """Whether the process answers."""

    live: bool


class ServerReady(BaseModel):
    """Whether requests are taken."""

    ready: bool


class TaskInfo(BaseModel):
    """One task of a bundle."""

    name: str
    kind: str
    n_labels: int


class ModelInfo(BaseModel):
    """One bundle."""

    name: str
    key: Annotated[str, Field(description="hash of the bundle's manifest")]
    precision: str
    size_mb: float
    max_pieces: int
    engine: str
    n_threads: int
    tasks: list[TaskInfo]
    evidence: Annotated[
        dict[str, Any], Field(description="what was measured when the bundle was made")
    ]


class LimitsInfo(BaseModel):
    """What a request may ask for."""

    body_bytes: int
    texts: int
    pieces: int
    waiting: int
    seconds: float


class Info(BaseModel):
    """The server."""

    version: str
    models: list[ModelInfo]
    limits: LimitsInfo
