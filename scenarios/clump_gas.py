#!/usr/bin/env python3
"""A gas of clumps cools by inelastic collisions with friction, without gravity: Haff's law.

The walls are elastic and without friction, given by a Pair of materials. While the gas remains homogeneous, its kinetic
energy E falls as E0 / (1 + t / tau)^2 (P. K. Haff, J. Fluid Mech. 134, 401 (1983), doi 10.1017/S0022112083003419).

The exponent and tau are fitted to log E after the first 2 % of the run, in which the ratio of rotational and
translational energy becomes stationary; tau belongs to the energy E0 of the fit. For smooth spheres (--shape sphere
--friction 0) tau is compared with kinetic theory, 6 / ((1 - e^2) omega), omega: collision frequency of a sphere by
Enskog in a volume without walls, from which a few hundred spheres in a box deviate by 5 to 10 %. Large or dense
systems, or those with much dissipation, form clusters and cool more slowly.

clump_gas.png shows the energy and the fit. Friction is needed for all shapes but spheres with no spin: otherwise the
rotation of a rod about its axis has no collisions.
"""

import sys

import numpy as np
import scipy

import minidem as md
from minidem.core.quaternions import rotate
from minidem.scenario import Observable, Scenario, at_least, finite, place, positive
from minidem.scenario.plot import COLOURS, save
from minidem.scenarios import settling

YOUNG, POISSON = 1e8, 0.3
WALL = md.Material(YOUNG, POISSON, name="wall")
SPEED = 1.0                                                         # initial r.m.s. velocity per direction [m/s]
EARLY = 0.02                                                        # fraction of the run before the fit
TOLERANCE = 0.1                                                     # of the exponent: a finite number of clumps


def add_options(group):
    group.add_argument("--count", type=at_least(10), default=500, metavar="N",
                       help="number of clumps (default: %(default)s)")
    group.add_argument("--shape", choices=settling.SHAPES, default="rod",
                       help="of the clumps, as in settling.py (default: %(default)s)")
    group.add_argument("--fraction", type=positive, default=0.1, metavar="F",
                       help="solid volume fraction (default: %(default)s)")
    group.add_argument("--restitution", type=positive, default=0.95, metavar="E",
                       help="coefficient of restitution of two clumps (default: %(default)s)")
    group.add_argument("--friction", type=finite, default=0.1, metavar="MU",
                       help="coefficient of friction of two clumps (default: %(default)s)")


def build(options):
    """Initial state: normally distributed velocities and spins, equipartition; no spins without friction."""
    rng, clump, n = np.random.default_rng(options.seed), settling.SHAPES[options.shape], options.count
    material = md.Material(YOUNG, POISSON, restitution=options.restitution, friction=options.friction, name="clump")
    high = np.full(3, (n * clump.volume / options.fraction) ** (1 / 3))
    [(position, orientation)] = place([clump], [n], np.zeros(3), high, rng)
    sim = md.Simulation(material, walls=md.box_walls(np.zeros(3), high, material=WALL), rotation=options.integrator,
                        contact=options.contact, dt=options.dt, threads=options.threads,
                        pairs=[md.Pair(material, WALL, restitution=1.0, friction=0.0)])
    velocity = SPEED * rng.standard_normal((n, 3))
    spin = SPEED * np.sqrt(clump.mass / clump.inertia) * rng.standard_normal((n, 3)) * (options.friction > 0.0)
    sim.add_clumps(clump, position, orientation, velocity=velocity - np.mean(velocity, axis=0),
                   angular_velocity=rotate(orientation, spin @ clump.axes.T))
    return sim


def log_energy(time, log_initial, log_tau, exponent):
    return log_initial - exponent * np.log1p(time / np.exp(log_tau))


def fit(time, energy):
    """(E0, tau, exponent) of E0 / (1 + t / tau)^exponent; (E0, tau) with exponent 2; rows are weighted by 1 / t."""
    late = time >= EARLY * time[-1]
    t, log_e = time[late], np.log(energy[late])
    guess = (np.log(energy[0]), np.log(0.1 * time[-1]), 2.0)
    weight = {"sigma": np.sqrt(t)}
    free, _ = scipy.optimize.curve_fit(log_energy, t, log_e, guess, **weight)
    two, _ = scipy.optimize.curve_fit(lambda t, a, b: log_energy(t, a, b, 2.0), t, log_e, guess[:2], **weight)
    return (*np.exp(free[:2]), free[2]), tuple(np.exp(two))


def rotational_share(sim):
    energy = sim.energy()
    return energy.rotational / energy.kinetic


def kinetic_theory(sim, energy):
    """tau of smooth spheres with the kinetic energy `energy` [s]."""
    (sphere,), e = sim.templates, sim.material.restitution
    volume = np.prod(np.max([wall.point for wall in sim.walls], axis=0))
    fraction = sim.n_clumps * sphere.volume / volume
    at_contact = (1.0 - 0.5 * fraction) / (1.0 - fraction) ** 3         # pair correlation, Carnahan and Starling
    temperature = 2.0 / 3.0 * energy / (sim.n_clumps * sphere.mass)     # variance of a velocity component [m2/s2]
    frequency = 16.0 * sim.n_clumps / volume * sphere.radii[0] ** 2 * at_contact * np.sqrt(np.pi * temperature)
    return 6.0 / ((1.0 - e * e) * frequency)


def conclude(sim, recorder, folder):
    """Fit of Haff's law; clump_gas.png."""
    table = recorder.energy
    time, energy = table["time"], table["translational"] + table["rotational"]
    (_, tau, exponent), (initial, tau2) = fit(time, energy)
    # tau at the energy of the start: E^(-1/2) grows at the constant rate 1 / (tau E0^(1/2))
    at_start = tau2 * np.sqrt(initial / energy[0])
    share = recorder.observed["rotational_share"]
    result = {"exponent": exponent, "tau_with_exponent": tau, "tau": at_start,
              "rotational_share": np.mean(share[len(share) // 2:]), "cooling": energy[0] / energy[-1],
              "holds": bool(abs(exponent - 2.0) <= TOLERANCE)}
    save(folder / "clump_gas.png", (6.4, 5.0), lambda figure: draw(figure, time, energy, initial, tau2, exponent))
    text = (f"Haff's law {'holds' if result['holds'] else 'does NOT hold'}: fitted exponent {exponent:.3f} (2 within "
            f"{TOLERANCE:g}), tau {at_start:.4g} s for exponent 2 and the initial energy, which fell by a factor of "
            f"{result['cooling']:.3g}.")
    if len(sim.templates[0].radii) == 1 and sim.material.friction == 0.0 and sim.material.restitution < 1.0:
        result["tau_kinetic_theory"] = kinetic_theory(sim, energy[0])
        text += f" Kinetic theory of smooth spheres: tau {result['tau_kinetic_theory']:.4g} s."
    return result, text


def draw(figure, time, energy, initial, tau, exponent):
    law, deviation = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
    haff = initial / (1.0 + time / tau) ** 2
    law.loglog(time[1:], energy[1:], ".", color=COLOURS[0], markersize=4, label="minidem")
    law.loglog(time[1:], haff[1:], color=COLOURS[1], label=rf"$E_0\,/\,(1 + t/\tau)^2$, $\tau$ = {tau:.3g} s")
    law.set(ylabel="kinetic energy (J)", title=f"fitted exponent {exponent:.3f}")
    law.legend()
    deviation.semilogx(time[1:], energy[1:] / haff[1:] - 1.0, color=COLOURS[0])
    deviation.axhline(0.0, color="0.6", linewidth=0.6)
    deviation.set(xlabel="time (s)", ylabel="deviation")


SCENARIO = Scenario(
    "clump_gas", __doc__, build, add_options=add_options, conclude=conclude,
    defaults={"integrator": "exact", "contact": "hertz-mindlin", "dt": 1e-5, "time": 4.0, "seed": 1, "frames": 100},
    observables=(Observable("rotational_share", "rotational share of the kinetic energy", rotational_share),))
main = SCENARIO.main

if __name__ == "__main__":
    sys.exit(main())
