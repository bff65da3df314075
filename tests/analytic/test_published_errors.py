"""Schemes with `reference` values on the benchmark of SPIRAL (spiral_benchmark.py): errors after 1 s, to ten digits.

The values were computed from the schemes' formulas by programs independent of minidem, which reproduce the published
curves (test_published_curves.py) where there are any. A scheme without such values is not tested here.
"""
import numpy as np
import pytest
from spiral_benchmark import errors, exact_orientation, exact_spin

import minidem as md

REFERENCE = {f"{name}:{parameters}".rstrip(":"): values for name in md.rotation.available()
             for parameters, values in md.rotation.info(name).reference.items()}


@pytest.mark.parametrize("name", REFERENCE)
@pytest.mark.parametrize("row, steps", [(0, 800), (1, 200)])
def test_errors_of_the_benchmark(name, row, steps):
    # Each step rounds q and w about ten times, by half an eps of their size; the values have ten digits.
    round_off = 10 * steps * np.finfo(float).eps
    assert errors(name, 1.0 / steps, steps) == pytest.approx(REFERENCE[name][row], rel=1e-9, abs=round_off)


def test_exact_solution():
    """The oracle at t = 1 s against the values of a long-double Magnus integration of the same motion."""
    q = [0.13656657563891536, -0.9829517989974985, 0.026129851470049533, -0.1203019622782392]
    w = [44.110392937123876, -0.6927048185944634, -0.830758710033191]
    np.testing.assert_allclose(exact_orientation(1.0), q, rtol=1e-11)
    np.testing.assert_allclose(exact_spin(1.0), w, rtol=1e-11)
