"""Validation of user arguments, shared by all modules.

Each function takes the argument's name, for the message, and its value. It returns the converted value or raises
ValueError with the name, the offending value (with its index in an array) and the remedy.
"""
import errno
import gzip
import inspect
import re
import warnings
from difflib import get_close_matches
from os import PathLike
from pathlib import Path

import numpy as np

QUATERNION_TOLERANCE = 1e-6     # of the length: single precision or seven printed digits leave about 1e-7
UNIT_ROUNDING = 1e-15        # largest error of the squared length of a vector that was divided by its length

# Limit of every quantity with a unit; positive ones have the reciprocal as their lower limit. Values beyond it indicate
# wrong units. The fifth power, in an inertia, stays within the range of double precision.
LARGEST = 1e60
FOREIGN = {     # files of other programs by a pattern of their first lines
    "a data file of LAMMPS": r"^\s*\d+\s+atoms\b(?=[\s\S]*\bxlo\s+xhi\b)",
    "a dump of LAMMPS": r"\AITEM: (TIMESTEP|UNITS|TIME)\b",
    "an xyz file": r"\A\s*\d+[ \t]*\r?\n.*\n\s*\w+(\s+[-+.\deE]+){3}",
    "a VTK file": r"\A# vtk DataFile|<VTKFile ",
    "a GSD file": "\\A(\xdf\x65){4}",
    "a restart file of LAMMPS": r"\ALammpS RestartT",
    "an HDF5 file": r"\A\x89HDF"}
ADD = "read it with md.read_particles(path), and add its clumps (guide, coming from other codes)"
MOST_SPHERES = 10 ** 6      # of one clump
MOST_THREADS = 4096


class Assumed(float):
    """Default of a quantity that depends on what is simulated; what uses it says so."""


def short_repr(value):
    """Return repr(value) for a message, in one line of at most 100 characters."""
    text = repr(value).replace("\n", " ")
    return text if len(text) <= 100 else text[:97] + "..."


def did_you_mean(name, known):
    """Return ", did you mean 'hertz'?" for a message, with the known name that is nearest; "" if none is near."""
    near = get_close_matches(str(name), known, n=1)
    return f", did you mean {near[0]!r}?" if near else ""


def check_call(name, function, *arguments, keywords=()):
    """Raise ValueError for a function that cannot be called with positional arguments, and keywords, of these names."""
    given = ", ".join([*arguments, *keywords])
    if not callable(function):
        raise ValueError(f"{name} = {short_repr(function)}: give a function of ({given})")
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return                      # not known, as of some built-in functions
    try:
        signature.bind(*arguments, **dict.fromkeys(keywords))
    except TypeError as error:
        raise ValueError(f"{name} = {short_repr(function)}: it is called with ({given}), and takes {signature}: "
                         f"{error}") from None


def refuse(name, array, bad, remedy):
    """Raise ValueError for the first element of `array` where the boolean mask `bad` is true, if any."""
    if np.any(bad):
        index = tuple(np.argwhere(bad)[0].tolist())
        raise ValueError(f"{name}{list(index) if index else ''} = {array[index]}: {remedy}")


def as_array(name, value, remedy="give rows of equal length"):
    """Return `value` as an array of any type and shape."""
    try:
        return np.asarray(value)
    except ValueError:
        raise ValueError(f"{name} = {short_repr(value)}: rows of different lengths; {remedy}") from None


def real_array(name, value, shape, repeat=False):
    """Return a C-contiguous float64 copy of real numbers with the given shape, which may be infinite or NaN.

    -1 in `shape` is any length. With `repeat` one row, of shape `shape[1:]`, is repeated `shape[0]` times.
    """
    wanted = "shape " + str(tuple("n" if n == -1 else n for n in shape)).replace("'", "") if shape else "one number"
    if repeat:
        wanted += f" or {tuple(shape[1:])}" if len(shape) > 1 else " or one number"
    given = as_array(name, value, f"give {wanted}")
    if np.ma.is_masked(value):
        raise ValueError(f"{name} has masked elements; fill them, or leave them out")
    if given.dtype.kind not in "iuf":
        raise ValueError(f"{name} = {short_repr(value)}: not real numbers; give "
                         f"{wanted.replace('shape', 'real numbers of shape')}")
    if repeat and given.shape == tuple(shape[1:]):
        given = np.broadcast_to(given, shape)
    if given.ndim != len(shape) or any(n not in (-1, m) for n, m in zip(shape, given.shape)):
        raise ValueError(f"{name} has shape {given.shape}; give {wanted}")
    return np.array(given, dtype=np.float64, order="C")


def finite_array(name, value, shape, repeat=False, limit=np.inf):
    """Return what `real_array` does, which must be finite and up to `limit` in magnitude."""
    array = real_array(name, value, shape, repeat)
    refuse(name, array, ~np.isfinite(array), "give finite numbers only")
    refuse(name, array, np.abs(array) > limit, f"stay within {limit}, or check the units")
    return array


def corners(low, high, what=""):
    """Return the corners (3,) of a box, low below high in every component; what : prefix of their names."""
    low, high = (finite_array(what + name, corner, (3,), limit=LARGEST)
                 for name, corner in (("low", low), ("high", high)))
    refuse(what + "high", high, high <= low, f"give high above low = {low.tolist()} in every component")
    return low, high


def triangle_array(name, value, n_points):
    """Return `value` as an array (m, 3) of the indices of points, of which there are `n_points`."""
    remedy = "give (m, 3) indices of points, whole numbers"
    triangles = as_array(name, value, remedy)
    if triangles.ndim != 2 or triangles.shape[1] != 3 or triangles.dtype.kind not in "iu":
        raise ValueError(f"{name} has shape {triangles.shape} of {triangles.dtype}; {remedy}")
    refuse(name, triangles, (triangles < 0) | (triangles >= n_points), f"give indices of the {n_points} points, from 0")
    return triangles


def number(name, value):
    """Return `value` as a float up to LARGEST in magnitude."""
    return float(finite_array(name, value, (), limit=LARGEST))


def positive(name, value):
    """Return `value` as a float from 1 / LARGEST to LARGEST; a default remains one."""
    value = value if isinstance(value, Assumed) else float(finite_array(name, value, ()))
    if value <= 0.0:
        raise ValueError(f"{name} = {value}: give a number greater than 0")
    if not 1.0 / LARGEST <= value <= LARGEST:
        raise ValueError(f"{name} = {value}: stay between {1.0 / LARGEST} and {LARGEST}, or check the units")
    return value


def non_negative(name, value):
    """Return `value` as a float from 0 to LARGEST."""
    value = number(name, value)
    if value < 0.0:
        raise ValueError(f"{name} = {value}: give 0 or a number greater than 0")
    return value


def whole(name, value, least, most=2 ** 53):
    """Return `value` as an int from `least` to `most`."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) or value < least:
        raise ValueError(f"{name} = {short_repr(value)}: give a whole number, {least} or greater")
    if value > most:
        raise ValueError(f"{name} = {short_repr(value)}: give a whole number up to {most}")
    return int(value)


def flag(name, value):
    """Return `value`, which must be a bool."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} = {short_repr(value)}: give True or False")
    return bool(value)


def unit_vector(name, value, remedy):
    """Return `value` (3,) divided by its length, or unchanged if that is 1 except for rounding; refuse zero."""
    vector = finite_array(name, value, (3,))
    largest = np.abs(vector).max()
    if largest == 0.0:
        raise ValueError(f"{name} = {vector}: {remedy}")
    if 0.5 < largest < 1.5 and abs((vector * vector).sum() - 1.0) <= UNIT_ROUNDING:
        return vector
    vector /= largest               # first, so that no square overflows or underflows
    return vector / np.sqrt((vector * vector).sum())


def list_of(kind, name, values, classes=""):
    """Return `values` as a list of objects of the class `kind`, empty for None. classes : their names, for messages."""
    values, classes = [] if values is None else values, classes or kind.__name__
    if not isinstance(values, (list, tuple)):
        raise ValueError(f"{name} = {short_repr(values)}: give a list of minidem.{classes}")
    for k, value in enumerate(values):
        if not isinstance(value, kind):
            raise ValueError(f"{name}[{k}] = {short_repr(value)}: give minidem.{classes}")
    return list(values)


def file_path(name, value, *suffixes):
    """Return `value`, a str or os.PathLike, as a Path; its suffix must be one of `suffixes`, if any are given."""
    if not isinstance(value, (str, PathLike)) or not str(value) or "\0" in str(value):
        raise ValueError(f"{name} = {short_repr(value)}: give the name of a file")
    path = Path(value)
    if suffixes and path.suffix not in suffixes:
        raise ValueError(f"{name} = {short_repr(str(value))}: give a name that ends in {' or '.join(suffixes)}")
    return path


def existing_file(name, value, remedy):
    """Return `value`, a str or os.PathLike, as a Path; OSError with the remedy if it is a folder or does not exist."""
    path = file_path(name, value)
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, f"{name} = {str(path)!r}: this is a folder; {remedy}", str(path))
    if not path.exists():
        where = "" if path.is_absolute() else f" in {Path.cwd()}"
        raise FileNotFoundError(errno.ENOENT, f"{name} = {str(path)!r}: there is no such file{where}; {remedy}",
                                str(path))
    return path


def opened(path):
    """Open a file for reading bytes, decompressed if its name ends in .gz."""
    return (gzip.open if Path(path).suffix == ".gz" else open)(path, "rb")


def foreign(path):
    """Return what the file `path` of another program is, out of FOREIGN; None if it is not known."""
    with opened(path) as file:
        start = file.read(4096).decode("latin-1")
    return next((kind for kind, pattern in FOREIGN.items() if re.search(pattern, start, re.MULTILINE)), None)


def unit_quaternions(name, value, n, stacklevel=3):
    """Return unit quaternions (n, 4), ordered (w, x, y, z), from shape (n, 4) or from one (4,) for all.

    Zero quaternions raise ValueError. Where the length is off by more than QUATERNION_TOLERANCE, which is more likely a
    mistake than rounding, there is a UserWarning, attributed `stacklevel` frames up (3: the caller of the caller).
    """
    given = finite_array(name, value, (n, 4), repeat=True)
    largest = np.abs(given).max(axis=1, keepdims=True)
    refuse(name, given, (largest == 0.0) & [True, False, False, False],
           "a zero quaternion is no orientation; give (1, 0, 0, 0) for the orientation of the template")
    unit = given / largest          # first, so that no square overflows or underflows
    length = np.sqrt((unit * unit).sum(axis=1, keepdims=True))
    unit /= length
    off = np.abs(length * largest - 1.0)[:, 0] > QUATERNION_TOLERANCE
    if off.any():
        first = int(np.argmax(off))
        warnings.warn(f"{name}[{first}] = {given[first]} has length {(length * largest)[first, 0]:.9g}: "
                      f"{off.sum()} of {n} quaternions normalised; give unit quaternions (w, x, y, z)",
                      UserWarning, stacklevel=stacklevel)
    return unit
