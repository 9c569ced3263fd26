"""The routes: what comes in is answered in order, what is too much is refused with its limit."""

import base64
import json
import shutil
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import BaseModel
from serving import open_toy, results_of, serving
from starlette.testclient import TestClient
from toys import toy_records

from limbeck.bundle import load_bundle
from limbeck.data.pieces import Batch
from limbeck.data.records import Record
from limbeck.runtime.annotate import AnnotateConfig, Annotator
from limbeck.serve import wire
from limbeck.serve.limits import Access, Limits

TEXT = "The cat sees a dog ."
EMBED = {"model": "toy", "input": TEXT}
HOSTILE = "<img src=x onerror=alert(1)> & </script> \"quoted\" 'too' \u202e \u0000 x"


@pytest.fixture(scope="module")
def toy(toy_bundle: Path) -> Annotator:
    return open_toy(toy_bundle)


@pytest.fixture(scope="module")
def client(toy: Annotator) -> Iterator[TestClient]:
    with serving(toy, toy) as client:
        yield client


def as_json(value: object) -> Any:
    return json.loads(json.dumps(value))


def test_texts_are_answered_as_the_annotator_does_and_in_order(
    client: TestClient, toy: Annotator
) -> None:
    records = toy_records(40, seed=3)
    results = results_of(client, {"words": [record.words for record in records]})
    assert [result["input"] for result in results] == list(range(40))
    for result, record, wanted in zip(results, records, toy.annotate(records), strict=True):
        assert result["words"] == list(record.words)
        found, expected = result["labels"], as_json(dict(wanted.labels))
        assert found.pop("length") == pytest.approx(expected.pop("length"), abs=1e-3)
        assert found == expected


def test_one_text_many_texts_and_words_are_the_same_thing(client: TestClient) -> None:
    (one,) = results_of(client, {"text": TEXT})
    (many,) = results_of(client, {"texts": [TEXT]})
    (words,) = results_of(client, {"words": [TEXT.split()]})
    assert one == many == words


def test_only_the_tasks_that_were_asked_for(client: TestClient) -> None:
    (result,) = results_of(client, {"text": TEXT, "tasks": ["upos", "mood"]})
    assert set(result["labels"]) == {"upos", "mood"}
    assert "probabilities" not in result


def test_probabilities_come_for_words_and_for_every_class(client: TestClient) -> None:
    (result,) = results_of(client, {"text": TEXT, "probabilities": True})
    chances = result["probabilities"]
    assert len(chances["upos"]) == 6
    assert sum(chances["mood"].values()) == pytest.approx(1, abs=1e-3)
    assert max(chances["mood"], key=chances["mood"].get) == result["labels"]["mood"]
    assert set(chances["topics"]) == {"cat", "dog"}
    assert "length" not in chances


def test_raw_text_becomes_sentences_that_know_their_text(client: TestClient) -> None:
    texts = ["The cat sees. A dog runs!", "", "Not red."]
    results = results_of(client, {"texts": texts, "split": "sentences"})
    assert [(r["input"], " ".join(r["words"])) for r in results] == [
        (0, "The cat sees ."),
        (0, "A dog runs !"),
        (2, "Not red ."),
    ]
    (whole,) = results_of(client, {"text": texts[0], "split": "words"})
    assert len(whole["words"]) == 8


@pytest.mark.parametrize("body", [{"texts": []}, {"words": []}, {"text": ""}, {"words": [[]]}])
def test_nothing_is_answered_with_nothing(client: TestClient, body: dict[str, Any]) -> None:
    results = results_of(client, body)
    assert all(result["words"] == [] for result in results)
    n = len(next(iter(body.values()))) if "text" not in body else 1
    assert len(results) == n


def test_a_pair_has_labels_of_the_whole_and_disturbs_no_neighbour(
    client: TestClient, toy_bundle: Path
) -> None:
    (wanted,) = results_of(client, {"text": TEXT})
    with ThreadPoolExecutor(8) as pool:
        pairs = [pool.submit(results_of, client, {"text": "a cat", "pair": "a"}) for _ in range(8)]
        alone = [pool.submit(results_of, client, {"text": TEXT}) for _ in range(8)]
    for done in alone:
        (found,) = done.result()
        assert found["labels"]["upos"] == wanted["labels"]["upos"]
        assert found["labels"]["dep"] == wanted["labels"]["dep"]
    config = AnnotateConfig(tasks=("mood",), n_threads=1)
    text_only = Annotator(load_bundle(toy_bundle), config)
    (direct,) = text_only.annotate([Record(words=("a", "cat"), pair=("a",))])
    for done in pairs:
        (result,) = done.result()
        assert set(result["labels"]) == {"mood", "topics", "length"}
        assert result["labels"]["mood"] == direct.labels["mood"]
    refused = client.post("/v1/annotate", json={"text": "a", "pair": "b", "tasks": ["upos"]})
    assert refused.status_code == 422


def test_conllu_by_accept_header(client: TestClient) -> None:
    answer = client.post(
        "/v1/annotate",
        json={"texts": [TEXT, "", "a dog"]},
        headers={"accept": "text/x-conllu, */*"},
    )
    assert answer.headers["content-type"].startswith("text/x-conllu")
    blocks = answer.text.split("\n\n")
    assert [block.count("\t") for block in blocks] == [9 * 6, 9 * 2, 0]
    assert blocks[0].startswith(f"# text = {TEXT}\n# mood = ")
    spaced = client.post(
        "/v1/annotate", json={"words": [["a b"]]}, headers={"accept": "text/x-conllu"}
    )
    assert spaced.status_code == 422
    assert "cannot stand in CoNLL-U" in spaced.json()["error"]


def test_json_lines_are_the_same_results_one_a_line(client: TestClient) -> None:
    body = {"words": [record.words for record in toy_records(300, seed=4)]}
    wanted = results_of(client, body)
    answer = client.post("/v1/annotate", json=body, headers={"accept": "application/jsonl"})
    assert answer.headers["content-type"] == "application/jsonl"
    found = [json.loads(line) for line in answer.text.splitlines()]
    assert [row["labels"]["upos"] for row in found] == [row["labels"]["upos"] for row in wanted]
    assert [row["input"] for row in found] == list(range(300))
    empty = client.post("/v1/annotate", json={"texts": []}, headers={"accept": "application/jsonl"})
    assert (empty.status_code, empty.text) == (200, "")


def test_many_clients_at_once_each_get_their_own_answer(client: TestClient) -> None:
    records = toy_records(60, seed=5)
    wanted = results_of(client, {"words": [record.words for record in records]})

    def ask(record: Record) -> dict[str, Any]:
        (result,) = results_of(client, {"words": [record.words]})
        return result

    with ThreadPoolExecutor(12) as pool:
        found = list(pool.map(ask, records))
    for one, other in zip(found, wanted, strict=True):
        assert one["words"] == other["words"]
        assert one["labels"]["dep"] == other["labels"]["dep"]


def test_bundles_are_asked_by_name(client: TestClient) -> None:
    answer = client.post("/v1/annotate", json={"text": TEXT, "model": "toy2"})
    assert answer.json()["model"] == "toy2"
    assert client.post("/v1/annotate", json={"text": TEXT}).json()["model"] == "toy"
    absent = client.post("/v1/annotate", json={"text": TEXT, "model": "none"})
    assert absent.status_code == 404
    assert "toy, toy2" in absent.json()["error"]
    no_task = client.post("/v1/annotate", json={"text": TEXT, "tasks": ["nix"]})
    assert no_task.status_code == 404
    assert "no task 'nix' in this model; there are upos" in no_task.json()["error"]


def test_classify_gives_all_classes_the_likeliest_first(client: TestClient) -> None:
    answer = client.post("/v1/classify", json={"texts": [TEXT, "not"]}).json()
    assert len(answer["results"]) == 2
    for result in answer["results"]:
        chances = [entry["probability"] for entry in result["classes"]["mood"]]
        assert chances == sorted(chances, reverse=True)
        assert result["chosen"]["mood"] == result["classes"]["mood"][0]["label"]
        assert set(result["values"]) == {"length"}


def test_the_open_inference_protocol(client: TestClient) -> None:
    assert client.get("/v2/health/live").json() == {"live": True}
    assert client.get("/v2/health/ready").json() == {"ready": True}
    assert client.get("/v2/models/toy/ready").status_code == 200
    meta = client.get("/v2/models/toy").json()
    tensor = {"name": "text", "shape": [2], "datatype": "BYTES", "data": [TEXT, "a dog"]}
    body = {"id": "7", "inputs": [tensor]}
    answer = client.post("/v2/models/toy/infer", json=body).json()
    assert answer["id"] == "7"
    assert [t["name"] for t in answer["outputs"]] == [t["name"] for t in meta["outputs"]]
    by_name = {t["name"]: t for t in answer["outputs"]}
    assert [len(json.loads(tags)) for tags in by_name["upos"]["data"]] == [6, 2]
    assert by_name["length"]["datatype"] == "FP64"
    floats = {"inputs": [{**tensor, "shape": [2.0]}]}  # JSON does not tell 2.0 from 2
    assert client.post("/v2/models/toy/infer", json=floats).status_code == 200
    some = client.post("/v2/models/toy/infer", json={**body, "outputs": [{"name": "mood"}]})
    assert [t["name"] for t in some.json()["outputs"]] == ["mood"]
    wrong = client.post("/v2/models/toy/infer", json={"inputs": [{**tensor, "shape": [3]}]})
    assert wrong.status_code == 422
    assert client.get("/v2/models/none").status_code == 404


def test_vectors_come_as_openai_sends_them(client: TestClient, toy: Annotator) -> None:
    texts = [TEXT, "a", "", "the dog runs"]
    wanted = toy.vectors([Record(words=tuple(text.split())) for text in texts])
    for given, expected in ((texts, wanted), (TEXT, wanted[:1]), ([], wanted[:0])):
        body = {"model": "toy", "input": given}
        answer = client.post("/v1/embeddings", json=body).json()
        assert wire.EmbeddingsResult.model_validate(answer)
        assert [one["index"] for one in answer["data"]] == list(range(len(expected)))
        for one, vector in zip(answer["data"], expected, strict=True):
            assert one["embedding"] == pytest.approx(vector.tolist(), abs=1e-6)
        coded = client.post("/v1/embeddings", json={**body, "encoding_format": "base64"}).json()
        for one, vector in zip(coded["data"], expected, strict=True):
            numbers = np.frombuffer(base64.b64decode(one["embedding"]), dtype="<f4")
            assert numbers == pytest.approx(vector, abs=1e-6)
    n_pieces = sum(len(row.ids) for row in toy.cut([Record(words=tuple(TEXT.split()))])[0])
    usage = client.post("/v1/embeddings", json={"model": "toy", "input": TEXT}).json()["usage"]
    assert usage == {"prompt_tokens": n_pieces, "total_tokens": n_pieces}


def test_refused_vectors_are_told_in_openais_words(toy_bundle: Path, tmp_path: Path) -> None:
    shutil.copytree(toy_bundle, tmp_path / "without")
    path = tmp_path / "without" / "bundle.json"
    manifest = json.loads(path.read_text())
    del manifest["vectors"]
    path.write_text(json.dumps(manifest))
    bodies: list[tuple[dict[str, object], int, str]] = [
        ({"model": "toy2", "input": "a"}, 404, "labels, not vectors"),
        ({"model": "none", "input": "a"}, 404, "no model"),
        ({"model": "toy"}, 422, "input"),
        ({"model": "toy", "input": "a", "dimensions": 3}, 422, "cannot be cut"),
        ({"model": "toy", "input": ["a"] * 3}, 413, "limit texts"),
        ({"model": "toy", "input": "a " * 2_000}, 422, "limit pieces"),
    ]
    limits = Limits(texts=2, pieces=100)
    with serving(open_toy(toy_bundle), open_toy(tmp_path / "without"), limits=limits) as client:
        for body, status, words in bodies:
            answer = client.post("/v1/embeddings", json=body)
            assert answer.status_code == status, body
            error = answer.json()["error"]
            assert set(error) == {"message", "type", "param", "code"}
            assert words in error["message"]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"{", "Invalid JSON"),
        (b"[]", "one of text, texts and words is due"),
        (b'{"text": 1}', "valid string"),
        (b'{"text": "a", "texts": []}', "Extra inputs"),
        (b'{"text": "a", "probabilites": true}', "probabilites: Extra inputs"),
        (b'{"words": [["a", ""]]}', "at least 1 character"),
        (b'{"text": "\\ud800"}', "Invalid JSON"),
        (b'{"text": "\xff"}', "Invalid JSON"),
        (b"[" * 5_000, "Invalid JSON"),
    ],
)
def test_bad_bodies_get_one_clear_line(client: TestClient, body: bytes, words: str) -> None:
    answer = client.post("/v1/annotate", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 422, answer.text
    assert words in answer.json()["error"]


def test_a_refusal_does_not_repeat_the_text(client: TestClient) -> None:
    answer = client.post("/v1/annotate", json={"texts": [["secret"]]})
    assert answer.status_code == 422
    assert "secret" not in answer.text


def test_other_content_types_are_refused(client: TestClient) -> None:
    answer = client.post("/v1/annotate", content=b'{"text": "a"}')
    assert answer.status_code == 415
    packed = client.post(
        "/v1/annotate",
        content=b"",
        headers={"content-type": "application/json", "content-encoding": "gzip"},
    )
    assert packed.status_code == 415


def test_hostile_text_comes_back_as_it_went_in(client: TestClient) -> None:
    (result,) = results_of(client, {"text": HOSTILE})
    assert result["words"] == HOSTILE.split()
    answer = client.post("/v1/annotate", json={"text": HOSTILE})
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"


LIMITS = Limits(body_bytes=2_000, texts=3, pieces=20, waiting=5)


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({"text": "a " * 2_000}, 413, "2000 bytes (limit body_bytes)"),
        ({"texts": ["a"] * 4}, 413, "4 texts; a request may have 3 (limit texts)"),
        ({"text": "A b. A b! A b? A c. D.", "split": "sentences"}, 413, "(limit texts)"),
        ({"texts": ["a", "cat " * 40]}, 422, "text 1 has 42 pieces; it may have 20"),
    ],
)
def test_over_a_limit_the_answer_names_it(
    toy: Annotator, body: dict[str, Any], status: int, words: str
) -> None:
    with serving(toy, limits=LIMITS) as client:
        answer = client.post("/v1/annotate", json=body)
        assert answer.status_code == status, answer.text
        assert words in answer.json()["error"]
        assert results_of(client, {"text": "a"}), "the next request is served"


def test_a_body_without_a_length_meets_the_limit_too(toy: Annotator) -> None:
    with serving(toy, limits=LIMITS) as client:
        answer = client.post(
            "/v1/annotate",
            content=(b"x" * 500 for _ in range(10)),
            headers={"content-type": "application/json"},
        )
        assert answer.status_code == 413


class Held:
    """An engine that waits until it is let go."""

    def __init__(self, annotator: Annotator, monkeypatch: pytest.MonkeyPatch) -> None:
        self.go = threading.Event()
        self.has_begun = threading.Event()
        self.n_rows: list[int] = []
        real = annotator.engine.run

        def run(batch: Batch) -> Any:
            self.n_rows.append(len(batch.n_words))
            self.has_begun.set()
            assert self.go.wait(20)
            return real(batch)

        monkeypatch.setattr(annotator.engine, "run", run)


def wait_for_queue(client: TestClient, n: int) -> None:
    """Until so many texts wait; the metric is what an operator would look at."""
    for _ in range(2_000):
        if f"limbeck_queue_texts {float(n)}\n" in client.get("/metrics").text:
            return
    raise AssertionError(f"never {n} texts in the queue")


def test_a_full_queue_refuses_at_once_and_loses_nothing(
    toy_bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toy = open_toy(toy_bundle)
    held = Held(toy, monkeypatch)
    with serving(toy, limits=Limits(texts=2, waiting=4)) as client, ThreadPoolExecutor(8) as pool:
        first = pool.submit(results_of, client, {"text": TEXT})
        assert held.has_begun.wait(20)
        waiting = [pool.submit(results_of, client, {"texts": [TEXT] * 2}) for _ in range(2)]
        wait_for_queue(client, 4)
        answer = client.post("/v1/annotate", json={"text": TEXT})
        assert answer.status_code == 429
        assert int(answer.headers["retry-after"]) >= 1
        assert "4 texts" in answer.json()["error"]
        held.go.set()
        assert len(first.result()) == 1
        assert [len(done.result()) for done in waiting] == [2, 2]
        assert held.n_rows == [1, 4], "a lone request goes at once, the others together"
        assert results_of(client, {"text": TEXT}), "and it is open again"


def test_out_of_time_is_told_and_leaves_the_queue(
    toy_bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toy = open_toy(toy_bundle)
    held = Held(toy, monkeypatch)
    with serving(toy, limits=Limits(seconds=0.2)) as client, ThreadPoolExecutor(2) as pool:
        first = pool.submit(client.post, "/v1/annotate", json={"text": TEXT})
        assert held.has_begun.wait(20)
        late = client.post("/v1/annotate", json={"texts": [TEXT, TEXT]})
        assert late.status_code == 503
        assert "0.2 s (limit seconds)" in late.json()["error"]
        assert first.result().status_code == 503
        assert client.get("/v2/health/ready").status_code == 503, "the engine hangs"
        assert "limbeck_dropped_texts_total 2.0" in client.get("/metrics").text
        held.go.set()
    assert held.n_rows == [1]


def test_a_failing_engine_is_replaced_and_its_requests_hear(
    toy_bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toy = open_toy(toy_bundle)

    def broken(_batch: object) -> None:
        raise RuntimeError("out of order")

    monkeypatch.setattr(toy.engine, "run", broken)
    with serving(toy) as client:
        answer = client.post("/v1/annotate", json={"text": TEXT})
        assert answer.status_code == 503
        assert answer.headers["retry-after"]
        assert "out of order" not in answer.text
        assert results_of(client, {"text": TEXT})[0]["words"] == TEXT.split()
        assert "limbeck_workers_replaced_total 1.0" in client.get("/metrics").text


TOKEN = "correct-horse-battery"


def test_the_token_guards_every_route_but_health(toy: Annotator) -> None:
    with serving(toy, access=Access(token=TOKEN, hosts=None)) as client:
        document = client.get("/openapi.json", headers={"authorization": f"Bearer {TOKEN}"}).json()
        paths = [*document["paths"], "/", "/docs", "/openapi.json", "/static/page.js", "/none"]
        for path in paths:
            is_open = path in ("/v2/health/live", "/v2/health/ready")
            for method in ("GET", "POST"):
                status = client.request(method, path.replace("{name}", "toy")).status_code
                assert (status != 401) is is_open, (method, path)
        body = {"text": TEXT}
        for header in ("Bearer wrong", "Bearer", "Basic !", "Basic eDp5", f"Bearer {TOKEN}x", ""):
            refused = client.post("/v1/annotate", json=body, headers={"authorization": header})
            assert refused.status_code == 401
            assert "www-authenticate" in refused.headers
        for good in (f"Bearer {TOKEN}", f"bearer {TOKEN}"):
            assert client.get("/info", headers={"authorization": good}).status_code == 200
        assert client.get("/info", auth=("anybody", TOKEN)).status_code == 200
        assert client.get("/info", auth=("anybody", "no")).status_code == 401


def test_a_page_elsewhere_cannot_reach_in_by_a_name_of_its_own(client: TestClient) -> None:
    for host, status in [
        ("localhost", 200),
        ("127.0.0.1:8000", 200),
        ("[::1]:8000", 200),
        ("evil.example", 421),
        ("127.0.0.1.evil.example:80", 421),
        ("", 421),
    ]:
        assert client.get("/info", headers={"host": host}).status_code == status, host


def test_pages_are_strict_and_name_nothing_elsewhere(client: TestClient) -> None:
    for path in ("/", "/docs", "/static/page.js", "/static/page.css", "/static/docs.js"):
        answer = client.get(path)
        assert answer.status_code == 200, path
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "require-trusted-types-for 'script'" in policy
        links = answer.text.replace("http://www.w3.org/", "")
        assert "http://" not in links, path
        assert "https://" not in links, path
        assert "innerHTML" not in answer.text, path
        again = client.get(path, headers={"if-none-match": answer.headers["etag"]})
        assert again.status_code == 304
    for path in ("/static/none.js", "/static/../app.py", "/static/%2e%2e/app.py"):
        assert client.get(path).status_code == 404


def test_answers_are_as_the_document_says(client: TestClient) -> None:
    document = client.get("/openapi.json").json()
    assert set(document["paths"]) >= {
        "/v1/annotate", "/v1/classify", "/v1/embeddings", "/v2/models/{name}/infer",
        "/v2/health/live", "/v2/health/ready", "/v2/models/{name}", "/metrics", "/info",
    }  # fmt: skip
    names = set(document["components"]["schemas"])
    used = {part.split('"')[0] for part in json.dumps(document).split("#/components/schemas/")[1:]}
    assert used <= names
    for path, operations in document["paths"].items():
        body = operations.get("post", {}).get("requestBody")
        if body is not None:
            example = body["content"]["application/json"]["example"]
            answer = client.post(path.replace("{name}", "toy"), json=example)
            assert str(answer.status_code) in operations["post"]["responses"], path
    strict: list[tuple[type[BaseModel], object]] = [
        (wire.Info, client.get("/info").json()),
        (wire.ModelMeta, client.get("/v2/models/toy").json()),
        (wire.EmbeddingsResult, client.post("/v1/embeddings", json=EMBED).json()),
        (wire.Results, client.post("/v1/annotate", json={"text": TEXT}).json()),
        (wire.ClassifyResults, client.post("/v1/classify", json={"text": TEXT}).json()),
    ]
    for model, value in strict:
        assert model.model_validate(value)


def test_metrics_count_routes_and_never_what_a_client_sent(client: TestClient) -> None:
    client.get("/v2/models/secret")
    client.get("/secret")
    text = client.get("/metrics").text
    assert 'limbeck_requests_total{route="/v1/annotate",status="200"}' in text
    assert 'limbeck_requests_total{route="/v2/models/{name}",status="404"}' in text
    assert 'limbeck_requests_total{route="none",status="404"}' in text
    for name in (
        "limbeck_request_duration_seconds_bucket", "limbeck_queue_wait_seconds_count",
        "limbeck_batch_rows_count", "limbeck_padding_pieces_total", "limbeck_pieces_total",
    ):  # fmt: skip
        assert name in text
    assert "secret" not in text


def test_the_time_of_a_request_is_told(client: TestClient) -> None:
    answer = client.post("/v1/annotate", json={"text": TEXT})
    parts = dict(p.split(";dur=") for p in answer.headers["server-timing"].split(", "))
    assert set(parts) == {"queue", "engine"}
    assert float(parts["engine"]) > 0
