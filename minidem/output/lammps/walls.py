"""Walls as fixes wall/gran of LAMMPS: planes at rest along the axes, or a drum that turns."""
from itertools import combinations_with_replacement

import numpy as np

from minidem.core.checks import short_repr
from minidem.output.lammps.law import law
from minidem.walls import Cylinder, Plane


def contact_commands(sim):
    """pair_coeff of each two types, and a fix of each type and each wall, or two walls of one material, or a drum.

    Types are those of `write_spheres`. ValueError for a law or walls that LAMMPS cannot run.
    """
    types = list(enumerate(np.unique(sim.material_index), 1))
    lines = [f"pair_coeff {i} {j} {law(sim, a, b)}" for (i, a), (j, b) in combinations_with_replacement(types, 2)]
    lines += [f"group type{i} type {i}" for i, _ in types]
    if has_drum(sim):
        lines += drum_region(sim)
        style, surfaces = "wall/gran/region", {("region", sim.engine.loop.pair_table.wall_index[0]): "drum"}
    else:
        style, surfaces = "wall/gran", pairs_of_planes(sim)
    return lines + [f"fix {name}_{material}_{i} type{i} {style} granular {law(sim, a, material)} {name} {ends}"
                    for (name, material), ends in surfaces.items() for i, a in types]


def has_drum(sim):
    return any(isinstance(wall, Cylinder) for wall in sim.walls)


def pairs_of_planes(sim):
    """Positions of the low and the high wall, or NULL, by direction ("xplane") and index of the material."""
    planes = {}
    for (axis, side), (wall, material) in sides_of(sim).items():
        ends = planes.setdefault((f"{'xyz'[axis]}plane", material), ["NULL", "NULL"])
        ends[side] = f"{wall.point[axis]:.17g}"
    return {key: " ".join(ends) for key, ends in planes.items()}


def sides_of(sim):
    """Planes and the indices of their materials by axis and side (0: low, 1: high); ValueError for other walls."""
    sides = {}
    for k, (wall, material) in enumerate(zip(sim.walls, sim.engine.loop.pair_table.wall_index)):
        if not isinstance(wall, Plane) or wall.moves or max(np.abs(wall.normal)) != 1.0:
            raise ValueError(f"walls[{k}] = {short_repr(wall)}: LAMMPS takes planes at rest, normal to x, y or z, or a "
                             "cylinder that two planes close")
        axis = int(np.argmax(np.abs(wall.normal)))
        key = axis, int(wall.normal[axis] < 0.0)
        if key in sides:
            raise ValueError(f"walls[{k}] = {short_repr(wall)}: there is another plane with this normal; remove the "
                             "outer one")
        sides[key] = wall, material
    return sides


def drum_of(sim):
    """Axis (0, 1 or 2), a point of it (3,), radius, low and high end along it and rate of rotation of a drum.

    ValueError for walls other than a cylinder and two planes that close it, of one material, which turn together.
    """
    cylinders = [wall for wall in sim.walls if isinstance(wall, Cylinder)]
    axis = int(np.argmax(np.abs(cylinders[0].axis)))
    ends = {float(wall.normal[axis]): wall.point[axis] for wall in sim.walls if isinstance(wall, Plane)}
    if (len(sim.walls) != 3 or set(ends) != {1.0, -1.0} or abs(cylinders[0].axis[axis]) != 1.0 or cylinders[0].outside
            or len({(wall.angular_velocity, wall.velocity, wall.material) for wall in sim.walls}) > 1
            or any(cylinders[0].velocity) or any(wall.motion for wall in sim.walls)):
        raise ValueError(f"walls = {short_repr(sim.walls)}: with a cylinder LAMMPS takes a drum only: a cylinder along "
                         "x, y or z and two planes that close it, of one material and with one angular velocity")
    [cylinder] = cylinders
    return axis, cylinder.point, cylinder.radius, ends[1.0], ends[-1.0], cylinder.angular_velocity[axis]


def drum_region(sim):
    """Commands of a region that turns: a cylinder with two ends. See "cylinders" in LAMMPS.md."""
    axis, point, radius, low, high, rate = drum_of(sim)
    across = " ".join(f"{point[k]:.17g}" for k in range(3) if k != axis)
    about = " ".join(f"{x:.17g}" for x in (*point, *np.eye(3)[axis]))
    return [f"variable angle equal {rate:.17g}*time",
            f"region drum cylinder {'xyz'[axis]} {across} {radius:.17g} {low:.17g} {high:.17g} units box "
            f"rotate v_angle {about}"]


def bounds_of(sim):
    """Corners low and high (3,) of the box of LAMMPS, and its boundaries: p (periodic), f at a wall, else s
    (shrink-wrapped)."""
    if has_drum(sim):
        axis, point, radius, low, high, _ = drum_of(sim)
        corners = np.array(point) + [[-radius], [radius]]
        corners[:, axis] = low, high
        return *corners, "f f f"
    center, margin = sim.sphere_centers(), sim.sphere_radii.max()
    corners = np.array([center.min(axis=0) - margin, center.max(axis=0) + margin])
    letters = np.full((3, 2), "s")
    for (axis, side), (wall, _) in sides_of(sim).items():
        corners[side, axis], letters[axis, side] = wall.point[axis], "f"
    if sim.periodic:
        *box, along = sim.periodic
        corners[:, along], letters[along, :] = np.array(box)[:, along], "p"
    return *corners, " ".join(map("".join, letters))
