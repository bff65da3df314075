"""Fields by which spheres are coloured, their ranges and colour maps."""
import math

import numpy as np

from minidem.engine.columns import COLUMNS
from minidem.output.vtu import ARRAYS
from minidem.render import require

CONSTANT, SPEED = "solid", "speed"          # fields of every frame, and of frames with clump and velocity
SOLID = "#4f86b5"
FORCES = "force", "normal_force", "tangential_force"        # of contacts
PEAKS = 0.01                                # part of the contacts whose forces are beyond the scale: impacts
UNITS = ARRAYS | {"overlap": "m", "length": "m", **dict.fromkeys(FORCES, "N")}       # and the units of COLUMNS
CATEGORIES = "template", "sliding"          # fields of numbers without an order, 0, 1, 2 ...
COMPONENTS = "_x", "_y", "_z"
UNLABELLED = {CONSTANT: (SOLID,), "clump": None}
GOLDEN = 0.5 * (math.sqrt(5.0) - 1.0)


def fields(frame):
    """Names of the fields of a frame: its arrays, the components of vectors, and what follows from them."""
    arrays = frame.point_data
    names = [CONSTANT, *([SPEED] if {"velocity", "clump"} <= set(arrays.keys()) else [])]
    for name in arrays.keys():
        if arrays[name].ndim == 1:
            names.append(name)
        elif arrays[name].shape[1] == 3:
            names += [name, *(f"{name}_{axis}" for axis in "xyz")]
    return names


def values(frame, field):
    """Numbers (n,) by which spheres are coloured; magnitudes of vectors. ValueError for an unknown field."""
    if field not in fields(frame):
        what = "contacts" if "force" in frame.point_data else "frames"
        raise ValueError(f"color: the {what} have no field {field!r}; known are {', '.join(fields(frame))}")
    arrays = frame.point_data
    if field == CONSTANT:
        return np.zeros(frame.n_points)
    if field == SPEED:
        return clump_speed(arrays["clump"], arrays["velocity"], arrays["radius"])
    if field == "clump":
        return arrays["clump"] * GOLDEN % 1.0          # consecutive numbers get distant colours
    if field not in arrays:
        return arrays[field[:-2]][:, "xyz".index(field[-1])]
    return arrays[field] if arrays[field].ndim == 1 else np.linalg.norm(arrays[field], axis=1)


def clump_speed(clump, velocity, radius):
    """Speed of each sphere's clump: the magnitude of the volume-weighted mean velocity of its spheres."""
    _, index = np.unique(clump, return_inverse=True)
    weight = radius.astype(float) ** 3
    total = np.bincount(index, weight)
    mean = [np.bincount(index, weight * component) / total for component in velocity.T]
    return np.linalg.norm(mean, axis=0)[index]


def value_range(frames, field):
    """Smallest and largest value in these frames; magnitudes begin at 0, components are symmetric about 0; of forces of
    contacts the part PEAKS exceeds the largest."""
    if field in UNLABELLED:
        return 0.0, 1.0
    found = [values(frame, field) for frame in frames if frame.n_points]
    low, high = (float(f([f(one) for one in found] or [0.0])) for f in (np.min, np.max))
    if field in CATEGORIES:
        return -0.5, high + 0.5
    if field in FORCES and found:
        high = float(np.quantile(np.concatenate(found), 1.0 - PEAKS))
    if field.endswith(COMPONENTS):
        low, high = min(low, -high), max(-low, high)
    elif low >= 0.0 and field != "radius":
        low = 0.0
    return (low, high) if high > low else (low, low + (abs(low) or 1.0))


def label(field):
    """Title of the colour scale with the unit; empty for fields without a scale."""
    if field in UNLABELLED:
        return ""
    if field == SPEED:
        return "speed (m/s)"
    units = UNITS | {one.name: one.unit for one in COLUMNS}
    unit = units.get(field[:-2] if field.endswith(COMPONENTS) else field)
    return field.replace("_", " ") + (f" ({unit})" if unit else "")


def ticks(field, span):
    """Numbers at the scale of the colours of categories, at most about a dozen; None for other fields."""
    return np.arange(0.0, span[1], max(1, round((span[1] - span[0]) / 12))) if field in CATEGORIES else None


def lookup_table(field, colormap, span):
    """Colour map of a field; ValueError for an unknown name."""
    pyvista = require()
    count = round(span[1] - span[0]) if field in CATEGORIES else 256
    if field in CATEGORIES and colormap is None:
        name, distinct = ("tab10", 10) if count <= 10 else ("tab20", 20)
        palette = pyvista.LookupTable(name, n_values=distinct).values
        return pyvista.LookupTable(values=palette[np.arange(count) % distinct], scalar_range=span)
    if field == CONSTANT and colormap is None:
        return pyvista.LookupTable(values=np.array([pyvista.Color(SOLID).int_rgba]), scalar_range=span)
    if colormap is None:
        colormap = "tab20" if field == "clump" else "coolwarm" if field.endswith(COMPONENTS) else "viridis"
    try:
        return pyvista.LookupTable(colormap, scalar_range=span, n_values=count)
    except ValueError:
        raise ValueError(f"colormap: {colormap!r} is unknown; give a name of matplotlib such as viridis, plasma, "
                         "coolwarm, turbo, tab20") from None


def colour(name):
    """A pyvista.Color; ValueError for an unknown name."""
    try:
        return require().Color(name)
    except ValueError:
        raise ValueError(f"background: {name!r} is no colour; give a name such as black, or #rrggbb") from None
