"""Content of trajectories, for tests."""
import importlib.util

import numpy as np
import pytest

needs_gsd = pytest.mark.skipif(importlib.util.find_spec("gsd") is None, reason="needs gsd")
SINGLE = 2e-7       # relative rounding errors of float32, and of differences


def frames_of(path):
    import gsd.hoomd
    with gsd.hoomd.open(path, "r") as file:
        return list(file)


def content(path):
    if path.suffix == ".csv":
        return path.read_text()
    return [[(name, np.asarray(value).tolist()) for part in (frame.configuration, frame.particles)
             for name, value in vars(part).items()] + [(name, value.tolist()) for name, value in frame.log.items()]
            + [(f"bonds {name}", np.asarray(getattr(frame.bonds, name)).tolist()) for name in ("N", "types", "group")]
            for frame in frames_of(path)]
