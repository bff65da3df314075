#!/usr/bin/env python3
"""Clumps rain into a box, form a heap and come to rest, with friction, damping and rolling resistance.

The clumps start at rest at random positions without overlap. At rest the mean kinetic energy per clump is below 1e-12
of m g r, with the mass m of a clump and the radius r of its spheres. The rotation of a clump about the normal of its
only contact does not count: no law resists twisting, so that this spin lasts. In the heap of the first command one of
the 400 rods rests on a single contact and spins with 5 mrad/s: 8e-11 m g r per clump.

observables.csv has the kinetic energy and the energy of such spin (torsion_energy), the coordination number (contacts
per clump, those with walls included), and the packing fraction of a uniform bed with the same mean height of the
clumps; settling.png shows them. A heap continued from its checkpoint stays at rest:

    python scenarios/settling.py && python scenarios/settling.py --resume --time 5
    python scenarios/settling.py --count 10000

Without rolling resistance a rod may roll along the bottom for ever. A rod that others hold at one end swings for
seconds. Shapes, of spheres with a radius of 1 cm:

    rod         three touching spheres
    fibre       five spheres along an arc
    tetrapod    four overlapping spheres
    sphere      one sphere
"""

import sys

import numpy as np

import minidem as md
from minidem.core.quaternions import rotate_back
from minidem.scenario import Observable, Scenario, at_least, finite, place_densely, positive
from minidem.scenario.plot import COLOURS, save

RADIUS, DENSITY = 0.01, 2500.0                                      # [m], [kg/m3]
YOUNG, POISSON = 5e7, 0.3
G = 9.81                                                            # [m/s2]
HEIGHT = 0.2                                                        # of the heap at a solid fraction of HEAP [m]
RAIN, HEAP = 0.15, 0.55                                             # solid fractions, RAIN: at the start
REST, LAST = 1e-12, 0.05                                            # kinetic energy per clump over m g r; share of rows
CORNERS = 0.55 * RADIUS * np.array([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)])
SHAPES = {
    "rod": md.shapes.rod(6 * RADIUS, RADIUS, 3, DENSITY),
    "fibre": md.shapes.fibre(8 * RADIUS, RADIUS, 5, bend=1.5, density=DENSITY),
    "tetrapod": md.ClumpTemplate(CORNERS, [RADIUS] * 4, density=DENSITY),
    "sphere": md.ClumpTemplate([(0, 0, 0)], [RADIUS], density=DENSITY),
}


def add_options(group):
    group.add_argument("--count", type=at_least(1), default=400, metavar="N",
                       help="number of clumps (default: %(default)s)")
    group.add_argument("--shape", choices=SHAPES, default="rod", help="of the clumps (default: %(default)s)")
    group.add_argument("--restitution", type=positive, default=0.5, metavar="E",
                       help="coefficient of restitution (default: %(default)s)")
    group.add_argument("--friction", type=finite, default=0.5, metavar="MU",
                       help="coefficient of sliding friction (default: %(default)s)")
    group.add_argument("--rolling-friction", type=finite, default=0.2, metavar="MU",
                       help="coefficient of rolling friction, for laws with rolling resistance (default: %(default)s)")
    group.add_argument("--adhesion", type=finite, default=0.0, metavar="W",
                       help="work of adhesion [J/m2], for laws with cohesion (default: %(default)s)")


def build(options):
    """Initial state."""
    clump = SHAPES[options.shape]
    material = md.Material(YOUNG, POISSON, restitution=options.restitution, friction=options.friction,
                           rolling_friction=options.rolling_friction, adhesion=options.adhesion)
    least = 2.5 * clump.bounding_radius
    edge = max(least, np.sqrt(options.count * clump.volume / (HEAP * HEIGHT)))
    low, high = np.zeros(3), np.array([edge, edge, max(least, options.count * clump.volume / (RAIN * edge**2))])
    [(position, orientation)] = place_densely([clump], [options.count], low, high, np.random.default_rng(options.seed))
    sim = md.Simulation(material, walls=md.box_walls(low, high), rotation=options.integrator, contact=options.contact,
                        dt=options.dt, gravity=(0.0, 0.0, -G), threads=options.threads)
    sim.add_clumps(clump, position, orientation)
    return sim


def kinetic_energy(sim):
    """Mean kinetic energy per clump over m g r."""
    energy, clump = sim.energy(), sim.templates[0]
    return energy.kinetic / (sim.n_clumps * clump.mass * G * RADIUS)


def torsion_energy(sim):
    """Mean kinetic energy per clump over m g r that is lost if clumps with one contact do not turn about its normal."""
    contacts, clump = sim.contacts(), sim.templates[0]
    clumps = np.concatenate([contacts["clump_i"], contacts["clump_j"]])         # negative: walls
    alone = (clumps >= 0) & (np.bincount(clumps[clumps >= 0], minlength=sim.n_clumps)[clumps] == 1)
    normal, orientation = np.tile(contacts["normal"], (2, 1))[alone], sim.orientation[clumps[alone]]
    spin = sim.angular_velocity[clumps[alone]]

    def energy(spin):
        return 0.5 * np.sum(clump.inertia * (rotate_back(orientation, spin) @ clump.axes) ** 2)

    rolling = spin - np.sum(spin * normal, axis=1, keepdims=True) * normal
    return (energy(spin) - energy(rolling)) / (sim.n_clumps * clump.mass * G * RADIUS)


def packing_fraction(sim):
    """Solid fraction of a uniform bed whose clumps have the same mean height."""
    base = max(wall.point[0] for wall in sim.walls) ** 2
    return sim.n_clumps * sim.templates[0].volume / (base * 2.0 * np.mean(sim.position[:, 2]))


def conclude(sim, recorder, folder):
    """Whether the heap rests; its coordination number and packing fraction; settling.png."""
    observed = recorder.observed
    after = np.flatnonzero(without_torsion(observed) >= REST)[-1] + 1           # row from which the clumps rest
    at_rest = bool(after < (1.0 - LAST) * len(observed.rows))
    since = observed["time"][after] if at_rest else None
    final = {name: observed[name][-1] for name in (
        "kinetic_energy", "torsion_energy", "coordination_number", "packing_fraction")}
    save(folder / "settling.png", (6.4, 5.0), lambda figure: draw(figure, observed))
    rest = f"At rest from {since:.3g} s on" if at_rest else f"NOT at rest in the last {LAST:.0%} of the time"
    return ({**final, "at_rest": at_rest, "rest_time": since},
            f"{rest}: kinetic energy per clump at the end {without_torsion(observed)[-1]:.1e} m g r (limit {REST:g}), "
            f"and {final['torsion_energy']:.1e} m g r of spin at single contacts, where no law resists twisting. "
            f"Coordination number {final['coordination_number']:.3f}, packing fraction "
            f"{final['packing_fraction']:.3f}.")


def without_torsion(observed):
    """Kinetic energy per clump that must vanish at rest."""
    return observed["kinetic_energy"] - observed["torsion_energy"]


def draw(figure, observed):
    kinetic, packing = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    time = observed["time"]
    for energy, look in ((observed["kinetic_energy"], {"linestyle": "--", "color": COLOURS[1], "label": "total"}),
                         (without_torsion(observed),
                          {"color": COLOURS[0], "label": "without spin about single contacts, which no law resists"})):
        kinetic.semilogy(time[energy > 0.0], energy[energy > 0.0], **look)
    kinetic.axhline(REST, color="0.5", linestyle=":", label="limit of rest")
    kinetic.set_ylabel("kinetic energy per clump / $m g r$")
    kinetic.legend()
    packing.plot(time, observed["packing_fraction"], color=COLOURS[0])
    packing.set(xlabel="time (s)", ylim=(0.0, None))
    packing.set_ylabel("packing fraction", color=COLOURS[0])
    contacts = packing.twinx()
    contacts.plot(time, observed["coordination_number"], "--", color=COLOURS[1])
    contacts.set_ylim(0.0, None)
    contacts.set_ylabel("coordination number (dashed)", color=COLOURS[1])
    contacts.grid(False)
    contacts.spines["right"].set_visible(True)


SCENARIO = Scenario(
    "settling", __doc__, build, add_options=add_options, conclude=conclude,
    defaults={"integrator": "exact", "contact": "hertz-mindlin:rolling=epsd,rolling_damping=1", "dt": 1.5e-5,
              "time": 4.0, "seed": 1, "frames": 100},
    observables=(Observable("kinetic_energy", "kinetic energy per clump / m g r", kinetic_energy),
                 Observable("coordination_number", "coordination number", md.Simulation.coordination_number),
                 Observable("packing_fraction", "packing fraction", packing_fraction),
                 Observable("torsion_energy", "energy of torsion at single contacts / m g r", torsion_energy)))
main = SCENARIO.main

if __name__ == "__main__":
    sys.exit(main())
