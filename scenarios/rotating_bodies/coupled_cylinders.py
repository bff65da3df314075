#!/usr/bin/env python3
"""Two rotating cylinders in viscous contact: a torque that depends on the angular velocities of both bodies.

Section 3.4 and Fig. 5 of Seelen, Padding and Kuipers (improved PCDM, Acta Mech. 227, 3381, 2016). The axes are fixed;
radii R = 1 m and 2.4 m, w = 2 and 0.4 rad/s. At the contact line acts the force -eta v, v = w1 R1 + w2 R2,
eta = 5.4 kg/s. The torque is one Python function over both bodies. The exact solution decays at the rate
lambda = eta (R1^2/I1 + R2^2/I2).

The paper gives neither moments of inertia nor a time step. Its text says that the second cylinder reverses its
rotation, which requires I2 < 12 I1 and excludes cylinders of equal density and length. Here both have 1 kg: I = 0.5 and
2.88 kg m2. The time step is 0.01 / lambda.
"""

import sys

import numpy as np

import minidem as md
from minidem.scenario import Scenario
from minidem.scenario.plot import styles
from minidem.scenarios.papers import Finding

RADIUS = np.array([1.0, 2.4])                                       # [m]
MASS, LENGTH = 1.0, 1.0                                             # chosen [kg], [m]
INERTIA = 0.5 * MASS * RADIUS**2                                    # about the axes z [kg m2]
MOMENTS = np.stack(2 * [MASS * (3.0 * RADIUS**2 + LENGTH**2) / 12.0] + [INERTIA], axis=-1)
SPIN = np.array([2.0, 0.4])                                         # [rad/s]
FRICTION = 5.4                                                      # eta [kg/s]
RATE = FRICTION * np.sum(RADIUS**2 / INERTIA)                       # lambda, 21.6 / s
ORIGINAL, IMPROVED = "pcdm", "improved-pcdm"
OTHERS = ("spiral", "spiral-sync", "omelyan", "velocity-verlet", "rk4")
HALVINGS = 3                                                        # number of time steps for the orders


def torque(t, q, w):
    """On both cylinders about z: radius times the force at the contact line."""
    m = np.zeros_like(w)
    m[:, 2] = -RADIUS * FRICTION * (RADIUS @ w[:, 2])
    return m


def exact(t):
    """Angular velocities (n, 2) of the cylinders at times (n,)."""
    decay = np.expm1(-RATE * np.asarray(t)) / RATE
    return SPIN + (RADIUS @ SPIN) * FRICTION * RADIUS / INERTIA * decay[:, None]


def rotate_together(scheme, dt, time):
    """Times (n,) of all steps and angular velocities (n, 2)."""
    start = np.zeros((2, 3))
    start[:, 2] = SPIN
    path = md.rotation.integrate(scheme, MOMENTS, [(1, 0, 0, 0)] * 2, start, torque, dt, round(time / dt),
                                 record_every=1)
    return path.time, path.angular_velocity[:, :, 2]


def largest_error(scheme, dt, time):
    """Largest relative error of w of the first cylinder. (w of the second passes through zero.)"""
    t, w = rotate_together(scheme, dt, time)
    return np.max(np.abs(w[:, 0] / exact(t)[:, 0] - 1.0))


def check(options):
    if options.dt * RATE > 0.5 or options.time < options.dt:
        raise ValueError(f"--dt is {options.dt:g}, must be at most 0.5 / lambda = {0.5 / RATE:g} s "
                         "and --time")


def run(options, report):
    schemes = [ORIGINAL, IMPROVED, *(() if options.quick else OTHERS)]
    steps = options.dt * 2.0 ** np.arange(HALVINGS)[::-1]
    errors = {scheme: [largest_error(scheme, dt, options.time) for dt in steps]
              for scheme in report.progress("schemes", schemes)}
    report.table("errors", ("dt_lambda", *schemes), [(dt * RATE, *(errors[scheme][k] for scheme in schemes))
                                                     for k, dt in enumerate(steps)])
    orders = {scheme: np.log2(error[-2] / error[-1]) for scheme, error in errors.items()}
    report.table("orders", ("scheme", "order_of_w"), list(orders.items()))
    paths = {scheme: rotate_together(scheme, options.dt, options.time) for scheme in (ORIGINAL, IMPROVED)}
    for finding in findings(errors, orders, paths):
        report.find(finding)
    report.figure("angular_velocity", lambda figure: draw(figure, paths), size=(6.4, 5.2))


def findings(errors, orders, paths):
    paper = "improved PCDM 2016"
    t, w = paths[IMPROVED]
    yield Finding(paper, "Fig. 5a", "first slows down, second reverses, both become steady", None, w[-1, 1],
                  holds=bool(0.0 < w[-1, 0] < SPIN[0] and w[-1, 1] < 0.0
                             and abs(RADIUS @ w[-1]) < 1e-3 * (RADIUS @ SPIN)),
                  note="final w of the second [rad/s]; steady: the relative velocity at the contact is below "
                       "a thousandth of its initial value")
    yield Finding(paper, "Fig. 5b", "error of the original over that of the improved method", None,
                  errors[ORIGINAL][-1] / errors[IMPROVED][-1], note="the former is larger throughout the run",
                  holds=bool(np.all(relative(paths[ORIGINAL])[1:] > relative(paths[IMPROVED])[1:])))
    note = "from the last halving of dt; the next term of the error changes it by about dt lambda"
    for scheme, published in ((ORIGINAL, "1"), (IMPROVED, "2")):
        yield Finding(paper, "Section 4", f"order of {scheme}", published, orders[scheme], tolerance=0.05,
                      note=note)


def relative(path):
    t, w = path
    return np.abs(w[:, 0] / exact(t)[:, 0] - 1.0)


def draw(figure, paths):
    spins, errors = figure.subplots(2, 1, sharex=True)
    t = paths[IMPROVED][0]
    for k, (colour, style) in enumerate(styles(2)):
        spins.plot(t, exact(t)[:, k], color=colour, linestyle=style, label=f"cylinder {k + 1}, exact")
        spins.plot(t[::20], paths[IMPROVED][1][::20, k], ".", color=colour, label=f"cylinder {k + 1}, improved PCDM")
    spins.set_ylabel("angular velocity (rad/s)")
    spins.legend(ncols=2)
    for (scheme, path), (colour, style) in zip(paths.items(), styles(2)):
        errors.semilogy(t, relative(path), color=colour, linestyle=style, label=scheme)
    errors.set_ylabel("relative error of $\\omega_1$")
    errors.set_xlabel("time (s)")
    errors.legend()


EXPERIMENT = Scenario("coupled_cylinders", __doc__, study=run, check=check, defaults={
    "dt": 0.01 / RATE, "time": 10.0 / RATE})
main = EXPERIMENT.main

if __name__ == "__main__":
    sys.exit(main())
