"""A served toy: an application in this process and a client to ask it, or a process of its own."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from starlette.testclient import TestClient

from limbeck.bundle import load_bundle
from limbeck.runtime.annotate import AnnotateConfig, Annotator
from limbeck.serve.app import ServeConfig, make_app
from limbeck.serve.limits import LOOPBACK_NAMES, Access, Limits

OPEN = Access(token=None, hosts=LOOPBACK_NAMES)
URL = "http://127.0.0.1"


def open_toy(bundle: Path) -> Annotator:
    return Annotator(load_bundle(bundle), AnnotateConfig(n_threads=1, n_workers=1))


@contextmanager
def serving(
    *annotators: Annotator, limits: Limits | None = None, access: Access = OPEN
) -> Iterator[TestClient]:
    """Serve annotators under the names toy, toy2, and so on."""
    names = ["toy", *(f"toy{i}" for i in range(2, len(annotators) + 1))]
    config = ServeConfig(limits=limits or Limits(), access=access)
    app = make_app(dict(zip(names, annotators, strict=True)), config)
    with TestClient(app, base_url=URL, raise_server_exceptions=False) as client:
        yield client


def results_of(client: TestClient, body: dict[str, Any]) -> list[dict[str, Any]]:
    """What `/v1/annotate` gives."""
    answer = client.post("/v1/annotate", json=body)
    assert answer.status_code == 200, answer.text
    results: list[dict[str, Any]] = answer.json()["results"]
    return results


@contextmanager
def process(
    *bundles: Path, arguments: tuple[str, ...] = (), token: str | None = None
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """`limbeck serve` as a process of its own, and its address; killed at the end if need be."""
    environment = {k: v for k, v in os.environ.items() if k != "LIMBECK_TOKEN"}
    started = subprocess.Popen(
        [sys.executable, "-m", "limbeck", "serve", *map(str, bundles), "--port", "0",
         "--threads", "1", *arguments],
        stderr=subprocess.PIPE,
        text=True,
        env={**environment, **({"LIMBECK_TOKEN": token} if token else {})},
    )  # fmt: skip
    try:
        assert started.stderr is not None
        line = started.stderr.readline()
        assert line.startswith("serving "), line + started.stderr.read()
        url = line.split()[-1]
        for _ in range(200):  # the line comes just before the first answer can
            try:
                httpx.get(f"{url}/v2/health/live", timeout=5)
                break
            except httpx.ConnectError:
                time.sleep(0.05)
        yield started, url
    finally:
        started.kill()
        started.wait(20)
        if started.stderr is not None:
            started.stderr.close()
