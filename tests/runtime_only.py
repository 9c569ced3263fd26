"""Run by CI where only the runtime is installed: annotate with the bundle that the tests made.

usage: python runtime_only.py BUNDLE
"""

import json
import subprocess
import sys
from importlib.util import find_spec


def make_server(bundle: str) -> None:
    """All of the server but its socket."""
    access = "Access(token=None, hosts=None)"
    code = (
        "import limbeck; from limbeck.serve.app import *; import limbeck.serve.server\n"
        f"a = limbeck.load({bundle!r})\n"
        f"make_app({{'toy': a}}, ServeConfig(limits=Limits(), access={access}))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def main() -> None:
    bundle = sys.argv[1]
    for name in ("torch", "transformers", "onnx", "nncf", "safetensors"):
        if find_spec(name) is not None:
            sys.exit(f"{name} is installed: this is no runtime-only environment")
    text = "The cat sees a dog .\nNot on the red bird\n\n"
    done = subprocess.run(
        [sys.executable, "-m", "limbeck", "annotate", bundle, "-"],
        input=text,
        capture_output=True,
        text=True,
        check=True,
    )
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    if [len(row["upos"]) for row in rows] != [6, 5, 0]:
        sys.exit(f"unexpected annotation: {done.stdout}")
    import limbeck

    annotated = limbeck.load(bundle)("The cat sees a dog .")
    if list(annotated.labels["upos"]) != rows[0]["upos"]:
        sys.exit("the Python call and the command differ")
    if find_spec("fastapi") is not None:
        make_server(bundle)
    print("runtime only: 1 passed, 0 failed")


if __name__ == "__main__":
    main()
