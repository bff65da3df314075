#!/usr/bin/env python3
"""Order of convergence of rotation schemes on a cylinder under a prescribed torque about all three axes.

Fig. 7 of Zhao and van Wachem (PCDM, Acta Mech. 224, 3091, 2013) and Fig. 3 of Seelen et al. (improved PCDM, Acta Mech.
227, 3381, 2016). The torque grows by factors of 11 and 4300 within 0.1 s; as in Eq. 8 of the later paper its components
are given in the body frame. The error of an orientation is the error of the angle between the axis of the cylinder and
its initial direction, averaged over all steps.

The first paper finds PCDM close to second order, the second paper close to first order. Both can be correct: PCDM
evaluates one torque per step. With the torque at either end of the step it is of first order; with the torque of the
middle, which is available only for a prescribed torque, it is of second order.
"""

import sys

import numpy as np
from scipy.integrate import solve_ivp

import minidem as md
from minidem.core.quaternions import multiply, rotate
from minidem.scenario import Scenario, positive
from minidem.scenario.plot import styles
from minidem.scenarios.papers import Finding

RADIUS, HEIGHT, DENSITY = 0.005, 0.03, 1100.0                       # [m], [m], [kg/m3]
MASS = DENSITY * np.pi * RADIUS**2 * HEIGHT
INERTIA = MASS * np.array([RADIUS**2 / 2.0] + 2 * [(3.0 * RADIUS**2 + HEIGHT**2) / 12.0])   # axis x [kg m2]
TIME = 0.1                                                          # [s]
STEPS = [100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000]      # of 1 ms to 1 us

PCDM, MIDDLE, IMPROVED = "PCDM", "PCDM, torque of t + dt/2", "improved PCDM"
METHODS = {                         # label: (scheme, offset of the torque in steps)
    PCDM: ("pcdm", 0.0), MIDDLE: ("pcdm", 0.5), IMPROVED: ("improved-pcdm", 0.0),
    "Euler quaternion": ("euler-quaternion", 0.0), "Walton and Braun": ("walton-braun", 0.0),
    "scalar factor": ("scalar-factor", 0.0)}
OTHERS = {
    "PCDM, torque of t + dt": ("pcdm", 1.0),
    "SPIRAL leapfrog": ("spiral", 0.0), "SPIRAL non-leapfrog": ("spiral-sync", 0.0),
    "Omelyan": ("omelyan", 0.0)}
FIRST_ORDER = ("Euler quaternion", "Walton and Braun", "scalar factor")
SLOPE = 0.05        # tolerance of a slope


def torque_at(t):
    """Torque in the body frame [N m]."""
    return 1e-5 * np.array([50.0 * np.sin(200.0 * np.pi * t), np.exp(3.0 + 24.0 * t), 5.0 ** (52.0 * t)])


def reference(steps):
    """Orientation and angular velocity at every step by DOP853, at a tolerance close to round-off."""
    def rate(t, y):
        q, w = y[:4], y[4:]
        return np.concatenate([0.5 * multiply(q, np.append(0.0, w)),
                               (torque_at(t) - np.cross(w, INERTIA * w)) / INERTIA])

    # Dense output is of order 7: with at least 500 steps it is as accurate as the steps.
    path = solve_ivp(rate, (0.0, TIME), [1, 0, 0, 0, 0, 0, 0], method="DOP853", rtol=1e-13, atol=1e-13,
                     max_step=TIME / 500, t_eval=TIME / steps * np.arange(1, steps + 1)).y.T
    return path[:, :4] / np.linalg.norm(path[:, :4], axis=1, keepdims=True), path[:, 4:]


def axis_angle(orientation):
    """Angle between the axis of the cylinder and its initial direction x [rad]."""
    return np.arccos(rotate(orientation, np.array([1.0, 0.0, 0.0]))[:, 0])


def integrate(scheme, ahead, steps):
    """Orientation and angular velocity (body) after every step."""
    dt = TIME / steps

    def torque(t, q, w):
        return torque_at(t + ahead * dt)

    path = md.rotation.integrate(scheme, INERTIA, (1, 0, 0, 0), (0, 0, 0), torque, dt, steps, record_every=1)
    return path.orientation, path.angular_velocity


def mean_error(scheme, ahead, steps, exact_angles):
    """Eqs 66 and 67 of the first paper, 6 and 7 of the second. exact_angles: at these steps or a multiple of them."""
    every = len(exact_angles) // steps
    return np.mean(np.abs(axis_angle(integrate(scheme, ahead, steps)[0]) - exact_angles[every - 1::every]))


def order(steps, errors):
    """Slope through the three smallest steps."""
    return -np.polyfit(np.log(steps[-3:]), np.log(errors[-3:]), 1)[0]


def add_options(group):
    group.add_argument("--smallest-step", type=positive, metavar="SECONDS",
                       default=lambda options: 2e-5 if options.quick else 1e-6,
                       help="smallest of the ten time steps from 1e-3 to 1e-6 s (default: 1e-6; with --quick 2e-5)")


def chosen_steps(options):
    return [steps for steps in STEPS if TIME / steps >= options.smallest_step * (1.0 - 1e-12)]


def check(options):
    if len(chosen_steps(options)) < 3:
        raise ValueError(f"--smallest-step is {options.smallest_step:g}, must be 2e-4 or less: an order "
                         "requires three time steps")


def run(options, report):
    steps = chosen_steps(options)
    methods = METHODS if options.quick else METHODS | OTHERS
    orientation, spin = reference(max(10_000, steps[-1]))            # a multiple of each number of steps
    angles = axis_angle(orientation)
    errors = {label: [] for label in methods}
    for label, number in report.progress("runs", [(label, number) for number in steps for label in methods]):
        errors[label].append(mean_error(*methods[label], number, angles))
    orders = {label: order(steps, error) for label, error in errors.items()}
    dt = TIME / np.array(steps)
    report.table("errors", ("steps", "dt", *methods), list(zip(steps, dt, *errors.values())))
    report.table("orders", ("method", "order"), list(orders.items()))
    for finding in findings(orders, errors, spin):
        report.find(finding)
    report.figure("convergence", lambda figure: draw_errors(figure, dt, errors), size=(6.4, 5.2))
    report.figure("motion", lambda figure: draw_motion(figure, spin))


def findings(orders, errors, spin):
    old, new = "PCDM 2013", "improved PCDM 2016"
    slope = {"tolerance": SLOPE, "note": "slope through the three smallest steps"}
    yield Finding(new, "Fig. 3b", "order of the improved PCDM", "2", orders[IMPROVED], **slope)
    yield Finding(new, "Fig. 3b", "order of the original PCDM", "1", orders[PCDM], **slope)
    yield Finding(old, "Fig. 7", "order of PCDM with the torque of a whole step", "2", orders[PCDM], 1.0,
                  note="exact: a torque that is off by dt/2 gives an error of order 1; with that of "
                       "t + dt/2 the order is 2")
    yield Finding(old, "Fig. 7", "order of PCDM with the torque of t + dt/2", "2", orders[MIDDLE], **slope)
    for label in FIRST_ORDER:
        yield Finding(old, "Fig. 7", f"order of {label}", "1", orders[label], **slope)
    worst = max(np.max(np.divide(errors[MIDDLE], errors[label])) for label in FIRST_ORDER)
    yield Finding(old, "Fig. 7", "PCDM's error always below the others'", None, worst,
                  holds=bool(worst < 1.0), note="with the torque of t + dt/2, for every step")
    yield Finding(new, "Fig. 3a", "w_y and w_z grow rapidly, w_x does not", None, spin[-1, 2],
                  holds=bool(np.max(np.abs(spin[:, 0])) < 0.1 * np.min(spin[-1, 1:])),
                  note="w_z at the end [rad/s]; w_x never above a tenth of the final values of the others")


def draw_errors(figure, dt, errors):
    axes = figure.subplots()
    for (label, error), (colour, style) in zip(errors.items(), styles(len(errors))):
        axes.loglog(1.0 / dt, error, color=colour, linestyle=style, marker=".", label=label)
    for power, first in ((1, errors[PCDM][0]), (2, errors[IMPROVED][0])):
        guide = 0.3 * first * (dt / dt[0]) ** power
        axes.loglog(1.0 / dt, guide, color="0.7", linewidth=0.8)
        axes.annotate(f"slope {-power}", (1.0 / dt[-1], guide[-1]), color="0.5", ha="right", va="top")
    axes.set_xlabel("1 / dt (1/s)")
    axes.set_ylabel("mean error of the angle (rad)")
    figure.legend(ncols=2, loc="outside upper center")


def draw_motion(figure, spin):
    axes = figure.subplots()
    t = TIME / len(spin) * np.arange(1, len(spin) + 1)
    for k, (name, (colour, style)) in enumerate(zip("xyz", styles(3))):
        axes.plot(t, spin[:, k], color=colour, linestyle=style, label=f"$\\omega_{name}$")
    axes.set_xlabel("time (s)")
    axes.set_ylabel("angular velocity, body frame (rad/s)")
    axes.legend()


EXPERIMENT = Scenario("forced_cylinder", __doc__, study=run, add_options=add_options, check=check)
main = EXPERIMENT.main

if __name__ == "__main__":
    sys.exit(main())
