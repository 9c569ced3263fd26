"""The guard: what holds for every request, whatever its route.

In:  an ASGI application and who may ask.
Out: an ASGI application that answers only them, that marks its answers as a browser should take
them, and that counts. Reads no body.
"""

import base64
import binascii
import hmac
import time
from collections.abc import MutableMapping
from typing import Any

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from limbeck.serve.limits import Access
from limbeck.serve.metrics import Metrics

OPEN_PATHS = frozenset({"/v2/health/live", "/v2/health/ready"})
# scripts and styles of our own files only, and no text may ever become markup
POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    ]
)
HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
]


class Guard:
    """Wraps the application; lifespan events pass."""

    def __init__(self, app: ASGIApp, *, access: Access, metrics: Metrics) -> None:
        self.app = app
        self._hosts = access.hosts
        self._token = access.token.encode() if access.token is not None else None
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":  # there are no web sockets here
            await send({"type": "websocket.close", "code": 1008})
            return
        began = time.perf_counter()
        status = 500

        async def marked(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                _mark(message)
            await send(message)

        try:
            refused = self._refused(scope)
            await (refused or self.app)(scope, receive, marked)
        finally:
            route = getattr(scope.get("route"), "path", "none")
            self._metrics.request_done(route, status, time.perf_counter() - began)

    def _refused(self, scope: Scope) -> JSONResponse | None:
        headers = dict(scope["headers"])  # of several with one name the last counts
        if self._hosts is not None:
            host = headers.get(b"host", b"").decode("latin-1").lower()
            name = host if host.endswith("]") else host.rpartition(":")[0] or host
            if name not in self._hosts:
                return JSONResponse(
                    {"error": f"this server does not answer as {name!r} (--allow-host)"}, 421
                )
        if self._token is None or scope["path"] in OPEN_PATHS:
            return None
        given = _token_in(headers.get(b"authorization", b""))
        if hmac.compare_digest(given, self._token):
            return None
        # browsers ask for a password then, so that the page can be used: any name, the token
        return JSONResponse(
            {"error": "a token is due: Authorization: Bearer TOKEN"},
            401,
            headers={"www-authenticate": 'Basic realm="limbeck", charset="UTF-8"'},
        )


def _token_in(header: bytes) -> bytes:
    """The token of a Bearer header, or the password of a Basic one."""
    kind, _, value = header.partition(b" ")
    value = value.strip()
    if kind.lower() == b"bearer":
        return value
    if kind.lower() == b"basic":
        try:
            return base64.b64decode(value, validate=True).partition(b":")[2]
        except binascii.Error:
            return b""
    return b""


def _mark(message: MutableMapping[str, Any]) -> None:
    headers = [*message.get("headers", ()), *HEADERS]
    if not any(name == b"cache-control" for name, _ in headers):
        headers.append((b"cache-control", b"no-store"))
    message["headers"] = headers
