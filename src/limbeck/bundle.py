"""THE SEAM: a bundle is one folder with a graph, a vocabulary, labels, and the proof of its worth.

In:  a graph, a tokenizer, tasks, evidence.
Out: a folder whose manifest names every file with size and hash; loading refuses anything else.
Nothing in a bundle can execute code. Knows no engine and no torch.
"""

import hashlib
import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from limbeck.artefacts import sync_tree
from limbeck.data.pieces import Piecer
from limbeck.data.vocabulary import load_tokenizer
from limbeck.errors import BundleError
from limbeck.tasks.base import Task
from limbeck.tasks.codecs import codec_from_json

FORMAT_VERSION = 2  # 2: graphs take words that are in no row
MANIFEST = "bundle.json"
GRAPH = "model.onnx"
TOKENIZER = "tokenizer.json"
UNLISTED = (MANIFEST, "stage.json", "costs.json", "dev_labels.json")  # what a run leaves beside
UNREAD = "backbone/"  # not read to annotate, and the largest by far: checked by its size alone
MAX_ID = 1 << 30
_KEYS = {
    "format_version",
    "name",
    "made",
    "tasks",
    "piecer",
    "precision",
    "evidence",
    "versions",
    "recipe",
    "files",
}
_OPTIONAL_KEYS = {"vectors"}


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleContents:
    """What goes into a bundle besides its graph and vocabulary."""

    name: str
    made: str  # ISO date
    tasks: tuple[Task, ...]
    max_pieces: int
    pad_id: int
    precision: str  # "int8", "int8-mixed" or "fp32"
    vector_size: int | None  # of the vectors of texts that the graph gives; None: it gives none
    evidence: Mapping[str, Any]
    versions: Mapping[str, str]
    recipe: str
    card: str  # README.md


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """A checked bundle on disk."""

    folder: Path
    name: str
    tasks: tuple[Task, ...]
    max_pieces: int
    pad_id: int
    precision: str
    vector_size: int | None
    evidence: Mapping[str, Any]
    key: str  # hash of the manifest: names this very bundle

    @property
    def graph(self) -> Path:
        return self.folder / GRAPH

    def piecer(self) -> Piecer:
        return Piecer(
            load_tokenizer(self.folder / TOKENIZER), max_pieces=self.max_pieces, pad_id=self.pad_id
        )


def fill_bundle(
    folder: Path, contents: BundleContents, *, graph: Path, tokenizer: str, backbone: Path | None
) -> None:
    """Write all files into an existing empty folder, the manifest last."""
    shutil.copyfile(graph, folder / GRAPH)
    (folder / TOKENIZER).write_text(tokenizer, encoding="utf-8")
    (folder / "README.md").write_text(contents.card, encoding="utf-8")
    (folder / "labels").mkdir()
    for task in contents.tasks:
        text = json.dumps(task.codec.to_json(), ensure_ascii=False, indent=1)
        (folder / "labels" / f"{task.name}.json").write_text(text, encoding="utf-8")
    if backbone is not None:
        (folder / "backbone").mkdir()
        for name in ("config.json", "model.safetensors"):
            shutil.copyfile(backbone / name, folder / "backbone" / name)
    files = {
        path.relative_to(folder).as_posix(): {
            "size_bytes": path.stat().st_size,
            "sha256": _sha256(path),
        }
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    manifest = {
        "format_version": FORMAT_VERSION,
        "name": contents.name,
        "made": contents.made,
        "tasks": [{"name": task.name, "kind": task.kind} for task in contents.tasks],
        "piecer": {"max_pieces": contents.max_pieces, "pad_id": contents.pad_id},
        "precision": contents.precision,
        "evidence": dict(contents.evidence),
        "versions": dict(contents.versions),
        "recipe": contents.recipe,
        "files": files,
    }
    if contents.vector_size is not None:
        manifest["vectors"] = {"size": contents.vector_size}
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=1), encoding="utf-8")
    sync_tree(folder)


def load_bundle(folder: Path) -> Bundle:
    """Check a bundle against its manifest and open it."""
    path = folder / MANIFEST
    if not path.is_file():
        there = "it has no " + MANIFEST if folder.is_dir() else "there is no such folder"
        raise BundleError(
            f"{folder} is not a bundle: {there}",
            hint="`limbeck run` and `limbeck demo` make bundles and say where",
        )
    raw = path.read_bytes()
    try:
        manifest = json.loads(raw)
    except (ValueError, RecursionError) as failure:
        raise BundleError(f"{path}: not JSON ({failure})") from failure
    if not isinstance(manifest, dict):
        raise BundleError(f"{path}: not a manifest")
    version = manifest.get("format_version")
    if type(version) is not int or version != FORMAT_VERSION:
        older = type(version) is int and 0 < version < FORMAT_VERSION
        raise BundleError(
            f"{folder}: bundle format {version!r}, this limbeck reads {FORMAT_VERSION}",
            hint="make it again with `limbeck run`" if older else "install a newer limbeck",
        )
    odd = sorted((set(manifest) - _OPTIONAL_KEYS) ^ _KEYS)
    if odd:
        raise BundleError(f"{path}: missing or unknown keys: {', '.join(odd)}")
    try:
        _check_files(folder, manifest["files"])
        tasks = tuple(_task(folder, entry, manifest["files"]) for entry in manifest["tasks"])
        pad_id, max_pieces = (int(manifest["piecer"][key]) for key in ("pad_id", "max_pieces"))
        if not (0 <= pad_id < MAX_ID and 0 < max_pieces < MAX_ID):
            raise BundleError(f"{path}: piecer: pad_id {pad_id} or max_pieces {max_pieces} is none")
        vector_size = int(manifest["vectors"]["size"]) if "vectors" in manifest else None
        if vector_size is not None and not 0 < vector_size < MAX_ID:
            raise BundleError(f"{path}: vectors: {vector_size} is no size")
        return Bundle(
            folder=folder,
            name=str(manifest["name"]),
            tasks=tasks,
            max_pieces=max_pieces,
            pad_id=pad_id,
            precision=str(manifest["precision"]),
            vector_size=vector_size,
            evidence=manifest["evidence"],
            key=hashlib.sha256(raw).hexdigest()[:16],
        )
    except (
        KeyError,
        TypeError,
        AttributeError,
        ValueError,
        OverflowError,
        RecursionError,
    ) as failure:
        raise BundleError(f"{path}: malformed ({type(failure).__name__}: {failure})") from failure


def _task(folder: Path, entry: Mapping[str, str], files: Mapping[str, Any]) -> Task:
    name = entry["name"]
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*", name):
        raise BundleError(f"{folder}: {name!r} is no name of a task")
    path = _inside(folder, f"labels/{name}.json")
    if f"labels/{name}.json" not in files:
        raise BundleError(f"{folder}: the manifest does not name labels/{name}.json")
    codec = codec_from_json(json.loads(path.read_text(encoding="utf-8")))
    if codec.kind != entry["kind"]:
        raise BundleError(f"{path}: labels of kind {codec.kind}, the manifest says {entry['kind']}")
    return Task(name=name, codec=codec)


def _inside(folder: Path, name: str) -> Path:
    """A path below the folder; a name that leads out of it is an attack or a mistake."""
    pure = PurePosixPath(name)
    if pure.is_absolute() or ".." in pure.parts or "\\" in name:
        raise BundleError(f"{folder}: file name {name!r} leads out of the bundle")
    path = folder / pure
    if path.is_symlink() or any(
        part.is_symlink() for part in path.parents if folder in part.parents
    ):
        raise BundleError(f"{folder}: {name} is a link")
    return path


def _check_files(folder: Path, files: Mapping[str, Mapping[str, Any]]) -> None:
    for needed in (GRAPH, TOKENIZER):
        if needed not in files:
            raise BundleError(f"{folder}: the manifest does not name {needed}")
    for path in folder.iterdir():
        # a graph may point at a file beside it, so none may lie there that was not checked
        if path.is_file() and path.name not in {*files, *UNLISTED} and path.name[0] != ".":
            raise BundleError(f"{folder}: {path.name} is not in the manifest", hint="take it out")
    for name, wanted in files.items():
        path = _inside(folder, name)
        if not path.is_file():
            raise BundleError(f"{folder}: {name} is missing", hint="copy the whole folder again")
        is_same = path.stat().st_size == wanted["size_bytes"] and (
            name.startswith(UNREAD) or _sha256(path) == wanted["sha256"]
        )
        if not is_same:
            raise BundleError(
                f"{folder}: {name} is damaged: it is not the file that was saved",
                hint="copy the whole folder again",
            )


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
