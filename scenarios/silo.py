#!/usr/bin/env python3
"""A silo empties through an orifice: case 1 of the comparison of DEM codes by Dosta et al.

M. Dosta et al., Comput. Phys. Commun. 296, 109066 (2024), doi 10.1016/j.cpc.2023.109066. 100 000 grains with the volume
of a sphere of 4 mm, of material M1 or M2, fill a steel cylinder of radius 0.1 m with a cone of 45 degrees below it,
whose orifice has a radius of 20 mm (small) or 30 mm (large). observables.csv and silo.png have the number of grains
above the orifice, as the comparison has. Grains 20 mm below it are removed: outlet_count and outlet_mass of
observables.csv are the number and mass of the grains that have left.

The full case has 3.3 million steps with M1 and 2.5 million with M2. --quick takes 1500 larger, softer grains:

    python scenarios/silo.py --quick
    python scenarios/silo.py --quick --clump tetrapod
    python scenarios/silo.py --quick --funnel cone
    python scenarios/silo.py --material M2 --orifice small --threads 2 --checkpoint-every 0.1

The funnel is made of triangles, as in the comparison, or with --funnel cone an exact md.Cone.

The grains settle above a closed orifice first; the bed is kept in results/beds and used again. --particles FILE takes
the spheres of a file instead, with the columns radius, x, y, z and one line of names.
"""

import sys

import numpy as np

import minidem as md
from minidem.initial import Group, Outlet, place_densely, settle
from minidem.scenario import Observable, Scenario, at_least, outflow, settled
from minidem.scenario.plot import COLOURS, save
from minidem.scenarios import dosta

CYLINDER = 0.1                                                      # radius [m]
ORIFICES = {"small": (0.020, -0.0593008), "large": (0.030, -0.0554222)}         # radius, height [m]
RADIUS, COUNT, STEPS = 2e-3, 100_000, {"M1": 1.5e-6, "M2": 2e-6}    # of a grain [m], grains, time steps [s]
QUICK_RADIUS, QUICK_COUNT, QUICK_YOUNG, QUICK_STEP = 5e-3, 1500, 1e7, 4e-5
HALF_WIDTH, FRACTION = 0.068, 0.3                                   # of the grains placed at random [m]
SIDES, RINGS = 180, 16                                              # of the cone
BELOW, INTERVAL = 0.02, 0.01                                        # where and how often grains are removed [m], [s]


def add_options(group):
    group.add_argument("--quick", action="store_true", help="few large soft grains, under a minute")
    group.add_argument("--material", choices=STEPS, default="M1", help="of the grains (default: %(default)s)")
    group.add_argument("--orifice", choices=ORIFICES, default="large", help="(default: %(default)s)")
    group.add_argument("--funnel", choices=("mesh", "cone"), default="mesh",
                       help="triangles, or an exact cone (default: %(default)s)")
    group.add_argument("--clump", choices=dosta.SHAPES, default="sphere", help="grains (default: %(default)s)")
    group.add_argument("--count", type=at_least(1), metavar="N",
                       default=lambda options: QUICK_COUNT if options.quick else COUNT,
                       help=f"grains (default: {COUNT}; with --quick {QUICK_COUNT})")
    group.add_argument("--particles", metavar="FILE", help="take the spheres of this file")


def cone(radius, height):
    """Points and triangles of the cone from the orifice to the cylinder."""
    r = np.linspace(radius, CYLINDER, RINGS + 1)[:, None]
    angle = np.linspace(0.0, 2.0 * np.pi, SIDES, endpoint=False)
    points = np.stack([r * np.cos(angle), r * np.sin(angle), height + r - radius + 0.0 * angle], axis=2).reshape(-1, 3)
    ring, side = np.divmod(np.arange(RINGS * SIDES), SIDES)
    a, b = ring * SIDES + side, ring * SIDES + (side + 1) % SIDES
    return points, np.concatenate([np.column_stack([a, b, b + SIDES]), np.column_stack([a, b + SIDES, a + SIDES])])


def walls(options, material):
    """Cylinder and funnel."""
    radius, height = ORIFICES[options.orifice]
    if options.funnel == "mesh":
        funnel = md.MeshWall(cone(radius, height), material=material)
    else:
        funnel = md.Cone((0.0, 0.0, height), (0.0, 0.0, 1.0), (radius, CYLINDER), CYLINDER - radius, material=material)
    return [md.Cylinder((0.0, 0.0, 0.0), (0.0, 0.0, 1.0), CYLINDER, material=material), funnel]


def materials_of(options):
    return dosta.with_moduli({"M1": QUICK_YOUNG, "M2": QUICK_YOUNG} if options.quick else {})


def fall_and_settle(options, report):
    """The grains above the closed orifice."""
    materials, pairs = materials_of(options)
    material, steel = materials[options.material], materials["steel"]
    template = dosta.grain(options.clump, QUICK_RADIUS if options.quick else RADIUS, material)
    _, bottom = ORIFICES[options.orifice]
    low = bottom + CYLINDER
    high = low + max(options.count * template.volume / (FRACTION * (2.0 * HALF_WIDTH) ** 2), 0.02)
    [(position, orientation)] = place_densely([template], [options.count], (-HALF_WIDTH, -HALF_WIDTH, low),
                                              (HALF_WIDTH, HALF_WIDTH, high), np.random.default_rng(options.seed))
    closed = [*walls(options, steel), md.Plane((0.0, 0.0, bottom), (0.0, 0.0, 1.0), material=steel)]
    stage = {"softer": 1.0, "slower": 1.0} if options.quick else {}
    return settle([Group(template, position, orientation, material)], closed, options.dt, pairs,
                  threads=options.threads, report=report, **stage)


def build(options):
    """The grains in the open silo."""
    materials, pairs = materials_of(options)
    material = materials[options.material]
    sim = md.Simulation(material, walls(options, materials["steel"]), rotation=options.integrator,
                        contact=options.contact, dt=options.dt, gravity=(0.0, 0.0, -dosta.G), threads=options.threads,
                        pairs=pairs)
    if options.particles:
        if options.clump != "sphere":
            raise ValueError(f"--clump {options.clump}: a file of --particles has spheres; leave one of them out")
        radius, centre = dosta.read_spheres(options.particles)
        sim.add_clumps(dosta.grain("sphere", radius[0], material), centre, scale=radius / radius[0])
        return sim
    kind = "quick" if options.quick else "full"
    name = (f"silo-{options.clump}-{options.material}-{options.orifice}-{kind}-{options.count}-dt-{options.dt:g}-seed-"
            f"{options.seed}{'' if options.funnel == 'mesh' else '-cone'}")
    bed = settled(name, lambda report: fall_and_settle(options, report), options.quiet)
    sim.add_clumps(bed.templates[0], bed.position, bed.orientation, velocity=bed.velocity,
                   angular_velocity=bed.angular_velocity)
    return sim


def exchange(options):
    """Grains far below the orifice are removed."""
    low = ORIFICES[options.orifice][1] - BELOW
    return max(1, round(INTERVAL / options.dt)), Outlet((-1e3, -1e3, -1e3), (1e3, 1e3, low))


def above(sim):
    """Number of grains above the orifice, which is the lowest point of the funnel."""
    funnel = sim.walls[1]
    orifice = funnel.point[2] if funnel.surface is None else funnel.points[:, 2].min()
    return float(np.count_nonzero(sim.position[:, 2] > orifice))


def conclude(sim, recorder, folder):
    """Rate of discharge between 80 and 20 % of the grains, and the picture."""
    time, number = recorder.observed["time"], recorder.observed["grains_above_orifice"]
    save(folder / "silo.png", (6.4, 4.0), lambda figure: draw(figure, time, number))
    steady = (number < 0.8 * number[0]) & (number > 0.2 * number[0])
    text = f"{number[-1]:.0f} grains remain above the orifice at the end."
    if np.count_nonzero(steady) < 3:
        return {"discharge_rate": None, "left": number[-1]}, text
    rate = -np.polyfit(time[steady], number[steady], 1)[0]
    return ({"discharge_rate": rate, "left": number[-1]},
            f"{rate:.0f} grains per second leave the silo while it is between 80 and 20 % full. {text}")


def draw(figure, time, number):
    axes = figure.subplots()
    axes.plot(time, number, color=COLOURS[0])
    axes.set(xlabel="time (s)", ylabel="number of grains above the orifice")


SCENARIO = Scenario("silo", __doc__, build, add_options=add_options, exchange=exchange, wall_forces=True,
                    conclude=conclude,
                    defaults={"integrator": "exact", "contact": "hertz-mindlin",
                              "dt": lambda options: QUICK_STEP if options.quick else STEPS[options.material],
                              "time": lambda options: 2.0 if options.quick else 5.0, "seed": 1, "frames": 100},
                    observables=(Observable("grains_above_orifice", "grains above the orifice", above), *outflow()))
main = SCENARIO.main

if __name__ == "__main__":
    sys.exit(main())
