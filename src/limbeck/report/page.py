"""The page: a report as one HTML file that needs nothing else.

In:  `Report`.
Out: HTML. Whatever comes from rows passes through jinja2's escaping; only our own style sheet and
script, which hold no row's text, are put in as they are. The page's policy forbids it the network.
"""

import base64
import hashlib
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from limbeck.report.plots import Mark
from limbeck.report.report import Report

TEMPLATES = Path(__file__).parent / "templates"

# outlines around (0, 0): each kind has a shape of its own, beside its colour
SHAPES: dict[Mark, str] = {
    "chosen": "M0-7.5 2.2-2.4 7.3-2.2 3.3 1 4.6 6 0 3.2-4.6 6-3.3 1-7.3-2.2-2.2-2.4Z",
    "nearest": "M0-6.5 6.2 4.5h-12.4Z",
    "teacher": "M-4.5-4.5h9v9h-9Z",
    "ensemble": "M0-6.5 6.5 0 0 6.5-6.5 0Z",
    "student": "M0-5.5 5.5 4.5h-11Z",
    "bundle": "M0 5.5 5.5-4.5h-11Z",
    "keeps": "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0Z",
    "misses": "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0Z",
    "pruned": "M-3-3 3 3M3-3-3 3",
}


def page(report: Report) -> str:
    """Fill the template."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    style = (TEMPLATES / "page.css").read_text(encoding="utf-8")
    script = (TEMPLATES / "page.js").read_text(encoding="utf-8")
    return environment.get_template("page.html").render(
        report=report,
        shapes=SHAPES,
        style=Markup(style),
        script=Markup(script),
        policy=f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'",
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"
