"""Errors of every scheme after 1 s on the driven cylinder (minidem.validation.driven_cylinder), to ten digits.

The figures were computed from the formulas of the schemes by programs independent of minidem, which reproduce the
published curves (test_driven_cylinder.py) where there are any. Eleven digits are printed.
"""
import numpy as np
import pytest

import minidem as md
from minidem.validation.driven_cylinder import errors

# scheme: (error of q, error of w) with 800 steps of 1.25 ms, then with 200 steps of 5 ms
ERRORS = {
    "spiral": ((2.8506485582e-06, 1.2738396125e-07), (5.1012597653e-05, 7.955229647e-06)),
    "spiral-sync": ((1.4275839311e-05, 1.2790654287e-07), (2.1726173692e-04, 8.1209378031e-06)),
    "spiral-sync:form=sum": ((1.8302775206e-06, 1.2790654287e-07), (2.3893743625e-05, 8.1209378031e-06)),
    "spiral-omelyan": ((1.2205329159e-05, 1.1294205811e-05), (2.0960971242e-04, 1.7062956430e-04)),
    "omelyan": ((3.4950927847e-04, 1.1436931055e-05), (5.5790787161e-03, 1.7289927981e-04)),
    "omelyan:iterations=20,start=map": ((3.4924525024e-04, 1.1368366006e-05),
                                        (5.5730278654e-03, 1.7731080078e-04)),
    "fincham": ((1.8313803595e-04, 7.0203799475e-06), (2.8854391654e-03, 1.1348980079e-04)),
    "fincham-published": ((4.3267290738e-03, 3.5879455582e-03), (1.7297570334e-02, 1.2220229955e-02)),
    "velocity-verlet": ((2.6162435953e-03, 1.7217786592e-03), (2.7443466589e-02, 7.3745594136e-03)),
    "rk4": ((1.7846716792e-08, 5.9362450197e-10), (4.5677419415e-06, 1.5066808130e-07)),
    "euler": ((1.4328144657e-02, 3.5235535149e-03), (4.3249148334e-02, 1.6104835095e-02)),
    "buss": ((4.6159072161e-04, 4.3316175017e-04), (1.5436012008e-03, 1.4458699170e-03)),
    "buss-published": ((4.6756074018e-04, 4.3904152263e-04), (1.6382333661e-03, 1.5394040663e-03)),
    "johnson": ((1.4008869331e-02, 1.3702468815e-03), (5.5379195245e-02, 5.4620843948e-03)),
    "johnson-published": ((1.3358046172e-02, 4.5678531242e-04), (5.2743303134e-02, 1.8288483898e-03)),
    "pfc4": ((1.2115014933e-01, 2.2265596560e-02), (3.9974306635e-01, 1.0622922874e-01)),
    "pcdm": ((2.3351518919e-05, 2.3096211825e-05), (3.7358291895e-04, 3.6516126548e-04)),
    "improved-pcdm": ((5.8784573649e-05, 5.6317645886e-05), (9.2203358546e-04, 8.9354282233e-04)),
    "euler-quaternion": ((1.7110296907e-02, 3.5235535149e-03), (8.4388861848e-02, 1.6104835095e-02)),
    "scalar-factor": ((1.5704683791e-02, 3.5235535149e-03), (6.2684767725e-02, 1.6104835095e-02)),
    "direct-multiplication": ((1.5704683791e-02, 3.5235535149e-03), (6.2684767725e-02, 1.6104835095e-02)),
    "walton-braun": ((3.9286374828e-03, 3.5235535149e-03), (1.5838673113e-02, 1.6104835095e-02)),
}


@pytest.mark.parametrize("name", ERRORS)
@pytest.mark.parametrize("row, steps", [(0, 800), (1, 200)])
def test_errors_of_the_benchmark(name, row, steps):
    # Each step rounds q and w about ten times, by half an eps of their size; ten digits of the figures are
    # printed.
    round_off = 10 * steps * np.finfo(float).eps
    # The paper of improved-pcdm gives the predicted q and w of the whole step.
    found = np.ravel(errors(name, 1.0 / steps, reading="synchronised" if name == "improved-pcdm" else "published"))
    assert found == pytest.approx(ERRORS[name][row], rel=1e-9, abs=round_off)


@pytest.mark.parametrize("name", md.rotation.available())
def test_every_scheme_is_checked(name):
    assert name in ERRORS
