#!/usr/bin/env python3
"""Energy error of rotation schemes on a torque-free symmetric top over hours.

Section 3.1 and Fig. 1 of Seelen, Padding and Kuipers (improved PCDM, Acta Mech. 227, 3381, 2016). Without torque, w_z
and the energy are constant, and w_x + i w_y rotates at the rate Omega = (I_z - I_x)/I_x w_z. A scheme multiplies it in
every step by a complex number close to exp(i Omega dt), whose modulus gives the energy error after any number of steps
exactly. The runs are compared with that.

The paper finds the same energy error for the original and the improved method. As printed, the improved method predicts
with the derivative of its last correction, and gains energy at twice the rate. With a recomputed derivative
(improved-pcdm:predictor=recomputed) the two are equal, apart from the half step at the start.
"""

import sys

import numpy as np

import minidem as md
from minidem.scenario import Scenario
from minidem.scenario.plot import styles
from minidem.scenarios.papers import Finding

INERTIA = np.array([1100.0, 1100.0, 2600.0])                        # [kg m2]
SPIN = np.array([1.2, 0.45, -0.6])                                  # body frame [rad/s]
OMEGA = (INERTIA[2] - INERTIA[0]) / INERTIA[0] * SPIN[2]
ACROSS = np.sum((INERTIA * SPIN**2)[:2]) / np.sum(INERTIA * SPIN**2)     # share of w_x and w_y in the energy
POINTS = 1000                                                       # of a curve

ORIGINAL, REUSED, RECOMPUTED = "pcdm", "improved-pcdm", "improved-pcdm:predictor=recomputed"
OTHERS = ("spiral", "omelyan", "fincham", "buss", "johnson", "rk4")


def energy_error(w):
    return np.sum(INERTIA * w**2, axis=-1) / np.sum(INERTIA * SPIN**2) - 1.0


def spin_freely(scheme, dt, steps, **how):
    return md.rotation.integrate(scheme, INERTIA, (1, 0, 0, 0), SPIN, (0, 0, 0), dt, steps, **how)


def exact_error(scheme, dt, steps):
    """Exact energy error of a scheme after this number of steps; z = i Omega dt."""
    z = 1j * OMEGA * dt
    step = 1.0 + z + 0.5 * z**2
    if scheme == ORIGINAL:
        gain = abs(step) ** (2 * steps)
    elif scheme == RECOMPUTED:                      # half a step at the start, half a step to predict
        gain = abs(step) ** (2 * (steps - 1)) * abs(1.0 + 0.5 * z) ** 4
    else:       # W (half a step ahead) and w' (predicted):  w' <- W + z/2 w',  W <- W + z w' with the new w'
        map_of_step = np.array([[1.0 + z, 0.5 * z**2], [1.0, 0.5 * z]])
        gain = abs((np.linalg.matrix_power(map_of_step, steps) @ [1.0 + 0.5 * z, 1.0])[1]) ** 2
    return ACROSS * (gain - 1.0)


def growth(scheme, dt, steps):
    """Relative growth of w_x^2 + w_y^2 of the stored angular velocity, which may be staggered."""
    first, last = (np.sum(spin_freely(scheme, dt, number, sync=False).angular_velocity[:2] ** 2)
                   for number in (0, steps))
    return last / first - 1.0


def check(options):
    if options.time < 3.0 * options.dt:
        raise ValueError(f"--time is {options.time:g}, must be at least three steps of --dt {options.dt:g}")


def run(options, report):
    dt = options.dt
    every = max(1, round(options.time / dt / POINTS))
    steps = every * round(options.time / dt / every)
    schemes = [ORIGINAL, REUSED, RECOMPUTED, *(() if options.quick else OTHERS)]
    curves = {scheme: spin_freely(scheme, dt, steps, record_every=every)
              for scheme in report.progress("schemes", schemes)}
    errors = {scheme: energy_error(path.angular_velocity[-1]) for scheme, path in curves.items()}
    exact = {scheme: exact_error(scheme, dt, steps) for scheme in (ORIGINAL, REUSED, RECOMPUTED)}
    report.table("energy_errors", ("scheme", "energy_error", "exact"),
                 [(scheme, error, exact.get(scheme)) for scheme, error in errors.items()])
    grown = [growth(scheme, dt, steps) for scheme in (RECOMPUTED, ORIGINAL)]
    for finding in findings(curves, errors, exact, grown, steps):
        report.find(finding)
    report.figure("energy", lambda figure: draw_errors(figure, curves))
    report.figure("motion", lambda figure: draw_motion(figure, dt))


def findings(curves, errors, exact, grown, steps):
    paper = "improved PCDM 2016"
    yield Finding(paper, "Fig. 1b", "energy error of the improved method / of the original", "1",
                  errors[REUSED] / errors[ORIGINAL], exact[REUSED] / exact[ORIGINAL],
                  note="as printed, with the derivative of the last correction; exact: from the modulus of "
                       "the complex factor of a step")
    rounding = 4.0 * np.finfo(float).eps * steps / grown[1]     # of w per step: two operations, squared
    yield Finding(paper, "Fig. 1b", "growth of w_x^2 + w_y^2 with the recomputed derivative / original",
                  "1", grown[0] / grown[1], tolerance=rounding, note="of the stored w")
    change = energy_error(curves[ORIGINAL].angular_velocity)
    yield Finding(paper, "Fig. 1b", "the error is small and grows slightly", None, errors[ORIGINAL],
                  holds=bool(np.all(np.diff(change) > 0.0) and errors[ORIGINAL] < 0.01),
                  note="grows from point to point, below 1 % at the end")
    w = curves[ORIGINAL].angular_velocity
    yield Finding(paper, "Fig. 1a", "w_z is constant", None, np.ptp(w[:, 2]),
                  holds=bool(np.all(w[:, 2] == SPIN[2])), note="to the last bit")


def draw_errors(figure, curves):
    axes = figure.subplots()
    for (scheme, path), (colour, style) in zip(curves.items(), styles(len(curves))):
        axes.semilogy(path.time, np.abs(energy_error(path.angular_velocity)), color=colour, linestyle=style,
                      label=scheme)
    axes.set_xlabel("time (s)")
    axes.set_ylabel("relative energy error, $|E - E_0|\\,/\\,E_0$")
    figure.legend(ncols=3, loc="outside upper center")


def draw_motion(figure, dt):
    """Three periods of the angular velocity."""
    axes = figure.subplots()
    path = spin_freely(ORIGINAL, dt, round(6.0 * np.pi / abs(OMEGA) / dt), record_every=1)
    for k, (name, (colour, style)) in enumerate(zip("xyz", styles(3))):
        axes.plot(path.time, path.angular_velocity[:, k], color=colour, linestyle=style,
                  label=f"$\\omega_{name}$")
    axes.set_xlabel("time (s)")
    axes.set_ylabel("angular velocity, body frame (rad/s)")
    axes.legend(ncols=3, loc="lower left", bbox_to_anchor=(0.0, 1.0))


EXPERIMENT = Scenario("spinning_top", __doc__, study=run, defaults={
    "dt": 1e-2, "time": lambda options: 1e3 if options.quick else 1e4}, check=check)
main = EXPERIMENT.main

if __name__ == "__main__":
    sys.exit(main())
