#!/usr/bin/env python3
"""The table of rotation schemes, minidem/rotation/ORDERS.md: measured orders of convergence, cost, sources.

    python tools/order_table.py             measure all schemes and write the file (40 s)
    python tools/order_table.py --no-cost   the same, but keep the nanoseconds of schemes that are in the file
    python tools/order_table.py --check     measure the orders only and compare them with the file
    python tools/order_table.py --import mine.py    measure and print your own schemes, write nothing

Errors are found by minidem.scenarios.rotating_bodies.driven_bodies at the end of a motion of six asymmetric bodies, for
five time steps, each half the one before, against DOP853. The schemes are listed by `minidem.rotation.available()`: a
new file of minidem/rotation/ needs no edit here. Written again, the file differs in the nanoseconds alone. The number
of schemes is written into the texts that state it, NUMBERED. Exit status of --check: 0 if all files agree, 1 if not.
"""
import argparse
import re
import sys
from pathlib import Path

import numpy as np

import minidem as md
from minidem.core.atomic import replace_text
from minidem.ensemble.own_code import add_import_option, import_own
from minidem.scenarios.rotating_bodies import scheme_bench
from minidem.scenarios.rotating_bodies.driven_bodies import TOLERANCE, TORQUES

TABLE = Path(md.rotation.__file__).with_name("ORDERS.md")
NUMBERED = [path for path in (Path(__file__).parents[1] / name for name in (     # texts with "thirty-three schemes"
    "README.md", "pyproject.toml", ".zenodo.json", ".github/CITATION.cff", "minidem/guide/paper.md",
    "minidem/guide/rotation_integrators.ipynb")) if path.exists()]      # a source distribution has no dotfiles
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
ONES = ("", "-one", "-two", "-three", "-four", "-five", "-six", "-seven", "-eight", "-nine")
NUMBER = re.compile(rf"\b({'|'.join(TENS)})({'|'.join(ONES[1:])})?(?=\s(rotation\s)?(integrators|schemes)\b)", re.I)
TEXT = """# Rotation schemes: order of convergence and cost

A rotation scheme of order p makes errors that fall with the p-th power of the step. This table
shows which schemes keep their order when the torque varies, as contacts make it do, and what a
step costs. `exact`, the default, conserves energy best, and `spiral` is the fastest of second order
under every torque: see [Which integrator?](../guide/integrators.md)

* **q, w stored at**: the instants, within a step from t to t + dt, of the orientation q and the
  angular velocity w that the scheme stores
* **forces**: evaluations of the forces per step
* **constant**, **of time**, **of orientation**, **of velocity**: global orders of orientation /
  angular velocity at the instant of the pose, measured for a body torque that is constant, or a
  function of time, orientation or angular velocity
* **ns**: nanoseconds per body and step on one core
* **used in**: other codes

`dlm`, `dmv` and `exact` are kicks by the torque with a free rotation between them: split, discrete
and exact.

`md.rotation.info(name)` describes a scheme; `md.rotation.integrate(name, ...)` moves a free body by
it. `python tools/order_table.py` writes this page; do not edit it.

What schemes conserve, apart from rounding, for a body without torque:

* energy and angular momentum in the lab: `austin`, `exact`; `dmv` and `simo-wong`, whose implicit
  equations are solved by a fixed number of iterations, up to 0.3 rad in a step. In a step of 0.5, 1
  and 1.5 rad `dmv` loses 2e-12, 3e-7 and 9e-5 of the energy, `simo-wong` 2e-12, 6e-8 and 3e-5
* angular momentum in the lab: `buss`, `dlm`, `fincham`, `johnson`, `lie-midpoint`, `lie-verlet`,
  `no-squish`, `richardson`, `touma-wisdom`; the last is exact for bodies with two equal moments
* at the half steps, energy and the magnitude of the angular momentum: `lie-newmark`

For bodies turned by a potential, the energy error of `dlm`, `dmv`, `exact`, `lie-verlet`,
`no-squish` and `touma-wisdom` oscillates for ever: they are symplectic. Symmetry in time and energy
without torque do not suffice: the errors of `austin`, `simo-wong`, `lie-newmark` and, more slowly,
`lie-midpoint` grow. For `fincham` and `richardson` they grow without bound: heavy bodies on a pivot
gain 1.4 and 7 times their kinetic energy in 100 000 steps of about 0.1 rad.

"""
AFTER = """
## Published for grains since 2020

Searched were web pages, documentation, discussions and code, for rotation integrators of clumps and
other non-spherical grains. `spiral` and `pfc4`, of 2024, are in the table. These are not:

* Baker & Gonzalez 2021 ([arXiv:2112.01623](https://arxiv.org/abs/2112.01623)), explicit and
  variational: for bodies with three equal moments only
* De Klerk et al. 2021 ([arXiv:2103.01757](https://arxiv.org/abs/2103.01757)), variational: each
  step solves for the positions and contact forces of all particles at once
* Leine et al. 2021 ([10.1007/s11044-021-09792-y](https://doi.org/10.1007/s11044-021-09792-y)),
  rockfall: part of a time stepping of impulsive contacts
* Li et al. 2025 ([10.1007/s40571-024-00780-5](https://doi.org/10.1007/s40571-024-00780-5)), six
  explicit schemes on unit quaternions, best by the Cayley map: we know the abstract, not the
  formulas; `austin`, `lie-verlet` and `omelyan` turn bodies by this map
* Lu et al. 2023 ([arXiv:2308.10459](https://arxiv.org/abs/2308.10459)), bonded grains: implicit
* Noble & Weinzierl 2023 ([arXiv:2309.15417](https://arxiv.org/abs/2309.15417)), local time steps:
  no new rotation
* Vyas et al. 2025 ([10.1016/j.cpc.2025.109524](https://doi.org/10.1016/j.cpc.2025.109524)), in
  [LAMMPS](https://github.com/lammps/lammps/pull/4351): velocities for the history of friction, of
  spheres

## In other fields

The angular velocities of `austin` follow the implicit midpoint rule, by which Genesis moves
free bodies without contacts
([2026](https://github.com/Genesis-Embodied-AI/genesis-world/pull/3074)), as MuJoCo 3.10 did; MuJoCo
3.11 has replaced it ([changelog](https://mujoco.readthedocs.io/en/3.11.0/changelog.html)). `austin`
adds the rotation by the Cayley map, which keeps the angular momentum in the lab, and kicks for
torques.

## Left out

* **Force gradients**: HOA and GIER4 (van Zon, Omelyan and Schofield, arXiv 0710.3390) and the
  scheme of Takahashi and Imada are of higher order between the kicks of a smooth potential, whose
  second derivatives, or further evaluations of the force, they need. Dashpots and friction have no
  potential. The gradient of Hertz's force is not smooth where a contact begins or ends, and most of
  the error comes from there: the [onset correction](../onset/ONSET.md) removes it with one force
  evaluation per step.
* **Splittings of the free rotation of higher order**, with general coefficients or with the ones of
  Laskar and Vaillant (10.1007/s10569-019-9886-4), which depend on the moments of inertia, need more
  than the five rotations of `dlm`. `exact` takes less time than these five and has no error left.
* **The explicit algorithm of Simo & Wong 1991**, as others have programmed it, conserves angular
  momentum, but turns bodies with the angular acceleration of half a step ago: the energy of rods
  that collide grew 66-fold in ten million steps.
"""
ORDERS = tuple(scheme_bench.LABELS[kind] for kind in TORQUES)
HEADINGS = ("scheme", "q, w stored at", "forces", *ORDERS, "ns", "DOI", "used in")
# The same scheme with parameters that are worth a row of their own.
VARIANTS = ("dmv:order=2", "dmv:order=6", "omelyan:iterations=20", "spiral:inner=rk4", "spiral-sync:form=sum")


def counted(text):
    """The text with the number of schemes that there are, 20 to 99, in words."""
    n = len(md.rotation.available())
    word = TENS[n // 10 - 2] + ONES[n % 10]
    return NUMBER.sub(lambda found: word.capitalize() if found.group()[0].isupper() else word, text)


def names():
    """All rows: the schemes, each followed by its variants."""
    return sorted([*md.rotation.available(), *VARIANTS])


def facts(name):
    """The columns from the record, by heading."""
    record = md.rotation.info(name)
    stored = [instant(offset) for offset in (record.orientation_offset, record.angular_velocity_offset)]
    return {"scheme": f"`{name}`", "q, w stored at": ", ".join(stored), "forces": str(len(record.stages)),
            "DOI": f"[{record.doi}](https://doi.org/{record.doi})" if record.doi else "",
            "used in": "" if ":" in name else record.used_in}


def instant(offset):
    """A time of the step as text: t, t + dt/2, t - dt/2."""
    sign, steps = "+" if offset > 0 else "-", f"{abs(offset):g} dt".replace("0.5 dt", "dt/2")
    return f"t {sign} {steps}" if offset else "t"


def measured_orders(name):
    """Global orders of q and w by heading of the torque, as 'q / w'."""
    return {heading: " / ".join(f"{order:.2f}" for order, _ in both)
            for heading, both in zip(ORDERS, scheme_bench.measured_orders(name).values())}


def page(rows):
    """The text of the file with these rows (dictionaries by heading)."""
    lines = [HEADINGS, ["---"] * len(HEADINGS), *([row[heading] for heading in HEADINGS] for row in rows)]
    return TEXT + "".join("| " + " | ".join(line) + " |\n" for line in lines) + AFTER


def read_page(text):
    """Rows in the text of the file, by scheme."""
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"]
    return {line[0]: dict(zip(lines[0], line)) for line in lines[2:]}


def differences(rows, written):
    """What differs in the file, as sentences. rows: measured, without timings; written: by scheme."""
    found = {row["scheme"]: row for row in rows}
    said = [f"{scheme} is not in the table" for scheme in found.keys() - written.keys()]
    said += [f"{scheme} is in the table and no scheme" for scheme in written.keys() - found.keys()]
    for scheme in found.keys() & written.keys():
        for heading in found[scheme]:
            here, there = found[scheme][heading], written[scheme].get(heading, "nothing")
            if heading in ORDERS and there != "nothing":
                apart = np.abs(np.subtract(*([float(x) for x in text.split("/")] for text in (here, there))))
                same = np.all(apart <= TOLERANCE)
            else:
                same = here == there
            if not same:
                said.append(f"{scheme}, {heading}: {here} here, {there} in the table")
    return sorted(said)


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    parser.add_argument("--no-cost", action="store_true", help="measure no times of schemes that are in the file")
    add_import_option(parser)
    options = parser.parse_args(argv)
    for name in options.imports:
        try:
            import_own(name, f"--import {name}")
        except ValueError as error:
            parser.error(str(error))
    rows, written = [], read_page(TABLE.read_text(encoding="utf-8"))
    for name in sorted(md.rotation.registry.own_names()) if options.imports else names():
        row = facts(name) | measured_orders(name)
        if not options.check:
            known = written.get(row["scheme"]) if options.no_cost else None
            row["ns"] = known["ns"] if known else f"{min(scheme_bench.nanoseconds([name])[name]):.1f}"
            print(name, *(row[heading] for heading in ORDERS), row["ns"], sep="   ", flush=True)
        rows.append(row)
    if options.imports:
        return 0
    if options.check:
        said = differences(rows, written) + [
            f"{path.name} has another number of schemes than {len(md.rotation.available())}"
            for path in NUMBERED if counted(path.read_text(encoding="utf-8")) != path.read_text(encoding="utf-8")]
        print("\n".join([*said, "write the table anew: python tools/order_table.py --no-cost"]) if said else
              f"{TABLE.name} agrees: {len(rows)} schemes, orders within {TOLERANCE:g}")
        return 1 if said else 0
    replace_text(TABLE, page(rows))
    for path in NUMBERED:
        replace_text(path, counted(path.read_text(encoding="utf-8")))
    return 0


if __name__ == "__main__":
    sys.exit(main())
