"""User-defined rotation schemes: five interfaces, one scheme, the same bits; and what `register` refuses.

The scheme is that of scenarios/custom_integrator.py, which uses + - * / alone, so that its bits depend on
neither language nor compiler. numba and a C compiler are needed for their interfaces only.
"""
import ctypes

import custom_integrator as example
import numpy as np
import pytest
from bit_systems import SYSTEMS, bits, python_scheme
from user_functions import COMPILED, POINTER, capsule, functions_of

import minidem as md

INERTIA, SPIN = np.array([1.0, 2.0, 3.5]), np.array([0.3, 1.0, 0.2])
SIGNATURE = b"void (double *, double const *, double const *, double const *)"      # spaces do not matter


@pytest.fixture(params=COMPILED)
def compiled(request):
    return functions_of(example, request.param, SIGNATURE)


def driven(t, q, w):
    """A torque that depends on all that it may depend on, for one body or many."""
    return np.array([np.sin(3 * t), 0.3, 0.2]) + q[..., 1:] - 0.5 * w


def turned(name, bodies=None, steps=64, **how):
    """Bits of orientation and angular velocity of one body, or of many with different spins."""
    shape = () if bodies is None else (bodies, 1)
    spin = SPIN * np.linspace(1.0, 2.0, bodies)[:, None] if bodies else SPIN
    start = np.ones(shape) * [1.0, 0.0, 0.0, 0.0]
    end = md.rotation.integrate(name, INERTIA, start, spin, driven, 1.0 / steps, steps, **how)
    return end.orientation, end.angular_velocity


def same(one, other):
    return all(np.array_equal(a, b) for a, b in zip(one, other))


def test_compiled_functions_give_the_bits_of_python(own, compiled):
    """Of one body and of nine, which are as many single ones."""
    own("mine-python", **example.numpy_interface())
    own("mine", **compiled)
    many = turned("mine", bodies=9)                                             # a second block of eight
    assert same(turned("mine-python"), turned("mine")) and same(turned("mine-python", bodies=9), many)
    assert same([rows[0] for rows in many], turned("mine"))
    last = md.rotation.integrate("mine", INERTIA, (1, 0, 0, 0), 2.0 * SPIN, driven, 1 / 64, 64)
    assert same([rows[8] for rows in many], (last.orientation, last.angular_velocity))


def test_many_body_run_is_the_same_through_every_interface(own, compiled):
    """On two threads, too; and the energy is that of the built-in scheme, since its error is of the translation."""
    own("mine-python", **example.numpy_interface())
    own("mine", **compiled)
    sims = [SYSTEMS["mixture"].build("hertz", name, threads) for name, threads in (
        ("mine-python", 1), ("mine", 1), ("mine", 2), ("spiral", 1))]
    start = sims[0].energy().total
    for sim in sims:
        sim.run(50)
    python, one, two, built_in = map(bits, sims)
    assert python == one == two != built_in and len(sims[0].contacts()) > 10
    assert sims[0].energy().total - start == pytest.approx(sims[3].energy().total - start, rel=0.01)


@pytest.mark.parametrize("sync", [True, False])
def test_a_leapfrog_is_the_built_in_one_to_round_off(own, sync):
    """32 steps, each with some ten roundings of w and q, which are of size 1 and below."""
    record = own("my-leapfrog", **python_scheme(), n_scratch=2, doc="A leapfrog.")
    assert (record.title, record.doc, record.angular_velocity_offset) == ("my-leapfrog", "A leapfrog.", -0.5)
    for one, other in zip(turned("my-leapfrog", steps=32, sync=sync), turned("spiral", steps=32, sync=sync)):
        np.testing.assert_allclose(one, other, rtol=0, atol=10 * 32 * np.finfo(float).eps)
    end = md.rotation.integrate("my-leapfrog", INERTIA, (1, 0, 0, 0), SPIN, (0, 0, 0), 0.1, 3, sync=False)
    assert (end.orientation_time, end.angular_velocity_time) == pytest.approx((0.3, 0.25), rel=1e-15)


@pytest.mark.parametrize("in_c", [False, True])
def test_stages_and_parameters_arrive(own, in_c):
    """In C all are doubles: step[0] is dt, step[1] the stage, step[2:] the parameters, words as their index."""
    seen, instants = [], []

    def move(bodies, dt, stage, gain, mode, count):
        seen.append((dt, stage, gain, mode, count))
        assert (bodies.q.shape, bodies.w.shape, bodies.scratch.shape) == ((8, 4), (8, 3), (8, 3))
        assert type(stage) is type(mode) is type(count) is int

    compiled = ctypes.CFUNCTYPE(None, *4 * [POINTER])(lambda block, torque, fixed, step: seen.append(tuple(step[:5])))
    own("staged", compiled if in_c else move, stages=(0.5, 1.0), n_scratch=3,
        parameters={"gain": 2.5, "mode": ("plain", "odd"), "count": 4})
    md.rotation.integrate("staged:mode=odd,count=7", INERTIA, (1, 0, 0, 0), SPIN,
                          lambda t, q, w: instants.append(t) or w, 0.25, 2)
    assert seen == [(0.25, k % 2, 2.5, 1, 7) for k in range(4)] and instants == [0.0, 0.125, 0.25, 0.375, 0.5]
    with pytest.raises(ValueError, match="gain"):
        md.rotation.integrate("staged:gain=nan", INERTIA, (1, 0, 0, 0), SPIN, (0, 0, 0), 0.25, 2)


def nothing(bodies, dt, stage):
    pass


@pytest.mark.parametrize("field", ["angular_velocity_offset", "orientation_offset"])
@pytest.mark.parametrize("given", [(), ("start",), ("sync",)])
def test_what_is_stored_at_another_instant_needs_start_and_sync(own, field, given):
    functions = dict.fromkeys(given, nothing)
    missing = " and ".join(role for role in ("start", "sync") if role not in given)
    with pytest.raises(ValueError, match=f"{field} = -0.5: .* needs {missing}, too"):
        own("late", nothing, **functions, **{field: -0.5})
    assert "late" not in md.rotation.available()


def test_signatures_are_checked(own):
    function = ctypes.CDLL(None).labs                                # any function: it is never called
    for restype, argtypes in ((ctypes.c_int, 4 * [POINTER]), (None, 3 * [POINTER]), (None, None)):
        function.restype, function.argtypes = restype, argtypes
        with pytest.raises(ValueError, match="move.*restype"):
            own("mine", function)
    for wrong in (b"void (double *, double *, double *)", SIGNATURE.replace(b"void", b"double"), None):
        with pytest.raises(ValueError, match="move.*signature"):
            own("mine", capsule(function, wrong))
    numba = pytest.importorskip("numba")
    single = "void(CPointer(float32), CPointer(float64), CPointer(float64), CPointer(float64))"
    for wrong, word in ((numba.cfunc(single)(lambda a, b, c, d: None), "float32"),
                        (numba.cfunc("void(CPointer(float64))")(lambda a: None), r"\(float64\*,\)")):
        with pytest.raises(ValueError, match=word):
            own("mine", wrong)


@pytest.mark.parametrize("role", ["start", "move", "finish", "sync", "predict"])
def test_an_error_in_a_python_scheme_is_raised(own, role):
    def fails(bodies, dt, stage):
        raise ArithmeticError(f"in {role}")

    own("failing", **{"move": nothing, role: fails})
    with pytest.raises(ArithmeticError, match=f"in {role}"):
        turned("failing", steps=3)
