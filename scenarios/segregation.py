#!/usr/bin/env python3
"""Large and small grains segregate on a rough incline: concentration over the depth, by coarse-graining.

Spheres of two sizes, mixed at the start, flow down a bumpy base in a box that is periodic along the flow and across it.
Small grains fall through gaps to the base, large ones rise to the surface (kinetic sieving; S. B. Savage & C. K. K.
Lun, J. Fluid Mech. 189, 311 (1988), doi 10.1017/S002211208800103X). The volume concentration of the small grains is
their density over the density of all, fields of the kernel of Goldhirsch (minidem.analysis.coarse).

    python scenarios/segregation.py --quick
    python scenarios/segregation.py

profiles.csv has the concentration over the height at several times, history.csv the difference of the mean heights of
large and small grains over the time, segregation.png both; the folder `flow` has frames for ParaView. It is checked
that large grains are above small ones at the end, that grains of one size do not segregate, and the mass of the fields.
"""
import sys

import numpy as np

import minidem as md
from minidem.analysis.coarse import Fields
from minidem.initial import place_densely
from minidem.scenario import Scenario, at_least, positive
from minidem.scenario.plot import COLOURS
from minidem.scenarios.papers import Finding

SMALL, DENSITY, ANGLE = 1e-3, 2500.0, 26.0              # radius [m], [kg/m3], [degrees]
BASE, GRAVITY, TALL = 12, 9.81, 30                      # length of the base in small diameters; box over SMALL
MATERIAL = md.Material(young=2e6, poisson=0.25, restitution=0.4, friction=0.5)
BALL = md.ClumpTemplate([(0, 0, 0)], [SMALL], density=DENSITY)


def base(side, rng):
    """A floor of hemispheres at random heights: a mesh cannot roll away."""
    n = int(side / (2.0 * SMALL))
    points, triangles = [], []
    for i in range(n):
        for j in range(n):
            x, y, z = (i + 0.5) * side / n, (j + 0.5) * side / n, SMALL * rng.uniform(0.2, 1.2)
            half, first = 0.5 * side / n, len(points)
            points += [(x - half, y - half, 0), (x + half, y - half, 0), (x + half, y + half, 0),
                       (x - half, y + half, 0), (x, y, z)]
            triangles += [(first + k, first + (k + 1) % 4, first + 4) for k in range(4)]
    return md.MeshWall((np.array(points), triangles), feature_angle=0.1)


def flow(ratio, options, seed=1):
    """The mixture at rest, above the base. ratio : of the radii; as much volume of large as of small grains."""
    rng, side = np.random.default_rng(seed), BASE * 2.0 * SMALL
    n_small = round(options.depth * side ** 2 * 0.55 / 2.0 / BALL.volume)
    n_large = round(n_small / ratio ** 3)
    angle = np.radians(options.angle)
    height = 2.2 * options.depth
    sim = md.Simulation(MATERIAL, [base(side, rng), md.Plane((0, 0, -SMALL), (0, 0, 1))], contact="hertz-mindlin",
                        dt=2e-5, gravity=(GRAVITY * np.sin(angle), 0, -GRAVITY * np.cos(angle)),
                        periodic=((0, 0, -SMALL), (side, side, height + TALL * SMALL), (True, True, False)),
                        threads=options.threads)
    large = md.ClumpTemplate([(0, 0, 0)], [ratio * SMALL], density=DENSITY)
    placed = place_densely([BALL, large], [n_small, n_large], (0, 0, 2.5 * SMALL), (side, side, height), rng)
    for template, (position, _) in zip((BALL, large), placed):
        sim.add_clumps(template, position)
    return sim, np.arange(n_small + n_large) < n_small


def profile(sim, small, width):
    """Heights, density of all and concentration of the small grains over the height, at this instant."""
    low, high = np.array(sim.box.low), np.array(sim.box.high)
    low[2], high[2] = sim.position[:, 2].min() - 3.0 * width, sim.position[:, 2].max() + 3.0 * width
    cells = (1, 1, int((high[2] - low[2]) / (0.5 * width)))
    both, part = (Fields(low, high, cells, (0, 0, width), clumps=chosen) for chosen in (None, lambda sim: small))
    both.measure(sim), part.measure(sim)
    density, volume = both.density[0, 0], np.prod(high - low) / cells[2]
    error = abs(density.sum() * volume / sim.mass.sum() - 1.0)
    with np.errstate(invalid="ignore"):
        return both.centers[2], density, np.where(density > 0.05 * DENSITY, part.density[0, 0] / density, np.nan), error


def measured(ratio, options, times, frames=None):
    """History (time, difference of mean heights / depth) and profiles at the times."""
    sim, small = flow(ratio, options)
    history, profiles = [], []

    def look(sim):
        z = sim.position[:, 2]
        history.append((sim.time, (z[~small].mean() - z[small].mean()) / (2.0 * z.mean())))
        frames and frames(sim)

    look(sim)
    for time in times:
        sim.run_until(time, every=1000, callback=look)
        profiles.append((time, *profile(sim, small, 1.5 * SMALL)))
    return np.array(history), profiles, sim.velocity[:, 0].mean()


def run(options, report):
    seconds = 0.6 if options.quick else options.seconds
    times = seconds * np.array([0.1, 0.4, 1.0])
    found = {}
    for ratio in report.progress("ratios of the radii", [1.0, options.ratio]):
        frames = md.Frames(report.path / "flow") if ratio != 1.0 else None
        found[ratio] = measured(ratio, options, times, frames)
    history, profiles, speed = found[options.ratio]
    mixed = found[1.0][0][-1, 1]
    report.table("history", ("time", "difference", "of_equal_grains"), np.column_stack(
        [history, found[1.0][0][:len(history), 1]]).tolist())
    report.table("profiles", ("time", "height", "density", "small"), [
        (time, *row) for time, height, density, small, _ in profiles for row in zip(height, density, small)])
    rise = history[-1, 1]
    report.find(Finding("Savage & Lun 1988", "kinetic sieving", "large grains above small ones, height / depth", None,
                        rise, holds=rise > 0.05 and rise > 3.0 * abs(mixed),
                        note="above 0.05, and three times that of equal grains"))
    error = max(one[4] for one in profiles)
    report.find(Finding("Goldhirsch 2010", "fields", "mass of the fields", None, error, holds=error < 1e-12,
                        note="relative error below 1e-12"))
    report.figure("segregation", lambda figure: draw(figure, history, found[1.0][0], profiles), (9.0, 4.0))
    report.say(f"After {seconds:g} s the large grains are {rise:.3f} of the depth above the small ones ({mixed:+.3f} "
               f"with grains of one size); mean speed {speed:.2f} m/s; mass of the fields within {error:.0e}.")


def draw(figure, history, equal, profiles):
    left, right = figure.subplots(1, 2)
    left.plot(*history.T, color=COLOURS[0], label="two sizes")
    left.plot(*equal.T, color=COLOURS[1], label="one size")
    left.set(xlabel="time [s]", ylabel="height of large less small grains / depth")
    for colour, (time, height, _, small, _) in zip(COLOURS, profiles):
        right.plot(small, 1e3 * height, color=colour, label=f"{time:.2g} s")
    right.set(xlabel="concentration of small grains", ylabel="height [mm]", xlim=(0, 1))
    left.legend(), right.legend()


def add_options(group):
    group.add_argument("--ratio", type=positive, default=2.0, help="of the radii (default: 2)")
    group.add_argument("--depth", type=positive, default=0.02, help="of the flow [m] (default: 0.02)")
    group.add_argument("--angle", type=positive, default=ANGLE, help=f"[degrees] (default: {ANGLE:g})")
    group.add_argument("--seconds", type=positive, default=4.0, help="simulated time [s] (default: 4)")
    group.add_argument("--threads", type=at_least(1), default=None, help="default: all processors")


EXPERIMENT = Scenario("segregation", __doc__, study=run, add_options=add_options)
main = EXPERIMENT.main

if __name__ == "__main__":
    sys.exit(main())
