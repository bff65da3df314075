#!/usr/bin/env python3
"""Grains of two sizes and materials mix in a rotating drum: case 2 of the comparison of DEM codes by Dosta et al.

M. Dosta et al., Comput. Phys. Commun. 296, 109066 (2024), doi 10.1016/j.cpc.2023.109066. 8000 grains M2 with the volume
of a sphere of 4 mm lie below 30 000 grains M1 of 2 mm in a steel drum of radius 0.1 m and length 0.06 m, which turns
with 2 rad/s about the y axis; the side x > 0 rises. observables.csv and drum.png have the numbers of grains of both
materials in zone 1 (x > 0, z > 0) and zone 2 (x < 0, z < 0), as the comparison has.

The full case has 6.25 million steps. --soft takes Young's moduli of 2 and 1 MPa, and 50 000 steps of 0.1 ms, about six
per contact.

    python scenarios/drum.py --quick
    python scenarios/drum.py --soft --threads 2
    python scenarios/drum.py --soft --clump rod
    python scenarios/drum.py --threads 2 --checkpoint-every 0.1

The grains settle first; the bed is kept in results/beds and used again. --particles FILE takes the spheres of a file
instead, with the columns radius, x, y, z and one line of names, as published with the comparison. --length changes the
drum and the numbers of grains. --quick is a soft drum of 12 mm for 1 s.
"""

import sys

import numpy as np

import minidem as md
from minidem.initial import Group, place_densely, settle
from minidem.scenario import Observable, Scenario, positive, settled
from minidem.scenario.plot import save, styles
from minidem.scenarios import dosta

RADIUS, LENGTH, RATE = 0.1, 0.06, 2.0                               # of the drum [m], [m], [rad/s]
GRAINS = {"M2": (2e-3, 8000), "M1": (1e-3, 30_000)}                 # radius [m], number in the drum of the comparison
SOFT = {"M1": 2e6, "M2": 1e6}                                       # Young's moduli [Pa]
QUICK_LENGTH = 0.012                                                # [m]
PLACES = {"M2": (-0.07, 0.02), "M1": (0.02, 0.07)}                  # heights at the start [m], ...
HALF_WIDTH = 0.07                                                   # ... within the circle of the drum


def is_soft(options):
    return options.soft or options.quick


def step(options):
    """Time step by default, and of the settling bed [s]."""
    return 1e-4 if is_soft(options) else 8e-7


def add_options(group):
    group.add_argument("--quick", action="store_true", help="a short soft drum, under a minute")
    group.add_argument("--soft", action="store_true", help="smaller Young's moduli and a longer step")
    group.add_argument("--clump", choices=dosta.SHAPES, default="sphere", help="grains (default: %(default)s)")
    group.add_argument("--length", type=positive, metavar="METRES",
                       default=lambda options: QUICK_LENGTH if options.quick else LENGTH,
                       help=f"of the drum, the numbers of grains in proportion (default: {LENGTH}; with --quick "
                            f"{QUICK_LENGTH})")
    group.add_argument("--particles", metavar="FILE", help="take the spheres of this file")


def walls(length, rate, material):
    """Cylinder and both ends."""
    turning = {"material": material, "angular_velocity": (0.0, -rate, 0.0), "center": (0.0, 0.0, 0.0)}
    return [md.Cylinder((0.0, 0.0, 0.0), (0.0, 1.0, 0.0), RADIUS, **turning),
            *(md.Plane((0.0, side * 0.5 * length, 0.0), (0.0, -side, 0.0), **turning) for side in (-1.0, 1.0))]


def fall_and_settle(options, materials, pairs, report):
    """The bed: M2 below, M1 above."""
    half = 0.5 * options.length
    rng, groups = np.random.default_rng(options.seed), []
    for name, (radius, number) in GRAINS.items():
        template = dosta.grain(options.clump, radius, materials[name])
        low, high = PLACES[name]
        [(position, orientation)] = place_densely([template], [round(number * options.length / LENGTH)],
                                                  (-HALF_WIDTH, -half, low), (HALF_WIDTH, half, high), rng)
        groups.append(Group(template, position, orientation, materials[name]))
    stage = {"softer": 1.0, "slower": 1.0} if is_soft(options) else {}
    return settle(groups, walls(options.length, 0.0, materials["steel"]), step(options), pairs,
                  threads=options.threads, report=report, **stage)


def add_bed(sim, options, materials, pairs):
    """A bed that has settled, now or in an earlier run."""
    kind = "soft" if is_soft(options) else "hard"
    bed = settled(f"drum-{options.clump}-{kind}-{options.length:g}-dt-{step(options):g}-seed-{options.seed}",
                  lambda report: fall_and_settle(options, materials, pairs, report), options.quiet)
    for k, name in enumerate(GRAINS):
        mine = bed.template_index == k
        sim.add_clumps(bed.templates[k], bed.position[mine], bed.orientation[mine], velocity=bed.velocity[mine],
                       angular_velocity=bed.angular_velocity[mine], material=materials[name])


def add_file(sim, path, materials):
    """Spheres of a file, by their radii."""
    radius, centre = dosta.read_spheres(path)
    sizes = [size for size, _ in GRAINS.values()]
    kind = np.argmin(np.abs(np.log(radius[:, None] / sizes)), axis=1)
    off = np.abs(radius / np.take(sizes, kind) - 1.0) > 0.25
    if off.any():
        raise ValueError(f"--particles {path}: a radius of {radius[off][0]:g} m is neither about 1 mm nor about 2 mm")
    for k, (name, (size, _)) in enumerate(GRAINS.items()):
        if np.any(kind == k):
            sim.add_clumps(dosta.grain("sphere", size, materials[name]), centre[kind == k],
                           scale=radius[kind == k] / size, material=materials[name])


def build(options):
    """The bed in the turning drum."""
    materials, pairs = dosta.with_moduli(SOFT if is_soft(options) else {})
    sim = md.Simulation(materials["M1"], walls(options.length, RATE, materials["steel"]), rotation=options.integrator,
                        contact=options.contact, dt=options.dt, gravity=(0.0, 0.0, -dosta.G), threads=options.threads,
                        pairs=pairs)
    if options.particles:
        if options.clump != "sphere":
            raise ValueError(f"--clump {options.clump}: a file of --particles has spheres; leave one of them out")
        add_file(sim, options.particles, materials)
    else:
        add_bed(sim, options, materials, pairs)
    return sim


def count(sim, name, zone):
    """Grains of a material in a zone."""
    x, _, z = sim.position.T
    there = (x > 0.0) & (z > 0.0) if zone == 1 else (x < 0.0) & (z < 0.0)
    return float(np.count_nonzero(there & (sim.material_index == [m.name for m in sim.materials].index(name))))


PLACE = {1: "upper quarter on the rising side, x > 0, z > 0", 2: "lower quarter on the falling side, x < 0, z < 0"}
ZONES = [(name, zone) for zone in (1, 2) for name in GRAINS]
OBSERVABLES = tuple(Observable(f"{name}_in_zone_{zone}", f"grains {name} in zone {zone}",
                               lambda sim, name=name, zone=zone: count(sim, name, zone)) for name, zone in ZONES)


def conclude(sim, recorder, folder):
    """Numbers in the zones over the last half, and their picture."""
    observed = recorder.observed
    save(folder / "drum.png", (6.4, 5.4), lambda figure: draw(figure, observed))
    late = observed["time"] >= 0.5 * observed["time"][-1]
    means = {of.name: np.mean(observed[of.name][late]) for of in OBSERVABLES}
    text = ", ".join(f"{means[f'{name}_in_zone_{zone}']:.0f} grains {name} in zone {zone}" for name, zone in ZONES)
    return means, f"Over the last half there are {text}, on average."


def draw(figure, observed):
    for axes, zone in zip(figure.subplots(2, 1, sharex=True), (1, 2)):
        for (name, (radius, _)), start, (colour, style) in zip(GRAINS.items(), ("below", "above"), styles(2)):
            axes.plot(observed["time"], observed[f"{name}_in_zone_{zone}"], color=colour, linestyle=style,
                      label=f"{name}: grains of {2e3 * radius:g} mm, {start} at the start")
        axes.set(ylabel="number of grains", title=f"zone {zone}: {PLACE[zone]}", ylim=(0, None))
    axes.set_xlabel("time (s)")
    figure.legend(*axes.get_legend_handles_labels(), ncols=2, loc="outside upper center")


SCENARIO = Scenario(
    "drum", __doc__, build, add_options=add_options, observables=OBSERVABLES, wall_forces=True,
    conclude=conclude,
    defaults={"integrator": "exact", "contact": "hertz-mindlin",
              "dt": step, "time": lambda options: 1.0 if options.quick else 5.0, "seed": 1, "frames": 100})
main = SCENARIO.main

if __name__ == "__main__":
    sys.exit(main())
