"""The OpenAPI document: what FastAPI finds, and the bodies that routes read by themselves.

In:  an application with its routes.
Out: the document, made once. Bodies are read as bytes, so that limits come first and JSON is parsed
once; this is where they are described all the same.
"""

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import TypeAdapter

from limbeck.serve.wire import AnnotateBody, ClassifyBody, EmbeddingsBody, InferBody, Problem

_REFERENCE = "#/components/schemas/{model}"
_BODIES: dict[str, Any] = {
    "AnnotateBody": AnnotateBody,
    "ClassifyBody": ClassifyBody,
    "EmbeddingsBody": EmbeddingsBody,
    "InferBody": InferBody,
}
_WHY = {
    400: "the body is not as it should be",
    401: "a token is due",
    404: "no such model or task, or it cannot do this",
    408: "the body came too slowly",
    413: "more bytes or texts than the limit",
    415: "not JSON",
    421: "not a name of this server",
    422: "the body is not as it should be, or a text is longer than the limit",
    429: "the queue is full; Retry-After says when to ask again",
    503: "the engine failed, the time was up, or the server is shutting down",
}


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """What refusals of a route look like."""
    return {s: {"model": Problem, "description": _WHY[s]} for s in (401, 421, *statuses)}


def body_of(name: str, example: object) -> dict[str, Any]:
    """The description of a body that a route reads by itself."""
    content = {"schema": {"$ref": _REFERENCE.format(model=name)}, "example": example}
    return {"requestBody": {"required": True, "content": {"application/json": content}}}


def describe(app: FastAPI, *, has_token: bool) -> dict[str, Any]:
    """The whole document."""
    document = get_openapi(
        title=app.title, version=app.version, description=app.description, routes=app.routes
    )
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    for name, body in _BODIES.items():
        schema = TypeAdapter(body).json_schema(ref_template=_REFERENCE)
        schemas.update(schema.pop("$defs", {}))
        schemas[name] = schema
    if has_token:
        document["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        document["security"] = [{"token": []}]
    return document
