"""Refusals: every way in which a request is not answered, as a status and one clear line.

In:  what was wrong and which limit it met.
Out: `Refusal`s. Routes decide how the line is wrapped.
"""

from collections.abc import Sequence

from limbeck.errors import LimbeckError

CLIENT_GONE = 499  # nobody reads it; it only shows among the metrics
RETRY_SECONDS = 1


class Refusal(LimbeckError):  # noqa: N818  most are no errors of the server
    """Why a request gets no answer."""

    def __init__(self, status: int, message: str, *, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after = retry_after  # seconds

    @property
    def headers(self) -> dict[str, str]:
        """What the answer's head says of it."""
        return {"retry-after": str(self.retry_after)} if self.retry_after else {}


def wrong(message: str) -> Refusal:
    return Refusal(422, message)


def not_found(message: str) -> Refusal:
    return Refusal(404, message)


def no_model(name: str, known: Sequence[str]) -> Refusal:
    return not_found(f"no model {name!r}; there are {', '.join(known)}")


def no_vectors(model: str) -> Refusal:
    return not_found(
        f"{model!r} gives labels, not vectors; its recipe needs `vectors = true` under [compress]"
    )


def other_dimensions(model: str, size: int) -> Refusal:
    return wrong(f"dimensions: vectors of {model!r} have {size} numbers and cannot be cut")


def not_json(content_type: str) -> Refusal:
    """A page elsewhere can post other types without asking, so they are not taken."""
    return Refusal(415, f"content type {content_type!r}; application/json is due")


def body_too_large(limit: int) -> Refusal:
    return Refusal(413, f"the body is larger than {limit} bytes (limit body_bytes)")


def body_too_slow(limit: float) -> Refusal:
    return Refusal(408, f"the body took longer than {limit:g} s (limit seconds)")


def too_many_texts(n: int, limit: int) -> Refusal:
    return Refusal(413, f"{n} texts; a request may have {limit} (limit texts)")


def too_many_pieces(position: int, n: int, limit: int) -> Refusal:
    return Refusal(422, f"text {position} has {n} pieces; it may have {limit} (limit pieces)")


def queue_full(limit: int) -> Refusal:
    message = f"{limit} texts may wait and no more (limit waiting); ask again later"
    return Refusal(429, message, retry_after=RETRY_SECONDS)


def took_too_long(limit: float) -> Refusal:
    message = f"no answer within {limit:g} s (limit seconds)"
    return Refusal(503, message, retry_after=RETRY_SECONDS)


def engine_failed(model: str) -> Refusal:
    message = f"the engine of {model!r} failed and is being replaced; ask again"
    return Refusal(503, message, retry_after=RETRY_SECONDS)


def leaving() -> Refusal:
    return Refusal(503, "the server is shutting down", retry_after=RETRY_SECONDS)


def client_gone() -> Refusal:
    return Refusal(CLIENT_GONE, "the client went away")
