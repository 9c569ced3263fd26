"""Load: what `limbeck serve` does under many clients, under far too many, and for a long time.

In:  a bundle and records.
Out: one `Check` for each promise, with the numbers that it compares. The server is a process of its
own on the loopback; clients and server share the processors.
"""

import asyncio
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal, TextIO

from limbeck.bench.checks import Check
from limbeck.bench.clients import (
    LOST,
    Answered,
    Tried,
    closed_loop,
    mixed_loop,
    open_loop,
    request_of,
)
from limbeck.bench.stock import no_pipeline, pad_token
from limbeck.bundle import Bundle
from limbeck.data.records import Record
from limbeck.errors import StageError
from limbeck.progress import Progress
from limbeck.runtime.annotate import AnnotateConfig, Annotator
from limbeck.runtime.footprint import resident_mb
from limbeck.runtime.scoring import make_batch
from limbeck.runtime.sizes import Sizes
from limbeck.tasks.base import TEXT_KINDS

N_CLIENTS = 64
N_SINGLE = 300
N_ROUNDS = 3  # of annotation without a server; the median counts
OVERLOAD = 10  # times what the server answers
TEXTS_OF_OVERLOAD = 32  # in each request: HTTP alone would keep the processors busy otherwise
STARTING_SECONDS, LEAVING_SECONDS = 120, 20
REFUSED, UNREADABLE = 429, 422
PEER = Path(__file__).parent / "peers" / "pipeline_server.py"


Length = Literal["quick", "full"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadPlan:
    """How long each part takes, in seconds."""

    many: float
    one: float
    overload: float
    mixed: float


PLANS: dict[Length, LoadPlan] = {
    "quick": LoadPlan(many=5, one=2, overload=5, mixed=10),
    "full": LoadPlan(many=30, one=10, overload=60, mixed=600),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A process that answers on a port."""

    pid: int
    port: int

    def memory_mb(self) -> float:
        """Resident memory now."""
        return resident_mb(self.pid)

    def n_descriptors(self) -> int:
        return len(os.listdir(f"/proc/{self.pid}/fd"))


def run_load(
    bundle: Bundle,
    records: Sequence[Record],
    *,
    n_threads: int,
    plan: LoadPlan,
    progress: Progress,
) -> list[Check]:
    """All parts in turn."""
    if not Path("/proc/self/fd").is_dir():
        raise StageError("a server's memory and descriptors are read from /proc, which is not here")
    texts = [" ".join(record.words) for record in records if record.words]
    progress.start("load", 6)
    annotator = Annotator(bundle, AnnotateConfig(n_threads=n_threads))
    alone = annotate_rate(annotator, texts)
    call = engine_call_ms(annotator, texts)
    progress.advance(1, "without a server")
    found: list[Check] = []
    with serving(bundle, n_threads=n_threads) as server:
        ask = partial(request_of, "/v1/annotate", port=server.port)
        single = [ask({"text": text}) for text in texts]
        tried = ask_at_once(server, single, seconds=plan.many)
        rate = len(tried.with_status(200)) / plan.many
        found += many_checks(tried, rate, alone)
        progress.advance(1, f"{N_CLIENTS} clients")
        found.append(one_check(server, single[:N_SINGLE], call, seconds=plan.one))
        progress.advance(1, "one client")
        groups = [texts[i : i + TEXTS_OF_OVERLOAD] for i in range(0, len(texts), TEXTS_OF_OVERLOAD)]
        full = [ask({"texts": group}) for group in groups]
        found += overload_checks(server, full, single, rate, seconds=plan.overload)
        progress.advance(1, "overload")
        found += mixed_checks(server, mixture(bundle, texts, server.port), seconds=plan.mixed)
        progress.advance(1, "mixed load")
    if no_pipeline(bundle, "sequence") is None:
        found.append(peer_check(bundle, texts, rate, n_threads=n_threads, seconds=plan.many))
    progress.advance(1, "peer")
    progress.finish()
    return found


def peer_check(
    bundle: Bundle, texts: Sequence[str], rate: float, *, n_threads: int, seconds: float
) -> Check:
    with peer_serving(bundle, n_threads=n_threads) as peer:
        requests = [request_of("/", {"text": text}, port=peer.port) for text in texts]
        tried = ask_at_once(peer, requests, seconds=seconds)
    return Check(
        name="peer",
        what=f"requests/s of {N_CLIENTS} clients; against those of FastAPI with a transformers "
        "pipeline of the same encoder in fp32",
        measured=rate,
        against=len(tried.with_status(200)) / seconds,
        unit="1/s",
    )


def _told(others: Sequence[Answered]) -> str:
    """What they got instead, by status."""
    counts = Counter("no answer" if one.status == LOST else str(one.status) for one in others)
    return "".join(f", {n} times {status}" for status, n in sorted(counts.items()))


def ask_at_once(server: Server, requests: Sequence[bytes], *, seconds: float) -> Tried:
    """Many clients, after a few have warmed the server up."""
    asyncio.run(closed_loop(server.port, requests, n_clients=4, seconds=2))
    return asyncio.run(closed_loop(server.port, requests, n_clients=N_CLIENTS, seconds=seconds))


def annotate_rate(annotator: Annotator, texts: Sequence[str]) -> float:
    """Sentences/s of `annotate` on the same texts."""
    seconds: list[float] = []
    for _ in range(N_ROUNDS + 1):  # the first one warms up
        began = time.perf_counter()
        n = sum(1 for _ in annotator.pipe(texts))
        seconds.append(time.perf_counter() - began)
    return n / statistics.median(seconds[1:])


def engine_call_ms(annotator: Annotator, texts: Sequence[str]) -> float:
    """Median milliseconds of the bare engine on one text at a time."""
    seconds: list[float] = []
    sizes = Sizes(annotator.bundle.max_pieces)
    for text in [*texts[:20], *texts[:N_SINGLE]]:
        (rows,) = annotator.cut([Record(words=tuple(text.split()))])
        batch = make_batch(rows, pad_id=annotator.bundle.pad_id, sizes=sizes)
        began = time.perf_counter()
        annotator.engine.run(batch)
        seconds.append(time.perf_counter() - began)
    return 1_000 * statistics.median(seconds[20:])


def many_checks(tried: Tried, rate: float, alone: float) -> list[Check]:
    milliseconds = sorted(1_000 * one.seconds for one in tried.with_status(200))
    if len(milliseconds) < len(tried.answers) or len(milliseconds) < 2:
        raise StageError(f"{len(tried.answers) - len(milliseconds)} requests were not answered")
    hundredths = statistics.quantiles(milliseconds, n=100)
    return [
        Check(
            name=f"{N_CLIENTS} clients",
            what="sentences/s, one a request; against those of annotate on the same text",
            measured=rate,
            against=alone,
            unit="1/s",
        ),
        Check(
            name=f"{N_CLIENTS} clients, p99",
            what="99th percentile of the time to an answer; against the median",
            measured=hundredths[98],
            against=hundredths[49],
            unit="ms",
        ),
    ]


def one_check(server: Server, requests: Sequence[bytes], call: float, *, seconds: float) -> Check:
    tried = asyncio.run(closed_loop(server.port, requests, n_clients=1, seconds=seconds))
    return Check(
        name="one client",
        what="median time to an answer; against the bare engine call",
        measured=1_000 * statistics.median(one.seconds for one in tried.with_status(200)),
        against=call,
        unit="ms",
    )


def overload_checks(
    server: Server, full: Sequence[bytes], single: Sequence[bytes], rate: float, *, seconds: float
) -> list[Check]:
    """Ten times as many texts as the server annotates."""
    before = server.memory_mb()
    per_second = OVERLOAD * rate / TEXTS_OF_OVERLOAD

    async def flood() -> tuple[Tried, float, float]:
        half_way = asyncio.create_task(_later(seconds / 2, server))
        tried = await open_loop(server.port, full, per_second=per_second, seconds=seconds)
        return tried, await half_way, time.perf_counter()

    tried, half_way, ended = asyncio.run(flood())
    sent_until = max(one.at for one in tried.answers)
    refused = sorted(1_000 * one.seconds for one in tried.with_status(REFUSED))
    accepted = tried.with_status(200)
    others = [one for one in tried.answers if one.status not in (200, REFUSED)]
    after = asyncio.run(closed_loop(server.port, single, n_clients=1, seconds=1))
    usual = statistics.median(one.seconds for one in after.answers)
    return [
        Check(
            name="overload: refusals",
            what=f"99th percentile of the time to a 429, of {len(refused)}; against 100 ms",
            measured=statistics.quantiles(refused, n=100)[98] if len(refused) > 1 else 0.0,
            against=100.0,
            unit="ms",
        ),
        Check(
            name="overload: share refused",
            what=f"requests that got a 429; against all, {OVERLOAD} times what is answered",
            measured=len(refused),
            against=len(tried.answers),
            unit="requests",
        ),
        Check(
            name="overload: lost",
            what=f"requests with neither an answer nor a 429{_told(others)}; "
            "against those answered",
            measured=len(others),
            against=len(accepted),
            unit="requests",
        ),
        Check(
            name="overload: memory",
            what="resident memory at its end; against that half way",
            measured=server.memory_mb(),
            against=max(half_way, before),
            unit="MB",
        ),
        Check(
            name="overload: back to normal",
            what="from the last request sent until all were answered, and a lone one then took "
            f"{1_000 * usual:.1f} ms; against 5 s",
            measured=ended - sent_until,
            against=5.0,
            unit="s",
        ),
    ]


async def _later(seconds: float, server: Server) -> float:
    await asyncio.sleep(seconds)
    return server.memory_mb()


def mixture(bundle: Bundle, texts: Sequence[str], port: int) -> list[bytes]:
    """Requests of all sizes and routes, right and wrong."""
    annotate = partial(request_of, "/v1/annotate", port=port)
    infer = f"/v2/models/{bundle.name}/infer"
    tensor = {"name": "text", "datatype": "BYTES", "shape": [2], "data": list(texts[:2])}
    requests = [
        *(annotate({"text": text}) for text in texts[:200]),
        *(annotate({"texts": list(texts[i : i + 20])}) for i in range(0, 400, 20)),
        *(annotate({"text": text, "probabilities": True}) for text in texts[:50]),
        *(annotate({"text": text, "split": "sentences"}) for text in texts[:20]),
        *(request_of(infer, {"inputs": [tensor]}, port=port) for _ in range(10)),
        *(annotate({"text": 1}) for _ in range(10)),
        *(annotate({"text": "word " * 4_000}) for _ in range(5)),
    ]
    if any(task.kind in TEXT_KINDS for task in bundle.tasks):
        requests += [request_of("/v1/classify", {"text": t}, port=port) for t in texts[:50]]
    return requests


def mixed_checks(server: Server, requests: Sequence[bytes], *, seconds: float) -> list[Check]:
    samples: list[tuple[float, float, int]] = []  # minutes, MB, descriptors

    def look() -> None:
        minutes = time.perf_counter() / 60
        samples.append((minutes, server.memory_mb(), server.n_descriptors()))

    tried = asyncio.run(
        mixed_loop(server.port, requests, n_clients=8, seconds=seconds, each_second=look)
    )
    settled = samples[len(samples) // 5 :]
    times, sizes, descriptors = zip(*settled, strict=True)
    slope = statistics.linear_regression(times, sizes).slope if len(settled) > 1 else 0.0
    third = max(1, len(descriptors) // 3)
    odd = [one for one in tried.answers if one.status not in (200, UNREADABLE)]
    return [
        Check(
            name="mixed load: memory",
            what=f"growth a minute over {seconds / 60:.3g} minutes; against 1 MB",
            measured=slope,
            against=1.0,
            unit="MB/min",
        ),
        Check(
            name="mixed load: descriptors",
            what="median number of open files in the last third; against the first",
            measured=statistics.median(descriptors[-third:]),
            against=statistics.median(descriptors[:third]),
            unit="files",
        ),
        Check(
            name="mixed load: odd answers",
            what="neither 200 nor, to what cannot be read, 422; against all requests",
            measured=len(odd),
            against=len(tried.answers),
            unit="requests",
        ),
    ]


@contextmanager
def serving(bundle: Bundle, *, n_threads: int) -> Iterator[Server]:
    """`limbeck serve` on a free port."""
    command = [sys.executable, "-m", "limbeck", "serve", f"{bundle.name}={bundle.folder}"]
    command += ["--port", "0", "--threads", str(n_threads)]
    with _process(command, r"on http://\S+:(\d+)") as server:
        yield server


@contextmanager
def peer_serving(bundle: Bundle, *, n_threads: int) -> Iterator[Server]:
    """The pipeline that most would write, with the body that the student had before int8."""
    command = [sys.executable, str(PEER), str(bundle.folder / "backbone"), str(n_threads)]
    command += [str(bundle.folder / "tokenizer.json"), pad_token(bundle), str(bundle.max_pieces)]
    with _process(command, r"on port (\d+)") as server:
        yield server


@contextmanager
def _process(command: Sequence[str], announcement: str) -> Iterator[Server]:
    """A server that says on stderr which port it has; ended by SIGTERM."""
    # a file, as a pipe that nobody empties would hold up a server that has much to say
    with tempfile.TemporaryFile("w+") as said, subprocess.Popen(command, stderr=said) as process:
        try:
            yield Server(pid=process.pid, port=_announced(process, said, announcement))
        finally:
            process.terminate()
            try:
                process.wait(LEAVING_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()


def _announced(process: subprocess.Popen[bytes], said: TextIO, announcement: str) -> int:
    until = time.monotonic() + STARTING_SECONDS
    text = ""
    while time.monotonic() < until:
        has_ended = process.poll() is not None
        said.seek(0)
        text = said.read()
        match = re.search(announcement, text)
        if match:
            return int(match[1])
        if has_ended:
            break
        time.sleep(0.1)
    raise StageError(f"a server did not start: {(text.strip().splitlines() or [''])[-1]}")
