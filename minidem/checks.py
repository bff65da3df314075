"""Shared checks of what the user passes in.

Each returns a clean value, or raises a ValueError that names the argument, the offending value
(with its index in an array) and the remedy, before any work starts.
"""

import warnings

import numpy as np

# A quaternion farther from unit length than this is normalised with a warning: single precision
# or a few printed digits leave about 1e-7, so a larger departure is more likely a mistake.
QUATERNION_TOLERANCE = 1e-6


def refuse(name, array, bad, remedy):
    """Raise ValueError for the first element of `array` where the mask `bad` is set, if any is."""
    if np.any(bad):
        index = tuple(int(i) for i in np.argwhere(bad)[0])
        where = f"{name}[{', '.join(map(str, index))}]" if index else name
        raise ValueError(f"{where} = {array[index]}: {remedy}")


def finite_array(name, value, shape, repeat=False):
    """A C-contiguous float64 copy of `value` with the given shape and finite elements only.

    Args:
        name: the argument's name, for the message.
        value: anything that numpy makes an array of real numbers of.
        shape: the required shape; -1 stands for any length, 0 included.
        repeat: take also one row, of shape `shape[1:]`, and repeat it `shape[0]` times.
    """
    wanted = str(tuple("n" if n == -1 else n for n in shape)).replace("'", "")
    try:
        given = np.asarray(value)
    except ValueError:              # rows of different lengths
        raise ValueError(f"{name} = {value!r}: rows of different lengths; give shape {wanted}") from None
    if given.dtype.kind not in "iuf":
        raise ValueError(f"{name} = {value!r}: not real numbers; give real numbers of shape {wanted}")
    if repeat and given.shape == tuple(shape[1:]):
        given = np.broadcast_to(given, shape)
    if given.ndim != len(shape) or any(n not in (-1, m) for n, m in zip(shape, given.shape)):
        raise ValueError(f"{name} has shape {given.shape}; give shape {wanted}")
    array = np.array(given, dtype=np.float64, order="C")
    refuse(name, array, ~np.isfinite(array), "give finite numbers only")
    return array


def number(name, value):
    """`value` as a finite float."""
    return float(finite_array(name, value, ()))


def positive(name, value):
    """`value` as a finite float greater than zero."""
    value = number(name, value)
    if value <= 0.0:
        raise ValueError(f"{name} = {value}: give a number greater than 0")
    return value


def non_negative(name, value):
    """`value` as a finite float that is zero or greater."""
    value = number(name, value)
    if value < 0.0:
        raise ValueError(f"{name} = {value}: give 0 or a number greater than 0")
    return value


def whole(name, value, least):
    """`value` as an int that is at least `least`."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) or value < least:
        raise ValueError(f"{name} = {value!r}: give a whole number, {least} or greater")
    return int(value)


def unit_quaternions(name, value, n, stacklevel=3):
    """Unit quaternions (w, x, y, z), shape (n, 4), from shape (n, 4) or one (4,) for all.

    A zero quaternion is refused. One that is farther from unit length than QUATERNION_TOLERANCE
    is normalised with a UserWarning, attributed `stacklevel` frames up (3: the caller of the
    function that calls this one).
    """
    given = finite_array(name, value, (n, 4), repeat=True)
    largest = np.abs(given).max(axis=1, keepdims=True)
    refuse(name, given, (largest == 0.0) & [True, False, False, False],
           "a zero quaternion is no orientation; give (1, 0, 0, 0) for a clump as drawn")
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
