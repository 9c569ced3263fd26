"""Memory of a process is its own, whoever starts it."""

from pathlib import Path

import numpy as np
import pytest

from limbeck.errors import StageError
from limbeck.runtime.footprint import peak_memory_mb, resident_mb

LINES = [b"The cat sees a dog .\n"] * 3


def test_a_large_starter_is_not_counted(toy_bundle: Path) -> None:
    before = peak_memory_mb(toy_bundle, LINES)
    ballast = np.ones(int((before + 800) * 1e6), dtype=np.uint8)  # ones: the system must give it
    after = peak_memory_mb(toy_bundle, LINES)
    assert resident_mb() > before + 700
    assert 10 < after < before + 100
    assert ballast[-1] == 1


def test_a_bundle_that_cannot_be_annotated_with_has_no_footprint(tmp_path: Path) -> None:
    with pytest.raises(StageError, match="ended with 2"):
        peak_memory_mb(tmp_path, LINES)


def test_resident_memory_grows_and_shrinks() -> None:
    before = resident_mb()
    ballast = np.ones(200_000_000, dtype=np.uint8)
    grown = resident_mb()
    assert grown > before + 150
    del ballast
    assert resident_mb() < grown - 100
