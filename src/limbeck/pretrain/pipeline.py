"""`limbeck pretrain`: vocabulary -> text as pieces -> an encoder, each a stage on disk.

In:  a prepared recipe.
Out: `model` in the run folder: what a recipe names, with curves beside it. Finished stages are
read, not redone; training goes on from its last checkpoint.
"""

import json
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from limbeck.artefacts import atomic_file, give_name
from limbeck.data.vocabulary import Vocabulary, load_tokenizer
from limbeck.environment import environment
from limbeck.errors import InputError
from limbeck.pretrain.batches import BatchMaker
from limbeck.pretrain.config import PretrainRecipe
from limbeck.pretrain.curves import Curves
from limbeck.pretrain.documents import documents
from limbeck.pretrain.feed import Feed
from limbeck.pretrain.holdout import Divided, divide
from limbeck.pretrain.layout import save_model
from limbeck.pretrain.loop import CHECKPOINT_MINUTES, Clock, Outcome, Teacher, pretrain
from limbeck.pretrain.network import PretrainNetwork
from limbeck.pretrain.plan import Prepared, teacher_tokenizer
from limbeck.pretrain.students import model_config, random_network, student_and_teacher
from limbeck.pretrain.text import Text, read_text, write_text
from limbeck.pretrain.vocabulary import Alphabet, check_size, learn_vocabulary, read_alphabet
from limbeck.progress import Progress
from limbeck.runs.stages import perform
from limbeck.train.devices import pick_device

ABOUT = "pretraining.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """Where the encoder is, and how it came to be."""

    folder: Path
    tokenizer: Path
    text: Path  # a folder for `read_text`
    curves: Path
    about: dict[str, Any]  # plain JSON: parameters, steps, seconds, probe, recipe, environment


def execute(
    prepared: Prepared,
    progress: Progress,
    *,
    command: str,
    clock: Clock = time.monotonic,
    checkpoint_minutes: float = CHECKPOINT_MINUTES,
) -> Finished:
    """Do what is not done yet; leave the recipe beside it, and `model` as a link to the newest."""
    run = prepared.run
    run.mkdir(parents=True, exist_ok=True)
    with atomic_file(run / "recipe.toml") as file:
        file.write(prepared.recipe_text.encode("utf-8"))
    found = perform_stages(
        prepared, progress, command=command, clock=clock, checkpoint_minutes=checkpoint_minutes
    )
    return replace(found, folder=give_name(found.folder, "model"))


def perform_stages(
    prepared: Prepared,
    progress: Progress,
    *,
    command: str,
    clock: Clock,
    checkpoint_minutes: float,
) -> Finished:
    """Vocabulary, text and model alone: several recipes may share a run folder."""
    run = prepared.run
    vocabulary = perform(
        prepared.vocabulary, run, lambda folder, _: _make_vocabulary(prepared, folder, progress)
    )
    tokenizer = vocabulary / "tokenizer.json"
    text = perform(
        prepared.text, run, lambda folder, _: _make_text(prepared, tokenizer, folder, progress)
    )
    curves = run / f"{prepared.model.folder_name}.jsonl"
    model = perform(
        prepared.model,
        run,
        lambda folder, scratch: _make_model(
            prepared,
            tokenizer,
            read_text(text),
            Curves(curves, board=run / f"tensorboard-{prepared.model.key}"),
            progress,
            folder=folder,
            scratch=scratch,
            command=command,
            clock=clock,
            checkpoint_minutes=checkpoint_minutes,
        ),
    )
    about = json.loads((model / ABOUT).read_text(encoding="utf-8"))
    return Finished(folder=model, tokenizer=tokenizer, text=text, curves=curves, about=about)


def _make_vocabulary(prepared: Prepared, folder: Path, progress: Progress) -> None:
    recipe = prepared.recipe
    path = folder / "tokenizer.json"
    if prepared.teacher is not None:
        path.write_text(teacher_tokenizer(prepared.teacher), encoding="utf-8")
        return
    if prepared.given_vocabulary is not None:
        path.write_text(prepared.given_vocabulary.read_text(encoding="utf-8"), encoding="utf-8")
        return
    config = recipe.learnt_vocabulary
    progress.say(f"vocabulary: learning {config.size} pieces ({config.kind})")
    text = documents(prepared.files, recipe.text.documents, limit=recipe.text.limit)
    try:
        tokenizer = learn_vocabulary(
            (sentence for document in text for sentence in document),
            config,
            family=prepared.family,
        )
    except InputError:
        raise
    except Exception as failure:  # the library raises bare ones
        raise InputError(
            f"[vocabulary] {config.size} {config.kind} pieces cannot be learnt from this text "
            f"({failure})",
            hint="a smaller size, or more text",
        ) from failure
    check_size(tokenizer, ", ".join(recipe.text.files))
    path.write_text(tokenizer.to_str(), encoding="utf-8")


def _make_text(prepared: Prepared, tokenizer: Path, folder: Path, progress: Progress) -> None:
    recipe = prepared.recipe
    progress.say("text: cutting into pieces")
    stream = documents(prepared.files, recipe.text.documents, limit=recipe.text.limit)
    write_text(folder, stream, Vocabulary(load_tokenizer(tokenizer)), progress)
    # a text that cannot be divided is refused before any training; its pieces are kept for another
    # recipe all the same
    text = read_text(folder)
    progress.say(
        f"text: {text.n_documents} documents, {len(text.sentences) - 1} sentences, "
        f"{len(text.pieces)} pieces"
    )


def _make_model(
    prepared: Prepared,
    tokenizer: Path,
    text: Text,
    curves: Curves,
    progress: Progress,
    *,
    folder: Path,
    scratch: Path,
    command: str,
    clock: Clock,
    checkpoint_minutes: float,
) -> None:
    recipe = prepared.recipe
    alphabet = read_alphabet(tokenizer, masks=prepared.family != "xlnet")
    feed = make_feed(prepared, text, alphabet)
    network, teacher = make_networks(prepared, alphabet)
    device = pick_device(recipe.device)
    if teacher is not None:
        teacher.network.to(device)
    outcome = pretrain(
        network,
        feed,
        recipe,
        teacher=teacher,
        device=device,
        folder=scratch,
        curves=curves,
        progress=progress,
        clock=clock,
        checkpoint_minutes=checkpoint_minutes,
    )
    save_model(folder, network, tokenizer.read_text(encoding="utf-8"))
    about = _about(prepared, network, outcome, text, command)
    (folder / ABOUT).write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")


def make_feed(prepared: Prepared, text: Text, alphabet: Alphabet) -> Feed:
    """What the recipe reads in each epoch."""
    recipe = prepared.recipe
    divided = divide(
        text, share=recipe.text.held_out, order=recipe.segments.order, seed=recipe.seed
    )
    return feed_over(divided, recipe, alphabet, hides=prepared.family != "xlnet")


def feed_over(divided: Divided, recipe: PretrainRecipe, alphabet: Alphabet, *, hides: bool) -> Feed:
    """Rows and masks as the recipe has them, of documents that are divided already.

    `hides` is false for XLNet, which predicts pieces by what it may see of the others.
    """
    frame = alphabet.single if recipe.segments.order == "none" else alphabet.pair
    maker = BatchMaker(
        divided.text,
        alphabet,
        recipe.masks,
        max_padded_pieces=recipe.training.max_padded_pieces,
        seed=recipe.seed,
        hides=hides,
    )
    return Feed(
        divided,
        maker,
        recipe.segments,
        room=recipe.segments.length - frame.n_special,
        max_padded_pieces=recipe.training.max_padded_pieces,
        accumulate=recipe.training.accumulate,
        seed=recipe.seed,
    )


def make_networks(prepared: Prepared, alphabet: Alphabet) -> tuple[PretrainNetwork, Teacher | None]:
    """What is trained, and who teaches it."""
    recipe = prepared.recipe
    if recipe.distil is not None:
        assert prepared.teacher is not None  # found when the recipe was prepared
        pair = student_and_teacher(recipe, prepared.teacher)
        n_rows = len(pair.student.table)
        if alphabet.n_pieces > n_rows:
            raise InputError(
                f"teacher {recipe.distil.teacher!r}: its vocabulary has {alphabet.n_pieces} "
                f"pieces, its table {n_rows}"
            )
        return pair.student, Teacher(network=pair.teacher, config=recipe.distil)
    assert recipe.model is not None  # the settings have one of the two
    config = model_config(
        recipe, recipe.model, vocabulary=alphabet.n_pieces, pad_id=alphabet.pad_id
    )
    network = random_network(
        config,
        dropout=recipe.model.dropout,
        has_order=recipe.segments.order != "none",
        seed=recipe.seed,
    )
    return network, None


def _about(
    prepared: Prepared, network: PretrainNetwork, outcome: Outcome, text: Text, command: str
) -> dict[str, Any]:
    import torch

    return {
        "name": prepared.recipe.name,
        "n_parameters": sum(p.numel() for p in network.backbone.model.parameters()),
        "n_documents": text.n_documents,
        "n_text_pieces": len(text.pieces),
        **asdict(outcome),
        "recipe": prepared.recipe.model_dump(),
        "command": command,
        "environment": environment(n_threads=torch.get_num_threads()),
    }
