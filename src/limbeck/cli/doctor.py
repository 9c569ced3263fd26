"""`limbeck doctor`: the machine as limbeck sees it.

In:  nothing.
Out: a few lines, or one JSON object.
"""

import json
import sys
from importlib.util import find_spec

from limbeck.environment import environment
from limbeck.runtime.threads import allowed_threads


def report_machine(*, as_json: bool) -> int:
    """Print it."""
    found = environment(n_threads=allowed_threads())
    engines = {
        "ort": find_spec("onnxruntime") is not None,
        "openvino": find_spec("openvino") is not None,
    }
    found["engines"] = engines
    found["can_train"] = find_spec("torch") is not None and find_spec("transformers") is not None
    if as_json:
        sys.stdout.write(json.dumps(found) + "\n")
        return 0
    features = found["features"]
    versions = found["versions"]
    assert isinstance(features, list)
    assert isinstance(versions, dict)
    lines = [
        f"processor   {found['cpu']}",
        f"features    {' '.join(features) or 'none that matter'}",
        f"threads     {found['n_threads']} (processors allowed by affinity and cgroup)",
        f"engines     {', '.join(name for name, there in engines.items() if there) or 'none'}",
        f"training    {'yes' if found['can_train'] else 'no: pip install limbeck[train]'}",
        f"versions    {', '.join(f'{k} {v}' for k, v in versions.items())}",
    ]
    sys.stdout.write("\n".join(lines) + "\n")
    return 0
