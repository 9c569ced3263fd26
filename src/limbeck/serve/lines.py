"""JSON lines: results of a large request, sent while the rest is still in the line.

In:  the texts of a request and its client's connection.
Out: one result a line, in order. A refusal before the first line keeps its status; after it, the
last line is `{"error": ...}`.
"""

from collections.abc import AsyncIterator

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from limbeck.serve.bodies import while_connected
from limbeck.serve.decoding import View
from limbeck.serve.forms import MEDIA_TYPES, result_of, to_text
from limbeck.serve.refusals import CLIENT_GONE, Refusal
from limbeck.serve.service import Service
from limbeck.serve.texts import Asked
from limbeck.serve.waiter import Waiter


class LineStream(Response):
    """Sends from the task that waits, so that limits and a lost connection end both at once."""

    def __init__(
        self, service: Service, request: Request, *, model: str, view: View, asked: Asked
    ) -> None:
        self.status_code = 200
        self.background = None
        self.body = b""
        self.init_headers({"content-type": MEDIA_TYPES["lines"]})
        # the length is not known yet
        self.raw_headers = [pair for pair in self.raw_headers if pair[0] != b"content-length"]
        self._service = service
        self._request = request
        self._model = model
        self._view = view
        self._asked = asked

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        has_begun = False
        asking = self._service.asking(self._model, self._view, self._asked.records)
        try:
            async with asking as waiter, while_connected(self._request, waiter):
                async for text in self._texts(waiter):
                    if not has_begun:
                        has_begun = True
                        await self._begin(send)
                    await _send_more(send, text)
        except Refusal as refusal:
            if not has_begun:
                raise
            if refusal.status != CLIENT_GONE:
                await _send_more(send, to_text({"error": str(refusal)}) + "\n")
        if not has_begun:
            await self._begin(send)
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _begin(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})

    async def _texts(self, waiter: Waiter) -> AsyncIterator[str]:
        begin = 0
        async for ready in waiter.portions():
            places = self._asked.inputs[begin : begin + len(ready)]
            begin += len(ready)
            lines = (to_text(result_of(a, i)) for a, i in zip(ready, places, strict=True))
            yield "".join(f"{line}\n" for line in lines)


async def _send_more(send: Send, text: str) -> None:
    await send({"type": "http.response.body", "body": text.encode(), "more_body": True})
