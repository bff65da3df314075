#!/usr/bin/env python3
"""A wing nut rotates about its middle principal axis and flips over periodically (tennis racket theorem).

Rotation about the axis of the middle moment of inertia is unstable: with a small initial deviation the body flips over
at regular intervals (Dzhanibekov 1985). Without torque, Euler's equations have an exact solution (Landau and Lifshitz,
Mechanics, section 37). For w = (0, W, e) at t = 0, moments I1 < I2 < I3 and Jacobi's functions of rate t,

    w = (-a sn, W cn, e) / dn,            rate^2 = (I3 - I2)(L^2 - 2T I1) / (I1 I2 I3),
    a^2 = I2 I3 (I3 - I2) W^2 e^2 / (I1 (L^2 - 2T I1)),   time between flips 2 K / rate.

The motion is close to a separatrix, L^2 = 2T I2; the closer, the longer the time between flips. Schemes with errors in
the energy but not in the angular momentum (fincham, buss) drift towards the separatrix and flip later and later. euler
drifts as fast, but its angular velocity also grows, which here compensates.
"""

import sys

import numpy as np
from scipy.special import ellipj, ellipkm1

import minidem as md
from minidem.core.quaternions import rotate
from minidem.scenario import Scenario, at_least, positive
from minidem.scenario.plot import styles
from minidem.scenarios.curves import label_ends
from minidem.scenarios.papers import Finding

DENSITY = 7850.0                                                    # [kg/m3]
RADII = [8e-3] + 2 * [5e-3] + 2 * [6e-3]                            # hub, thread, two wings [m]
CENTERS = [(0, 0, 0), (0, 0, 7e-3), (0, 0, 14e-3), (-13e-3, 0, 0), (13e-3, 0, 0)]
SPIN = 20.0                                                         # W about the middle axis [rad/s]
POINTS = 400                                                        # of a curve between two flips
SCHEMES = ("euler", "velocity-verlet", "buss", "johnson", "fincham", "omelyan", "pcdm", "improved-pcdm",
           "spiral", "spiral-sync", "rk4")
ACCURATE = "rk4"


class FreeMotion:
    """The exact motion of a free body that starts with w = (0, spin, tilt * spin)."""

    def __init__(self, inertia, spin, tilt):
        one, two, three = inertia
        self.start = spin * np.array([0.0, 1.0, tilt])
        square, twice_energy = np.sum((inertia * self.start) ** 2), np.sum(inertia * self.start**2)
        excess = square - twice_energy * one
        self.rate = np.sqrt((three - two) * excess / (one * two * three))
        # 1 - m, of the size of tilt^2, without cancellation.
        complement = three * (three - one) * self.start[2] ** 2 / excess
        self.parameter = 1.0 - complement
        self.flip_time = 2.0 * ellipkm1(complement) / self.rate     # between two flips
        self.across = np.sqrt(two * three * (three - two) / (one * excess)) * spin * self.start[2]

    def angular_velocity(self, t):
        """Body frame, (n, 3) at times (n,)."""
        sn, cn, dn, _ = ellipj(self.rate * t, self.parameter)
        return np.stack([-self.across * sn / dn, self.start[1] * cn / dn, self.start[2] / dn], axis=-1)


def follow(scheme, inertia, motion, dt, flips):
    """Times, orientations and angular velocities, about POINTS per flip."""
    every = max(1, round(motion.flip_time / dt / POINTS))
    path = md.rotation.integrate(scheme, inertia, (1, 0, 0, 0), motion.start, (0, 0, 0), dt,
                                 every * round(flips * motion.flip_time / dt / every), record_every=every)
    return path.time, path.orientation, path.angular_velocity


def flip_instants(t, w):
    """Times at which w about the middle axis changes its sign, by linear interpolation."""
    k = np.nonzero(w[:-1, 1] * w[1:, 1] < 0.0)[0]
    return t[k] + (t[k + 1] - t[k]) * w[k, 1] / (w[k, 1] - w[k + 1, 1])


def distance(inertia, w):
    """L^2 / (2T I2) - 1: positive: tumbling about the axis of I3; negative: about the axis of I1."""
    return np.sum((inertia * w) ** 2, axis=-1) / (inertia[1] * np.sum(inertia * w**2, axis=-1)) - 1.0


def departures(path, inertia, motion):
    """Largest relative errors of w, energy and angular momentum (lab); error of the last flip relative to the time
    between flips (None if a flip is missing); distance from the separatrix, median over the time of the last flip,
    relative to its initial value."""
    t, q, w = path
    exact, start = motion.angular_velocity(t), inertia * motion.start
    momentum, energy = rotate(q, inertia * w), np.sum(inertia * w**2, axis=-1)
    instants, due = flip_instants(t, w), flip_instants(t, exact)
    return (np.max(np.linalg.norm(w - exact, axis=-1)) / np.linalg.norm(motion.start),
            np.max(np.abs(energy / np.sum(start * motion.start) - 1.0)),
            np.max(np.linalg.norm(momentum - start, axis=-1)) / np.linalg.norm(start),
            abs(instants[-1] - due[-1]) / motion.flip_time if len(instants) == len(due) else None,
            np.median(distance(inertia, w[t > t[-1] - motion.flip_time])) / distance(inertia, motion.start))


def add_options(group):
    group.add_argument("--tilt", type=positive, default=1e-2, metavar="ANGLE",
                       help="initial deviation from the middle axis, e / W (default: %(default)s)")
    group.add_argument("--flips", type=at_least(1), metavar="N",
                       default=lambda options: 3 if options.quick else 20,
                       help="number of flips (default: 20; with --quick 3)")


def check(options):
    if options.tilt > 0.5:
        raise ValueError(f"--tilt is {options.tilt:g}, must be at most 0.5: larger deviations are not a rotation about "
                         "the middle axis")
    if options.dt * SPIN > 0.5:
        raise ValueError(f"--dt is {options.dt:g}, must be at most {0.5 / SPIN:g} s, half a radian per step")


def run(options, report):
    nut = md.ClumpTemplate(CENTERS, RADII, density=DENSITY)
    motion = FreeMotion(nut.inertia, SPIN, options.tilt)
    paths = {scheme: follow(scheme, nut.inertia, motion, options.dt, options.flips)
             for scheme in report.progress("schemes", SCHEMES)}
    errors = {scheme: departures(path, nut.inertia, motion) for scheme, path in paths.items()}
    header = ("scheme", "angular_velocity", "energy", "angular_momentum", "last_flip", "from_separatrix")
    report.table("errors", header, [(scheme, *error) for scheme, error in errors.items()])
    report.find(flip_finding(paths[ACCURATE], motion, options.dt))
    report.figure("flips", lambda figure: draw_flips(figure, paths, motion), size=(6.4, 5.0))
    report.figure("errors", lambda figure: draw_errors(figure, paths, motion, nut.inertia), size=(7.4, 6.0))
    report.say(f"A wing nut with moments {nut.inertia} kg m2 flips every {motion.flip_time:.4f} s.")
    report.say("Largest relative errors of the angular velocity:")
    for scheme, error in sorted(errors.items(), key=lambda item: item[1][0]):
        lost = ", a flip is missing" if error[3] is None else ""
        report.say(f"    {scheme:16s} {error[0]:.1e}{lost}")


def flip_finding(path, motion, dt):
    """Time between flips, interpolated in the same way on the exact curve."""
    t, _, w = path
    ratio = flip_instants(t, w)[-1] / flip_instants(t, motion.angular_velocity(t))[-1]
    return Finding("Landau and Lifshitz, Mechanics", "section 37", "time between two flips [s]",
                   float(motion.flip_time), motion.flip_time * ratio, tolerance=(SPIN * dt) ** 4,
                   note=f"published: 2 K(m) / rate; here with {ACCURATE}, of fourth order in W dt")


def draw_flips(figure, paths, motion):
    """w about the middle axis: exact, and by the best and the worst schemes."""
    axes = figure.subplots(3, 1, sharex=True, sharey=True)
    t = paths[ACCURATE][0]
    exact = motion.angular_velocity(t)
    for k, (name, (colour, style)) in enumerate(zip("123", styles(3))):
        axes[0].plot(t, exact[:, k], color=colour, linestyle=style, label=f"$\\omega_{name}$, exact")
    axes[0].legend(ncols=3, loc="lower left", bbox_to_anchor=(0.0, 1.0))
    for panel, schemes in zip(axes[1:], (("spiral", "pcdm"), ("fincham", "euler"))):
        panel.plot(t, exact[:, 1], color="0.75", linewidth=3.0, label="exact")
        for scheme, (colour, style) in zip(schemes, styles(2)):
            panel.plot(t, paths[scheme][2][:, 1], color=colour, linestyle=style, label=scheme)
        panel.set_ylabel("$\\omega_2$ (rad/s)")
        panel.legend(ncols=3, loc="lower left", bbox_to_anchor=(0.0, 0.95))
    axes[0].set_ylabel("$\\omega$ (rad/s)")
    axes[-1].set_xlabel("time (s)")


def draw_errors(figure, paths, motion, inertia):
    errors, distances = figure.subplots(2, 1, sharex=True)
    for (scheme, (t, _, w)), (colour, style) in zip(paths.items(), styles(len(paths))):
        miss = np.linalg.norm(w - motion.angular_velocity(t), axis=1)
        errors.semilogy(t, miss / SPIN, color=colour, linestyle=style, label=scheme)
        distances.plot(t, distance(inertia, w) / distance(inertia, motion.start), color=colour, linestyle=style,
                       label=scheme)
    errors.set_ylabel(f"error of angular velocity\n/ initial {SPIN:g} rad/s")
    distances.set_ylabel("distance from separatrix,\n$(L^2 / (2T I_2) - 1)$ / value at start")
    distances.set_ylim(-1.0, 1.5)
    distances.axhline(0.0, color="0.6", linewidth=0.6)
    distances.set_xlabel("time (s)")
    for panel in (errors, distances):
        label_ends(panel)


EXPERIMENT = Scenario("tennis_racket", __doc__, study=run, add_options=add_options, check=check, defaults={"dt": 1e-3})
main = EXPERIMENT.main

if __name__ == "__main__":
    sys.exit(main())
