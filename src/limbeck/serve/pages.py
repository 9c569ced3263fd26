"""Routes of the page, of `/docs` and of their files.

In:  the files that ship in the package, read once when the server starts.
Out: the same bytes; no request names a file.
"""

import hashlib
from importlib.resources import files
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from limbeck.serve.forms import to_text

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_PAGES = {"index.html": "/", "docs.html": "/docs"}


def page_routes() -> APIRouter:
    """`/`, `/docs` and `/static/*`: one route for each file."""
    router = APIRouter(include_in_schema=False)
    for file in sorted(files("limbeck.serve").joinpath("static").iterdir(), key=lambda f: f.name):
        suffix = file.name[file.name.rfind(".") :]
        if suffix in _TYPES:
            path = _PAGES.get(file.name, f"/static/{file.name}")
            _add(router, path, file.read_bytes(), _TYPES[suffix])
    return router


def document_route(document: dict[str, Any]) -> APIRouter:
    """`/openapi.json`."""
    router = APIRouter(include_in_schema=False)
    _add(router, "/openapi.json", to_text(document).encode(), "application/json")
    return router


def _add(router: APIRouter, path: str, body: bytes, content_type: str) -> None:
    tag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
    # asked for again each time, so that page and server are never of two versions
    headers = {"content-type": content_type, "etag": tag, "cache-control": "no-cache"}

    async def give(request: Request) -> Response:
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(body, headers=headers)

    router.add_api_route(path, give, methods=["GET", "HEAD"])
