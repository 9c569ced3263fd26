"""The page in a real browser. Left out where there is no Chromium or no playwright."""

import hashlib
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlencode

import pytest
from serving import process

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route

sync_api = pytest.importorskip("playwright.sync_api")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium (apt-get install chromium)")

TEXT = "The cat sees a dog . Not on the red bird !"
HOSTILE = (
    '<img src=x onerror="document.title=1"> <script>document.title=1</script> &amp; <b>cat</b>'
)


def relabel(bundle: Path, task: str) -> None:
    """Let a copy of a bundle say other labels, and its manifest agree."""
    path, manifest = bundle / "labels" / f"{task}.json", bundle / "bundle.json"
    codec = json.loads(path.read_text())
    path.write_text(json.dumps({**codec, "names": codec["names"][::-1]}))
    said = json.loads(manifest.read_text())
    raw = path.read_bytes()
    said["files"][f"labels/{task}.json"] = {
        "size_bytes": len(raw),
        "sha256": hashlib.sha256(raw).hexdigest(),
    }
    manifest.write_text(json.dumps(said))


@pytest.fixture(scope="module")
def url(toy_bundle: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    other = tmp_path_factory.mktemp("other") / "bundle"
    shutil.copytree(toy_bundle, other)
    relabel(other, "upos")
    relabel(other, "mood")
    with process(Path(f"one={toy_bundle}"), Path(f"two={other}")) as (_, url):
        yield url


@pytest.fixture(scope="module")
def browser() -> Iterator["Browser"]:
    with sync_api.sync_playwright() as playwright:
        # inside a container there is no sandbox to be had; the page is our own
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def page(browser: "Browser", url: str) -> Iterator["Page"]:
    context = browser.new_context(base_url=url, permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda m: complaints.append(m.text) if m.type == "error" else None)
    page.on("pageerror", lambda failure: complaints.append(str(failure)))
    yield page
    assert not complaints, "errors, or what the content security policy forbade"
    context.close()


def opened(page: "Page", **state: str) -> None:
    page.goto("about:blank")
    page.goto(f"/#{urlencode(state)}")
    page.wait_for_selector(".panel")


def test_typing_annotates_and_two_bundles_are_compared(page: "Page") -> None:
    page.goto("/")
    page.get_by_label("Your text").press_sequentially(TEXT)
    page.wait_for_selector(".panel >> text=Sentence 2 of 2")
    panels = page.locator(".panel")
    assert panels.count() == 2
    assert panels.first.locator("svg.tree").count() == 2
    assert panels.first.locator("svg.tree .form").all_text_contents()[:6] == TEXT.split()[:6]
    assert page.locator(".word.differs").count() > 0
    assert panels.first.locator(".note").first.inner_text().startswith("≠")
    assert "MB" in panels.first.locator(".facts").inner_text()
    assert "ms" in panels.first.locator(".facts").inner_text()
    assert panels.first.locator(".bars li").count() == 8
    page.get_by_label("beside").select_option("")
    sync_api.expect(panels).to_have_count(1)
    assert page.locator(".word.differs").count() == 0


def test_a_tree_is_read_by_keyboard(page: "Page") -> None:
    opened(page, text=TEXT)
    page.locator(".word").first.focus()
    for key, word in [("ArrowRight", "cat"), ("End", "."), ("Home", "The"), ("ArrowLeft", "The")]:
        page.keyboard.press(key)
        said = page.evaluate("document.activeElement.getAttribute('aria-label')")
        assert said.startswith(f"{word}: upos ")
        assert "lemma" in said
        detail = page.locator(".detail").first.inner_text()
        assert word in detail
        assert "lemma" in detail
    assert page.locator(".panel").first.locator("svg.tree .word[tabindex='0']").count() == 2
    assert page.locator(".link.on").count() > 0


def test_markup_in_a_text_stays_text(page: "Page") -> None:
    opened(page, text=HOSTILE, split="space")
    assert page.locator("svg.tree").first.locator(".form").all_text_contents() == HOSTILE.split()
    assert page.locator("#results img, #results script, #results b").count() == 0
    assert page.title() == "limbeck"


def test_markup_in_labels_and_names_stays_text(page: "Page") -> None:
    def poisoned(value: object) -> object:
        if isinstance(value, dict):
            return {k: poisoned(v) for k, v in value.items()}
        if isinstance(value, list):
            return [poisoned(v) for v in value]
        return f"{value}{HOSTILE}" if value in ("VERB", "NOUN", "det", "dep", "see") else value

    def answer(route: "Route") -> None:
        value = poisoned(route.fetch().json())
        assert isinstance(value, dict)
        for result in value["results"]:
            result["labels"]["mood"] = HOSTILE
            result["probabilities"]["mood"] = {HOSTILE: 0.9, "<b>x</b>": 0.1}
        route.fulfill(json=value)

    def info(route: "Route") -> None:
        value = route.fetch().json()
        value["models"][0]["evidence"] = {"metrics": {HOSTILE: 1, "<b>": HOSTILE}}
        route.fulfill(json=value)

    page.route("**/v1/annotate", answer)
    page.route("**/info", info)
    opened(page, text=TEXT)
    page.locator(".word").first.hover()
    page.locator("summary").first.click()
    page.get_by_text("As a table").first.click()
    assert page.locator("#results img, #results script, #results b").count() == 0
    assert HOSTILE in page.locator("#results").inner_text()
    assert page.title() == "limbeck"


def test_the_link_holds_the_state_and_the_server_never_sees_it(page: "Page") -> None:
    urls: list[str] = []
    page.on("request", lambda request: urls.append(request.url.partition("#")[0]))
    opened(page, text="a secret dog", other="", model="two", split="words")
    page.get_by_role("button", name="Copy link").click()
    page.wait_for_selector("text=Link copied")
    link = page.evaluate("navigator.clipboard.readText()")
    assert "secret" in link.partition("#")[2]
    page.goto("about:blank")
    page.goto(link)
    page.wait_for_selector(".panel")
    assert page.get_by_label("Your text").input_value() == "a secret dog"
    assert page.locator(".panel h2").first.inner_text() == "two"
    assert not [url for url in urls if "secret" in url]


def test_what_is_copied_is_what_the_api_gives(page: "Page") -> None:
    opened(page, text=TEXT)
    page.get_by_role("button", name="Copy JSON").click()
    page.wait_for_selector("text=JSON copied")
    copied = json.loads(page.evaluate("navigator.clipboard.readText()"))
    assert [entry["model"] for entry in copied] == ["one", "two"]
    assert len(copied[0]["results"]) == 2
    page.get_by_role("button", name="Copy CoNLL-U").click()
    page.wait_for_selector("text=CoNLL-U copied")
    conllu = page.evaluate("navigator.clipboard.readText()")
    assert conllu.count("\t") == 9 * 12


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_is_wide_enough_and_a_theme_is_followed(
    page: "Page", scheme: Literal["light", "dark"]
) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    page.emulate_media(color_scheme=scheme)
    opened(page, text=TEXT + " " + "antidisestablishmentarianism" * 4)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(20, 23, 26)") is (scheme == "dark")
    page.get_by_role("button", name="Theme").click()
    assert "light" in page.get_by_role("button", name="Theme").inner_text()


def test_a_refusal_is_said_aloud(page: "Page") -> None:
    page.route(
        "**/v1/annotate",
        lambda route: route.fulfill(status=200, body="not json", content_type="text/plain"),
    )
    page.goto(f"/#{urlencode({'text': TEXT})}")
    page.wait_for_selector("#status.bad")
    assert page.locator("#status").get_attribute("aria-live") == "polite"


def test_the_api_page_lists_and_tries_every_operation(page: "Page") -> None:
    page.goto("/docs")
    page.wait_for_selector(".operation")
    assert page.locator(".operation .path").filter(has_text="/v1/annotate").count() == 1
    first = page.locator(".operation").first
    first.locator("summary").click()
    first.get_by_role("button", name="Send").click()
    first.locator("pre[aria-live]", has_text='"results"').wait_for()
