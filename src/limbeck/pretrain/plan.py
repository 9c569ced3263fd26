"""The plan: what a run of pretraining will do, and what is done already.

In:  a recipe, the folders that its paths start from, free memory.
Out: `Prepared`: stages named by all that decides them. What cannot work is refused here.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from tokenizers import Tokenizer
from transformers import PretrainedConfig

from limbeck.data.vocabulary import load_tokenizer
from limbeck.errors import ConfigError, InputError
from limbeck.pretrain.config import PretrainRecipe, read_pretrain_recipe
from limbeck.pretrain.estimate import Memory, check_memory, estimate, n_parameters
from limbeck.pretrain.students import kept_layers, model_config, sizes_of, teacher_config
from limbeck.pretrain.vocabulary import read_alphabet
from limbeck.runs.plan import model_hash
from limbeck.runs.stages import Stage
from limbeck.train.architectures import Family
from limbeck.train.backbones import load_pretrained, resolve_model
from limbeck.train.devices import pick_device


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A recipe whose files are there and whose size fits."""

    recipe: PretrainRecipe
    recipe_text: str
    run: Path
    files: tuple[str, ...]
    given_vocabulary: Path | None
    teacher: str | None  # what transformers loads
    n_parameters: int  # for a learnt vocabulary, those of its full size
    memory: Memory
    vocabulary: Stage
    text: Stage
    model: Stage

    @property
    def stages(self) -> tuple[Stage, ...]:
        return self.vocabulary, self.text, self.model

    @property
    def family(self) -> Family:
        """Of the encoder; a student of [distil] learns no vocabulary, so it does not matter."""
        model = self.recipe.model
        return "bert" if model is None else sizes_of(model).family


def prepare(
    recipe_path: Path,
    *,
    root: Path | None,
    models: Path | None,
    run: Path | None,
    free_bytes: int,
) -> Prepared:
    """Read and check everything that can be checked before work begins."""
    recipe = read_pretrain_recipe(recipe_path)
    return prepare_recipe(
        recipe,
        recipe_path.read_text(encoding="utf-8"),
        root=root if root is not None else recipe_path.parent,
        beside=models if models is not None else recipe_path.parent,
        run=run if run is not None else Path("runs") / recipe.name,
        free_bytes=free_bytes,
    )


def prepare_recipe(
    recipe: PretrainRecipe,
    recipe_text: str,
    *,
    root: Path,
    beside: Path,
    run: Path,
    free_bytes: int,
) -> Prepared:
    """As `prepare`, for a recipe that is no file: text is in `root`, models are in `beside`."""
    pick_device(recipe.device)  # told now, not after the text has been cut
    files = tuple(_found(name, root) for name in recipe.text.files)
    teacher = None
    if recipe.distil is not None:
        teacher = resolve_model(recipe.distil.teacher, relative_to=beside)
    given = _given_vocabulary(recipe, root=root, beside=beside)
    about = None if teacher is None else teacher_config(teacher)
    config = _config(recipe, given, about)
    memory = estimate(config, recipe, teacher=about)
    check_memory(memory, free_bytes, recipe.name)
    vocabulary, text, model = _stages(recipe, files, given, teacher)
    return Prepared(
        recipe=recipe,
        recipe_text=recipe_text,
        run=run,
        files=files,
        given_vocabulary=given,
        teacher=teacher,
        n_parameters=n_parameters(config),
        memory=memory,
        vocabulary=vocabulary,
        text=text,
        model=model,
    )


def _found(name: str, root: Path) -> str:
    path = root / Path(name).expanduser()
    if not path.is_file():
        raise InputError(
            f"{path}: no such file", hint="paths start from --data, or from the recipe's folder"
        )
    return str(path)


def _given_vocabulary(recipe: PretrainRecipe, *, root: Path, beside: Path) -> Path | None:
    if recipe.vocabulary is None or recipe.vocabulary.file is None:
        return None
    name = Path(recipe.vocabulary.file).expanduser()
    for folder in (beside, root):
        for path in (folder / name, folder / name / "tokenizer.json"):
            if path.is_file():
                family = sizes_of(recipe.model).family if recipe.model is not None else "bert"
                read_alphabet(path, masks=family != "xlnet")
                return path
    raise InputError(
        f"{beside / name}: no such vocabulary",
        hint="name a tokenizer.json, or the folder of a model that has one",
    )


def _config(
    recipe: PretrainRecipe, given: Path | None, teacher: PretrainedConfig | None
) -> PretrainedConfig:
    if recipe.model is not None:
        size = recipe.learnt_vocabulary.size
        if given is not None:
            size = _n_pieces(load_tokenizer(given))
        return model_config(recipe, recipe.model, vocabulary=size, pad_id=0)
    assert recipe.distil is not None  # the settings have one of the two
    assert teacher is not None
    layers = kept_layers(teacher, recipe.distil.layers)
    limit = int(teacher.max_position_embeddings)
    if recipe.segments.length > limit:
        raise ConfigError(
            f"[segments] length {recipe.segments.length}: the teacher reads {limit} pieces at most"
        )
    student = type(teacher).from_dict({**teacher.to_dict(), "num_hidden_layers": len(layers)})
    return student


def _n_pieces(tokenizer: Tokenizer) -> int:
    return max(tokenizer.get_vocab(with_added_tokens=True).values()) + 1


def _stages(
    recipe: PretrainRecipe, files: tuple[str, ...], given: Path | None, teacher: str | None
) -> tuple[Stage, Stage, Stage]:
    raw = {
        "files": [_file_hash(Path(file)) for file in files],
        **recipe.text.model_dump(exclude={"files", "held_out"}),
    }
    family = None if recipe.model is None else sizes_of(recipe.model).family
    if teacher is not None:
        inputs: dict[str, object] = {"teacher": model_hash(teacher)}
    elif given is not None:
        inputs = {"file": _file_hash(given)}
    else:
        learnt = recipe.learnt_vocabulary.model_dump(exclude={"file"})
        inputs = {**raw, **learnt, "framed_as": "xlnet" if family == "xlnet" else "bert"}
    vocabulary = Stage(name="vocabulary", inputs=inputs)
    text = Stage(name="text", inputs={**raw, "vocabulary": vocabulary.key})
    settings = recipe.model_dump(exclude={"name", "text", "vocabulary", "device"})
    model = Stage(
        name="model",
        inputs={
            **settings,
            "text": text.key,
            "held_out": recipe.text.held_out,
            "teacher": None if teacher is None else model_hash(teacher),
        },
    )
    return vocabulary, text, model


def _file_hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=8)).hexdigest()


def teacher_tokenizer(reference: str) -> str:
    """The text of a teacher's tokenizer.json."""
    path = Path(reference) / "tokenizer.json"
    if path.is_file():
        return path.read_text(encoding="utf-8")
    return str(load_pretrained(reference).tokenizer.to_str())
