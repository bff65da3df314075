#!/usr/bin/env python3
"""The README's table of rotation schemes: orders of convergence as measured, cost, sources.

    python tools/order_table.py             measure all and write the table into the README (15 s)
    python tools/order_table.py --check     measure the orders only and compare them with the README's

Orders come from minidem.validation.driven_bodies: errors at the end of a motion of six asymmetric bodies,
for five time steps, each half the one before, against DOP853. Schemes come from
`minidem.rotation.available()`: a new file of minidem/rotation/ needs no edit here. What is written again
differs in the nanoseconds alone. Exit status of --check: 0 as in the README, 1 not.
"""
import argparse
import sys
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np

import minidem as md
from minidem.output import replace_text
from minidem.validation.driven_bodies import TOLERANCE, TORQUES, errors, halvings, order

README = Path(__file__).resolve().parents[1] / "README.md"
BEGIN, END = "<!-- orders: tools/order_table.py writes from here -->", "<!-- orders: to here -->"
ORDERS = tuple({"constant": "constant", "time": "of time", "orientation": "of orientation",
                "spin": "of velocity"}[kind] for kind in TORQUES)
HEADINGS = ("scheme", "q, w kept at", "forces", *ORDERS, "ns", "DOI", "used in")
# The same scheme with parameters that are worth a row of their own.
VARIANTS = ("omelyan:iterations=20", "spiral:inner=rk4", "spiral-sync:form=sum")
# DEM codes: Table 1 of the SPIRAL paper (10.1016/j.cpc.2023.109077); SPIRAL's own users: conclusions of
# del Valle et al., "Efficient numerical integration of rigid body dynamics" (2025).
CODES = {
    "euler": "MFiX, EDEM, Blaze-DEMGPU, MUSEN",
    "velocity-verlet": "LIGGGHTS, GranOO, EDEM, MercuryDPM",
    "fincham": "Yade, ESyS-Particle, WooDEM",
    "buss": "PFC7",
    "johnson": "PFC7",
    "pfc4": "MercuryDPM",
    "spiral": "Yade, GeoTaichi",
}
BODIES, STEPS, REPEATS = 8000, 1000, 5                   # of the timings


def names():
    """All rows: the schemes, and behind each its variants."""
    return sorted([*md.rotation.available(), *VARIANTS])


def facts(name):
    """What the record says, by heading."""
    record = md.rotation.info(name)
    kept = [instant(offset) for offset in (record.orientation_offset, record.angular_velocity_offset)]
    return {"scheme": f"`{name}`", "q, w kept at": ", ".join(kept), "forces": str(len(record.stages)),
            "DOI": f"[{record.doi}](https://doi.org/{record.doi})" if record.doi else "",
            "used in": CODES.get(name, "")}


def instant(offset):
    """A time of the step as text: t, t + dt/2, t - dt/2."""
    sign, steps = "+" if offset > 0 else "-", f"{abs(offset):g} dt".replace("0.5 dt", "dt/2")
    return f"t {sign} {steps}" if offset else "t"


def measured_orders(name):
    """Global orders of q and w by heading of the torque, as 'q / w'."""
    record = md.rotation.info(name)
    found = {}
    for heading, (kind, torque) in zip(ORDERS, TORQUES.items()):
        declared = (record.order_q, record.order_w) if kind == "constant" else (
            record.order_q_varying, record.order_w_varying)
        q, w = (order(e) for e in errors(name, torque, halvings(max(declared))))
        found[heading] = f"{q:.2f} / {w:.2f}"
    return found


def nanoseconds(name):
    """Per body and step, one thread, constant torque: median over REPEATS."""
    rng = np.random.default_rng(1)
    inertia = rng.uniform(1.0, 1.9, (BODIES, 3))         # obeys the triangle inequality
    orientation = rng.normal(size=(BODIES, 4))
    orientation /= np.linalg.norm(orientation, axis=1, keepdims=True)
    rate, torque = rng.normal(size=(2, BODIES, 3))

    def seconds(steps):
        begun = perf_counter()
        md.rotation.integrate(name, inertia, orientation, rate, torque, 1e-3, steps)
        return perf_counter() - begun

    return median((seconds(STEPS) - seconds(0)) / (STEPS * BODIES) for _ in range(REPEATS)) * 1e9


def split(readme):
    """The text of a README up to, between and from the markers on. ValueError without them."""
    before, begin, rest = readme.partition(BEGIN + "\n")
    between, end, after = rest.partition(END)
    if not end:
        raise ValueError(f"README.md has no lines {BEGIN} and {END}; put them where the table shall stand")
    return before + begin, between, end + after


def with_table(readme, rows):
    """The text of a README with these rows (dictionaries by heading) as its table, in Markdown."""
    before, _, after = split(readme)
    lines = [HEADINGS, ["---"] * len(HEADINGS), *([row[heading] for heading in HEADINGS] for row in rows)]
    return before + "".join("| " + " | ".join(line) + " |\n" for line in lines) + after


def read_table(readme):
    """Rows of the table in the text of a README, by scheme. ValueError for another table than this one."""
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in split(readme)[1].splitlines()]
    if lines and tuple(lines[0]) != HEADINGS:
        raise ValueError("the table in README.md has other columns; write it anew with tools/order_table.py")
    return {line[0]: dict(zip(HEADINGS, line)) for line in lines[2:]}


def differences(rows, written):
    """What is different in the README, as sentences. rows: measured, without timings; written: by scheme."""
    found = {row["scheme"]: row for row in rows}
    told = [f"{scheme} is not in the table" for scheme in found.keys() - written.keys()]
    told += [f"{scheme} is in the table and no scheme" for scheme in written.keys() - found.keys()]
    for scheme in found.keys() & written.keys():
        for heading in found[scheme]:
            here, there = found[scheme][heading], written[scheme][heading]
            if heading in ORDERS:
                apart = np.abs(np.subtract(*([float(x) for x in text.split("/")] for text in (here, there))))
                same = np.all(apart <= TOLERANCE)
            else:
                same = here == there
            if not same:
                told.append(f"{scheme}, {heading}: {here} here, {there} in the table")
    return sorted(told)


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    options = parser.parse_args(argv)
    readme = README.read_text(encoding="utf-8")
    split(readme)                                       # complains now, not after minutes
    written = read_table(readme) if options.check else {}
    rows = []
    for name in names():
        row = facts(name) | measured_orders(name)
        if not options.check:
            row["ns"] = f"{nanoseconds(name):.1f}"
            print(name, *(row[heading] for heading in ORDERS), row["ns"], sep="   ", flush=True)
        rows.append(row)
    if options.check:
        told = differences(rows, written)
        print("\n".join([*told, "write the table anew: python tools/order_table.py"]) if told else
              f"the table in README.md is right: {len(rows)} schemes, orders within {TOLERANCE:g}")
        return 1 if told else 0
    replace_text(README, with_table(readme, rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
