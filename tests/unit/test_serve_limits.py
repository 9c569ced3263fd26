"""Settings of the server: what opens it, what is too little, and who is known by which name."""

import pytest

from limbeck.errors import ConfigError
from limbeck.serve.forms import pick_form
from limbeck.serve.limits import LOOPBACK_NAMES, Limits, decide_access

TOKEN = "correct-horse-battery"


@pytest.mark.parametrize("name", ["body_bytes", "texts", "pieces", "waiting", "seconds"])
def test_a_limit_of_nothing_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match=name):
        Limits(**{name: 0})


def test_the_queue_holds_one_request_at_least() -> None:
    Limits(texts=5, waiting=5)
    with pytest.raises(ConfigError, match="4 texts"):
        Limits(texts=5, waiting=4)


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost", "127.8.8.8"])
def test_this_machine_alone_needs_no_token_and_is_asked_by_its_own_name(host: str) -> None:
    access = decide_access(host, token=None, is_insecure=False)
    assert access.token is None
    assert access.hosts == LOOPBACK_NAMES


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.0.1", "example.org", "localhost.x"])
def test_other_addresses_need_a_token_or_a_word(host: str) -> None:
    with pytest.raises(ConfigError, match="no token"):
        decide_access(host, token=None, is_insecure=False)
    assert decide_access(host, token=TOKEN, is_insecure=False).token == TOKEN
    assert decide_access(host, token=None, is_insecure=True).token is None


def test_a_token_that_can_be_guessed_or_sent_by_no_client_is_refused() -> None:
    with pytest.raises(ConfigError, match="at least 16"):
        decide_access("127.0.0.1", token="secret", is_insecure=False)
    with pytest.raises(ConfigError, match="no header can hold"):
        decide_access("127.0.0.1", token="ä" * 20, is_insecure=False)


def test_more_names_are_added_and_none_is_lost() -> None:
    more = frozenset({"box.example"})
    local = decide_access("127.0.0.1", token=None, is_insecure=False, more_hosts=more)
    assert local.hosts == LOOPBACK_NAMES | more
    assert decide_access("::", token=TOKEN, is_insecure=False, more_hosts=more).hosts == more


@pytest.mark.parametrize(
    ("accept", "form"),
    [
        ("", "json"),
        ("*/*", "json"),
        ("text/x-conllu", "conllu"),
        ("text/html, Text/X-CoNLLU;q=0.5", "conllu"),
        ("application/x-ndjson", "lines"),
        ("application/jsonl, text/x-conllu", "lines"),
    ],
)
def test_the_form_is_picked_by_the_accept_header(accept: str, form: str) -> None:
    assert pick_form(accept) == form
