#!/usr/bin/env python3
"""One or nine fibres fall in a box and bounce. Without friction and damping the exact energy is constant.

Section 4.1 of F. Zhao and B. van Wachem, Acta Mech. 224, 3091 (2013), Figs 2 to 5. The schemes of the paper:

    python scenarios/rotating_bodies/falling_fibres.py --compare euler-quaternion,walton-braun,scalar-factor,pcdm

The fibre of the paper has a diameter of 1 cm, an aspect ratio of 3 and a volume of 1.961e-6 m3, which is the volume
of neither a cylinder nor a spherocylinder. Here it consists of five spheres one radius apart, with 1.9635e-6 m3
(0.13 % more). Fibre and walls have Young's modulus 5e7 Pa and Poisson ratios 0.35 and 0.23 (Table 1 of the paper;
its text calls the walls rigid). Choices that the paper leaves open:

    gravity       9.81 m/s2 towards the bottom wall z = 0, where the potential energy is zero
    nine fibres   centres on a grid in the plane x = 0.5 m; y and z are 0.25, 0.5 and 0.75 m
    azimuth       the nine fibres are inclined towards their velocity, so that the motion is three-dimensional
    velocities    one fibre starts at rest, nine with the given (1, -1, 0) m/s; no rotation
    quaternion    which angular velocity rotates the quaternion, see minidem/rotation/quaternion_updates.pyx

The energy error depends on the last choice: with the angular velocity of the old step the energy grows in every
collision, half as much with the middle one (0.2 % in 2 s at the time step of the paper), and with the new one
(euler-quaternion:omega=new) not at all. The formula of the quaternion update has no effect.
"""

import sys

import numpy as np

import minidem as md
from minidem.scenario import Observable, Scenario, finite
from minidem.scenario.plot import styles
from minidem.scenarios.papers import Finding

RADIUS = 0.005                                                       # [m]
CENTERS = [(k * RADIUS, 0.0, 0.0) for k in range(-2, 3)]             # along x
DENSITY = 1100.0                                                     # [kg/m3]
FIBRE, WALL = md.Material(young=5e7, poisson=0.35), md.Material(young=5e7, poisson=0.23)
GRAVITY = (0.0, 0.0, -9.81)                                          # [m/s2]
START = {                 # number of fibres: (centres [m], velocity [m/s], angle to the bottom [degrees])
    1: ([(0.5, 0.5, 0.5)], (0.0, 0.0, 0.0), 30.0),
    9: ([(0.5, y, z) for y in (0.25, 0.5, 0.75) for z in (0.25, 0.5, 0.75)], (1.0, -1.0, 0.0), 75.0),
}
PAPER = "PCDM 2013"
DT, TIME = 1e-7, 2.0                                                 # [s], of the paper
SCHEMES = ("euler-quaternion", "euler-quaternion:omega=new", "walton-braun", "scalar-factor", "pcdm",
           "spiral")
ROWS = 1000                                                          # of the curves
# Curves overlap in a figure if they differ nowhere by more than a twentieth of its height.
OVERLAP = 0.05


def add_options(group):
    group.add_argument("--fibres", type=int, choices=sorted(START), default=1,
                       help="number of fibres (default: %(default)s)")
    group.add_argument("--azimuth", type=finite, metavar="DEGREES", default=default_azimuth,
                       help="azimuth of the axes, from x towards y (default: 0 for one fibre; -45, the azimuth of the "
                            "velocity, for nine)")


def default_azimuth(options):
    return 0.0 if options.fibres == 1 else -45.0


def build(options):
    """Initial state."""
    centres, velocity, angle = START[options.fibres]
    fibre = md.ClumpTemplate(CENTERS, [RADIUS] * 5, density=DENSITY)
    sim = md.Simulation(material=FIBRE, walls=md.box_walls((0, 0, 0), (1, 1, 1), material=WALL), gravity=GRAVITY,
                        rotation=options.integrator, contact=options.contact, dt=options.dt, threads=options.threads)
    sim.add_clumps(fibre, centres, inclined(angle, options.azimuth), velocity=velocity)
    return sim


def inclined(angle, azimuth):
    """Quaternion that rotates the x axis upwards by `angle`, then about z by `azimuth` [degrees]."""
    up, about = np.radians(0.5 * angle), np.radians(0.5 * azimuth)
    return (np.cos(about) * np.cos(up), np.sin(about) * np.sin(up),
            -np.cos(about) * np.sin(up), np.sin(about) * np.cos(up))


def height(sim):
    """Height of the fibre that starts in the middle of the box [m]."""
    return sim.position[sim.n_clumps // 2, 2]


SCENARIO = Scenario("falling_fibres", __doc__, build, add_options=add_options,
                    defaults={"integrator": "pcdm", "contact": "hertz", "dt": DT, "time": TIME, "frames": 200},
                    observables=(Observable("height", "height of the fibre from the middle (m)", height),))
main = SCENARIO.main


def compare_with_paper(options, report):
    """Figs 2 to 5: energy errors (Eq. 65, with the elastic energy) at the time step of the paper."""
    one = _runs(1, report)
    _show(report, "fig2_one_fibre", one)
    _judge_one(report, {scheme: error for scheme, (error, _) in one.items()})
    if not options.quick:
        nine = _runs(9, report)
        _show(report, "fig3_nine_fibres", nine)
        _judge_nine(report, nine)


def _runs(fibres, report):
    """scheme -> (|E - E0| / E0 in %, ROWS samples; final positions)."""
    found = {}
    for scheme in report.progress(f"{fibres} falling", SCHEMES):
        options = SCENARIO.parse(["--fibres", str(fibres), "--integrator", scheme, "--threads", "1"])
        sim, energies = build(options), []
        start, steps = sim.energy().total, round(TIME / DT)
        sim.run(steps, every=steps // ROWS, callback=lambda sim: energies.append(sim.energy().total))
        found[scheme] = 100.0 * np.abs(np.array(energies) / start - 1.0), sim.position
    return found


def _show(report, name, runs):
    time = TIME / ROWS * np.arange(1, ROWS + 1)
    curves = [error for error, _ in runs.values()]
    report.table(name, ("time", *runs), np.column_stack([time, *curves]).tolist())

    def draw(figure):
        panel = figure.subplots()
        for scheme, curve, (colour, style) in zip(runs, curves, styles(len(curves))):
            panel.plot(time, curve, color=colour, linestyle=style, label=scheme)
        panel.set(xlabel="time (s)", ylabel="energy error (%)")
        figure.legend(ncols=3, loc="outside upper center")

    report.figure(name, draw)


def _overlap(first, second):
    return np.max(np.abs(first - second)) <= OVERLAP * max(np.max(first), np.max(second))


def _judge_one(report, error):
    def find(quantity, found, holds, note):
        report.find(Finding(PAPER, "Fig. 2", quantity, None, found, holds=bool(holds), note=note))

    others = ("walton-braun", "scalar-factor", "pcdm")
    for scheme in others:
        curve = error[scheme]
        find(f"{scheme}: typically below 0.2 %", curve[-1], np.median(curve) < 0.2,
             f"median {np.median(curve):.3f} %, at the end {curve[-1]:.3f} %")
        find(f"{scheme}: error increases", curve[-1], curve[ROWS // 4 - 1] < curve[ROWS // 2 - 1] < curve[-1],
             "larger at the end than at half the time, and there than at a quarter")
    find("leap-frog and PCDM overlap", None, _overlap(error["walton-braun"], error["pcdm"]),
         "curves within a twentieth of their height")
    find("scalar factor and PCDM overlap", None, _overlap(error["scalar-factor"], error["pcdm"]),
         "curves within a twentieth of their height. The scalar factor uses the angular velocity of the "
         "old step, as euler-quaternion, and has its error; walton-braun uses that of the middle, as PCDM")
    for scheme in ("euler-quaternion", "euler-quaternion:omega=new"):
        find(f"{scheme}: error next to zero, not increasing", error[scheme][-1],
             error[scheme][-1] < 0.01 * min(error[other][-1] for other in others),
             f"at the end {error[scheme][-1]:.1e} %; criterion: below a hundredth of the others")


def _judge_nine(report, runs):
    error = {scheme: curve for scheme, (curve, _) in runs.items()}
    for scheme, limit in (("euler-quaternion", 1.5), ("walton-braun", 2.0)):
        largest = np.max(error[scheme])
        report.find(Finding(
            PAPER, "Fig. 3", f"{scheme}: exceeds {limit:g} %", None, largest, holds=bool(largest > limit),
            note=f"largest {largest:.2f} %, no instability. The four schemes differ by the cube of the "
                 "rotation angle of a step, about 4e-5: too little for an instability"))
    last = {scheme: error[scheme][-1] for scheme in ("scalar-factor", "pcdm")}
    report.find(Finding(
        PAPER, "Fig. 4", "scalar factor and PCDM remain stable", None, max(last.values()),
        holds=all(value < 1.5 for value in last.values()),
        note="below the 1.5 % that the paper calls unstable: at the end "
             f"{last['scalar-factor']:.2f} and {last['pcdm']:.2f} %"))
    report.find(Finding(
        PAPER, "Fig. 4", "scalar factor and PCDM very close", None, None,
        holds=bool(_overlap(error["scalar-factor"], error["pcdm"])),
        note="curves within a twentieth of their height; for the reason see Fig. 2"))
    apart = np.max(np.linalg.norm(runs["scalar-factor"][1] - runs["pcdm"][1], axis=1))
    report.find(Finding(
        PAPER, "Fig. 5", "trajectories with scalar factor and PCDM differ", None, apart, holds=bool(apart > 6 * RADIUS),
        note=f"final distance {apart:.2f} m; criterion: more than the length of a fibre"))


EXPERIMENT = Scenario("falling_fibres", __doc__, study=compare_with_paper)

if __name__ == "__main__":
    sys.exit(main())
