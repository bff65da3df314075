"""Fixtures of the physics tests. Helper modules of this folder (scenes, reference_*) are importable in
every test."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import pytest  # noqa: E402

import scenes  # noqa: E402


@pytest.fixture(scope='session')
def rod():
    """Three touching spheres in a row."""
    return scenes.rod()


@pytest.fixture(scope='session')
def lumpy():
    """Four overlapping spheres without any symmetry."""
    return scenes.lumpy()
