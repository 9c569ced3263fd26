"""The environment that numbers come from: processor, cores, memory, versions.

In:  nothing but what the machine tells.
Out: plain JSON values for result rows, bundles and `doctor`. Imports none of what it names.
"""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = (
    "limbeck",
    "numpy",
    "tokenizers",
    "onnxruntime",
    "openvino",
    "torch",
    "transformers",
    "onnx",
    "nncf",
)


def cpu_model() -> str:
    """Marketing name of the processor, with family and model number where it says little."""
    fields = _cpuinfo()
    name = fields.get("model name") or platform.processor() or platform.machine()
    if "cpu family" in fields and "model" in fields:
        name += f" (family {fields['cpu family']}, model {fields['model']})"
    return name


def cpu_features() -> list[str]:
    """Instruction sets that matter for speed, as far as this CPU has them."""
    flags = _cpuinfo().get("flags", "").split()
    wanted = (
        "avx2",
        "fma",
        "avx512f",
        "avx512_vnni",
        "avx_vnni",
        "avx512_bf16",
        "amx_bf16",
        "amx_int8",
    )
    return [flag for flag in wanted if flag in flags]


def _cpuinfo() -> dict[str, str]:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:  # not Linux
        return {}
    first = text.split("\n\n", 1)[0]
    pairs = (line.partition(":") for line in first.splitlines())
    return {key.strip(): value.strip() for key, _, value in pairs}


def versions() -> dict[str, str]:
    """Versions of what is installed."""
    found: dict[str, str] = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def environment(*, n_threads: int) -> dict[str, object]:
    """What a result row says of where it was measured."""
    return {
        "cpu": cpu_model(),
        "features": cpu_features(),
        "n_cpus": len(os.sched_getaffinity(0)),
        "n_threads": n_threads,
        "python": platform.python_version(),
        "system": platform.system(),
        "versions": versions(),
    }
