"""Columns of tables of other codes: what they hold by their names, and units in these: `Position X (m)`, `r [mm]`."""
import re
from math import pi


def _of(*bases):
    """Names of the three components of a vector, `pos_x pos_y pos_z`, `x_pos ...`, `pos_0 ...` and `posx ...`."""
    return tuple(" ".join(form.format(base, *axis) for axis in zip("xyz", "012"))
                 for base in bases for form in ("{0}_{1}", "{1}_{0}", "{0}_{2}", "{0}{1}"))


NAMES = {       # by what they are, as `_plain` writes them; of several the first
    "position": ("x y z", "xu yu zu", *_of("position", "pos", "points", "point", "center", "centre", "coordinates",
                                           "coordinate", "coords", "coord")),
    "velocity": ("vx vy vz", *_of("velocity", "velo", "vel", "v")),
    "angular_velocity": ("omegax omegay omegaz", "wx wy wz", *_of("omega", "angular_velocity", "angularvelocity",
                                                                  "ang_vel", "spin", "w")),
    "orientation": ("quatw quati quatj quatk", "qw qx qy qz", *(
        " ".join(f"{base}_{axis}" for axis in "wxyz") for base in ("orientation", "quaternion", "quat", "q"))),
    "radius": ("radius", "r"), "diameter": ("diameter", "d"), "density": ("density", "rho"), "mass": ("mass", "m"),
    "molecule": ("mol", "molecule", "id_multisphere", "body"), "id": ("id",), "time": ("time",)}
_LENGTHS = {"m": 1.0, "cm": 1e-2, "mm": 1e-3, "um": 1e-6, "\u00b5m": 1e-6, "\u03bcm": 1e-6}
_UNITS = {      # in SI units, without blanks, ^ and points
    **dict.fromkeys(("position", "radius", "diameter"), _LENGTHS),
    "velocity": {unit + per: size for unit, size in _LENGTHS.items() for per in ("/s", "s-1")},
    "angular_velocity": {"rad/s": 1.0, "rads-1": 1.0, "1/s": 1.0, "s-1": 1.0, "deg/s": pi / 180.0,
                         "\u00b0/s": pi / 180.0, "rpm": pi / 30.0},
    "density": {"kg/m3": 1.0, "kgm-3": 1.0, "g/cm3": 1e3, "gcm-3": 1e3, "g/cc": 1e3},
    "mass": {"kg": 1.0, "g": 1e-3, "mg": 1e-6}, "time": {"s": 1.0, "ms": 1e-3}}
_DECIMAL_COMMA = re.compile(r"[-+]?\d+(,\d+)?([de][-+]?\d+)?", re.I)
_NUMERIC = re.compile(r"[-+]?[\d.,][-+\d.,de]*", re.I)
_UNIT = re.compile(r"\s*[\[(]([^\])]*)[\])]\s*$")
_WITH_UNIT = re.compile(r'"[^"]*"|[^\s\[(]+(?:\s*(?:\[[^\]]*\]|\([^)]*\)))?')


def plain_numbers(text, first):
    """Rows with blanks between columns, decimal points, and an e in exponents, as the `first` row of the table tells.

    Commas are decimal ones where all numbers that blanks, tabs or semicolons separate have one at most: `0,5; 1; 2,5`.
    """
    fields = [field for field in re.split(r'[;\s"]+', first) if _NUMERIC.fullmatch(field)]
    if len(fields) > 1 and "," in first and all(map(_DECIMAL_COMMA.fullmatch, fields)):
        text = re.sub(r"(?<=\d),(?=\d)", ".", text)
    if re.search(r"\d\.?d[-+]?\d", first, re.I):
        text = re.sub(r"(?<=[\d.])d(?=[-+]?\d)", "e", text, flags=re.I)
    return re.sub(r'[,;"\t]', " ", text)


def split_title(title, width):
    """The names in a line before a table of `width` columns; None if there are not so many."""
    title = title.strip().lstrip("#%").strip()
    of_yade = title.split()[-1].split("_") if title.startswith("format ") else []       # format x_y_z_r
    for names in (re.split(r"\s*[,;\t]\s*", title), _WITH_UNIT.findall(title), title.split(), of_yade,
                  re.split(r"[,;\s]+", title)):
        if len(names) == width:
            return [name.strip('" ') for name in names]
    return None


def places_of(names):
    """Numbers of the columns by what they are, as in NAMES: {"position": [0, 1, 2], "radius": [3]}."""
    plain = [_plain(name) for name in names]
    return {what: [plain.index(name) for name in choice.split()] for what, choices in NAMES.items()
            for choice in choices[::-1] if set(choice.split()) <= set(plain)}


def unit_of(name, what):
    """The unit in the name of a column, in SI units, 1 without; ValueError for one that `what` cannot have."""
    found = _UNIT.search(name)
    unit = re.sub(r"[\s^*\u00b7.]", "", found[1]) if found else ""
    if unit in ("", "-"):
        return 1.0
    if unit not in _UNITS.get(what, {}):
        raise ValueError(f"column {name!r}: the unit {found[1]!r} is not known for {what.replace('_', ' ')}; give "
                         "numbers in SI units, and names without a unit, such as columns='id x y z radius'")
    return _UNITS[what][unit]


def _plain(name):
    """position_x of `Position X (m)`, `particle position:x` and alike."""
    return re.sub(r"[^a-z0-9]+", "_", _UNIT.sub("", name).lower()).strip("_").removeprefix("particle_").removeprefix(
        "sphere_")
