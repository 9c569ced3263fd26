"""The load on a server: its numbers are those of what happened, and a dead server is told."""

import asyncio
import sys
from pathlib import Path

import pytest
from serving import process
from toys import toy_records

from limbeck.bench.clients import LOST, Connection, closed_loop, mixed_loop, open_loop, request_of
from limbeck.bench.load import LoadPlan, run_load, serving
from limbeck.bundle import load_bundle
from limbeck.errors import StageError
from limbeck.progress import NoProgress


def test_every_promise_has_its_check(toy_bundle: Path) -> None:
    checks = run_load(
        load_bundle(toy_bundle),
        toy_records(300, seed=1),
        n_threads=1,
        plan=LoadPlan(many=1, one=0.5, overload=1, mixed=1.5),
        progress=NoProgress(),
    )
    found = {check.name: check for check in checks}
    assert list(found) == [
        "64 clients",
        "64 clients, p99",
        "one client",
        "overload: refusals",
        "overload: share refused",
        "overload: lost",
        "overload: memory",
        "overload: back to normal",
        "mixed load: memory",
        "mixed load: descriptors",
        "mixed load: odd answers",
    ]
    assert found["64 clients"].measured > 0
    assert found["64 clients, p99"].ratio >= 1
    assert found["one client"].measured > found["one client"].against > 0
    assert found["overload: lost"].measured == 0
    assert found["overload: lost"].against + found["overload: share refused"].measured == (
        found["overload: share refused"].against
    )
    assert found["mixed load: odd answers"].measured == 0


def test_clients_tell_answers_from_refusals_and_silence(toy_bundle: Path) -> None:
    with process(toy_bundle, arguments=("--max-texts", "2", "--max-waiting", "2")) as (server, url):
        port = int(url.rpartition(":")[2])
        one = request_of("/v1/annotate", {"text": "a"}, port=port)
        three = request_of("/v1/annotate", {"texts": ["a"] * 3}, port=port)
        tried = asyncio.run(closed_loop(port, [one, three], n_clients=1, seconds=0.3))
        assert [a.status for a in tried.answers[:4]] == [200, 413, 200, 413]
        tried = asyncio.run(open_loop(port, [one], per_second=100, seconds=0.3))
        assert len(tried.answers) == 30
        looks: list[int] = []
        tried = asyncio.run(
            mixed_loop(port, [one], n_clients=2, seconds=0.3, each_second=lambda: looks.append(1))
        )
        assert looks
        assert {a.status for a in tried.answers} <= {200, 429}
        server.kill()
        server.wait()
        tried = asyncio.run(closed_loop(port, [one], n_clients=1, seconds=0.05))
        assert {a.status for a in tried.answers} == {LOST}


def test_a_server_that_does_not_start_is_told(
    toy_bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with (
        pytest.raises(StageError, match="did not start"),
        serving(load_bundle(toy_bundle), n_threads=1),
    ):
        pass


def test_a_connection_that_the_server_closed_while_idle_is_opened_anew() -> None:
    async def closes_after_each_answer(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
        await writer.drain()
        writer.close()

    async def ask_twice() -> list[int]:
        server = await asyncio.start_server(closes_after_each_answer, "127.0.0.1", 0)
        connection = Connection(server.sockets[0].getsockname()[1])
        found = []
        for _ in range(2):
            found.append((await connection.ask(b"GET / HTTP/1.1\r\n\r\n")).status)
            await asyncio.sleep(0.05)
        connection.close()
        server.close()
        return found

    assert asyncio.run(ask_twice()) == [200, 200]
