"""Bodies: bytes of a request -> a checked model, within the limits of size and time.

In:  a request.
Out: a value of `wire`, or a refusal with one line. A watch over the client's connection.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError
from starlette.requests import ClientDisconnect, Request

from limbeck.serve.limits import Limits
from limbeck.serve.refusals import (
    Refusal,
    body_too_large,
    body_too_slow,
    client_gone,
    not_json,
    wrong,
)
from limbeck.serve.waiter import Waiter

T = TypeVar("T")
MAX_LISTED_ERRORS = 3
MAX_DIGITS = 18  # of a body's length; no number has more


async def read_body(request: Request, adapter: TypeAdapter[T], limits: Limits) -> T:
    """Read and check a body of JSON."""
    content_type = request.headers.get("content-type", "")
    if content_type.partition(";")[0].strip().lower() != "application/json":
        raise not_json(content_type)
    encoding = request.headers.get("content-encoding", "identity")
    if encoding != "identity":
        raise Refusal(415, f"content encoding {encoding!r}; bodies are taken as they are")
    raw = await _bytes(request, limits)
    try:
        return adapter.validate_json(raw)
    except ValidationError as failure:
        raise wrong(_told(failure)) from None


async def _bytes(request: Request, limits: Limits) -> bytes:
    told = request.headers.get("content-length", "")
    if told.isdecimal() and (len(told) > MAX_DIGITS or int(told) > limits.body_bytes):
        raise body_too_large(limits.body_bytes)
    chunks: list[bytes] = []
    n_bytes = 0
    try:
        async with asyncio.timeout(limits.seconds):
            async for chunk in request.stream():
                n_bytes += len(chunk)
                if n_bytes > limits.body_bytes:
                    raise body_too_large(limits.body_bytes)
                chunks.append(chunk)
    except TimeoutError as late:
        raise body_too_slow(limits.seconds) from late
    except ClientDisconnect as gone:
        raise client_gone() from gone
    return b"".join(chunks)


def _told(failure: ValidationError) -> str:
    """Where and what, without the value: an answer is no place to repeat a text."""
    errors = failure.errors(include_url=False, include_context=False, include_input=False)
    lines = [
        f"{'.'.join(str(part) for part in error['loc']) or 'body'}: {error['msg']}"
        for error in errors[:MAX_LISTED_ERRORS]
    ]
    if len(errors) > MAX_LISTED_ERRORS:
        lines.append(f"and {len(errors) - MAX_LISTED_ERRORS} more")
    return "; ".join(lines)


@asynccontextmanager
async def while_connected(request: Request, waiter: Waiter) -> AsyncIterator[None]:
    """Let the waiter hear when the client goes away. The body must have been read."""
    watch = asyncio.ensure_future(_watch(request, waiter))
    try:
        yield
    finally:
        watch.cancel()


async def _watch(request: Request, waiter: Waiter) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
    waiter.fail(client_gone())
