"""The runtime never imports what only training needs, and start-up imports nothing heavy."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from report_rows import base_rows, write_run

ROOT = Path(__file__).parents[2] / "src" / "limbeck"
HEAVY = ("torch", "transformers", "onnx", "nncf", "safetensors", "pydantic", "sklearn", "scipy")
LIGHT_PARTS = ("data", "tasks", "runtime")
# corpora.py reads recipes, which are checked with pydantic; nothing at run time imports it
EXEMPT = {"corpora.py"}


def imports_of(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


@pytest.mark.parametrize("part", LIGHT_PARTS)
def test_light_parts_name_no_heavy_module(part: str) -> None:
    for path in (ROOT / part).glob("*.py"):
        if path.name in EXEMPT:
            continue
        names = imports_of(path)
        roots = {name.partition(".")[0] for name in names}
        assert not roots & set(HEAVY), path
        assert not any(name.startswith(("limbeck.train", "limbeck.compress")) for name in names), (
            path
        )


def test_serving_stands_on_the_runtime_alone() -> None:
    for path in (ROOT / "serve").glob("*.py"):
        names = imports_of(path)
        assert not {name.partition(".")[0] for name in names} & (set(HEAVY) - {"pydantic"}), path
        parts = {name.split(".")[1] for name in names if name.startswith("limbeck.")}
        assert not parts & {
            "train",
            "compress",
            "runs",
            "search",
            "study",
            "bench",
            "cli",
            "config",
        }, path


def test_the_order_of_parts_is_kept() -> None:
    order = [
        "data", "tasks", "runtime", "serve", "train", "compress", "runs", "search", "pretrain",
        "report", "study", "bench",
    ]  # fmt: skip
    allowed = {("data", "tasks")}  # records' readers know kinds of tasks, and nothing more
    for i, part in enumerate(order):
        for path in (ROOT / part).glob("*.py"):
            for name in imports_of(path):
                if not name.startswith("limbeck."):
                    continue
                other = name.split(".")[1]
                if other in order[i + 1 :] and (part, other) not in allowed:
                    raise AssertionError(f"{path.name} of {part} imports {name}")


def test_the_report_knows_rows_and_no_other_part() -> None:
    allowed = ("limbeck.errors", "limbeck.artefacts", "limbeck.report", "jinja2", "markupsafe")
    for path in (ROOT / "report").glob("*.py"):
        foreign = {
            name
            for name in imports_of(path)
            if not name.startswith(allowed)
            and name.partition(".")[0] not in sys.stdlib_module_names
        }
        assert not foreign, path


def loaded(code: str) -> set[str]:
    script = f"{code}\nimport sys; print(' '.join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return {name.partition(".")[0] for name in done.stdout.split()}


def test_importing_limbeck_imports_nothing_else() -> None:
    assert not loaded("import limbeck") & {*HEAVY, "numpy", "rich", "typer", "onnxruntime"}


def test_loading_a_bundle_and_annotating_stays_light(toy_bundle: Path) -> None:
    code = f"import limbeck; limbeck.load({str(toy_bundle)!r})('the cat')"
    assert not loaded(code) & set(HEAVY)


def test_the_command_line_starts_light() -> None:
    late = {*HEAVY, "numpy", "onnxruntime", "openvino", "jinja2"}
    assert not loaded("import limbeck.cli.main") & late


def test_a_report_is_written_without_what_training_needs(tmp_path: Path) -> None:
    write_run(tmp_path, base_rows())
    code = (
        "from pathlib import Path\nfrom limbeck.cli.report import report_run\n"
        f"report_run(Path({str(tmp_path)!r}), as_json=True)"
    )
    assert not loaded(code) & {*HEAVY, "numpy", "onnxruntime", "openvino"}


def test_no_part_hides_a_public_name() -> None:
    """A part named like a public function would take its place once it is imported."""
    import limbeck

    parts = {path.stem for path in ROOT.iterdir() if path.is_dir() or path.suffix == ".py"}
    assert not parts & set(limbeck.__all__)
    assert dir(limbeck) == sorted(limbeck.__all__), "what completion offers"
    for name in limbeck.__all__:
        for _ in range(2):
            assert not isinstance(getattr(limbeck, name), type(limbeck))


def test_serving_stays_without_torch(toy_bundle: Path) -> None:
    code = (
        "from limbeck.serve.app import *; import limbeck.serve.server\n"
        f"a = __import__('limbeck').load({str(toy_bundle)!r})\n"
        "access = Access(token=None, hosts=None)\n"
        "make_app({'toy': a}, ServeConfig(limits=Limits(), access=access))"
    )
    assert not loaded(code) & (set(HEAVY) - {"pydantic"})
