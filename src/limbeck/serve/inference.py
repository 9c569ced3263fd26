"""Routes of the Open Inference Protocol, version 2.

In:  a tensor of texts.
Out: a tensor for each task: numbers, names, or lists written as JSON.
"""

from typing import Any

from fastapi import APIRouter
from pydantic import TypeAdapter
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

import limbeck
from limbeck.bundle import Bundle
from limbeck.data.records import Record
from limbeck.serve.annotating import answered
from limbeck.serve.bodies import read_body
from limbeck.serve.decoding import View
from limbeck.serve.forms import MEDIA_TYPES, tensor_of, to_text
from limbeck.serve.openapi import body_of, problems
from limbeck.serve.refusals import wrong
from limbeck.serve.service import Service, choose_tasks
from limbeck.serve.texts import Asked
from limbeck.serve.wire import (
    InferBody,
    Inferred,
    ModelMeta,
    ServerMeta,
    ServerReady,
)

INFER: TypeAdapter[InferBody] = TypeAdapter(InferBody)
VERSION = "1"


def inference_routes(service: Service) -> APIRouter:
    """`/v2` and `/v2/models/*`."""
    router = APIRouter(tags=["inference"])

    @router.get("/v2", summary="The server", response_model=ServerMeta, responses=problems())
    async def server() -> Response:
        return JSONResponse({"name": "limbeck", "version": limbeck.__version__, "extensions": []})

    @router.get(
        "/v2/models/{name}", summary="A model", response_model=ModelMeta, responses=problems(404)
    )
    async def model_meta(name: str) -> Response:
        _, annotator = service.annotator(name)
        return JSONResponse(_meta(name, annotator.bundle))

    @router.get(
        "/v2/models/{name}/ready",
        summary="Whether a model takes requests",
        response_model=ServerReady,
        responses=problems(404),
    )
    async def model_ready(name: str) -> Response:
        service.annotator(name)
        return JSONResponse({"ready": True})

    @router.post(
        "/v2/models/{name}/infer",
        summary="Infer",
        responses={200: {"model": Inferred}, **problems(404, 408, 413, 415, 422, 429, 503)},
        openapi_extra=body_of(
            "InferBody",
            {
                "inputs": [
                    {"name": "text", "shape": [1], "datatype": "BYTES", "data": ["The cat sees"]}
                ]
            },
        ),
    )
    async def infer(name: str, request: Request) -> Response:
        """Words are split at white space."""
        service.check_open()
        body = await read_body(request, INFER, service.limits)
        model, annotator = service.annotator(name)
        (tensor,) = body.inputs
        if tensor.shape != [len(tensor.data)]:
            raise wrong(f"shape {tensor.shape} of {len(tensor.data)} texts")
        records = [Record(words=tuple(text.split())) for text in tensor.data]
        wanted = None if body.outputs is None else [output.name for output in body.outputs]
        tasks = choose_tasks(annotator.bundle, wanted, records)
        view = View(tasks=tuple(task.name for task in tasks), has_probabilities=False)
        asked = Asked(records=records, inputs=range(len(records)))
        answers, timing = await answered(service, request, model, view, asked)
        result: dict[str, Any] = {"model_name": model, "model_version": VERSION}
        if body.id is not None:
            result["id"] = body.id
        result["outputs"] = [tensor_of(t, [a.labels[t.name] for a in answers]) for t in tasks]
        return Response(to_text(result), media_type=MEDIA_TYPES["json"], headers=timing)

    return router


def _meta(name: str, bundle: Bundle) -> dict[str, Any]:
    return {
        "name": name,
        "versions": [VERSION],
        "platform": "onnx",
        "inputs": [{"name": "text", "shape": [-1], "datatype": "BYTES"}],
        "outputs": [
            {
                "name": task.name,
                "shape": [-1],
                "datatype": "FP64" if task.kind == "regress" else "BYTES",
            }
            for task in bundle.tasks
        ],
    }
