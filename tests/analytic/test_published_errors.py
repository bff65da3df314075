"""Errors of schemes after 1 s on the driven cylinder (minidem.scenarios.spiral.cylinder), to ten digits.

The values are the `reference` fields of the schemes' records: computed from the formulas by programs independent of
minidem, which reproduce the published curves (test_driven_cylinder.py) where there are any. A scheme without them is
not tested here.
"""
import numpy as np
import pytest

import minidem as md
from minidem.scenarios.spiral.cylinder import errors

REFERENCE = {f"{name}:{parameters}".rstrip(":"): values for name in md.rotation.available()
             for parameters, values in md.rotation.info(name).reference.items()}


@pytest.mark.parametrize("name", REFERENCE)
@pytest.mark.parametrize("row, steps", [(0, 800), (1, 200)])
def test_errors_of_the_benchmark(name, row, steps):
    # Each step rounds q and w about ten times, by half an eps of their size; the values have ten digits.
    round_off = 10 * steps * np.finfo(float).eps
    # The paper of improved-pcdm gives the predicted q and w of the whole step.
    found = np.ravel(errors(name, 1.0 / steps, reading="synchronised" if name == "improved-pcdm" else "published"))
    assert found == pytest.approx(REFERENCE[name][row], rel=1e-9, abs=round_off)
