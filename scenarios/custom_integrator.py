#!/usr/bin/env python3
"""A user-defined rotation scheme through four interfaces: NumPy, numba, ctypes and SciPy. A worked example.

The scheme is the synchronous variant of the SPIRAL leapfrog, which minidem does not contain. S is its SSPRK3 solution
of Euler's equations at constant torque (10.1016/j.cpc.2023.109077, Eqs 9, 10):

    w(t + dt/2) = S(w(t), M(t), dt/2)
    q(t + dt)   = q(t) exp(dt/2 w(t + dt/2))                    end of `move`; forces are evaluated
    w(t + dt)   = S(w(t + dt/2), M(t + dt), dt/2)               `finish`

Torques that depend on the angular velocity are evaluated with S(w(t + dt/2), M(t), dt/2), computed by `predict`. The
scheme is written twice: below in Python, for arrays of eight bodies (NumPy) and for single bodies (numba), and in C, in
custom_integrator.c, each in about forty lines.

First, each interface integrates a damped body whose torque depends on time and orientation; order of convergence and
bits are compared. Then each runs the rods of rods_in_box.py, next to the built-in spiral. Unavailable interfaces (no
numba, no C compiler) are skipped.
"""

import sys
from pathlib import Path
from time import perf_counter

import numpy as np

import minidem as md
from minidem.core.quaternions import rotate_back
from minidem.rotation import columns
from minidem.scenario import Scenario
from minidem.scenario.plot import styles
from minidem.scenarios.c_functions import ctypes_functions, scipy_functions
from minidem.scenarios.curves import together
from minidem.scenarios.papers import Finding
from minidem.scenarios.rods_in_box import SCENARIO as RODS

# --- The scheme in Python. A vector is a tuple of numbers or arrays, for NumPy and numba.


def rate(w, m, i):
    """Euler's equations in the principal frame."""
    return ((m[0] + (i[1] - i[2]) * w[1] * w[2]) / i[0], (m[1] + (i[2] - i[0]) * w[2] * w[0]) / i[1],
            (m[2] + (i[0] - i[1]) * w[0] * w[1]) / i[2])


def axpy(w, h, a):
    return w[0] + h * a[0], w[1] + h * a[1], w[2] + h * a[2]


def flow(w, m, i, h):
    """S: angular velocity after the time h at constant torque m."""
    a = rate(w, m, i)
    b = rate(axpy(w, h, a), m, i)
    ab = axpy(a, 1.0, b)
    return axpy(w, h / 6.0, axpy(ab, 4.0, rate(axpy(w, h / 4.0, ab), m, i)))


def turn(q, w, h):
    """q exp(h/2 w); the series are exact to the last bit for w h / 2 < 0.1."""
    x, y, z = 0.5 * h * w[0], 0.5 * h * w[1], 0.5 * h * w[2]
    s = x * x + y * y + z * z
    c = 1.0 - s / 2.0 * (1.0 - s / 12.0 * (1.0 - s / 30.0 * (1.0 - s / 56.0)))
    f = 1.0 - s / 6.0 * (1.0 - s / 20.0 * (1.0 - s / 42.0 * (1.0 - s / 72.0)))
    x, y, z = f * x, f * y, f * z
    return (q[0] * c - q[1] * x - q[2] * y - q[3] * z, q[0] * x + q[1] * c + q[2] * z - q[3] * y,
            q[0] * y - q[1] * z + q[2] * c + q[3] * x, q[0] * z + q[1] * y - q[2] * x + q[3] * c)


def move(bodies, dt, stage):
    bodies.w.T[:] = flow(bodies.w.T, bodies.torque.T, bodies.inertia.T, 0.5 * dt)
    bodies.q.T[:] = turn(bodies.q.T, bodies.w.T, dt)


def finish(bodies, dt, stage):
    bodies.w.T[:] = flow(bodies.w.T, bodies.torque.T, bodies.inertia.T, 0.5 * dt)


def predict(bodies, dt, stage):
    bodies.predicted.T[:] = flow(bodies.w.T, bodies.torque.T, bodies.inertia.T, 0.5 * dt)


# --- The interfaces: each returns the three functions for `register`, or None if something is missing.


def numpy_interface():
    return {"move": move, "finish": finish, "predict": predict}


def numba_interface():
    try:
        import numba
        from numba.extending import register_jitable
    except ModuleNotFoundError:
        return None
    for function in (rate, axpy, flow, turn):
        register_jitable(function)
    compiled = numba.cfunc("void(CPointer(float64), CPointer(float64), CPointer(float64), CPointer(float64))")

    @numba.njit
    def vector(rows, first, k):
        return rows[first, k], rows[first + 1, k], rows[first + 2, k]

    @numba.njit
    def half(bodies, wrench, constants, dt, to):
        rows, torque, inertia = (numba.carray(bodies, (columns.SCRATCH, 8)), numba.carray(wrench, (6, 8)),
                                 numba.carray(constants, (6, 8)))
        for k in range(8):
            rows[to, k], rows[to + 1, k], rows[to + 2, k] = flow(
                vector(rows, columns.ANGULAR_VELOCITY, k), vector(torque, columns.TORQUE, k),
                vector(inertia, columns.INERTIA, k), 0.5 * dt)

    @compiled
    def move(bodies, wrench, constants, step):
        half(bodies, wrench, constants, step[0], columns.ANGULAR_VELOCITY)
        rows, q = numba.carray(bodies, (columns.SCRATCH, 8)), columns.ORIENTATION
        for k in range(8):
            rows[q, k], rows[q + 1, k], rows[q + 2, k], rows[q + 3, k] = turn(
                (rows[q, k], rows[q + 1, k], rows[q + 2, k], rows[q + 3, k]),
                vector(rows, columns.ANGULAR_VELOCITY, k), step[0])

    @compiled
    def finish(bodies, wrench, constants, step):
        half(bodies, wrench, constants, step[0], columns.ANGULAR_VELOCITY)

    @compiled
    def predict(bodies, wrench, constants, step):
        half(bodies, wrench, constants, step[0], columns.PREDICTED)

    return {"move": move, "finish": finish, "predict": predict}


C_FUNCTIONS = Path(__file__).with_suffix(".c"), ("move", "finish", "predict")
INTERFACES = {"numpy": numpy_interface, "numba": numba_interface, "ctypes": lambda: ctypes_functions(*C_FUNCTIONS),
              "scipy": lambda: scipy_functions(*C_FUNCTIONS)}

# --- The comparison.

PAPER = "SPIRAL-VV"
INERTIA = np.array([1.0, 2.0, 3.5])                                 # [kg m2]
START = np.array([0.3, 1.0, 0.2])                                   # [rad/s]
SECONDS, STEPS = 2.0, (40, 80, 160, 320)                            # of the free body


def torque(t, q, w):
    """Drive, restoring torque and damping: depends on t, q and w. Body frame [N m]."""
    x, y, _ = rotate_back(q, np.array([0.0, 0.0, 1.0]))
    return np.array([np.sin(3.0 * t), 0.3 * np.cos(t), 0.2]) + np.array([-y, x, 0.0]) - 0.5 * w


def integrate_body(scheme, steps):
    return md.rotation.integrate(scheme, INERTIA, (1, 0, 0, 0), START, torque, SECONDS / steps, steps)


def run_rods(scheme, steps):
    """Run rods_in_box.py. Returns rows (time, energy error, contacts) of 50 samples, the final state as bytes, and the
    time per step [us]."""
    sim = RODS.build(RODS.parse(["--integrator", scheme]))
    first, rows, seconds = sim.energy().total, [], 0.0
    for _ in range(50):
        begun = perf_counter()
        sim.run(steps // 50)
        seconds += perf_counter() - begun
        rows.append((sim.time, sim.energy().total / first - 1.0, len(sim.contacts())))
    state = b"".join(a.tobytes() for a in (sim.position, sim.orientation, sim.velocity, sim.angular_velocity))
    return np.array(rows), state, 1e6 * seconds / sim.step_count


def run(options, report):
    schemes = ["spiral"]
    for name, interface in INTERFACES.items():
        functions = interface()
        if functions:
            md.rotation.register(f"vv-{name}", **functions, title="SPIRAL, synchronous", order_q=2, order_w=2,
                                 order_q_varying=2, order_w_varying=2)
            schemes.append(f"vv-{name}")
    reference = integrate_body("rk4", 16 * STEPS[-1]).orientation        # its error is 1e-9 of the others' errors
    ends = {scheme: [integrate_body(scheme, steps) for steps in STEPS]
            for scheme in report.progress("body", schemes)}
    errors = {scheme: [np.max(np.abs(end.orientation - reference)) for end in end_of]
              for scheme, end_of in ends.items()}
    rods = {scheme: run_rods(scheme, 500 if options.quick else 5000)
            for scheme in report.progress("rods", schemes)}
    header = ("scheme", *(f"error_{steps}_steps" for steps in STEPS), "rods_energy_error", "us_per_step")
    report.table("interfaces", header,
                 [(scheme, *errors[scheme], np.max(np.abs(rods[scheme][0][:, 1])), rods[scheme][2])
                  for scheme in schemes])
    for finding in findings(schemes[1:], ends, errors, rods):
        report.find(finding)
    report.figure("rods", lambda figure: draw(figure, rods))
    for scheme in schemes:
        report.say(f"{scheme}: {rods[scheme][2]:.1f} us per step of 30 rods")


def findings(own, ends, errors, rods):
    order = np.log2(errors[own[0]][-2] / errors[own[0]][-1])
    yield Finding(PAPER, "free body", "order", "2", order, tolerance=0.02,
                  note="from the last halving of the step; the next term of the error changes it by about "
                       "dt = 1/160")
    last = [ends[scheme][-1] for scheme in own]
    bodies = {end.orientation.tobytes() + end.angular_velocity.tobytes() for end in last}
    yield Finding(PAPER, "free body", "every interface gives the same bits", None, len(bodies),
                  holds=len(bodies) == 1, note=f"different results of {', '.join(own)}")
    states = {rods[scheme][1] for scheme in own}
    yield Finding(PAPER, "rods in the box", "every interface gives the same bits", None, len(states),
                  holds=len(states) == 1, note=f"different final states of {', '.join(own)}")
    worst = [np.max(np.abs(rods[scheme][0][:, 1])) for scheme in ("spiral", own[0])]
    yield Finding(PAPER, "rods in the box", "energy error over that of the built-in spiral", None,
                  worst[1] / worst[0], holds=bool(worst[1] < 1.1 * worst[0]),
                  note="at most a tenth above it: the error comes from the contacts")


def draw(figure, rods):
    energy, contacts = figure.subplots(2, 1, sharex=True, height_ratios=(2, 1))
    curves = together({scheme: rows for scheme, (rows, _, _) in rods.items()})
    for (schemes, rows), (colour, style) in zip(curves.items(), styles(len(curves))):
        energy.plot(rows[:, 0], rows[:, 1], color=colour, linestyle=style, label=schemes)
    contacts.step(rows[:, 0], rows[:, 2], color="black", where="mid")
    energy.set_ylabel("relative energy change, $(E - E_0)\\,/\\,E_0$")
    energy.ticklabel_format(axis="y", scilimits=(-2, 3))
    contacts.set_ylabel("number of contacts")
    contacts.set_xlabel("time (s)")
    figure.legend(ncols=len(curves), loc="outside upper center")


EXPERIMENT = Scenario("custom_integrator", __doc__, study=run)
main = EXPERIMENT.main

if __name__ == "__main__":
    sys.exit(main())
