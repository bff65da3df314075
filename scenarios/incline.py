#!/usr/bin/env python3
"""A sphere slides or rolls on an inclined plane; a sliding sphere begins to roll on a horizontal one.

Exact solutions for a rigid homogeneous sphere of radius R with friction mu, on a plane at an angle theta:

    tan(theta) < 7/2 mu   rolls    acceleration 5/7 g sin(theta), angular acceleration 5/7 g sin(theta) / R
    tan(theta) > 7/2 mu   slides   g (sin(theta) - mu cos(theta)), angular acceleration 5/2 mu g cos(theta) / R
    theta = 0             starts with velocity u and no spin: rolls from the time 2 u / (7 mu g) on, with 5/7 u

Gravity is inclined instead of the plane. Each sphere starts at the overlap that balances its weight in a Hertz contact.
This overlap, 1e-4 of the radius, limits the agreement. The threshold is found by bisection, with the state of the
contact (sliding or not) after --time.
"""

import sys

import numpy as np

import minidem as md
from minidem.scenario import Scenario, positive
from minidem.scenario.plot import COLOURS
from minidem.scenarios.papers import Finding

RADIUS, DENSITY = 0.01, 2500.0                                      # [m], [kg/m3]
YOUNG, POISSON, RESTITUTION = 1e9, 0.2, 0.5
G = 9.81                                                            # [m/s2]
SPEED = 5.0                                                         # u [m/s]
FRICTIONS = (0.2, 0.4, 0.6, 0.8, 1.0)                               # on the horizontal plane
EXACT = "exact solution"


def add_options(group):
    group.add_argument("--contact", default="hertz-mindlin", metavar="NAME",
                       help="contact law with friction, parameters after a colon (default: %(default)s)")
    group.add_argument("--friction", type=positive, default=0.3, metavar="MU",
                       help="coefficient of friction on the inclined plane (default: %(default)s)")


def check(options):
    if not md.contact.info(options.contact.partition(":")[0]).has_history:
        raise ValueError(f"--contact is {options.contact}: give a law with friction, hertz-mindlin")


def sphere(options, slope, friction, speed=0.0):
    """A sphere that touches the plane z = 0, with `speed` along x; gravity inclined by atan(slope) towards x."""
    material = md.Material(YOUNG, POISSON, restitution=RESTITUTION, friction=friction)
    ball = md.ClumpTemplate([(0, 0, 0)], [RADIUS], density=DENSITY)
    cosine = 1.0 / np.hypot(1.0, slope)
    sim = md.Simulation(material, walls=[md.Plane((0, 0, 0), (0, 0, 1))], contact=options.contact, dt=options.dt,
                        gravity=(G * slope * cosine, 0.0, -G * cosine), threads=1)
    stiffness = 4.0 / 3.0 * md.effective_modulus(material, material) * np.sqrt(RADIUS)
    overlap = (ball.mass * G * cosine / stiffness) ** (2.0 / 3.0)
    sim.add_clumps(ball, [(0.0, 0.0, RADIUS - overlap)], velocity=(speed, 0.0, 0.0))
    return sim


def is_sliding(sim):
    return bool(np.any(sim.contacts()["sliding"]))


def accelerations(options, slope):
    """Mean acceleration and angular acceleration times radius over the last three quarters of the run, over g."""
    sim = sphere(options, slope, options.friction)
    sim.run_until(0.25 * options.time)
    start, motion = sim.time, [np.array([sim.velocity[0, 0], RADIUS * sim.angular_velocity[0, 1]])]
    sim.run_until(options.time)
    motion.append(np.array([sim.velocity[0, 0], RADIUS * sim.angular_velocity[0, 1]]))
    return (motion[1] - motion[0]) / (G * (sim.time - start))


def exact_accelerations(slope, friction):
    cosine = 1.0 / np.hypot(1.0, slope)
    sine = slope * cosine
    if slope < 3.5 * friction:
        return np.array([5.0 / 7.0 * sine, 5.0 / 7.0 * sine])
    return np.array([sine - friction * cosine, 2.5 * friction * cosine])


def threshold(options):
    """Slope above which the sphere slides, over 7/2 mu, to 1e-4."""
    low, high = 0.9, 1.1
    while high - low > 1e-4:
        middle = 0.5 * (low + high)
        sim = sphere(options, 3.5 * options.friction * middle, options.friction)
        sim.run_until(options.time)
        low, high = (low, middle) if is_sliding(sim) else (middle, high)
    return 0.5 * (low + high)


def begin_to_roll(options, friction):
    """Rows of time [s], v / u, R w / u, sliding; every step near the exact time of the transition."""
    sim, rows = sphere(options, 0.0, friction, SPEED), []
    for end, every in ((0.99, 0.01), (1.01, 0.0), (1.5, 0.01)):
        duration = transition(friction)
        sim.run(round(end * duration / options.dt) - sim.step_count, every=max(1, round(every * duration / options.dt)),
                callback=lambda sim: rows.append((sim.time, sim.velocity[0, 0] / SPEED,
                                         RADIUS * sim.angular_velocity[0, 1] / SPEED, is_sliding(sim))))
    return np.array(rows)


def transition(friction):
    """Exact time from which the sphere rolls on the horizontal plane [s]."""
    return 2.0 * SPEED / (7.0 * friction * G)


def run(options, report):
    slopes = np.tan(np.radians(np.arange(5.0, 90.0, 20.0 if options.quick else 5.0)))
    found = np.array([accelerations(options, slope) for slope in report.progress("inclined", slopes)])
    exact = np.array([exact_accelerations(slope, options.friction) for slope in slopes])
    error = np.max(np.abs(found / exact - 1.0), axis=1)
    angles = np.degrees(np.arctan(slopes))
    report.table("accelerations", ("degrees", "acceleration", "angular_acceleration", "exact_acceleration",
                                   "exact_angular_acceleration"), np.column_stack([angles, found, exact]).tolist())
    slides = slopes > 3.5 * options.friction
    judge(report, "rolling", "accelerations", np.max(error[~slides], initial=0.0))
    judge(report, "sliding", "accelerations", np.max(error[slides], initial=0.0))
    judge(report, "threshold", "tan(theta) / (7/2 mu)", abs(threshold(options) - 1.0))

    curves = {friction: begin_to_roll(options, friction)
              for friction in report.progress("horizontal", FRICTIONS[::2] if options.quick else FRICTIONS)}
    times, speeds = [], []
    for friction, rows in curves.items():
        times.append(rows[np.flatnonzero(rows[:, 3])[-1] + 1, 0] / transition(friction))
        speeds.append(1.4 * rows[-1, 1:3])
    report.table("rolling_starts", ("friction", "time", "velocity", "spin"),
                 [(friction, t, *speed) for friction, t, speed in zip(curves, times, speeds)])
    judge(report, "begin to roll", "time / (2 u / (7 mu g))", np.max(np.abs(np.array(times) - 1.0)))
    judge(report, "begin to roll", "velocities / (5/7 u)", np.max(np.abs(np.array(speeds) - 1.0)))
    report.figure("incline", lambda figure: draw(figure, options.friction, angles, found, error, curves),
                  size=(10.5, 3.6))


def judge(report, item, quantity, error):
    report.find(Finding(EXACT, item, f"{quantity}: largest relative error {error:.1e}", None, error,
                        holds=bool(error <= 1e-3), note="criterion: at most 0.001"))
    report.say(f"{item}, {quantity}: largest relative error {error:.1e}.")


def draw(figure, friction, angles, found, error, curves):
    acceleration, errors, rolling = figure.subplots(1, 3)
    fine = np.linspace(0.0, 89.0, 400)
    exact = np.array([exact_accelerations(slope, friction) for slope in np.tan(np.radians(fine))])
    for k, name in enumerate(("$a$", r"$R\,\dot\omega$")):
        acceleration.plot(fine, exact[:, k], color=COLOURS[k], label=f"{name}, exact")
        acceleration.plot(angles, found[:, k], "os"[k], color=COLOURS[k], markersize=4, label=f"{name}, minidem")
    acceleration.set(xlabel=r"inclination $\theta$ (degrees)", ylabel="acceleration / g",
                     title=rf"inclined plane, $\mu$ = {friction:g}")
    errors.semilogy(angles, error, "o", color=COLOURS[0], markersize=4)
    errors.set(xlabel=r"inclination $\theta$ (degrees)", ylabel="larger relative error of both accelerations")
    for panel in (acceleration, errors):
        panel.axvline(np.degrees(np.arctan(3.5 * friction)), color="0.6", linestyle=":",
                      label=r"$\tan\theta = 7/2\,\mu$")
        panel.legend(fontsize=7)
    for (mu, rows), colour in zip(curves.items(), COLOURS):
        rolling.plot(rows[:, 0], rows[:, 1], color=colour, label=rf"$\mu$ = {mu:g}")
        rolling.plot(rows[:, 0], rows[:, 2], "--", color=colour)
    rolling.plot([transition(mu) for mu in curves], np.full(len(curves), 5.0 / 7.0), "o", color="black", markersize=4,
                 label="exact transition")
    rolling.set(xlabel="time (s)", ylabel=r"$v$; $R\,\omega$ (dashed), over the initial $v$", title="horizontal plane")
    rolling.legend(fontsize=7)


EXPERIMENT = Scenario("incline", __doc__, study=run, add_options=add_options, check=check,
                      defaults={"dt": 1e-5, "time": 0.4})
main = EXPERIMENT.main

if __name__ == "__main__":
    sys.exit(main())
