"""Walls as fixes wall/gran of LAMMPS: planes, cylinders and cones at rest along the axes, or a drum that turns."""
from itertools import combinations_with_replacement

import numpy as np

from minidem.core.checks import short_repr
from minidem.output.lammps.law import law


def contact_commands(sim, springs=False):
    """pair_coeff of each two types, and a fix of each type and each wall, or two walls of one material, or a drum.

    springs : the fixes keep forces for dumps. ValueError for a law or walls that LAMMPS cannot run.
    """
    types = list(enumerate(np.unique(sim.material_index), 1))
    lines = [f"pair_coeff {i} {j} {law(sim, a, b)}" for (i, a), (j, b) in combinations_with_replacement(types, 2)]
    lines += [f"group type{i} type {i}" for i, _ in types]
    materials = sim.loop.pair_table.wall_index
    if has_drum(sim):
        lines += drum_region(sim)
        surfaces = {("region", materials[0]): "wall/gran/region region drum"}
    else:
        surfaces = pairs_of_planes(sim)
        for k, region in regions_of(sim).items():
            lines.append(f"region wall{k} {region}")
            surfaces[f"region{k}", materials[k]] = f"wall/gran/region region wall{k}"
    return lines + [f"fix {name}_{material}_{i} type{i} "
                    + wall.replace(" ", f" granular {law(sim, a, material)} ", 1) + " contacts" * springs
                    for (name, material), wall in surfaces.items() for i, a in types]


def has_drum(sim):
    """Whether there is a cylinder that turns, or one with two ends and no other wall."""
    closed = len(sim.walls) == 3 and sum(wall.half_space is not None for wall in sim.walls) == 2
    return any(wall.encloses and (wall.moves or closed) for wall in sim.walls)


def regions_of(sim):
    """Commands of regions by number of the wall, of cylinders and cones at rest along the axes."""
    return {k: wall.region() for k, wall in enumerate(sim.walls) if not wall.moves and wall.region()}


def pairs_of_planes(sim):
    """Fix style and places of low and high wall, or NULL, by direction ("xplane") and index of the material."""
    planes = {}
    for (axis, side), (wall, material) in sides_of(sim).items():
        ends = planes.setdefault((f"{'xyz'[axis]}plane", material), ["NULL", "NULL"])
        ends[side] = f"{wall.point[axis]:.17g}"
    return {key: f"wall/gran {key[0]} {' '.join(ends)}" for key, ends in planes.items()}


def sides_of(sim):
    """Planes and the indices of their materials by axis and side (0: low, 1: high); ValueError for other walls."""
    sides, regions = {}, regions_of(sim)
    for k, (wall, material) in enumerate(zip(sim.walls, sim.loop.pair_table.wall_index)):
        if k in regions:
            continue
        if wall.moves or not wall.face():
            raise ValueError(f"walls[{k}] = {short_repr(wall)}: LAMMPS takes planes at rest, not belts, normal to x, y "
                             "or z, cylinders and cones along these, or a cylinder that turns, closed by two planes")
        axis, sign, _ = wall.face()
        if (axis, int(sign < 0.0)) in sides:
            raise ValueError(f"walls[{k}] = {short_repr(wall)}: there is another plane with this normal; remove the "
                             "outer one")
        sides[axis, int(sign < 0.0)] = wall, material
    return sides


def drum_of(sim):
    """Axis (0, 1 or 2), cylinder, low and high end of a drum, that turns as a whole; else ValueError."""
    cylinder = next(wall for wall in sim.walls if wall.encloses)
    axis = int(np.argmax(np.abs(cylinder.axis)))
    ends = {float(wall.normal[axis]): wall.point[axis] for wall in sim.walls if wall.half_space}
    if (len(sim.walls) != 3 or set(ends) != {1.0, -1.0} or not cylinder.region()
            or len({(wall.angular_velocity, wall.material) for wall in sim.walls}) > 1
            or any(wall.with_changes(angular_velocity=(0.0, 0.0, 0.0)).moves for wall in sim.walls)):
        raise ValueError(f"walls = {short_repr(sim.walls)}: with a cylinder LAMMPS takes a drum only: a cylinder along "
                         "x, y or z and two planes that close it, of one material and with one angular velocity alone")
    return axis, cylinder, ends[1.0], ends[-1.0]


def drum_region(sim):
    """Commands of a region that turns: a cylinder with two ends. See "cylinders" in LAMMPS.md."""
    axis, cylinder, low, high = drum_of(sim)
    about = " ".join(f"{x:.17g}" for x in (*cylinder.point, *np.eye(3)[axis]))
    return [f"variable angle equal {cylinder.angular_velocity[axis]:.17g}*time",
            f"region drum {cylinder.region((f'{low:.17g}', f'{high:.17g}'))} rotate v_angle {about}"]


def bounds_of(sim):
    """Corners low and high (3,) of the box of LAMMPS, and its boundaries: p periodic, f at a wall, s shrink-wrapped."""
    if has_drum(sim):
        axis, cylinder, low, high = drum_of(sim)
        corners = np.array(cylinder.point) + [[-cylinder.radius], [cylinder.radius]]
        corners[:, axis] = low, high
        return *corners, "f f f"
    center, margin = sim.sphere_centers(), sim.sphere_radii.max()
    corners = np.array([center.min(axis=0) - margin, center.max(axis=0) + margin])
    letters = np.full((3, 2), "s")
    for (axis, side), (wall, _) in sides_of(sim).items():
        corners[side, axis], letters[axis, side] = wall.point[axis], "f"
    box = sim.loop.box
    if box is not None:
        corners[:, box.axes], letters[box.axes, :] = np.array([box.low, box.high])[:, box.axes], "p"
    return *corners, " ".join(map("".join, letters))
