"""Clients: many at once over keep-alive connections, with next to no cost of their own.

In:  a server's port and bodies of requests.
Out: how long each answer took and what its status was.
Requests are bytes made beforehand and answers are not parsed: clients share the processors with the
server that they measure.
"""

import asyncio
import json
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

HOST = "127.0.0.1"
LOST = 0  # a status for a request that got no answer at all
PATIENCE = 60.0  # seconds for an answer; more than the server's own limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """One request's end."""

    at: float  # perf_counter() when it was sent
    seconds: float
    status: int


@dataclass(slots=True)
class Tried:
    """All requests of a phase."""

    answers: list[Answered] = field(default_factory=list)

    def with_status(self, *statuses: int) -> list[Answered]:
        return [one for one in self.answers if one.status in statuses]


def request_of(path: str, body: object, *, port: int) -> bytes:
    """A whole POST request."""
    content = json.dumps(body).encode()
    head = (
        f"POST {path} HTTP/1.1\r\nHost: {HOST}:{port}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(content)}\r\n\r\n"
    )
    return head.encode() + content


class Connection:
    """One keep-alive connection; opened anew after a failure."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def ask(self, request: bytes) -> Answered:
        began = time.perf_counter()
        try:
            async with asyncio.timeout(PATIENCE):
                status = await self._ask(request)
        except (OSError, EOFError, ValueError, TimeoutError):
            self.close()
            status = LOST
        return Answered(at=began, seconds=time.perf_counter() - began, status=status)

    async def leave(self, request: bytes) -> None:
        """Send a request and go away."""
        try:
            if self._writer is None or (self._reader is not None and self._reader.at_eof()):
                self.close()
                self._reader, self._writer = await asyncio.open_connection(HOST, self._port)
            self._writer.write(request)
            await self._writer.drain()
        except OSError:
            pass
        self.close()

    async def _ask(self, request: bytes) -> int:
        if self._reader is not None and self._reader.at_eof():
            self.close()  # idle for so long that the server closed it, as it may
        if self._reader is None or self._writer is None:
            self._reader, self._writer = await asyncio.open_connection(HOST, self._port)
        self._writer.write(request)
        head = (await self._reader.readuntil(b"\r\n\r\n")).lower()
        length = head.partition(b"content-length:")[2].partition(b"\r\n")[0]
        await self._reader.readexactly(int(length))
        if b"connection: close" in head:
            self.close()
        return int(head.split(b" ", 2)[1])

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
        self._reader = self._writer = None


async def closed_loop(
    port: int, requests: Sequence[bytes], *, n_clients: int, seconds: float
) -> Tried:
    """`n_clients` clients, each of which asks again once it has its answer."""
    tried = Tried()
    until = time.perf_counter() + seconds

    async def client(mine: Iterator[bytes]) -> None:
        connection = Connection(port)
        while time.perf_counter() < until:
            tried.answers.append(await connection.ask(next(mine)))
        connection.close()

    # together they go through all requests, so that a phase has the text's own mix of lengths
    await asyncio.gather(*(client(_from(requests, i, n_clients)) for i in range(n_clients)))
    return tried


async def open_loop(
    port: int, requests: Sequence[bytes], *, per_second: float, seconds: float
) -> Tried:
    """A request every so often, whether or not the others have been answered."""
    tried = Tried()
    free: list[Connection] = []
    running: set[asyncio.Task[None]] = set()
    coming = _from(requests, 0, 1)

    async def one() -> None:
        connection = free.pop() if free else Connection(port)
        tried.answers.append(await connection.ask(next(coming)))
        free.append(connection)

    began = time.perf_counter()
    for i in range(int(per_second * seconds)):
        await asyncio.sleep(began + i / per_second - time.perf_counter())
        task = asyncio.create_task(one())
        running.add(task)
        task.add_done_callback(running.discard)
    await asyncio.gather(*running)
    for connection in free:
        connection.close()
    return tried


async def mixed_loop(
    port: int,
    requests: Sequence[bytes],
    *,
    n_clients: int,
    seconds: float,
    each_second: Callable[[], None],
) -> Tried:
    """Clients that ask for anything in any order; one request in ten is not waited for."""
    tried = Tried()
    until = time.perf_counter() + seconds

    async def client(seed: int) -> None:
        draw = random.Random(seed)
        connection = Connection(port)
        while time.perf_counter() < until:
            request = draw.choice(requests)
            if draw.random() < 0.1:
                await connection.leave(request)
            else:
                tried.answers.append(await connection.ask(request))
        connection.close()

    async def watch() -> None:
        while time.perf_counter() < until:
            each_second()
            await asyncio.sleep(1)

    await asyncio.gather(watch(), *(client(i) for i in range(n_clients)))
    return tried


def _from(requests: Sequence[bytes], start: int, step: int) -> Iterator[bytes]:
    """Every so many of the requests, over and over."""
    while True:
        yield requests[start % len(requests)]
        start += step
