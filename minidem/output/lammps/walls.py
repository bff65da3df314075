"""Contact laws as coefficients of LAMMPS; walls as fixes wall/gran: planes, and cylinders and cones along the axes, at
rest, or a drum that turns. LAMMPS.md says what LAMMPS computes, and where it differs.
"""
import warnings
from itertools import combinations_with_replacement
from math import sqrt

import numpy as np

from minidem.core.checks import short_repr

TANGENTIAL = {"rescale": "mindlin_rescale/force", "mindlin": "mindlin", "linear": "linear_history",
              "mindlin-rescale": "mindlin_rescale", "mindlin-force": "mindlin/force"}


def law(sim, first, second):
    """Coefficients of the law between materials of these indices in `sim.materials`; ValueError if LAMMPS has none."""
    value = sim.settings.law_value
    if sim.reader.exclusions is not None:
        raise ValueError("pairs: pair_style granular of LAMMPS has no pair without contact; leave contact=False out")
    pair = {name: table[first, second] for name, table in sim.reader.pair_properties().items()}
    modulus, shear = pair["modulus"], pair["shear_modulus"]
    stiffness = f"hertz {4.0 / 3.0 * modulus:.17g}"
    if sim.contact == "hertz":
        return f"{stiffness} 0.0 tangential linear_nohistory 0.0 0.0 damping velocity"
    if sim.settings.law.name != "hertz-mindlin" or any(
            value(name) != "none" for name in ("rolling", "twisting", "liquid", "bonds")) \
            or value("cohesion") == "dmt" or value("sliding") == "static" or value("tangential") not in TANGENTIAL:
        raise ValueError(f"contact = {sim.contact!r}: pair_style granular of LAMMPS has no equal law; use 'hertz' or "
                         "'hertz-mindlin' with one of its own tangential models, without rolling friction, twisting, "
                         "liquid, bonds, cohesion=dmt and sliding=static")
    ratio, given = value("tangential_damping"), value("tangential_stiffness")
    x = sqrt(4.0 * shear / modulus) if ratio == "stiffness-ratio" else ratio
    damping = "coeff_restitution limit_damping" if value("limit_damping") == "yes" else "coeff_restitution"
    normal = f"{stiffness} {pair['restitution']:.17g}"
    if value("cohesion") == "jkr":
        if pair["restitution"] < 1.0:
            raise ValueError(f"contact = {sim.contact!r} with a restitution of {pair['restitution']:g}: LAMMPS has no "
                             "equal damping of contacts with cohesion; give them a restitution of 1")
        normal, damping = f"jkr {2.0 * modulus:.17g} 0.0 0.0 {0.5 * pair['adhesion']:.17g}", "velocity"
    return (f"{normal} tangential {TANGENTIAL[value('tangential')]} "
            f"{8.0 * shear if given == 'none' else given:.17g} {x:.17g} {pair['friction']:.17g} damping {damping}")


def warn_of_differences(sim):
    """Warn if LAMMPS limits friction by another force, or has another effective mass, than the law of `sim`."""
    def warn(text):
        warnings.warn(f"contact = {sim.contact!r}: {text}", UserWarning, stacklevel=5)

    settings, value = sim.settings, sim.settings.law_value
    pair = sim.reader.pair_properties()
    damped = pair["restitution"] < 1.0
    if value("mass") is not None and not settings.law.mass_of_clumps(settings.law_values) \
            and sim.n_spheres > sim.n_clumps and np.any(damped):
        warn("LAMMPS has the masses of the clumps in the normal dashpot, minidem the mass that a push at the contact "
             "point feels, so that clumps of several spheres rebound higher; mass=clump has those of LAMMPS")
    if value("cohesion") == "jkr":
        warn("LAMMPS ends a contact at the gap of the largest attraction, minidem at tear-off, so that bodies that "
             "part lose half as much energy in LAMMPS")
    elif value("friction_limit") != "magnitude" and value("limit_damping") == "no" \
            and np.any(damped & (pair["friction"] > 0.0)):
        warn("LAMMPS limits friction by mu |F_n|, minidem by mu max(F_n, 0), which differs while the damped force "
             "attracts, before lift-off; friction_limit=magnitude has the limit of LAMMPS")


def contact_commands(sim, springs=False):
    """pair_coeff of each two types, and a fix of each type and each wall, or two walls of one material, or a drum.

    springs : the fixes keep forces for dumps. ValueError for a law or walls that LAMMPS cannot run.
    """
    types = list(enumerate(np.unique(sim.material_index), 1))
    lines = [f"pair_coeff {i} {j} {law(sim, a, b)}" for (i, a), (j, b) in combinations_with_replacement(types, 2)]
    lines += [f"group type{i} type {i}" for i, _ in types]
    materials = sim.reader.wall_materials
    if has_drum(sim):                                   # see "cylinders" in LAMMPS.md
        axis, cylinder, low, high = drum_of(sim)
        about = " ".join(f"{x:.17g}" for x in (*cylinder.point, *np.eye(3)[axis]))
        lines += [f"variable angle equal {cylinder.angular_velocity[axis]:.17g}*time",
                  f"region drum {cylinder.region((f'{low:.17g}', f'{high:.17g}'))} rotate v_angle {about}"]
        surfaces = {("region", materials[0]): "wall/gran/region region drum"}
    else:
        places: dict = {}                               # of the low and the high plane
        for (axis, side), (wall, material) in sides_of(sim).items():
            ends = places.setdefault((f"{'xyz'[axis]}plane", material), ["NULL", "NULL"])
            ends[side] = f"{wall.point[axis]:.17g}"
        surfaces = {key: f"wall/gran {key[0]} {' '.join(ends)}" for key, ends in places.items()}
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
    """Commands of regions by number of the wall, at rest: planes, cylinders, cones and boxes along the axes."""
    return {k: wall.region() for k, wall in enumerate(sim.walls) if not wall.moves and wall.region()}


def sides_of(sim):
    """Planes and the indices of their materials by axis and side (0: low, 1: high); ValueError for other walls."""
    sides, regions = {}, regions_of(sim)
    for k, (wall, material) in enumerate(zip(sim.walls, sim.reader.wall_materials)):
        if k in regions:
            continue
        if wall.moves or not wall.face():
            raise ValueError(f"walls[{k}] = {short_repr(wall)}: LAMMPS takes planes at rest, not belts, "
                             "cylinders and cones along x, y or z, boxes along the axes with an open side (MeshWall."
                             "box without flange), or a cylinder that turns, closed by two planes; instead of another "
                             "mesh hold grains in its place")
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


def bounds_of(sim):
    """Corners low and high (3,) of the box of LAMMPS, and its boundaries: p periodic, f at a wall, s shrink-wrapped."""
    if has_drum(sim):
        axis, cylinder, low, high = drum_of(sim)
        corners = np.array(cylinder.point) + [[-cylinder.radius], [cylinder.radius]]
        corners[:, axis] = low, high
        return *corners, "f f f"
    center, margin = sim.sphere_centers, sim.sphere_radii.max()
    corners = np.array([center.min(axis=0) - margin, center.max(axis=0) + margin])
    letters = np.full((3, 2), "s")
    for (axis, side), (wall, _) in sides_of(sim).items():
        corners[side, axis], letters[axis, side] = wall.point[axis], "f"
    box = sim.box
    if box is not None:
        corners[:, box.axes], letters[box.axes, :] = np.array([box.low, box.high])[:, box.axes], "p"
    return *corners, " ".join(map("".join, letters))
