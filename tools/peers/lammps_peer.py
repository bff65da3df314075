"""LAMMPS as a peer: write the state for lammps.in, read its dumps, and compute the energy.

The spheres are read by read_data; mass, inertia tensor, velocity and angular momentum of the clumps by fix
rigid/small (keyword infile).
"""

import re
from itertools import combinations_with_replacement
from pathlib import Path

import numpy as np

import minidem as md
from peers.lammps_law import law
from peers.peer import Measurement, Peer, read_dump, run_script
from peers.state import bounds_of, clump_state, drum_of, total_energy

SKINS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0)      # in radii, the median of the spheres


def run(program, sim, settings, warmup, steps, folder, commands=()):
    """Run `sim` in LAMMPS, with further commands; the dumps are in `folder`.

    Returns the output and the time per step [us].
    """
    state, has_walls = clump_state(sim), len(sim.walls) > 0
    rigid = any(len(template.radii) > 1 for template in sim.templates)
    write_spheres(sim, state, folder / "spheres.data")
    if rigid:
        write_clumps(state, folder / "clumps.state")
    size = np.linalg.norm(sim.gravity)
    (folder / "contacts.in").write_text("\n".join([*contact_commands(sim), *commands, ""]))
    variables = {"skin": settings["skin"] * np.median(sim.sphere_radii),
                 "search": "multi" if len(np.unique(sim.material_index)) > 1 else "bin",
                 "cutoff": 2.0 * max(template.bounding_radius for template in sim.templates),
                 "boundary": "f" if has_walls else "s", "rigid": rigid,
                 "gravity": size, **dict(zip(("gx", "gy", "gz"), np.divide(sim.gravity, size) if size else (0, 0, -1))),
                 "dt": sim.dt, "warmup": warmup, "steps": steps}
    return run_script(program, "lammps.in", variables, folder)


def measure(program, sim, settings, warmup, steps, folder):
    folder = Path(folder)
    output, us_per_step = run(program, sim, settings, warmup, steps, folder)
    version = re.search(r"^LAMMPS \((.*?)\)", output, re.MULTILINE)[1].replace(" ", "")
    energies = [energy(sim, folder, moment) for moment in ("start", "end")]
    position = read_motion(folder, "warm")[1]
    return Measurement(version, us_per_step, *energies, position.tolist())


def contact_commands(sim):
    """pair_coeff of each two types, and a fix of each type and each wall, or two walls of one material, or a drum.

    The k-th material of the clumps, in the order of `sim.materials`, is type k.
    """
    types = list(enumerate(np.unique(sim.material_index), 1))
    lines = [f"pair_coeff {i} {j} {law(sim, a, b)}" for (i, a), (j, b) in combinations_with_replacement(types, 2)]
    lines += [f"group type{i} type {i}" for i, _ in types]
    if any(isinstance(wall, md.Cylinder) for wall in sim.walls):
        lines += drum_region(sim)
        style, surfaces = "wall/gran/region", {("region", sim._loop.pair_table.wall_index[0]): "drum"}
    else:
        style, surfaces = "wall/gran", pairs_of_planes(sim)
    return lines + [f"fix {name}_{material}_{i} type{i} {style} granular {law(sim, a, material)} {name} {ends}"
                    for (name, material), ends in surfaces.items() for i, a in types]


def pairs_of_planes(sim):
    """Positions of the low and the high wall, or NULL, by direction ("xplane") and index of the material."""
    planes = {}
    for wall, material in zip(sim.walls, sim._loop.pair_table.wall_index):
        axis = int(np.argmax(np.abs(wall.normal)))
        sides = planes.setdefault((f"{'xyz'[axis]}plane", material), ["NULL", "NULL"])
        sides[wall.normal[axis] < 0.0] = f"{wall.point[axis]:.17g}"
    return {key: " ".join(sides) for key, sides in planes.items()}


def drum_region(sim):
    """Commands of a region that turns: a cylinder with two ends. See "cylinders" in lammps_law.py."""
    axis, point, radius, low, high, rate = drum_of(sim)
    across = " ".join(f"{point[k]:.17g}" for k in range(3) if k != axis)
    about = " ".join(f"{x:.17g}" for x in (*point, *np.eye(3)[axis]))
    return [f"variable angle equal {rate:.17g}*time",
            f"region drum cylinder {'xyz'[axis]} {across} {radius:.17g} {low:.17g} {high:.17g} units box "
            f"rotate v_angle {about}"]


def write_spheres(sim, state, path):
    """Data file of LAMMPS. Lines: id, type, position, diameter, density (of clumps of one sphere), molecule id (the
    clump). Types are those of `contact_commands`."""
    center, radius, clump = state["sphere_center"], state["sphere_radius"], state["sphere_clump"]
    low, high = bounds_of(sim) if sim.walls else (center.min(axis=0), center.max(axis=0))
    n, density = len(radius), state["mass"][clump] / (4.0 / 3.0 * np.pi * radius ** 3)
    sides = "".join(f"{a:.17g} {b:.17g} {axis}lo {axis}hi\n" for a, b, axis in zip(low, high, "xyz"))
    motion = np.zeros((n, 6)) if len(state["mass"]) < n else np.column_stack([sim.velocity, sim.angular_velocity])
    ids = np.arange(1, n + 1)
    materials, kind = np.unique(sim.material_index, return_inverse=True)
    table = np.column_stack([ids, kind[clump] + 1, center, 2.0 * radius, density, clump + 1])
    with path.open("w") as file:
        np.savetxt(file, table, "%d %d %.17g %.17g %.17g %.17g %.17g %d", comments="",
                   header=f"spheres\n\n{n} atoms\n{len(materials)} atom types\n{sides}\nAtoms # hybrid\n")
        np.savetxt(file, np.column_stack([ids, motion]), "%d" + 6 * " %.17g", header="\nVelocities\n", comments="")


def write_clumps(state, path):
    """Infile of fix rigid/small. Lines: molecule id, mass, centre, inertia xx yy zz xy xz yz, velocity, angular
    momentum, three image flags."""
    n, inertia = len(state["mass"]), state["inertia"]
    table = np.column_stack([np.arange(1, n + 1), state["mass"], state["position"],
                             inertia[:, [0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]],
                             state["velocity"], state["angular_momentum"], np.zeros((n, 3))])
    np.savetxt(path, table, "%d" + 16 * " %.17g" + 3 * " %d", header=str(n), comments="")


def read_motion(folder, moment):
    """Mass (n,), position, velocity, angular velocity (n, 3) and, of rigid bodies, angular momentum of the clumps."""
    rows = read_dump(folder / f"{moment}.clumps")
    return rows[:, 1], *np.split(rows[:, 2:], range(3, rows.shape[1] - 2, 3), axis=1)


def energy(sim, folder, moment):
    mass, position, velocity, spin, *momentum = read_motion(folder, moment)
    potential = -float(mass @ position @ np.array(sim.gravity))
    momentum = momentum[0] if momentum else 0.4 * (mass * sim.sphere_radii ** 2)[:, None] * spin
    center = read_dump(folder / f"{moment}.spheres")[:, 1:4]
    return potential + total_energy(sim, mass, velocity, spin, momentum, center)


LAMMPS = Peer(name="lammps", program="lmp", package="lammps", measure=measure,
              settings=tuple({"skin": skin} for skin in SKINS), laws=("hertz", "hertz-mindlin"))
