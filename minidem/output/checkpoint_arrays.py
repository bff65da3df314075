"""The arrays of a checkpoint: ARRAYS says what is written, read, validated, and what holds where an array is missing.

Some dimensions are known from the settings, some are COMPUTED, another one is the length that the first array with it
has. Spheres, contacts, walls and clumps are in the user's order.
"""
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from minidem.core.checks import refuse
from minidem.engine.columns import COLUMNS
from minidem.state.bodies import HOLD
from minidem.templates.clump_template import ClumpTemplate

COMPUTED = {        # dimensions, from arrays and dimensions before
    "n_template_spheres": lambda known: int(known["template_sizes"].sum(dtype=np.int64)),
    "n_blocks": lambda known: -(-known["n_clumps"] // known["n_lanes"]),
    "n_spheres": lambda known: int(known["template_sizes"][known["template_index"]].sum(dtype=np.int64)),
    "n_points": lambda known: int(known["mesh_sizes"][:, 0].sum(dtype=np.int64)),
    "n_triangles": lambda known: int(known["mesh_sizes"][:, 1].sum(dtype=np.int64)),
}


class Saved(NamedTuple):
    """One array: its lengths and names of dimensions, and what it holds, for messages.

    when : condition (checkpoint.py) under which a file has it; "": always
    check : function of (array, known) that returns (mask of refused elements, remedy); known : see `validated`
    missing : value of all elements where a file has it not; None: such a file is refused, unless there are no elements
    finite : whether numbers that are not finite are refused
    """

    name: str
    shape: tuple
    text: str
    dtype: type = np.float64
    when: str = ""
    check: Callable | None = None
    missing: float | None = None
    finite: bool = True


def _positive(array, known):
    return array <= 0, "give numbers greater than 0"


def _not_negative(array, known):
    return array < 0, "give 0 or numbers greater than 0"


def _index_of(what):
    return lambda array, known: ((array < 0) | (array >= known[f"n_{what}"]), f"there are {known[f'n_{what}']} {what}")


def _ascending_ids(ids, known):
    bad = (ids < 0) | (ids >= known["next_id"]) | (np.diff(ids, prepend=-1) <= 0)
    return bad, f"give ascending ids below next_id = {known['next_id']}"


def _pairs(spheres, known):
    (i, j), n = spheres.T, length("n_spheres", known)
    bad = (i < 0) | (i >= n) | (j >= n) | (j < -known["n_elements"]) | ((j >= 0) & (j <= i))
    bad[1:] |= (i[1:] < i[:-1]) | (i[1:] == i[:-1]) & (j[1:] <= j[:-1])
    return bad[:, None] & [True, True], "give pairs of spheres, or of spheres and walls, in ascending order"


def _onset_pairs(onsets, known):
    spheres = np.clip(onsets[:, :2], -2 ** 31, 2 ** 31).astype(np.int64)
    bad, remedy = _pairs(spheres, known)
    return np.column_stack([bad | (spheres != onsets[:, :2]), np.zeros(len(onsets), dtype=bool)]), remedy


def _fractures(fractures, known):
    bad = (fractures != np.rint(fractures)) | (np.abs(fractures) > 2 ** 53)
    bad[:, 4] |= np.diff(fractures[:, 4], prepend=0.0) < 0.0
    bad[:, 5] = False
    return bad, "give whole numbers, and rows by ascending steps"


def _holds(hold, known):
    bad = np.zeros(hold.shape, dtype=bool)
    bad[:, :4], bad[:, 10:13] = ~np.isin(hold[:, :4], (0.0, 1.0)), hold[:, 10:13] < 0.0
    bad[:, 13] = np.abs(np.sum(hold[:, 13:17] ** 2, axis=1) - 1.0) > 1e-6
    bad[:, 17] = ~np.isin(hold[:, 17], np.arange(known["n_walls"] + 1))
    return bad, "give 0 or 1 for what is free, moments that are not negative, unit quaternions, and numbers of walls"


ARRAYS = (
    Saved("mesh_sizes", ("n_walls", 2), "points and triangles of each wall", np.int32, "meshes", _not_negative),
    Saved("mesh_points", ("n_points", 3), "points of the meshes [m]", when="meshes"),
    Saved("mesh_triangles", ("n_triangles", 3), "triangles of the meshes", np.int32, "meshes"),
    # Attributes of the templates (ClumpTemplate), which are not computed again.
    Saved("template_sizes", ("n_templates",), "spheres of each template", np.int32, check=_positive),
    Saved("template_centers", ("n_template_spheres", 3), "centres, input frame [m]"),
    Saved("template_radii", ("n_template_spheres",), "radii [m]", check=_positive),
    Saved("template_offsets", ("n_template_spheres", 3), "centres, principal frame [m]"),
    Saved("template_center_of_mass", ("n_templates", 3), "centres of mass, input frame [m]"),
    Saved("template_inertia", ("n_templates", 3), "principal moments [kg m2]", check=_positive),
    Saved("template_axes", ("n_templates", 3, 3), "principal axes, input frame"),
    Saved("template_orientation", ("n_templates", 4), "quaternions, principal -> input frame"),
    Saved("template_density", ("n_templates",), "densities [kg/m3]"),
    Saved("template_volume", ("n_templates",), "volumes [m3]", check=_positive),
    Saved("template_mass", ("n_templates",), "masses [kg]", check=_positive),
    Saved("template_bounding_radius", ("n_templates",), "bounding radii [m]", check=_positive),
    Saved("template_relative_error", ("n_templates",), "bounds of the errors of mass and moments"),
    Saved("template_index", ("n_clumps",), "template of each clump", np.int32, check=_index_of("templates")),
    # The state between two steps, with scratch of the rotation scheme (state/rows.pxd).
    Saved("blocks", ("n_blocks", "n_rows", "n_lanes"), "motion of the clumps"),
    Saved("loads", ("n_blocks", "n_load_rows", "n_lanes"), "forces on the clumps"),
    Saved("started", ("n_clumps",), "clumps whose velocities are half a step behind", np.bool_),
    Saved("scale", ("n_clumps",), "scale of the lengths of each clump", missing=1.0),
    Saved("material_index", ("n_clumps",), "material of each clump", np.int32, "", _index_of("materials"), 0),
    Saved("hold", ("n_clumps", HOLD.itemsize // 8), "how the clumps are held (bodies.py)", np.float64, "holds", _holds,
          missing=0.0),
    Saved("ids", ("n_clumps",), "ids of the clumps", np.int64, check=_ascending_ids),
    Saved("shift", ("n_clumps", 3), "lengths of the periodic box", np.int64, "periodic", missing=0),
    # Work of user forces on removed clumps; energy of added clumps minus energy of removed ones; the same of fragments.
    Saved("exchanged", (2,), "sums over removed clumps [J]", missing=0.0, finite=False),
    Saved("breakage", (1,), "energy of fragments minus energy of what they have replaced [J]", missing=0.0,
          finite=False),
    # Of contacts; forces and couples are those on the first sphere.
    Saved("history_spheres", ("n_contacts", 2), "spheres, or -1 - primitive of a wall", np.int32, "history", _pairs, 0),
    Saved("history_records", ("n_records", "n_contacts", 4), "contact history: records", when="history"),
    Saved("history_force", ("n_contacts", 3), "contact history: force, lab [N]", when="history"),
    Saved("history_couple", ("n_contacts", 3), "contact history: couple, lab [N m]", when="history"),
    Saved("history_mass", ("n_contacts",), "effective mass [kg]", when="history", check=_positive),
    Saved("history_rolling_inertia", ("n_contacts",), "effective [kg m2]", when="history", check=_not_negative),
    # Onset corrections of the last step; where they are not known, they are computed at the pose.
    Saved("onsets", ("n_onsets", 3), "spheres, or sphere and -1 - primitive of a wall, and onset correction [N]",
          when="onsets", check=_onset_pairs, missing=0.0),
    # Sums of all clumps by kinds, each as two numbers to be added, which hold more digits than one.
    Saved("dissipated", (5, 2), "dissipated by damping, tangential damping, sliding, rolling, fracture [J]", np.float64,
          "history", missing=0.0),
    Saved("fractures", ("n_fractures", 6), "what broke: ids, places in the templates, step, energy [J]", np.float64,
          "history", _fractures, 0.0),
    Saved("wall_work", (2, 2), "work of moving walls, that of half a step [J]", np.float64, "moving walls",
          missing=0.0),
    Saved("work", ("n_clumps", 7), "work of user forces in Python [J], force, torque, until 0.22", np.float64,
          "user forces", missing=0.0),
    Saved("box_state", (10,), "strains and rates of the periodic box", when="moving box"),
    Saved("servo_states", ("n_walls", 2), "place and velocity of walls that a force moves", when="servos"),
)


def all_arrays():
    """ARRAYS, and the optional columns of the clumps."""
    return *ARRAYS, *(Saved(one.name, ("n_clumps", one.width), f"{one.text} [{one.unit}]", missing=0.0)
                      for one in COLUMNS)


def select(values):
    """The arrays of a file out of `values` by name, without those that are None."""
    return {one.name: np.ascontiguousarray(values[one.name], one.dtype)
            for one in all_arrays() if values.get(one.name) is not None}


def not_finite(arrays):
    """What is not finite, a list of texts."""
    return [one.text for one in all_arrays() if one.finite and one.dtype is np.float64 and one.name in arrays
            and not np.isfinite(arrays[one.name]).all()]


def validated(arrays, known, conditions):
    """Take from `arrays` those that a file has under these conditions, and all dimensions into `known`, a dict.

    ValueError else. They are no copies, as a file may have as much as the memory.
    """
    known = dict(known)
    for one in (one for one in all_arrays() if one.when in conditions):
        wanted = [length(name, known) for name in one.shape]
        array = arrays.pop(one.name, None)
        if array is None:
            if one.missing is None and 0 not in wanted:
                raise ValueError(f"{one.name!r} is missing: {one.text}")
            array = np.full([size or 0 for size in wanted], one.missing or 0, one.dtype)
        if array.dtype != one.dtype or array.ndim != len(wanted) or any(
                size not in (None, found) for size, found in zip(wanted, array.shape)):
            lengths = ", ".join(f"{name}" if size in (name, None) else f"{name} = {size}"
                                for name, size in zip(one.shape, wanted))
            raise ValueError(f"{one.name} ({one.text}) is {array.dtype} of shape {array.shape}: give "
                             f"{np.dtype(one.dtype)} of shape ({lengths})")
        known |= {name: size for name, size in zip(one.shape, array.shape) if name != size}
        known[one.name] = array = np.ascontiguousarray(array)
        if one.finite and one.dtype is np.float64:
            refuse(one.name, array, ~np.isfinite(array), "give finite numbers only")
        if one.check is not None:
            refuse(one.name, array, *one.check(array, known))
    return known


def length(name, known):
    """Length of a dimension; None if it is not known."""
    return name if isinstance(name, int) else COMPUTED[name](known) if name in COMPUTED else known.get(name)


ATTRIBUTES = {one.name.removeprefix("template_"): one for one in ARRAYS
              if one.shape[0] in ("n_templates", "n_template_spheres") and one.name != "template_sizes"}


def pack_templates(templates):
    """Arrays of templates, each given as its attributes by name."""
    arrays = {"template_sizes": np.array([len(template["radii"]) for template in templates], dtype=np.int32)}
    for name, one in ATTRIBUTES.items():
        rows, tail = [template[name] for template in templates], one.shape[1:]
        of_spheres = one.shape[0] == "n_template_spheres"
        arrays[one.name] = np.concatenate([np.zeros((0, *tail)), *rows]) if of_spheres else \
            np.array(rows, dtype=float).reshape(-1, *tail)
    return arrays


def unpack_templates(arrays):
    """Templates from the stored values, which are not computed again."""
    templates = [object.__new__(ClumpTemplate) for _ in arrays["template_sizes"]]
    ends = np.cumsum(arrays["template_sizes"])[:-1]
    for name, one in ATTRIBUTES.items():
        rows = arrays[one.name]
        for template, value in zip(templates, rows if one.shape[0] == "n_templates" else np.split(rows, ends)):
            vars(template)[name] = value.copy() if np.ndim(value) else float(value)
    return templates
