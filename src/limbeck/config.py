"""Settings: every key that a recipe may hold, its type, its default and why.

In:  a TOML file.
Out: frozen values. An unknown key, a wrong type or an impossible value is refused, with the
nearest right name; nothing is read from the environment.
"""

import difflib
import json
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationError,
    model_validator,
)

from limbeck.errors import ConfigError
from limbeck.tasks.base import TaskKind

Positive = Annotated[int, Field(gt=0)]
Share = Annotated[float, Field(ge=0, le=1)]
Seed = Annotated[int, Field(ge=0)]
Weight = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Temperature = Annotated[float, Field(gt=0, le=100)]
Layers = Annotated[list[Annotated[int, Field(ge=0)]], Field(min_length=1)]
Rate = Annotated[float, Field(gt=0, lt=1)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*$")]
Format = Literal["conllu", "bio", "jsonl", "csv", "tsv", "parquet", "lines", "hub"]


TEXT_FIELDS = ("text", "pair", "words")  # keys of `columns` that are no tasks


class Strict(BaseModel):
    """Settings that refuse what they do not know."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


S = TypeVar("S", bound=Strict)


class CorpusConfig(Strict):
    """Labelled text and the tasks that it labels."""

    train: str | list[str]
    dev: str | list[str] | None = None
    tasks: Annotated[list[Name], Field(min_length=1)]
    format: Format | None = None  # None: by the file's name, then by its first lines
    columns: dict[str, str | Positive] = {}  # tables: field -> column name, or number from 1
    header: bool | None = None
    strip_prefix: str = ""  # WikiANN writes every word as "en:word"
    limit: Positive | None = None  # first records of train
    dev_limit: Positive | None = None
    repeat: Positive = 1  # times that an epoch reads train: small corpora beside large ones
    dev_share: Share = 0.0  # without a dev file: this share of train, drawn by the seed

    @model_validator(mode="after")
    def _names_columns_of_what_it_reads(self) -> Self:
        for key in self.columns:
            if key not in (known := [*TEXT_FIELDS, *self.tasks]):
                near = difflib.get_close_matches(key, known, n=1)
                hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
                raise ValueError(f"no task or text is called {key!r}; {hint}")
        return self


class UnlabelledConfig(Strict):
    """Text that only the teachers label."""

    files: Annotated[list[str], Field(min_length=1)]
    format: Format | None = None
    columns: dict[str, str | Positive] = {}
    limit: Positive = 20_000  # records, after splitting
    split: Literal["none", "sentences"] = "none"  # sentences: raw text is cut and its words split
    min_words: Positive = 3
    max_words: Positive = 60


class _Training(Strict):
    epochs: Positive = 4
    rate: Rate = 5e-5  # of the backbone
    head_rate: Rate = 2e-3  # of what starts from nothing
    dropout: Share = 0.2
    max_padded_pieces: Positive = 1_024
    patience: Positive = 2
    # frozen piece vectors halve the optimizer's traffic of a small model, at some cost in quality
    freeze: Literal["nothing", "embeddings"] = "nothing"


class TeacherConfig(_Training):
    """A pretrained encoder to fine-tune, once for each seed."""

    model: str
    seeds: Annotated[list[Seed], Field(min_length=1)] = [1]


class StudentModel(_Training):
    """One student: where it starts from and how it learns."""

    name: Name
    model: str  # as a teacher's; or "teacher:NAME", to start from a fine-tuned one
    body: Literal["cut", "shared", "static"] = (
        "cut"  # fewer parts; one layer repeated; no attention
    )
    layers: Positive | Layers | None = None  # how many, or which; None: all (static: 1)
    pick: Literal["first", "last", "spread"] = "spread"  # which, if `layers` is a number
    width: Positive | None = None  # hidden dimensions to keep (static: of the table); None: all
    ffn: Positive | None = None  # intermediate units to keep; None: in proportion to the width
    embedding: Positive = 128  # shared: size of the factorised piece vectors
    window: Positive = 2  # static: neighbours that a piece sees on either side
    trim_vocabulary: bool = False  # keep only the pieces that the recipe's text uses, and letters
    epochs: Positive = 4
    rate: Rate = 1e-4
    hard: Weight = 0.5  # weight of gold labels, where there are any
    soft: Weight = 1.0  # weight of the ensemble's probabilities
    temperature: Temperature = 1.0
    states: Weight = 0.0  # weight of word states; needs [targets] states

    @property
    def depth(self) -> int | None:
        """How many layers; None: all."""
        return len(self.layers) if isinstance(self.layers, list) else self.layers

    @model_validator(mode="after")
    def _has_only_its_bodys_keys(self) -> Self:
        every = set().union(*BODY_KEYS.values())
        for key in sorted(self.model_fields_set & (every - BODY_KEYS[self.body])):
            raise ValueError(f"{key!r} does not go with body = {self.body!r}")
        if "pick" in self.model_fields_set and not isinstance(self.layers, int):
            raise ValueError("'pick' chooses among layers that are given as a number")
        return self


# what each body is made by; a key of another body would be ignored, so it is refused
BODY_KEYS: dict[str, set[str]] = {
    "cut": {"layers", "pick", "width", "ffn"},
    "shared": {"layers", "embedding"},
    "static": {"layers", "width", "window"},
}


# what all students of ladder "auto" share
AUTO_KEYS = {"base", "epochs", "rate", "hard", "temperature", "states"}

_AUTO, _LISTED = "one word", "a list"  # which form of `ladder` a message speaks of


class StudentConfig(Strict):
    """The students: all of a given ladder or, with a floor, the smallest that keeps it."""

    ladder: Annotated[
        Annotated[Literal["auto"], Tag(_AUTO)]
        | Annotated[list[StudentModel], Field(min_length=1), Tag(_LISTED)],
        # so that a mistake in a list is told as one, and not as "not auto"
        Discriminator(lambda value: _AUTO if isinstance(value, str) else _LISTED),
    ]
    floor: dict[str, str] = {}  # "default" or a task -> "99%" (of the ensemble), "-0.5", ">= 90"
    minimise: Literal["size", "latency", "throughput-cost", "memory"] = "size"
    confidence: Annotated[float, Field(gt=0.5, lt=1)] = 0.95  # of keeping the floor
    trials: Positive = 12  # candidates of the ladder to try
    base: str | None = None  # ladder "auto": the encoder to make small; None: the last teacher's
    epochs: Positive = 3  # ladder "auto": full training of a candidate; the rest as a listed one's
    rate: Rate = 3e-4
    hard: Weight = 0.5
    temperature: Temperature = 1.0
    states: Weight = 0.0

    @model_validator(mode="after")
    def _listed_students_speak_for_themselves(self) -> Self:
        if self.ladder != "auto":
            for key in sorted(self.model_fields_set & AUTO_KEYS):
                raise ValueError(
                    f'{key!r} goes with ladder = "auto"; students of a list have their own'
                )
        return self

    @model_validator(mode="after")
    def _searches_only_with_a_floor(self) -> Self:
        if self.floor:
            return self
        if self.ladder == "auto":
            raise ValueError('ladder = "auto" needs a floor, such as floor = { default = "99%" }')
        for key in sorted(self.model_fields_set & {"minimise", "confidence", "trials"}):
            raise ValueError(f"{key!r} says how to search, and without a floor there is none")
        return self

    @property
    def listed(self) -> list[StudentModel]:
        """Students that the recipe spells out."""
        return self.ladder if isinstance(self.ladder, list) else []


class TargetsConfig(Strict):
    """What the ensemble writes down for students."""

    states: str | None = None  # name of the teacher whose word states are kept; None: none


class CompressConfig(Strict):
    """From a trained student to a small graph."""

    precision: Literal["int8", "fp32"] = "int8"
    max_loss: Annotated[float, Field(ge=0)] = 0.3  # points that a task may lose on dev
    calibration: Positive = 300  # training records that fix the int8 scales
    vectors: bool = False  # whether the graph gives a vector of each text too, for /v1/embeddings


class CardConfig(Strict):
    """What the model card says and no measurement can tell."""

    # as the hub writes them: "apache-2.0"; ISO 639 codes
    license: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9.+-]*$")] | None = None
    language: list[Annotated[str, Field(pattern=r"^[a-z]{2,3}(-[A-Za-z0-9]+)*$")]] = []


class Recipe(Strict):
    """The main job."""

    name: Name
    seed: Seed = 1
    corpus: Annotated[list[CorpusConfig], Field(min_length=1)]
    tasks: dict[Name, TaskKind] = {}  # kinds of tasks whose name does not say it
    unlabelled: UnlabelledConfig | None = None
    teacher: Annotated[list[TeacherConfig], Field(min_length=1)]
    targets: TargetsConfig = TargetsConfig()
    student: StudentConfig
    compress: CompressConfig = CompressConfig()
    card: CardConfig = CardConfig()
    precision: Literal["auto", "fp32", "bf16"] = "auto"
    device: str = "auto"


def read_recipe(path: Path) -> Recipe:
    """Read and check a recipe."""
    return read_settings(path, Recipe)


def parse_recipe(text: str, *, where: str) -> Recipe:
    """As `read_recipe`, from a string."""
    return parse_settings(text, Recipe, where=where)


def read_settings(path: Path, kind: type[S]) -> S:
    """Read and check a recipe of any kind."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as failure:
        raise ConfigError(f"{path}: cannot read the recipe ({failure.strerror})") from failure
    except UnicodeDecodeError as failure:
        raise ConfigError(f"{path}: the recipe is not UTF-8") from failure
    return parse_settings(text, kind, where=str(path))


def parse_settings(text: str, kind: type[S], *, where: str) -> S:
    """As `read_settings`, from a string."""
    try:
        table = tomllib.loads(text)
    except (ValueError, RecursionError) as failure:  # TOMLDecodeError is a ValueError
        raise ConfigError(f"{where}: not TOML: {failure}") from failure
    try:
        return kind.model_validate(table)
    except ValidationError as failure:
        raise _narrated(failure, kind, where) from failure


def _narrated(failure: ValidationError, kind: type[Strict], where: str) -> ConfigError:
    """Say the first mistake in one line, with the nearest right name for an unknown key."""
    # an unknown key explains what else is missing, so it is told first
    errors = sorted(failure.errors(), key=lambda e: e["type"] != "extra_forbidden")
    error = errors[0]
    place = _place(error["loc"])
    if error["type"] == "extra_forbidden":
        known = sorted(_known_keys(kind, error["loc"][:-1]))
        near = difflib.get_close_matches(str(error["loc"][-1]), known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known keys: {', '.join(known)}"
        if place.startswith("student.") and error["loc"][-1] in StudentModel.model_fields:
            hint = "what says how a student is made goes under [[student.ladder]]"
        return ConfigError(f"{where}: unknown key {place!r}", hint=hint)
    if error["type"] == "missing":
        return ConfigError(f"{where}: {place!r} is missing")
    message = error["msg"].removeprefix("Value error, ")
    hint = ""
    if error["type"] == "list_type" and isinstance(error["input"], dict):
        hint = f"write [[{place}]], with two brackets"
    elif error["type"] == "list_type":
        hint = f"write {error['loc'][-1]} = [{json.dumps(error['input'])}]"
    return ConfigError(f"{where}: {place}: {message} (found {error['input']!r})", hint=hint)


def _place(loc: tuple[int | str, ...]) -> str:
    """Where a value stands, as the file has it: "teacher 1.epochs" for the first [[teacher]]."""
    named = ""
    for part in loc:
        if isinstance(part, int):
            named += f" {part + 1}"
        # pydantic adds which member of a union it tried: no key has a bracket or a hyphen
        elif part not in (_AUTO, _LISTED) and not set("[]-").intersection(part):
            named += f".{part}" if named else part
    return named


def _known_keys(kind: type[Strict], place: tuple[int | str, ...]) -> set[str]:
    model: Any = kind
    for part in place:
        if isinstance(part, int) or not hasattr(model, "model_fields"):
            continue
        if part in model.model_fields:
            model = _inner_model(model.model_fields[part].annotation) or model
    return set(getattr(model, "model_fields", ()))


def _inner_model(annotation: Any) -> Any:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for inner in getattr(annotation, "__args__", ()):
        found = _inner_model(inner)
        if found is not None:
            return found
    return None
