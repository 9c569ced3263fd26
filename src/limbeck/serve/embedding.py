"""Vectors of texts in OpenAI's shape, for clients that know no other.

In:  one text or several.
Out: a vector for each, as numbers or as base64 of float32; refusals in OpenAI's shape.
"""

import base64
from typing import Any

from fastapi import APIRouter
from pydantic import TypeAdapter
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from limbeck.data.records import Record
from limbeck.serve.annotating import timing_of
from limbeck.serve.bodies import read_body, while_connected
from limbeck.serve.decoding import View
from limbeck.serve.forms import MEDIA_TYPES, to_text
from limbeck.serve.openapi import body_of, problems
from limbeck.serve.refusals import Refusal, no_vectors, other_dimensions
from limbeck.serve.service import Service
from limbeck.serve.wire import EmbeddingsBody, EmbeddingsResult, OpenAiProblem
from limbeck.tasks.base import Floats

EMBEDDINGS: TypeAdapter[EmbeddingsBody] = TypeAdapter(EmbeddingsBody)
_CODES = {404: "model_not_found", 429: "rate_limit_exceeded", 503: "server_error"}


def embedding_routes(service: Service) -> APIRouter:
    """`/v1/embeddings`."""
    router = APIRouter(tags=["inference"])

    @router.post(
        "/v1/embeddings",
        summary="Vectors of texts",
        responses={
            200: {"model": EmbeddingsResult},
            **problems(),
            **{s: {"model": OpenAiProblem} for s in (404, 408, 413, 415, 422, 429, 503)},
        },
        openapi_extra=body_of("EmbeddingsBody", {"model": "NAME", "input": "The cat sees a dog ."}),
    )
    async def embeddings(request: Request) -> Response:
        """Of bundles whose recipe says `vectors = true` under `[compress]`; words are split at
        white space.
        """
        try:
            return await _answer(service, request)
        except Refusal as refusal:
            return _problem(refusal)

    return router


async def _answer(service: Service, request: Request) -> Response:
    service.check_open()
    body = await read_body(request, EMBEDDINGS, service.limits)
    model, annotator = service.annotator(body.model)
    size = annotator.bundle.vector_size
    if size is None:
        raise no_vectors(model)
    if body.dimensions not in (None, size):
        raise other_dimensions(model, size)
    texts = [body.input] if isinstance(body.input, str) else body.input
    records = [Record(words=tuple(text.split())) for text in texts]
    view = View(tasks=(), has_probabilities=False)
    async with (
        service.asking(model, view, records) as waiter,
        while_connected(request, waiter),
    ):
        answers = await waiter.whole()
    n_pieces = waiter.n_pieces
    result: dict[str, Any] = {
        "object": "list",
        "data": [
            {"object": "embedding", "index": i, "embedding": _written(a.vector, body)}
            for i, a in enumerate(answers)
            if a.vector is not None
        ],
        "model": model,
        "usage": {"prompt_tokens": n_pieces, "total_tokens": n_pieces},
    }
    return Response(to_text(result), media_type=MEDIA_TYPES["json"], headers=timing_of(waiter))


def _written(vector: Floats, body: EmbeddingsBody) -> object:
    if body.encoding_format == "base64":
        return base64.b64encode(vector.astype("<f4").tobytes()).decode()
    return vector.tolist()


def _problem(refusal: Refusal) -> Response:
    is_ours = refusal.status >= 500
    error = {
        "message": str(refusal),
        "type": "server_error" if is_ours else "invalid_request_error",
        "param": "model" if refusal.status == 404 else None,
        "code": _CODES.get(refusal.status, "invalid_request"),
    }
    return JSONResponse({"error": error}, refusal.status, headers=refusal.headers)
