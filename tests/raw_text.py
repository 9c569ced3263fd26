"""Toy raw text, a recipe on it, and its way to an encoder; built from seeds."""

import random
from pathlib import Path

from backbones import WORDS, write_tokenizer

from limbeck.pretrain.plan import Prepared, prepare

PLENTY = 10**12  # bytes of memory


def toy_text(n_documents: int, *, seed: int = 0, n_sentences: int = 6) -> str:
    """One document a line; sentences are nonsense of the toy words."""
    rng = random.Random(seed)
    lines = []
    for _ in range(n_documents):
        sentences = [
            " ".join(rng.choice(WORDS) for _ in range(rng.randint(3, 9))).capitalize() + "."
            for _ in range(rng.randint(2, n_sentences))
        ]
        lines.append(" ".join(sentences))
    return "\n".join(lines) + "\n"


RECIPE = """
name = "toy"
precision = "fp32"
[text]
files = ["text.txt"]
held_out = 0.1
[vocabulary]
file = "words"
[model]
architecture = "albert-base"
layers = 2
width = 32
heads = 2
embedding = 16
[segments]
length = 32
[training]
steps = 6
rate = 2e-3
max_padded_pieces = 256
probes = 2
"""


def write_toy(folder: Path, *, n_documents: int = 40, text: str | None = None) -> None:
    """text.txt, and a vocabulary in words/."""
    (folder / "text.txt").write_text(
        toy_text(n_documents) if text is None else text, encoding="utf-8"
    )
    write_tokenizer(folder / "words")


def prepared(folder: Path, recipe: str = RECIPE, *, run: str = "run") -> Prepared:
    """Prepare a recipe whose files are in `folder`."""
    path = folder / "toy.toml"
    path.write_text(recipe, encoding="utf-8")
    return prepare(path, root=None, models=None, run=folder / run, free_bytes=PLENTY)
