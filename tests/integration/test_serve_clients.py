"""A client that goes away frees its place; what it asked never reaches the engine."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from serving import OPEN, open_toy
from starlette.types import ASGIApp, Message

from limbeck.runtime.annotate import Annotator
from limbeck.serve.app import ServeConfig, make_app
from limbeck.serve.guard import Guard
from limbeck.serve.limits import Limits


class Asking:
    """One request, driven by hand."""

    def __init__(self, path: str, body: object, accept: str = "application/json") -> None:
        self.sent: list[Message] = []
        self.go_away = asyncio.Event()
        self._body = json.dumps(body).encode()
        self._is_read = False
        self.scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": "GET" if path == "/metrics" else "POST",
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "root_path": "",
            "query_string": b"",
            "headers": [
                (b"host", b"localhost"),
                (b"content-type", b"application/json"),
                (b"accept", accept.encode()),
            ],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 2),
        }

    async def receive(self) -> Message:
        if not self._is_read:
            self._is_read = True
            return {"type": "http.request", "body": self._body, "more_body": False}
        await self.go_away.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        self.sent.append(message)

    def start(self, app: ASGIApp) -> "asyncio.Task[None]":
        return asyncio.ensure_future(app(self.scope, self.receive, self.send))

    @property
    def text(self) -> str:
        return b"".join(m.get("body", b"") for m in self.sent).decode()


async def metrics_of(app: ASGIApp) -> str:
    asking = Asking("/metrics", None)
    await asking.start(app)
    return asking.text


@pytest.mark.parametrize("accept", ["application/json", "application/jsonl"])
def test_a_client_that_went_away_is_dropped_from_the_queue(
    toy_bundle: Path, monkeypatch: pytest.MonkeyPatch, accept: str
) -> None:
    import threading

    toy: Annotator = open_toy(toy_bundle)
    go, has_begun = threading.Event(), threading.Event()
    n_rows: list[int] = []
    real = toy.engine.run

    def run(batch: Any) -> Any:
        n_rows.append(len(batch.n_words))
        has_begun.set()
        assert go.wait(20)
        return real(batch)

    monkeypatch.setattr(toy.engine, "run", run)

    async def story() -> None:
        app = make_app({"toy": toy}, ServeConfig(limits=Limits(), access=OPEN))
        assert isinstance(app, Guard)
        inner: Any = app.app
        async with inner.router.lifespan_context(inner):
            first = Asking("/v1/annotate", {"text": "a cat"})
            answered = first.start(app)
            await asyncio.to_thread(has_begun.wait, 20)
            leaving = Asking("/v1/annotate", {"texts": ["the dog", "sees"]}, accept)
            staying = Asking("/v1/annotate", {"text": "the bird"})
            left, stayed = leaving.start(app), staying.start(app)
            while "limbeck_queue_texts 3.0\n" not in await metrics_of(app):
                await asyncio.sleep(0)
            leaving.go_away.set()
            await left
            text = await metrics_of(app)
            assert "limbeck_queue_texts 1.0\n" in text
            assert "limbeck_dropped_texts_total 2.0" in text
            assert 'status="499"' in text
            go.set()
            await answered
            await stayed
            assert json.loads(first.text)["results"][0]["words"] == ["a", "cat"]
            assert json.loads(staying.text)["results"][0]["words"] == ["the", "bird"]

    asyncio.run(story())
    assert n_rows == [1, 1]


def test_lines_that_have_begun_end_in_the_reason_why_no_more_come(
    toy_bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toy = open_toy(toy_bundle)
    small = toy.with_budget(64)  # a round takes a few texts of this request, not all
    real = small.engine.run
    n_runs = 0

    def run(batch: Any) -> Any:
        nonlocal n_runs
        n_runs += 1
        if n_runs > 3:
            raise RuntimeError("out of order")
        return real(batch)

    monkeypatch.setattr(small.engine, "run", run)

    async def story() -> list[dict[str, Any]]:
        app = make_app({"toy": small}, ServeConfig(limits=Limits(), access=OPEN))
        inner: Any = app.app  # type: ignore[attr-defined]
        async with inner.router.lifespan_context(inner):
            asking = Asking("/v1/annotate", {"texts": ["the cat"] * 500}, "application/jsonl")
            await asking.start(app)
            assert asking.sent[0]["status"] == 200
            return [json.loads(line) for line in asking.text.splitlines()]

    rows = asyncio.run(story())
    assert 0 < len(rows) - 1 < 500
    assert [row["input"] for row in rows[:-1]] == list(range(len(rows) - 1))
    assert "failed" in rows[-1]["error"]
