"""The arrays of a checkpoint: FIELDS says what is written, read, validated, and what holds where an array is missing.

Some dimensions are known from the settings, some are COMPUTED, another one is the length that the first array with it
has. Spheres, contacts, walls and clumps are in the user's order.
"""
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from minidem.core.checks import refuse
from minidem.state.bodies import HOLD
from minidem.templates.clump_template import ClumpTemplate

COMPUTED = {        # dimensions, from arrays and dimensions before
    "n_template_spheres": lambda known: int(known["template_sizes"].sum(dtype=np.int64)),
    "n_blocks": lambda known: -(-known["n_clumps"] // known["n_lanes"]),
    "n_spheres": lambda known: int(known["template_sizes"][known["template_index"]].sum(dtype=np.int64)),
    "n_points": lambda known: int(known["mesh_sizes"][:, 0].sum(dtype=np.int64)),
    "n_triangles": lambda known: int(known["mesh_sizes"][:, 1].sum(dtype=np.int64)),
}


class Field(NamedTuple):
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


FIELDS = (
    Field("mesh_sizes", ("n_walls", 2), "points and triangles of each wall", np.int32, "meshes", _not_negative),
    Field("mesh_points", ("n_points", 3), "points of the meshes [m]", when="meshes"),
    Field("mesh_triangles", ("n_triangles", 3), "triangles of the meshes", np.int32, "meshes"),
    # Attributes of the templates (ClumpTemplate), which are not computed again.
    Field("template_sizes", ("n_templates",), "spheres of each template", np.int32, check=_positive),
    Field("template_centers", ("n_template_spheres", 3), "centres, input frame [m]"),
    Field("template_radii", ("n_template_spheres",), "radii [m]", check=_positive),
    Field("template_offsets", ("n_template_spheres", 3), "centres, principal frame [m]"),
    Field("template_center_of_mass", ("n_templates", 3), "centres of mass, input frame [m]"),
    Field("template_inertia", ("n_templates", 3), "principal moments [kg m2]", check=_positive),
    Field("template_axes", ("n_templates", 3, 3), "principal axes, input frame"),
    Field("template_orientation", ("n_templates", 4), "quaternions, principal -> input frame"),
    Field("template_density", ("n_templates",), "densities [kg/m3]"),
    Field("template_volume", ("n_templates",), "volumes [m3]", check=_positive),
    Field("template_mass", ("n_templates",), "masses [kg]", check=_positive),
    Field("template_bounding_radius", ("n_templates",), "bounding radii [m]", check=_positive),
    Field("template_relative_error", ("n_templates",), "bounds of the errors of mass and moments"),
    Field("template_index", ("n_clumps",), "template of each clump", np.int32, check=_index_of("templates")),
    # The state between two steps, with scratch of the rotation scheme (state/rows.pxd).
    Field("blocks", ("n_blocks", "n_rows", "n_lanes"), "motion of the clumps"),
    Field("loads", ("n_blocks", "n_load_rows", "n_lanes"), "forces on the clumps"),
    Field("started", ("n_clumps",), "clumps whose velocities are half a step behind", np.bool_),
    Field("scale", ("n_clumps",), "scale of the lengths of each clump", missing=1.0),
    Field("material_index", ("n_clumps",), "material of each clump", np.int32, "", _index_of("materials"), 0),
    Field("hold", ("n_clumps", HOLD.itemsize // 8), "how the clumps are held (bodies.py)", np.float64, "holds", _holds,
          missing=0.0),
    Field("ids", ("n_clumps",), "ids of the clumps", np.int64, check=_ascending_ids),
    Field("shift", ("n_clumps", 3), "lengths of the periodic box", np.int64, "periodic", missing=0),
    # Work of user forces on removed clumps; energy of added clumps minus that of removed ones.
    Field("exchanged", (2,), "sums over removed clumps [J]", missing=0.0, finite=False),
    # Of contacts; forces and couples are those on the first sphere.
    Field("history_spheres", ("n_contacts", 2), "spheres, or -1 - primitive of a wall", np.int32, "history", _pairs, 0),
    Field("history_records", ("n_records", "n_contacts", 4), "contact history: records", when="history"),
    Field("history_force", ("n_contacts", 3), "contact history: force, lab [N]", when="history"),
    Field("history_couple", ("n_contacts", 3), "contact history: couple, lab [N m]", when="history"),
    Field("history_mass", ("n_contacts",), "effective mass [kg]", when="history", check=_positive),
    Field("history_rolling_inertia", ("n_contacts",), "effective [kg m2]", when="history", check=_not_negative),
    # Onset corrections of the last step; where they are not known, they are computed at the pose.
    Field("onsets", ("n_onsets", 3), "spheres, or sphere and -1 - primitive of a wall, and onset correction [N]",
          when="onsets", check=_onset_pairs, missing=0.0),
    # Sums of all clumps by kinds, each as two numbers to be added, which hold more digits than one.
    Field("dissipated", (5, 2), "dissipated by damping, tangential damping, sliding, rolling, fracture [J]", np.float64,
          "history", missing=0.0),
    Field("fractures", ("n_fractures", 6), "what broke: ids, places in the templates, step, energy [J]", np.float64,
          "history", _fractures, 0.0),
    Field("wall_work", (2, 2), "work of moving walls, that of half a step [J]", np.float64, "moving walls",
          missing=0.0),
    Field("work", ("n_clumps", 7), "work of user forces in Python [J], force, torque, until 0.22", np.float64,
          "user forces", missing=0.0),
    Field("force_work", ("n_clumps", 2), "work of user forces [J], power [W]", np.float64, "user forces", missing=0.0),
    Field("box_state", (10,), "strains and rates of the periodic box", when="moving box"),
    Field("servo_states", ("n_walls", 2), "place and velocity of walls that a force moves", when="servos"),
)


def select(values):
    """The arrays of a file out of `values` by name, without those that are None."""
    return {field.name: np.ascontiguousarray(values[field.name], field.dtype)
            for field in FIELDS if values.get(field.name) is not None}


def not_finite(arrays):
    """What is not finite, a list of texts."""
    return [field.text for field in FIELDS if field.finite and field.dtype is np.float64 and field.name in arrays
            and not np.isfinite(arrays[field.name]).all()]


def validated(arrays, known, conditions):
    """Copies of the arrays that a file has under these conditions, and `known` with all dimensions; ValueError else."""
    known = dict(known)
    for field in (field for field in FIELDS if field.when in conditions):
        wanted = [length(name, known) for name in field.shape]
        array = arrays.get(field.name)
        if array is None:
            if field.missing is None and 0 not in wanted:
                raise ValueError(f"{field.name!r} is missing: {field.text}")
            array = np.full([size or 0 for size in wanted], field.missing or 0, field.dtype)
        if array.dtype != field.dtype or array.ndim != len(wanted) or any(
                size not in (None, found) for size, found in zip(wanted, array.shape)):
            lengths = ", ".join(f"{name}" if size in (name, None) else f"{name} = {size}"
                                for name, size in zip(field.shape, wanted))
            raise ValueError(f"{field.name} ({field.text}) is {array.dtype} of shape {array.shape}: give "
                             f"{np.dtype(field.dtype)} of shape ({lengths})")
        known |= {name: size for name, size in zip(field.shape, array.shape) if name != size}
        known[field.name] = array = np.array(array, order="C")
        if field.finite and field.dtype is np.float64:
            refuse(field.name, array, ~np.isfinite(array), "give finite numbers only")
        if field.check is not None:
            refuse(field.name, array, *field.check(array, known))
    return known


def length(name, known):
    """Length of a dimension; None if it is not known."""
    return name if isinstance(name, int) else COMPUTED[name](known) if name in COMPUTED else known.get(name)


ATTRIBUTES = {field.name.removeprefix("template_"): field for field in FIELDS
              if field.shape[0] in ("n_templates", "n_template_spheres") and field.name != "template_sizes"}


def pack_templates(templates):
    """Arrays of templates, each given as its attributes by name."""
    arrays = {"template_sizes": np.array([len(template["radii"]) for template in templates], dtype=np.int32)}
    for name, field in ATTRIBUTES.items():
        rows, tail = [template[name] for template in templates], field.shape[1:]
        of_spheres = field.shape[0] == "n_template_spheres"
        arrays[field.name] = np.concatenate([np.zeros((0, *tail)), *rows]) if of_spheres else \
            np.array(rows, dtype=float).reshape(-1, *tail)
    return arrays


def unpack_templates(arrays):
    """Templates from the stored values, which are not computed again."""
    templates = [object.__new__(ClumpTemplate) for _ in arrays["template_sizes"]]
    ends = np.cumsum(arrays["template_sizes"])[:-1]
    for name, field in ATTRIBUTES.items():
        rows = arrays[field.name]
        for template, value in zip(templates, rows if field.shape[0] == "n_templates" else np.split(rows, ends)):
            vars(template)[name] = value.copy() if np.ndim(value) else float(value)
    return templates
