"""A rotation scheme beside all others: orders of convergence, errors of energy and momentum, cost, ranks.

    python -m minidem bench mine.py             a file that registers schemes (md.rotation.register)
    python -m minidem bench mine.pyx            a Cython file with SCHEMES, as minidem/rotation/no_squish.pyx
    python -m minidem bench exact dmv:order=2   schemes by name

What is measured:

* orders, with the standard errors of the slopes: of orientation and angular velocity of six asymmetric bodies, for
  torques that are constant, or depend on time, orientation or angular velocity
* free bodies: the same six turn by about 0.05 rad in a step; largest relative errors of energy and of angular momentum
  in the lab, in 100 000 steps
* contacts: largest relative error of the energy of thirty soft elastic clumps in a box with the onset correction, in
  0.25 s, for eight random initial states
* cost: processor time of a body and step, in turns with all others, relative to spiral

Errors are root mean squares over bodies or initial states with their standard errors; they are lost if the state of a
body is no longer finite. Schemes with several forces per step have no onset correction, and so no error in contacts.
bench.csv has all numbers, and bench.png shows errors against cost.

It takes a minute on one core, and again half a minute if the scheme is in Python. The errors of built-in schemes are
kept in the folder, so that another call takes seconds; after a change of minidem itself remove it. --quick compares
with four schemes alone.
"""
import warnings
from itertools import count
from time import process_time

import numpy as np

import minidem as md
from minidem.core.listing import Listing
from minidem.core.quaternions import rotate
from minidem.ensemble.own_code import import_own
from minidem.initial import place_densely
from minidem.rotation import registry
from minidem.scenario import Scenario, random_directions
from minidem.scenario.plot import COLOURS
from minidem.scenarios.energy.energy_pareto import CLUMP, SYSTEMS
from minidem.scenarios.rotating_bodies.driven_bodies import (
    INERTIA,
    ORIENTATION,
    SPIN,
    TORQUES,
    errors,
    halvings,
    of_orientation,
    order,
    order_error,
    rms,
    rms_error,
)

STEP, STEPS, THERE = 0.05, 1_000_000, 200       # of bodies that turn by about 0.05 in a step; steps, steps there
SEEDS = range(1, 9)
GRAINS, FRACTION = 200, 0.15
ANGLES = np.geomspace(0.05, 20.0, 121)          # [rad]
REPEATS, SLOW = 7, 1e-6                         # of the timings; time [s] of a body and step, from which few are made
FREE_STEPS, PART = 100_000, 0.05                # of a bench: steps of free bodies, part of the time of the clumps
REFERENCE = "spiral"                            # of costs
QUICK = "exact", "no-squish", "omelyan", "spiral"
RANKED = {"contacts": "energy error in contacts", "energy": "energy error of free bodies",
          "momentum": "momentum error of free bodies", "cost": "cost"}


LABELS = {"constant": "constant", "time": "of time", "orientation": "of orientation", "spin": "of velocity"}


def measured_orders(name):
    """(order, its standard error) of orientation and angular velocity, by kind of torque."""
    record, found = md.rotation.info(name), {}
    for kind, torque in TORQUES.items():
        declared = (record.order_q, record.order_w) if kind == "constant" else (
            record.order_q_varying, record.order_w_varying)
        found[kind] = [(order(e), order_error(e)) for e in errors(name, torque, halvings(max(declared)))]
    return found


def of_free_bodies(name, steps=STEPS):
    """Six asymmetric tops: relative errors in free steps, and error of the pose under gravity, there and back; each as
    an array over the bodies. Infinite if the scheme fails."""
    try:
        run = md.rotation.integrate(name, INERTIA, ORIENTATION, SPIN, (0, 0, 0), STEP, steps,
                                    record_every=steps // 1000)
        there = md.rotation.integrate(name, INERTIA, ORIENTATION, SPIN, of_orientation, STEP, THERE)
        back = md.rotation.integrate(name, INERTIA, there.orientation, -there.angular_velocity, of_orientation, STEP,
                                     THERE)
    except FloatingPointError:
        return dict.fromkeys(("energy", "drift", "momentum", "size", "back"), np.full(len(INERTIA), np.inf))
    energy = np.sum(INERTIA * run.angular_velocity ** 2, axis=-1) / np.sum(INERTIA * SPIN ** 2, axis=-1) - 1.0
    start, momentum = rotate(ORIENTATION, INERTIA * SPIN), rotate(run.orientation, INERTIA * run.angular_velocity)
    size = np.linalg.norm(start, axis=-1)
    return {"energy": np.max(np.abs(energy), axis=0),
            "drift": np.mean(energy[-100:], axis=0) - np.mean(energy[:100], axis=0),
            "momentum": np.max(np.linalg.norm(momentum - start, axis=-1), axis=0) / size,
            "size": np.max(np.abs(np.linalg.norm(momentum, axis=-1) - size), axis=0) / size,
            "back": np.minimum(*(np.linalg.norm(back.orientation - sign * ORIENTATION, axis=-1) for sign in (1, -1)))}


def largest_turn(name):
    """The largest angle per step [rad] at which each body errs by less than 0.1 rad in a revolution: see `_rotation`
    of minidem/analysis/monitor.py, which warns of it."""
    spin = SPIN / np.linalg.norm(SPIN, axis=1, keepdims=True)
    for k, angle in enumerate(ANGLES):
        steps, parts = int(np.ceil(2.0 * np.pi / angle)), int(np.ceil(angle))
        ends = [md.rotation.integrate(scheme, INERTIA, ORIENTATION, spin, (0, 0, 0), angle / n, n * steps).orientation
                for scheme, n in ((name, 1), ("exact", parts))]
        if not 2.0 * np.minimum(*(np.linalg.norm(ends[0] - sign * ends[1], axis=1) for sign in (1, -1))).max() < 0.1:
            return ANGLES[k - 1]
    return ANGLES[-1]


def elastic(system, name, seed):
    """Simulation and time [s] of a system of energy_pareto.py, with onset correction."""
    dt = SYSTEMS[system].steps[3]
    return SYSTEMS[system].simulation(name, "hertz:onset=corrected", dt, seed), 0.5 * SYSTEMS[system].time


def grains(name, seed, friction, speed, **options):
    """Asymmetric clumps in a cube, with dashpots; options : functions of its edge, for options of Simulation."""
    rng, edge = np.random.default_rng(seed), (GRAINS * CLUMP.volume / FRACTION) ** (1 / 3)
    [(position, orientation)] = place_densely([CLUMP], [GRAINS], (0, 0, 0), (edge,) * 3, rng)
    material = md.Material(young=1e8, poisson=0.2, restitution=0.6, friction=friction)
    sim = md.Simulation(material, contact="hertz-mindlin", rotation=name, dt=10e-6, threads=1,
                        **{key: value(edge) for key, value in options.items()})
    sim.add_clumps(CLUMP, position, orientation, velocity=speed * random_directions(GRAINS, rng),
                   angular_velocity=30.0 * speed * random_directions(GRAINS, rng))
    return sim, 0.3


def bed(name, seed):
    """Grains with friction fall into a box."""
    return grains(name, seed, 0.5, 1.0, gravity=lambda edge: (0, 0, -9.81),
                  walls=lambda edge: md.box_walls((0, 0, 0), (edge,) * 3))


def sheared_gas(name, seed):
    """Grains without friction in a sheared periodic box."""
    return grains(name, seed, 0.0, 0.5, periodic=lambda edge: md.PeriodicBox(
        (0, 0, 0), (edge,) * 3, axes=(True,) * 3, shear=("x", "y", 20.0)))


SIMULATIONS = {"rods": lambda *given: elastic("rods", *given), "clumps": lambda *given: elastic("clumps", *given),
               "chess": lambda *given: elastic("chess", *given), "bed": bed, "gas": sheared_gas}


def of_run(system, name, seed, part=1.0):
    """Largest relative error of the energy balance in a part of a run, without its oscillation in elastic contacts, at
    a hundred instants; infinite if the scheme fails."""
    warnings.filterwarnings("ignore", ".* overlap by ")         # of soft clumps, up to 0.4 radii
    sim, time = SIMULATIONS[system](name, seed)
    quantity, found, steps = "lasting" if system in SYSTEMS else "balance", [], round(part * time / sim.dt)
    try:
        sim.run(steps, every=steps // 100,
                callback=lambda sim: found.append(getattr(sim.energy(shadow=system in SYSTEMS), quantity)))
    except FloatingPointError:
        return np.inf
    return np.max(np.abs(np.array(found) / found[0] - 1.0))


def nanoseconds(names, bodies=8000, steps=1000):
    """Processor time per body and step [ns], one thread, constant torque: REPEATS values of each scheme, by name.

    They are measured in turns, so that a busy machine disturbs all alike; a scheme in Python makes fewer steps.
    """
    rng = np.random.default_rng(1)
    inertia = rng.uniform(1.0, 1.9, (bodies, 3))         # obeys the triangle inequality
    orientation = rng.normal(size=(bodies, 4))
    orientation /= np.linalg.norm(orientation, axis=1, keepdims=True)
    rate, torque = rng.normal(size=(2, bodies, 3))

    def seconds(name, steps):
        begun = process_time()
        md.rotation.integrate(name, inertia, orientation, rate, torque, 1e-3, steps)
        return process_time() - begun

    numbers = {name: 10 if seconds(name, 10) - seconds(name, 0) > 10 * bodies * SLOW else steps for name in names}
    found = [[(seconds(name, n) - seconds(name, 0)) / (n * bodies) * 1e9 for name, n in numbers.items()]
             for _ in range(REPEATS)]
    return dict(zip(numbers, np.transpose(found)))


@np.errstate(all="ignore")
def measured(scheme, version, seeds, tell=lambda done: None):
    """The errors of a scheme as a row of bench.csv.  version : of minidem, so that no other's are kept"""
    row = {}
    for kind, both in measured_orders(scheme).items():
        for quantity, (value, deviation) in zip("qw", both):
            row |= {f"order_{kind}_{quantity}": value, f"order_{kind}_{quantity}_deviation": deviation}
    free = of_free_bodies(scheme, FREE_STEPS)
    found = {"energy": free["energy"], "momentum": free["momentum"], "drift": free["drift"], "back": free["back"]}
    if len(md.rotation.info(scheme).stages) == 1:
        found["contacts"] = np.empty(seeds)
        for k in range(seeds):
            tell(k / seeds)
            found["contacts"][k] = of_run("clumps", scheme, 1 + k, PART)
    for quantity, values in found.items():
        lost = not np.isfinite(values).all()
        row |= dict.fromkeys([quantity, f"{quantity}_deviation"]) if lost else {
            quantity: rms(values), f"{quantity}_deviation": rms_error(values)}
    return row


def check(options):
    """Import the files, and find the names that they register."""
    options.names = []
    for word in options.schemes:
        if word.endswith((".py", ".pyx")):
            before = {name: md.rotation.info(name) for name in registry.own_names()}
            import_own(word, word)
            new = [name for name in sorted(registry.own_names()) if md.rotation.info(name) is not before.get(name)]
            if not new:
                raise ValueError(f"{word} registers no rotation scheme; call md.rotation.register in it")
            options.names += new
        else:
            registry.select(word)
            options.names.append(word)


def add_options(group):
    group.add_argument("schemes", nargs="+", metavar="SCHEME", help="file .py or .pyx, or name of a scheme")


def run(options, report):
    others = [name for name in (QUICK if options.quick else md.rotation.available())
              if name not in {*options.names, *registry.own_names()}]
    seeds = 2 if options.quick else len(SEEDS)
    made = report.runs(measured, {"scheme": others, "version": [md.__version__], "seeds": [seeds]},
                       "others") if others else []
    rows = {row["scheme"]: row for row in made if row["error"] is None}
    for name in options.names:
        rows[name] = measured(name, md.__version__, seeds, lambda done: report.part(f"errors of {name}", done))
    report.part("costs", 0.0)
    costs = nanoseconds(dict.fromkeys([REFERENCE, *rows]), 512, 1000 if options.quick else 4000)
    for name, row in rows.items():
        ratio = costs[name] / costs[REFERENCE]
        row |= {"scheme": name, "cost": np.median(ratio), "cost_deviation": np.std(ratio, ddof=1) / np.sqrt(REPEATS),
                "ns": np.min(costs[name])}
    for quantity in RANKED:
        ranked = sorted((row for row in rows.values() if row.get(quantity) is not None), key=lambda row: row[quantity])
        for rank, row in zip(count(1), ranked):
            row[f"{quantity}_rank"] = f"{rank} of {len(ranked)}"
    header = [name for name in dict.fromkeys(name for row in rows.values() for name in row)
              if name not in ("version", "seeds", "run_seconds", "error")]
    report.table("bench", header, [[row.get(name) for name in header] for row in rows.values()])
    report.say(text_table(rows, options.names))
    for name in options.names:
        report.say(summary(name, rows))
    report.figure("bench", lambda figure: draw(figure, rows, options.names), (9.0, 4.5))


def with_deviation(row, quantity, form=".1e"):
    """'value ± standard error' of a row; '-' without one."""
    if row.get(quantity) is None:
        return "lost" if quantity in row else "-"
    return f"{row[quantity]:{form}} ± {row[f'{quantity}_deviation']:{form.replace('.1e', '.0e')}}"


def lowest_order(row):
    """The lowest order under a torque that varies, with its standard error."""
    names = [f"order_{kind}_{quantity}" for kind in TORQUES if kind != "constant" for quantity in "qw"]
    return with_deviation(row, min(names, key=row.get), ".3f")


def text_table(rows, names):
    """The rows, from the smallest error in contacts on; those of `names` are marked."""
    return str(Listing({
        "": ">" if name in names else "", "scheme": name, "order": lowest_order(row),
        "contacts": with_deviation(row, "contacts"), "free energy": with_deviation(row, "energy"),
        "free momentum": with_deviation(row, "momentum"), "cost": with_deviation(row, "cost", ".2f")}
        for name, row in sorted(rows.items(), key=lambda item: item[1].get("contacts") or np.inf)))


def summary(name, rows):
    """What was found for a scheme, in sentences."""
    row = rows[name]
    lines = [f"\n{name}", *(f"  order, torque {label}: orientation {with_deviation(row, f'order_{kind}_q', '.3f')}, "
                            f"angular velocity {with_deviation(row, f'order_{kind}_w', '.3f')}"
                            for kind, label in LABELS.items())]
    lines += [f"  {label}: {with_deviation(row, quantity, '.2f' if quantity == 'cost' else '.1e')}"
              + (f", rank {row[f'{quantity}_rank']}" if f"{quantity}_rank" in row else "")
              for quantity, label in RANKED.items()]
    if row.get("contacts") is not None:
        better = better_than(row, rows)
        more = f" and {len(better) - 4} more" if len(better) > 4 else ""
        lines.append("  cheaper with smaller errors in contacts: "
                     + (", ".join(better[:4]) + more if better else "none, so it is on the front"))
    return "\n".join(lines)


def better_than(row, rows):
    """Names of schemes with a smaller error in contacts that cost less, the smallest first."""
    return sorted((name for name, other in rows.items() if (other.get("contacts") or np.inf) < row["contacts"]
                   and other["cost"] < row["cost"]), key=lambda name: rows[name]["contacts"])


def draw(figure, rows, names):
    panels = figure.subplots(1, 2)
    for panel, quantity in zip(panels, ("contacts", "energy")):
        shown = {name: row for name, row in rows.items() if row.get(quantity)}
        for name, row in shown.items():
            mine = name in names
            panel.errorbar(row["cost"], row[quantity], row[f"{quantity}_deviation"], row["cost_deviation"],
                           marker="D" if mine else "o", color=COLOURS[1] if mine else COLOURS[0], markersize=4,
                           elinewidth=0.6)
            panel.annotate(name, (row["cost"], row[quantity]), (3, 3), textcoords="offset points",
                           fontsize=8 if mine else 5, color=COLOURS[1] if mine else "0.3")
        panel.set(xscale="log", yscale="log", xlabel=f"cost of a step / {REFERENCE}", title=RANKED[quantity])
    panels[0].set_ylabel("relative error")


BENCH = Scenario("bench", __doc__, study=run, add_options=add_options, check=check, defaults={"workers": None})
