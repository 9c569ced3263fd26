"""Routes that tell of the server: health, what it serves, metrics.

In:  nothing.
Out: JSON, and the text that Prometheus reads. Health is answered without a token.
"""

from collections.abc import Callable

from fastapi import APIRouter
from starlette.responses import Response

import limbeck
from limbeck.runtime.annotate import Annotator
from limbeck.serve.forms import to_text
from limbeck.serve.metrics import Metrics
from limbeck.serve.openapi import problems
from limbeck.serve.service import Service
from limbeck.serve.wire import Info, LimitsInfo, ModelInfo, ServerLive, ServerReady, TaskInfo

PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"


def about_routes(
    service: Service, metrics: Metrics, *, is_leaving: Callable[[], bool]
) -> APIRouter:
    """`/v2/health/*`, `/info` and `/metrics`."""
    router = APIRouter(tags=["about"])
    models = [model_info(name, a) for name, a in service.dispatcher.annotators.items()]
    limits = service.limits
    info = Info(
        version=limbeck.__version__,
        models=models,
        limits=LimitsInfo(
            body_bytes=limits.body_bytes,
            texts=limits.texts,
            pieces=limits.pieces,
            waiting=limits.waiting,
            seconds=limits.seconds,
        ),
    ).model_dump_json()

    @router.get("/v2/health/live", summary="Whether the process answers", response_model=ServerLive)
    async def live() -> Response:
        return _json('{"live":true}')

    @router.get(
        "/v2/health/ready",
        summary="Whether requests are taken",
        response_model=ServerReady,
        responses={503: {"model": ServerReady, "description": "shutting down, or an engine hangs"}},
    )
    async def ready() -> Response:
        hangs = service.dispatcher.longest_run_seconds() > limits.seconds
        is_ready = not (is_leaving() or hangs)
        return _json(to_text({"ready": is_ready}), 200 if is_ready else 503)

    @router.get(
        "/info",
        summary="Bundles, what was measured of them, limits",
        response_model=Info,
        responses=problems(),
    )
    async def information() -> Response:
        return _json(info)

    @router.get(
        "/metrics",
        summary="Metrics for Prometheus",
        response_class=Response,
        responses={
            200: {"content": {"text/plain": {"schema": {"type": "string"}}}},
            **problems(),
        },
    )
    async def metric_text() -> Response:
        return Response(metrics.text(), headers={"content-type": PROMETHEUS})

    return router


def model_info(name: str, annotator: Annotator) -> ModelInfo:
    """What people want to know of a bundle."""
    bundle = annotator.bundle
    return ModelInfo(
        name=name,
        key=bundle.key,
        precision=bundle.precision,
        size_mb=round(bundle.graph.stat().st_size / 1e6, 3),
        max_pieces=bundle.max_pieces,
        engine=annotator.engine.name,
        n_threads=annotator.choice.n_threads,
        tasks=[
            TaskInfo(name=task.name, kind=task.kind, n_labels=len(task.codec.names))
            for task in bundle.tasks
        ],
        evidence=dict(bundle.evidence),
    )


def _json(text: str, status: int = 200) -> Response:
    return Response(text, status, media_type="application/json")
