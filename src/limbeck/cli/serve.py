"""`limbeck serve`: bundles over HTTP.

In:  bundles, an address, limits; the token from the environment.
Out: nothing but answers, until a signal comes.
"""

import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from limbeck.bundle import load_bundle
from limbeck.data.records import Record
from limbeck.errors import ConfigError, ExitCode
from limbeck.runtime.annotate import AnnotateConfig, Annotator
from limbeck.runtime.engines import EngineChoice
from limbeck.serve.limits import Limits, decide_access

TOKEN = "LIMBECK_TOKEN"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_NAMED = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)=(.+)", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeJob:
    """One call of `serve`."""

    bundles: tuple[str, ...]  # FOLDER or NAME=FOLDER
    host: str
    port: int
    is_insecure: bool
    hosts: tuple[str, ...]
    limits: Limits
    engine: EngineChoice
    n_threads: int | None
    n_workers: int


def serve_bundles(job: ServeJob) -> int:
    """Check, bind, load, warm up, serve."""
    access = decide_access(
        job.host,
        token=os.environ.get(TOKEN) or None,
        is_insecure=job.is_insecure,
        more_hosts=frozenset(name.lower() for name in job.hosts),
    )
    from limbeck.serve.app import ServeConfig, make_app
    from limbeck.serve.server import address_of, open_socket, run_server

    opened = open_socket(job.host, job.port)
    annotators = _open(job)
    config = ServeConfig(limits=job.limits, access=access, n_workers=job.n_workers)
    sys.stderr.write(f"serving {', '.join(annotators)} on {address_of(opened)}\n")
    sys.stderr.flush()
    run_server(
        lambda is_leaving: make_app(annotators, config, is_leaving=is_leaving),
        opened,
        seconds=job.limits.seconds,
    )
    return ExitCode.DONE


def _open(job: ServeJob) -> dict[str, Annotator]:
    """Annotators by name, each warm: an engine's first call costs more than the others."""
    config = AnnotateConfig(engine=job.engine, n_threads=job.n_threads, n_workers=job.n_workers)
    annotators: dict[str, Annotator] = {}
    for named in job.bundles:
        name, folder = _named(named)
        bundle = load_bundle(folder)
        name = name or bundle.name
        if not _NAME.fullmatch(name):
            raise ConfigError(
                f"{folder}: {name!r} cannot be a name in a URL", hint=f"say NAME={folder}"
            )
        if name in annotators:
            raise ConfigError(f"two bundles are called {name!r}", hint=f"say OTHER={folder}")
        annotators[name] = Annotator(bundle, config)
        annotators[name].annotate([Record(words=("a", "word"))])
    return annotators


def _named(text: str) -> tuple[str | None, Path]:
    match = _NAMED.fullmatch(text)
    if match is None or Path(text).exists():
        return None, Path(text)
    return match[1], Path(match[2])
