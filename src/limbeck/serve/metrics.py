"""Metrics: what the server counts, for Prometheus, in base units.

In:  requests, batches, what was refused.
Out: the text that `/metrics` gives. Labels are routes and bundles' names, never what a client sent.
"""

from collections.abc import Callable

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
)

from limbeck.serve.dispatcher import BatchReport

NAMESPACE = "limbeck"
SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30)
ROWS = (1, 2, 4, 8, 16, 32, 64, 128, 256)


class Metrics:
    """All of one server's; a registry of its own, so that several can live in one process."""

    def __init__(self, *, n_waiting: Callable[[], int]) -> None:
        registry = CollectorRegistry()
        self._registry = registry
        self._of_routes: dict[tuple[str, int], tuple[Counter, Histogram]] = {}
        ProcessCollector(registry=registry)
        self.requests = Counter(
            "requests", "Requests answered", ["route", "status"], NAMESPACE, registry=registry
        )
        self.durations = Histogram(
            "request_duration_seconds",
            "From the first byte of a request to the last of its answer",
            ["route"],
            NAMESPACE,
            registry=registry,
            buckets=SECONDS,
        )
        self.texts = Counter("texts", "Texts accepted", ["model"], NAMESPACE, registry=registry)
        self.dropped = Counter(
            "dropped_texts",
            "Texts taken out of the queue: client gone or out of time",
            namespace=NAMESPACE,
            registry=registry,
        )
        self.waits = Histogram(
            "queue_wait_seconds",
            "From joining the queue to the engine",
            namespace=NAMESPACE,
            registry=registry,
            buckets=SECONDS,
        )
        queue = Gauge("queue_texts", "Texts that wait", namespace=NAMESPACE, registry=registry)
        queue.set_function(n_waiting)
        self.batch_rows = Histogram(
            "batch_rows", "Rows of a batch", ["model"], NAMESPACE, registry=registry, buckets=ROWS
        )
        self.engine_seconds = Histogram(
            "engine_duration_seconds",
            "One batch in the engine",
            ["model"],
            NAMESPACE,
            registry=registry,
            buckets=SECONDS,
        )
        self.pieces = Counter(
            "pieces", "Pieces of text computed", ["model"], NAMESPACE, registry=registry
        )
        self.padding = Counter(
            "padding_pieces", "Pieces of padding computed", ["model"], NAMESPACE, registry=registry
        )
        self.replaced = Counter(
            "workers_replaced",
            "Engines that failed and were replaced",
            namespace=NAMESPACE,
            registry=registry,
        )

    def batch_done(self, report: BatchReport) -> None:
        self.batch_rows.labels(report.model).observe(report.n_rows)
        self.engine_seconds.labels(report.model).observe(report.seconds)
        self.pieces.labels(report.model).inc(report.n_pieces)
        self.padding.labels(report.model).inc(report.n_padded_pieces - report.n_pieces)

    def portion_taken(self, waited_seconds: float) -> None:
        self.waits.observe(waited_seconds)

    def worker_replaced(self) -> None:
        self.replaced.inc()

    def request_done(self, route: str, status: int, seconds: float) -> None:
        found = self._of_routes.get((route, status))
        if found is None:  # looking labels up costs more than counting
            found = self.requests.labels(route, str(status)), self.durations.labels(route)
            self._of_routes[route, status] = found
        n_requests, durations = found
        n_requests.inc()
        durations.observe(seconds)

    def text(self) -> bytes:
        return generate_latest(self._registry)
