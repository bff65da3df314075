#!/usr/bin/env python3
"""Grains in a sheared periodic box (Lees-Edwards): spheres, or rods of an aspect ratio from 1 to 5.

The stress along the gradient is held (constant pressure), or with --fraction the volume. Grains have different sizes,
so that spheres do not crystallise: diameters of spheres of their volume between 0.8 and 1 mm. The rate of shear follows
from --inertial, I = rate * d * sqrt(density / pressure) with the mean diameter d, and for --fraction from the nominal
pressure of 1 kPa. The contacts are 10^4 times as stiff as the pressure (Young's modulus / pressure).

observables.csv has the stress, the solid fraction, the granular temperature, the nematic order of the rods S2,
the angle of their director to the flow, their rotation, and their tumbling, which is the rotation without that of each
rod about its axis. Means over the last 60 % of the strain, with standard errors of block means, are printed and in
summary.json, among them the effective friction mu = shear stress / normal stress along the gradient, and the inertial
number with the measured stress. shear_flow.png shows them over the strain, and the velocity profile of the last
instant, whose slope fluctuates around the rate of shear.

    python scenarios/shear_flow.py --aspect 3 --inertial 0.03
    python scenarios/shear_flow.py --fraction 0.5
"""

import math
import sys

import numpy as np

import minidem as md
from minidem.analysis.averages import Mean, block_mean
from minidem.analysis.flow import profile
from minidem.scenario import Scenario, at_least, finite, positive
from minidem.scenario.flow import SHEAR_FLOW, shear_rate
from minidem.scenario.plot import COLOURS, save
from minidem.scenarios.periodic_grains import LOOSE, PRESSURE, aspect_ratio, material, placed, step_of, time_unit

DENSE = 0.6                                             # solid fraction at which the box is a cube
ANSWER, DISCARD, BLOCKS = 0.5, 0.4, 8                   # time of md.Pressure / time_unit; part of the strain; of means


def add_options(group):
    group.add_argument("--aspect", type=aspect_ratio, default=1.0, metavar="A",
                       help="length / diameter of the rods, from 1 (spheres) to 5 (default: %(default)s)")
    group.add_argument("--count", type=at_least(100), default=500, metavar="N",
                       help="number of grains (default: %(default)s)")
    group.add_argument("--inertial", type=positive, default=0.1, metavar="I",
                       help="inertial number (default: %(default)s)")
    group.add_argument("--fraction", type=positive, metavar="F",
                       help="solid fraction of a flow at constant volume (default: constant pressure)")
    group.add_argument("--friction", type=finite, default=0.5, metavar="MU",
                       help="coefficient of friction of the grains (default: %(default)s)")
    group.add_argument("--restitution", type=positive, default=0.5, metavar="E",
                       help="coefficient of restitution (default: %(default)s)")
    group.add_argument("--strain", type=positive, default=20.0, metavar="S",
                       help="shear strain of the run (default: %(default)s)")


def rate_of(options):
    return options.inertial / time_unit(options.aspect, options.count)


def build(options):
    """Initial state: grains at rest, placed at random, and compressed if the volume is given."""
    shear = ("x", "y", rate_of(options))
    grains = material(options.friction, options.restitution)
    settings = {"rotation": options.integrator, "contact": options.contact, "threads": options.threads}
    if options.fraction is None:
        sample = placed(options.aspect, options.count, options.seed, shape=(1.0, DENSE / LOOSE, 1.0))
        held = md.Pressure(PRESSURE, ANSWER * time_unit(options.aspect, options.count))
        return sample.simulation(grains, options.dt, {"shear": shear, "rates": (0.0, held, 0.0)}, **settings)
    sample = placed(options.aspect, options.count, options.seed, min(LOOSE, options.fraction))
    if options.fraction > LOOSE:                        # without friction, so that grains yield
        steps = math.ceil(math.log(options.fraction / LOOSE) / (shear[2] * options.dt))
        squeeze = -math.log(options.fraction / LOOSE) / (3.0 * steps * options.dt)
        before = sample.simulation(material(0.0, options.restitution), options.dt, {"rates": (squeeze,) * 3},
                                   **settings)
        before.run(steps)
        sample = sample.moved(before)
    return sample.simulation(grains, options.dt, {"shear": shear}, **settings)


def means(sim, observed):
    """Means over the end of a run, name -> Mean, from the columns of observables.csv."""
    strain = observed["strain"]
    late = strain >= DISCARD * strain[-1]
    stress = block_mean(observed["stress_gradient"][late], BLOCKS)
    mu = block_mean(-observed["shear_stress"][late] / stress.value, BLOCKS)
    density, n = sim.templates[0].density, sim.n_clumps
    diameter = (6.0 / np.pi * np.sum(sim.mass) / (density * n)) ** (1 / 3)
    inertial = abs(shear_rate(sim)) * diameter * np.sqrt(density / stress.value)
    found = {"mu": mu, "normal_stress": stress,
             "inertial_number": Mean(inertial, 0.5 * inertial * stress.error / stress.value)}
    scaled = {"temperature": (shear_rate(sim) * diameter) ** -2, "angle": 180.0 / np.pi}
    for name in ("solid_fraction", "temperature", "order", "angle", "rotation", "tumbling", "coordination_number"):
        values = observed[name][late] * scaled.get(name, 1.0)
        if np.isfinite(values).all():
            found[name] = block_mean(values, BLOCKS)
    return found


def conclude(sim, recorder, folder):
    """Means and shear_flow.png."""
    observed = recorder.observed
    found = means(sim, observed)
    save(folder / "shear_flow.png", (9.0, 5.6), lambda figure: draw(figure, sim, observed, found))
    result = {name: mean for name, (mean, _) in found.items()}
    result |= {f"{name}_error": error for name, (_, error) in found.items()}
    text = (f"mu = {_pm(found['mu'])} at I = {found['inertial_number'][0]:.3g}, solid fraction "
            f"{_pm(found['solid_fraction'])}, rotation {_pm(found['rotation'])} of half the vorticity")
    if "order" in found:
        text += f"; rods: S2 = {_pm(found['order'])}, director {_pm(found['angle'])} degrees from the flow"
    return result, f"{text} (means over the last {1 - DISCARD:.0%} of the strain, standard errors)."


def _pm(mean):
    digits = max(0, 1 - math.floor(math.log10(mean[1]))) if mean[1] > 0.0 else 4
    return f"{mean[0]:.{digits}f} ± {mean[1]:.{digits}f}"


def draw(figure, sim, observed, found):
    (stress, fraction), (order, velocity) = figure.subplots(2, 2)
    strain = observed["strain"]
    for panel, name, label in ((stress, "mu", r"$\mu$"), (fraction, "solid_fraction", "solid fraction")):
        values = -observed["shear_stress"] / found["normal_stress"][0] if name == "mu" else observed[name]
        panel.plot(strain, values, color=COLOURS[0], linewidth=0.7)
        panel.axhline(found[name][0], color=COLOURS[1], label=f"mean {_pm(found[name])}")
        panel.set(xlabel="shear strain", ylabel=label, ylim=(0.0, None))
        panel.legend()
    if "order" in found:
        order.plot(strain, observed["order"], color=COLOURS[0], label="$S_2$")
        order.plot(strain, np.degrees(observed["angle"]) / 90.0, color=COLOURS[1], label="angle to the flow / 90°")
        order.set(ylim=(-0.2, 1.0))
    else:
        order.plot(strain, observed["coordination_number"], color=COLOURS[0], label="coordination number")
        order.plot(strain, observed["rotation"], color=COLOURS[1], linewidth=0.7, label="rotation / half the vorticity")
    order.set_xlabel("shear strain")
    order.legend()
    slabs, rate = profile(sim), shear_rate(sim)
    height = sim.box.length[1]
    above = slabs["position"] - sim.box.center[1]
    velocity.plot(slabs["velocity_x"] / (rate * height), above / height, "o", color=COLOURS[0], markersize=4,
                  label="slabs, last instant")
    velocity.plot([-0.5, 0.5], [-0.5, 0.5], color=COLOURS[1], label="linear")
    velocity.set(xlabel=r"velocity / ($\dot\gamma L_y$)", ylabel="$y / L_y$ from the centre")
    velocity.legend()


SCENARIO = Scenario("shear_flow", __doc__, build, add_options=add_options, observables=SHEAR_FLOW, conclude=conclude,
                    defaults={"integrator": "exact", "contact": "hertz-mindlin",
                              "dt": lambda options: step_of(options.aspect, options.restitution),
                              "time": lambda options: options.strain / rate_of(options), "seed": 1, "frames": 100})
main = SCENARIO.main

if __name__ == "__main__":
    sys.exit(main())
