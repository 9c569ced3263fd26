"""Routes that annotate and classify.

In:  bodies of JSON.
Out: results as JSON, as JSON lines while they come, or as CoNLL-U.
"""

from collections.abc import Mapping
from functools import partial

from fastapi import APIRouter
from pydantic import TypeAdapter
from starlette.requests import Request
from starlette.responses import Response

from limbeck.serve.bodies import read_body, while_connected
from limbeck.serve.decoding import Answer, View
from limbeck.serve.forms import (
    MEDIA_TYPES,
    classified,
    conllu_of,
    json_of,
    pick_form,
    result_of,
)
from limbeck.serve.lines import LineStream
from limbeck.serve.openapi import body_of, problems
from limbeck.serve.refusals import not_found
from limbeck.serve.service import Service, choose_tasks
from limbeck.serve.texts import Asked, asked_of, n_letters_of
from limbeck.serve.waiter import Waiter
from limbeck.serve.wire import AnnotateBody, ClassifyBody, ClassifyResults, Results
from limbeck.tasks.base import TEXT_KINDS

ANNOTATE: TypeAdapter[AnnotateBody] = TypeAdapter(AnnotateBody)
CLASSIFY: TypeAdapter[ClassifyBody] = TypeAdapter(ClassifyBody)


def annotating_routes(service: Service) -> APIRouter:
    """`/v1/annotate` and `/v1/classify`."""
    router = APIRouter(tags=["annotate"])

    @router.post(
        "/v1/annotate",
        summary="Annotate one text, many texts, or words",
        responses={
            200: {
                "model": Results,
                "description": "results in the order of the texts",
                "content": {
                    "application/jsonl": {"schema": {"type": "string"}},
                    "text/x-conllu": {"schema": {"type": "string"}},
                },
            },
            **problems(404, 408, 413, 415, 422, 429, 503),
        },
        openapi_extra=body_of("AnnotateBody", {"text": "The cat sees a dog ."}),
    )
    async def annotate(request: Request) -> Response:
        """`Accept: text/x-conllu` gives CoNLL-U, `application/jsonl` one result a line as soon as
        it is there; else JSON.
        """
        service.check_open()
        body = await read_body(request, ANNOTATE, service.limits)
        model, annotator = service.annotator(body.model)
        n_letters = n_letters_of(body)
        asked = await service.aside(n_letters, partial(asked_of, body))
        tasks = choose_tasks(annotator.bundle, body.tasks, asked.records)
        view = View(tasks=tuple(t.name for t in tasks), has_probabilities=body.probabilities)
        form = pick_form(request.headers.get("accept", ""))
        if form == "lines":
            return LineStream(service, request, model=model, view=view, asked=asked)
        answers, timing = await answered(service, request, model, view, asked)
        if form == "conllu":
            write = partial(conllu_of, answers, tasks)
        else:
            write = partial(json_of, model, answers, asked.inputs, result_of)
        text = await service.aside(n_letters, write)
        return Response(text, media_type=MEDIA_TYPES[form], headers=timing)

    @router.post(
        "/v1/classify",
        summary="Classes of whole texts with their probabilities",
        responses={200: {"model": ClassifyResults}, **problems(404, 408, 413, 415, 422, 429, 503)},
        openapi_extra=body_of("ClassifyBody", {"text": "The cat sees a dog ."}),
    )
    async def classify(request: Request) -> Response:
        """All tasks of the bundle that label whole texts."""
        service.check_open()
        body = await read_body(request, CLASSIFY, service.limits)
        model, annotator = service.annotator(body.model)
        tasks = [task for task in annotator.bundle.tasks if task.kind in TEXT_KINDS]
        if not tasks:
            raise not_found(f"{model!r} has no task that labels whole texts; try /v1/annotate")
        view = View(tasks=tuple(task.name for task in tasks), has_probabilities=True)
        n_letters = n_letters_of(body)
        asked = await service.aside(n_letters, partial(asked_of, body))
        answers, timing = await answered(service, request, model, view, asked)
        write = partial(json_of, model, answers, asked.inputs, classified)
        text = await service.aside(n_letters, write)
        return Response(text, media_type=MEDIA_TYPES["json"], headers=timing)

    return router


async def answered(
    service: Service, request: Request, model: str, view: View, asked: Asked
) -> tuple[list[Answer], Mapping[str, str]]:
    """All answers, and the header that says where their time went."""
    async with (
        service.asking(model, view, asked.records) as waiter,
        while_connected(request, waiter),
    ):
        answers = await waiter.whole()
    return answers, timing_of(waiter)


def timing_of(waiter: Waiter) -> dict[str, str]:
    waited, engine = 1_000 * waiter.waited_seconds, 1_000 * waiter.engine_seconds
    return {"server-timing": f"queue;dur={waited:.2f}, engine;dur={engine:.2f}"}
