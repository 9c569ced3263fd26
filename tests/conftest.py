"""Fixtures shared by all tests; modules beside this file are importable by their names."""

import os
import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Keep what the user's `limbeck tune` found out of the tests."""
    os.environ["XDG_CACHE_HOME"] = str(tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="session")
def toy_bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle with every kind of task; treat it as read-only."""
    from toys import build_bundle

    folder = build_bundle(tmp_path_factory.mktemp("toy") / "bundle")
    kept = os.environ.get("LIMBECK_TEST_BUNDLE")  # CI annotates with it where there is no torch
    if kept and not Path(kept).exists():
        staged = Path(f"{kept}.{os.getpid()}")
        shutil.copytree(folder, staged)
        try:
            staged.rename(kept)
        except OSError:  # another worker was first
            shutil.rmtree(staged)
    return folder
