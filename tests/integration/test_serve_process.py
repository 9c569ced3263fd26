"""The command: what it refuses to start with, and how it leaves."""

import os
import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from serving import process
from toys import toy_records

TOKEN = "correct-horse-battery"


def serve(*arguments: object, token: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "limbeck", "serve", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, "LIMBECK_TOKEN": token},
    )


@pytest.mark.parametrize(
    ("arguments", "token", "message"),
    [
        (["BUNDLE", "--host", "0.0.0.0"], "", "there is no token"),
        (["BUNDLE", "--host", "example.org"], "", "there is no token"),
        (["BUNDLE", "--host", "0.0.0.0"], "short", "at least 16"),
        (["BUNDLE", "--max-waiting", "3"], "", "a request may have 1024"),
        (["BUNDLE", "--port", "TAKEN"], "", "in use"),
        (["BUNDLE", "BUNDLE", "--port", "0"], "", "two bundles are called 'toy'"),
        (["nowhere", "--port", "0"], "", "not a bundle"),
    ],
)
def test_a_wrong_call_gets_one_clear_line(
    toy_bundle: Path, arguments: list[str], token: str, message: str
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        places = {"BUNDLE": toy_bundle, "TAKEN": taken.getsockname()[1]}
        done = serve(*[places.get(a, a) for a in arguments], token=token)
    assert done.returncode == 2, done.stderr
    errors = [line for line in done.stderr.splitlines() if not line.startswith("hint: ")]
    assert len(errors) == 1, done.stderr
    assert message in errors[0]


def test_on_sigterm_what_was_accepted_is_answered_and_the_exit_code_is_0(
    toy_bundle: Path,
) -> None:
    words = [record.words for record in toy_records(1_000, seed=6)]
    room = ("--max-waiting", "2000")
    with process(toy_bundle, arguments=room) as (server, url), ThreadPoolExecutor(8) as pool:

        def ask(_: int) -> int:
            with httpx.Client(base_url=url, timeout=60) as client:
                answer = client.post("/v1/annotate", json={"words": words[:250]})
            assert answer.status_code == 200
            return len(answer.json()["results"])

        asked = [pool.submit(ask, i) for i in range(8)]
        while httpx.get(f"{url}/metrics").text.count('texts_total{model="toy"} 2000.0') == 0:
            for early in asked:
                if early.done():  # a refusal ends the test, which would wait for ever
                    early.result()
        server.send_signal(signal.SIGTERM)
        assert [done.result() for done in asked] == [250] * 8
        assert server.wait(30) == 0
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"{url}/v2/health/ready")


def test_the_token_comes_from_the_environment(toy_bundle: Path) -> None:
    with process(toy_bundle, arguments=("--host", "0.0.0.0"), token=TOKEN) as (server, url):
        url = url.replace("0.0.0.0", "127.0.0.1")
        assert httpx.get(f"{url}/info").status_code == 401
        answer = httpx.get(f"{url}/info", headers={"authorization": f"Bearer {TOKEN}"})
        assert answer.status_code == 200
        server.send_signal(signal.SIGINT)
        assert server.wait(30) == 0


def test_many_connections_at_once_get_their_own_answers(toy_bundle: Path) -> None:
    records = toy_records(64, seed=7)
    with (
        process(toy_bundle, arguments=("--workers", "1")) as (_, url),
        httpx.Client(base_url=url, timeout=60, limits=httpx.Limits(max_connections=32)) as client,
        ThreadPoolExecutor(32) as pool,
    ):
        answers = pool.map(
            lambda r: client.post("/v1/annotate", json={"words": [r.words]}).json(), records
        )
        found = [answer["results"][0]["words"] for answer in answers]
    assert found == [list(record.words) for record in records]
