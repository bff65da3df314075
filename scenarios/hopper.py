#!/usr/bin/env python3
"""Grains leave a flat-bottomed hopper through a circular orifice: Beverloo's law.

W. A. Beverloo, H. A. Leniger & J. van de Velde, Chem. Eng. Sci. 15, 260 (1961), doi 10.1016/0009-2509(61)85030-6: the
mass flow rate is C rho sqrt(g) (D - k d)^(5/2), with the bulk density rho, the diameters D of the orifice and d of the
grains, and k = 1.4 for spheres. The bottom is an STL file, one for each orifice, written to --out and read by MeshWall.
The flow rate is the slope of the discharged mass between 5 and 30 % of the grains.

    python scenarios/hopper.py --quick
    python scenarios/hopper.py
    python scenarios/hopper.py --clump rod

beverloo.csv and beverloo.png have the flow rates, and the exponent of (D - k d) that fits them; flow.csv the discharge
over time; flow.pvd the flow through the largest orifice for ParaView. --quick takes three orifices and fewer grains.
"""

import sys
from pathlib import Path

import meshio
import numpy as np

import minidem as md
from minidem.initial import Group, Outlet, place_densely, settle
from minidem.output import vtu
from minidem.scenario import Scenario, at_least, settled
from minidem.scenario.plot import COLOURS
from minidem.scenarios import dosta
from minidem.scenarios.papers import Finding, of_samples

RADIUS, DIAMETER, K = 0.07, 0.005, 1.4                              # of the hopper, of a grain [m]; of the law
RATIOS, QUICK_RATIOS = (6.0, 7.0, 8.0, 10.0, 12.0), (6.0, 8.0, 11.0)        # D / d
COUNT, QUICK_COUNT = 12_000, 5000
GRAINS = md.Material(1e7, 0.2, restitution=0.5, friction=0.5, density=2500.0, name="grains")
FRACTION, SIDES = 0.3, 120                                          # of the placement; of the orifice
BEGIN, END = 0.05, 0.3                                              # discharged fractions: limits for the rate
INTERVAL, LONGEST = 2e-3, 20.0                                      # between counts, of a run [s]
BELOW, FRAMES = 0.05, 50                                            # where grains are removed [m]; interval in counts


def add_options(group):
    group.add_argument("--clump", choices=dosta.SHAPES, default="sphere",
                       help="grains, with the volume of a sphere of 5 mm (default: %(default)s)")
    group.add_argument("--count", type=at_least(100), metavar="N",
                       default=lambda options: QUICK_COUNT if options.quick else COUNT,
                       help=f"grains (default: {COUNT}; with --quick {QUICK_COUNT})")
    group.add_argument("--seed", type=at_least(0), default=1, metavar="N", help="of the bed (default: %(default)s)")


def write_bottom(file, diameter):
    """A ring of triangles from the orifice to beyond the cylinder, as an STL file."""
    angle = np.linspace(0.0, 2.0 * np.pi, SIDES, endpoint=False)
    rings = np.linspace(0.5 * diameter, 1.1 * RADIUS, 9)
    points = np.stack([np.outer(rings, np.cos(angle)), np.outer(rings, np.sin(angle)),
                       np.zeros((len(rings), SIDES))], axis=2).reshape(-1, 3)
    ring, side = np.divmod(np.arange((len(rings) - 1) * SIDES), SIDES)
    a, b = ring * SIDES + side, ring * SIDES + (side + 1) % SIDES
    triangles = np.concatenate([np.column_stack([a, a + SIDES, b]), np.column_stack([b, a + SIDES, b + SIDES])])
    meshio.stl.write(file, meshio.Mesh(points, [("triangle", triangles)]), binary=True)


def cylinder():
    return md.Cylinder((0.0, 0.0, 0.0), (0.0, 0.0, 1.0), RADIUS)


def fall_and_settle(options, report):
    """The bed on a closed bottom."""
    template = dosta.grain(options.clump, 0.5 * DIAMETER, GRAINS)
    half = 0.68 * RADIUS
    high = options.count * template.volume / (FRACTION * (2.0 * half) ** 2)
    [(position, orientation)] = place_densely([template], [options.count], (-half, -half, 0.0), (half, half, high),
                                              np.random.default_rng(options.seed))
    return settle([Group(template, position, orientation, GRAINS)], [cylinder(), md.Plane((0, 0, 0), (0, 0, 1))],
                  options.dt, threads=options.threads, softer=1.0, slower=1.0, report=report)


def discharge(options, report, bed, ratio, with_frames):
    """Rows of time [s] and discharged mass [kg] until END is discharged."""
    folder = Path(options.out)
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"bottom_{ratio:g}.stl"
    write_bottom(file, ratio * DIAMETER)
    sim = md.Simulation(GRAINS, [cylinder(), md.MeshWall(file)], contact=bed.contact, dt=options.dt,
                        gravity=(0.0, 0.0, -dosta.G), threads=options.threads)
    sim.add_clumps(bed.templates[0], bed.position, bed.orientation, velocity=bed.velocity,
                   angular_velocity=bed.angular_velocity)
    outlet, series, rows = Outlet((-1.0, -1.0, -1e3), (1.0, 1.0, -BELOW)), vtu.Pvd(folder / "flow.pvd"), []
    mass = bed.templates[0].mass
    while not rows or rows[-1][1] < END * options.count * mass and sim.time < LONGEST:
        below = options.count - np.count_nonzero(sim.position[:, 2] > 0.0)
        rows.append((sim.time, mass * below))
        report.part(f"orifice of {ratio:g} grains", below / (END * options.count))
        if with_frames and len(rows) % FRAMES == 1:
            frame = folder / f"flow_{len(rows):06d}.vtu"
            sim.io.write_vtu(frame)
            series.add(sim.time, frame)
        outlet(sim)
        sim.run(round(INTERVAL / options.dt))
    return np.array(rows)


def flow_rate(rows, total):
    """Slope of the discharged mass between BEGIN and END of the total [kg/s]."""
    steady = (rows[:, 1] >= BEGIN * total) & (rows[:, 1] <= END * total)
    return np.polyfit(*rows[steady].T, 1)[0]


def run(options, report):
    bed = settled(f"hopper-{options.clump}-{options.count}-dt-{options.dt:g}-seed-{options.seed}",
                  lambda report: fall_and_settle(options, report), options.quiet)
    ratios = QUICK_RATIOS if options.quick else RATIOS
    total, table, curves = options.count * bed.templates[0].mass, [], {}
    for ratio in report.progress("orifices", ratios):
        curves[ratio] = rows = discharge(options, report, bed, ratio, ratio == max(ratios))
        table.append((ratio, flow_rate(rows, total)))
    ratio, rate = np.array(table).T
    (exponent, constant), covariance = np.polyfit(np.log(ratio - K), np.log(rate), 1, cov=True)
    report.table("beverloo", ("orifice_over_grain", "flow_rate"), table)
    report.table("flow", ("orifice_over_grain", "time", "mass"),
                 [(key, *row) for key, rows in curves.items() for row in rows])
    report.find(Finding("Beverloo 1961", "eq. for circular orifices", "exponent of (D - 1.4 d)", None, exponent,
                        error=of_samples(np.sqrt(covariance[0, 0]), len(rate) - 1),
                        holds=bool(abs(exponent - 2.5) <= 0.125), note="criterion: 5/2 within 5 %"))
    report.say(f"Flow rate: {np.exp(constant):.3g} kg/s (D/d - {K})^{exponent:.3f}.")
    report.figure("beverloo", lambda figure: draw(figure, ratio, rate, exponent, constant, curves), size=(9.0, 3.8))


def draw(figure, ratio, rate, exponent, constant, curves):
    law, flow = figure.subplots(1, 2)
    fine = np.linspace(ratio.min() - K, ratio.max() - K, 100)
    law.loglog(ratio - K, rate, "o", color=COLOURS[0], label="minidem")
    law.loglog(fine, np.exp(constant) * fine ** exponent, color=COLOURS[0], label=f"fit, exponent {exponent:.2f}")
    law.loglog(fine, rate[-1] * (fine / fine[-1]) ** 2.5, ":", color="0.4", label="Beverloo, exponent 5/2")
    law.set(xlabel=f"$D/d - {K}$, orifice and grain diameters $D$, $d$", ylabel="flow rate (kg/s)")
    law.legend()
    for colour, (key, rows) in zip(COLOURS, curves.items()):
        flow.plot(rows[:, 0], rows[:, 1], color=colour, label=f"D/d = {key:g}")
    flow.set(xlabel="time (s)", ylabel="discharged mass (kg)")
    flow.legend()


EXPERIMENT = Scenario("hopper", __doc__, study=run, add_options=add_options, defaults={"dt": 3e-5, "threads": None})
main = EXPERIMENT.main

if __name__ == "__main__":
    sys.exit(main())
