#!/usr/bin/env python3
"""A wing nut spins about its middle axis, and turns over, and over again: the Dzhanibekov effect.

Rotation about the axis of the middle moment of inertia is unstable: a body set spinning about it with the
slightest wobble turns over at regular intervals, seen by Dzhanibekov on a wing nut in orbit in 1985, and
with every tennis racket. No torque acts. Euler's equations have an exact solution in Jacobi's elliptic
functions (Landau and Lifshitz, Mechanics, section 37). For w = (0, W, e) at t = 0 with moments
I1 < I2 < I3 and u = rate t

    w = (-a sn u / dn u, W cn u / dn u, e / dn u),   rate^2 = (I3 - I2)(L^2 - 2T I1) / (I1 I2 I3)

a^2 = I2 I3 (I3 - I2) W^2 e^2 / (I1 (L^2 - 2T I1)); it flips every 2 K(m) / rate. Here is what the integrators make of
it: errors of w, energy, the direction of the angular momentum, and of the instants of the flips.
"""

import sys

import numpy as np
from scipy.special import ellipj, ellipkm1

import minidem as md
from minidem.geometry.quaternions import rotate
from minidem.scenario import Finding, Laboratory, at_least, positive
from minidem.scenario.plot import styles

DENSITY = 7850.0                                                    # [kg/m3]
RADII = [8e-3] + 2 * [5e-3] + 2 * [6e-3]                            # a hub, a thread, two wings [m]
CENTERS = [(0, 0, 0), (0, 0, 7e-3), (0, 0, 14e-3), (-13e-3, 0, 0), (13e-3, 0, 0)]
SPIN = 20.0                                                         # W about the middle axis [rad/s]
POINTS = 400                                                        # of a curve between two flips
SCHEMES = ("euler", "velocity-verlet", "buss", "johnson", "fincham", "omelyan", "pcdm", "improved-pcdm",
           "spiral", "spiral-sync", "rk4")


class Wobble:
    """The exact motion of a free body that starts with w = (0, spin, tilt * spin)."""

    def __init__(self, inertia, spin, tilt):
        one, two, three = inertia
        self.start = spin * np.array([0.0, 1.0, tilt])
        square, twice_energy = np.sum((inertia * self.start) ** 2), np.sum(inertia * self.start**2)
        excess = square - twice_energy * one
        self.rate = np.sqrt((three - two) * excess / (one * two * three))
        # 1 - m, of the size of the tilt's square, without the loss of digits that 1 - m would suffer.
        complement = three * (three - one) * self.start[2] ** 2 / excess
        self.parameter = 1.0 - complement
        self.flip_time = 2.0 * ellipkm1(complement) / self.rate     # from one turning over to the next
        self.across = np.sqrt(two * three * (three - two) / (one * excess)) * spin * self.start[2]

    def angular_velocity(self, t):
        """Body frame, (n, 3) at times (n,)."""
        sn, cn, dn, _ = ellipj(self.rate * t, self.parameter)
        return np.stack([-self.across * sn, self.start[1] * cn, self.start[2] * np.ones_like(sn)], axis=-1) / dn[:, None]


def follow(scheme, inertia, wobble, dt, flips):
    """Times, orientations and angular velocities at about POINTS instants between two flips."""
    every = max(1, round(wobble.flip_time / dt / POINTS))
    path = md.rotation.integrate(scheme, inertia, (1, 0, 0, 0), wobble.start, (0, 0, 0), dt,
                                 every * round(flips * wobble.flip_time / dt / every), record_every=every)
    return path.time, path.orientation, path.angular_velocity


def flip_instants(t, w):
    """When the spin about the middle axis changes its sign, on straight lines between the points."""
    k = np.nonzero(w[:-1, 1] * w[1:, 1] < 0.0)[0]
    return t[k] + (t[k + 1] - t[k]) * w[k, 1] / (w[k, 1] - w[k + 1, 1])


def departures(path, inertia, wobble):
    """Largest errors of a path: of w, of the energy, and of the angular momentum in the lab; and of the last
    flip, relative to the time between two of them (None if there were too few or too many)."""
    t, q, w = path
    exact = wobble.angular_velocity(t)
    momentum, energy = rotate(q, inertia * w), np.sum(inertia * w**2, axis=-1)
    start = inertia * wobble.start
    instants, due = flip_instants(t, w), flip_instants(t, exact)
    return (np.max(np.linalg.norm(w - exact, axis=-1)) / np.linalg.norm(wobble.start),
            np.max(np.abs(energy / np.sum(start * wobble.start) - 1.0)),
            np.max(np.linalg.norm(momentum - start, axis=-1)) / np.linalg.norm(start),
            abs(instants[-1] - due[-1]) / wobble.flip_time if len(instants) == len(due) > 0 else None)


def add_options(group):
    group.add_argument("--tilt", type=positive, default=1e-3, metavar="ANGLE",
                       help="of the first spin from the middle axis [rad] (default: %(default)s)")
    group.add_argument("--flips", type=at_least(1), metavar="N", default=lambda options: 4 if options.quick else 20,
                       help="how often it turns over (default: 20, with --quick 4)")


def check(options):
    if options.tilt > 0.5:
        raise ValueError(f"--tilt is {options.tilt:g}, must be at most 0.5: beyond, this is no spin about the "
                         "middle axis")
    if options.dt * SPIN > 0.5:
        raise ValueError(f"--dt is {options.dt:g}, must be at most {0.5 / SPIN:g} s: half a radian of spin")


def run(options, report):
    nut = md.ClumpTemplate(CENTERS, RADII, density=DENSITY)
    wobble = Wobble(nut.inertia, SPIN, options.tilt)
    report.say(f"Principal moments {nut.inertia} kg m2; it turns over every {wobble.flip_time:.4f} s.")
    paths = {scheme: follow(scheme, nut.inertia, wobble, options.dt, options.flips)
             for scheme in report.progress("schemes", SCHEMES)}
    errors = {scheme: departures(path, nut.inertia, wobble) for scheme, path in paths.items()}
    report.table("errors", ("scheme", "angular_velocity", "energy", "angular_momentum", "last_flip"),
                 [(scheme, *error) for scheme, error in errors.items()])
    instants = flip_instants(*paths["rk4"][::2])
    report.find(Finding("Landau and Lifshitz", "section 37", "time between two flips [s]",
                        float(wobble.flip_time), float(np.mean(np.diff(instants))) if len(instants) > 1 else None,
                        tolerance=TOLERANCE, note="with rk4; published: 2 K(m) / rate"))
    report.figure("flips", lambda figure: draw_flips(figure, paths, wobble), size=(6.4, 5.6))
    report.figure("errors", lambda figure: draw_errors(figure, paths, wobble))
