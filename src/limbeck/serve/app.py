"""The application: bundles, limits and access -> an ASGI application.

In:  open annotators by name, settings, and whether the process is leaving.
Out: an application that owns its dispatcher from start-up to shut-down.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp

import limbeck
from limbeck.runtime.annotate import Annotator
from limbeck.serve.about import about_routes
from limbeck.serve.annotating import annotating_routes
from limbeck.serve.dispatcher import Dispatcher
from limbeck.serve.embedding import embedding_routes
from limbeck.serve.guard import Guard
from limbeck.serve.inference import inference_routes
from limbeck.serve.limits import Access, Limits
from limbeck.serve.line import Line
from limbeck.serve.metrics import Metrics
from limbeck.serve.openapi import describe
from limbeck.serve.pages import document_route, page_routes
from limbeck.serve.refusals import Refusal
from limbeck.serve.service import Service

ABOUT = "Tags, features, lemmas, dependency trees, entities and text labels from limbeck bundles."


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeConfig:
    """How bundles are served."""

    limits: Limits
    access: Access
    n_workers: int = 1  # rounds in the engine at once; one gives a lone request all threads


def make_app(
    annotators: Mapping[str, Annotator],
    config: ServeConfig,
    *,
    is_leaving: Callable[[], bool] = lambda: False,
) -> ASGIApp:
    """Everything but the socket."""
    line = Line(max_waiting=config.limits.waiting)
    metrics = Metrics(n_waiting=lambda: line.n_waiting)
    loops: list[asyncio.AbstractEventLoop] = []  # the one that listeners live in, once it runs
    dispatcher = Dispatcher(
        annotators,
        line,
        n_workers=config.n_workers,
        post=lambda call: loops[0].call_soon_threadsafe(call),
        observer=metrics,
    )
    service = Service(dispatcher, config.limits, metrics)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        loops[:] = [asyncio.get_running_loop()]
        dispatcher.start()
        try:
            yield
        finally:
            await asyncio.to_thread(dispatcher.stop, seconds=config.limits.seconds)
            service.close()

    app = FastAPI(
        title="limbeck",
        version=limbeck.__version__,
        description=ABOUT,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
    )
    app.add_exception_handler(Refusal, _on_refusal)
    app.add_exception_handler(HTTPException, _on_http)
    app.add_exception_handler(RequestValidationError, _on_invalid)
    app.include_router(annotating_routes(service))
    app.include_router(inference_routes(service))
    app.include_router(embedding_routes(service))
    app.include_router(about_routes(service, metrics, is_leaving=is_leaving))
    app.include_router(page_routes())
    document = describe(app, has_token=config.access.token is not None)
    app.include_router(document_route(document))
    return Guard(app, access=config.access, metrics=metrics)


async def _on_refusal(_request: Request, failure: Exception) -> Response:
    assert isinstance(failure, Refusal)
    return JSONResponse({"error": str(failure)}, failure.status, headers=failure.headers)


async def _on_http(_request: Request, failure: Exception) -> Response:
    assert isinstance(failure, HTTPException)
    return JSONResponse(
        {"error": str(failure.detail)}, failure.status_code, headers=failure.headers
    )


async def _on_invalid(_request: Request, _failure: Exception) -> Response:
    return JSONResponse({"error": "the request is not as it should be"}, 422)
