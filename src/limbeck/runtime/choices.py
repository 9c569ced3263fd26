"""Choices: engine, threads, workers and batch budget, by default or as `limbeck tune` found them.

In:  a bundle, and what the user asked for.
Out: a `Choice`. Tuned ones are kept in the user's cache, one file for each bundle and machine;
a file that cannot be read is as good as none.
"""

import hashlib
import json
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from limbeck.artefacts import atomic_file
from limbeck.bundle import Bundle
from limbeck.environment import cpu_features, cpu_model
from limbeck.runtime.compiled import cache_folder
from limbeck.runtime.engines import EngineChoice, EngineName, installed_engines, pick_engine
from limbeck.runtime.threads import allowed_threads, pick_threads

MAX_PIECES = 1 << 20  # more in one batch than any machine gains from
DEFAULT_PIECES = 2_048  # budget of a batch: rows x longest row


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """How one machine runs one bundle."""

    engine: EngineName
    n_threads: int  # in all
    n_workers: int  # batches in flight, each with its share of the threads
    max_padded_pieces: int


def settle(
    bundle: Bundle,
    *,
    engine: EngineChoice,
    n_threads: int | None,
    n_workers: int | None,
    max_padded_pieces: int | None,
) -> Choice:
    """Take what was asked for; for the rest what tuning found, if it speaks of the same engine and
    threads; for the rest the defaults.
    """
    threads = pick_threads(n_threads)
    tuned = load_choice(bundle)
    if tuned is not None and (engine not in ("auto", tuned.engine) or tuned.n_threads != threads):
        tuned = None
    base = tuned or Choice(
        engine=pick_engine(engine),
        n_threads=threads,
        n_workers=1,
        max_padded_pieces=DEFAULT_PIECES,
    )
    return Choice(
        engine=base.engine,
        n_threads=threads,
        n_workers=n_workers or base.n_workers,
        max_padded_pieces=max_padded_pieces or base.max_padded_pieces,
    )


def load_choice(bundle: Bundle) -> Choice | None:
    """What `tune` stored for this bundle on this machine, if its engine is still there."""
    try:
        found = json.loads(choice_path(bundle).read_text(encoding="utf-8"))
        choice = Choice(
            engine=found["engine"],
            n_threads=int(found["n_threads"]),
            n_workers=int(found["n_workers"]),
            max_padded_pieces=int(found["max_padded_pieces"]),
        )
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return None
    is_sound = (
        1 <= choice.n_workers <= choice.n_threads <= allowed_threads()
        and 1 <= choice.max_padded_pieces <= MAX_PIECES
    )
    return choice if is_sound and choice.engine in installed_engines() else None


def store_choice(bundle: Bundle, choice: Choice) -> Path:
    """Keep a choice for this bundle on this machine."""
    path = choice_path(bundle)
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_file(path) as file:
        file.write(json.dumps(asdict(choice)).encode("utf-8"))
    return path


def choice_path(bundle: Bundle) -> Path:
    """Where the choice for this bundle on this machine is kept."""
    return cache_folder("tuned") / f"{bundle.key}-{_machine_key()}.json"


def _machine_key() -> str:
    """Changes with whatever makes other choices the faster ones."""
    parts = [cpu_model(), *cpu_features(), str(allowed_threads())]
    for package in ("onnxruntime", "openvino"):
        try:
            parts.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    return hashlib.blake2b("\n".join(parts).encode(), digest_size=6).hexdigest()
