"""The model card: a bundle's README.md, made from its evidence.

In:  the name and the measured numbers.
Out: Markdown with the front matter that the hub expects.
"""

from collections.abc import Mapping
from typing import Any


def model_card(name: str, evidence: Mapping[str, Any]) -> str:
    """Write the card."""
    rows = "\n".join(
        f"| {metric} | {value:.2f} | {evidence['reference'].get(metric, float('nan')):.2f} |"
        for metric, value in sorted(evidence["metrics"].items())
    )
    return f"""---
library_name: limbeck
tags: [distillation, onnx, cpu]
---
# {name}

A small model made by limbeck: {evidence["n_parameters"] / 1e6:.1f} million parameters,
{evidence["size_mb"]:.1f} MB, {evidence["shipped"]}.

Scores on the development text that the recipe names, in percent:

| metric | this bundle | before quantisation |
|---|---:|---:|
{rows}

Measured on {evidence["environment"]["cpu"]}, {evidence["environment"]["n_threads"]} threads.

    limbeck annotate BUNDLE FILE
"""
