"""Arrays that users receive: copies that raise on item assignment, because the assignment would have no effect."""
import warnings
from typing import TYPE_CHECKING

import numpy as np

from minidem.core.guard import exclusive

CHANGED_BY = {          # what changes a quantity of a simulation
    "gravity": "sim.set_gravity", "material": "sim.set_material", "pairs": "sim.set_pair",
    "velocity": "sim.set_motion(ids, velocity=...)", "angular_velocity": "sim.set_motion(ids, angular_velocity=...)",
    "walls": "sim.walls.move, add and remove", "box": "sim.deform", "bonds": "sim.bonds.add",
    "position": "sim.add_clumps, which places clumps, and remove_clumps",
    "scale": "sim.set_scale(ids, scale)",
    "orientation": "sim.add_clumps, which places clumps, and remove_clumps"}


class ReadOnlyArray(np.ndarray):
    """A copy of a quantity whose items cannot be assigned: `sim.position[0] = 0.9` would not change the simulation.

    It raises ValueError, also of views; all else works, in-place arithmetic included, and results are ordinary arrays.
    The memory stays writable (`flags.writeable`), because compiled code that takes a writable buffer needs that.
    """

    name = None                 # of the quantity; None for an ordinary array

    def __array_finalize__(self, source):
        name = getattr(source, "name", None)
        if name is not None and np.may_share_memory(self, source):      # a view
            self.name = name

    def __array_wrap__(self, array, context=None, return_scalar=False):      # NumPy 1 does not pass return_scalar
        return np.asarray(array)[()] if array.ndim == 0 else np.asarray(array)

    def __call__(self):
        """`sim.sphere_centers` of before 0.25, until 1.0."""
        if self.name != "sphere_centers":
            raise TypeError(f"{self.name or 'an array'} is an array, and cannot be called")
        warnings.warn("sim.sphere_centers is an array now, without (); calling it ends with minidem 1.0",
                      DeprecationWarning, stacklevel=2)
        return self

    def __setitem__(self, where, value):
        if self.name is not None:
            change = f"; {CHANGED_BY[self.name]} changes the simulation" if self.name in CHANGED_BY else ""
            raise ValueError(f"{self.name} is a copy, and writing into it would change nothing else: "
                             f"take {self.name}.copy() for an array of your own{change}")
        super().__setitem__(where, value)

    def __repr__(self):
        return repr(np.asarray(self))

    def __reduce__(self):
        return np.array(self).__reduce__()

    def copy(self, order="C"):
        """Return an ordinary, writable array."""
        return np.array(self, order=order)


def read_only(name, values):
    """Return `values`, an array without other references, as a `ReadOnlyArray` of that name."""
    view = values.view(ReadOnlyArray)
    view.name = name
    return view


class Immutable:
    """Base class of objects whose attributes cannot be set, and whose arrays are copies."""

    def __getattribute__(self, name):
        value = super().__getattribute__(name)
        return read_only(name, value.copy()) if isinstance(value, np.ndarray) else value

    def __setattr__(self, name, value):
        raise AttributeError(f"{name} cannot be set: a {type(self).__name__} is immutable, make a new one")


if TYPE_CHECKING:
    observable = property
else:
    def observable(method):
        """A property of a Simulation that returns a new array, as a `ReadOnlyArray`."""
        name = method.__name__
        return property(exclusive(lambda self: read_only(name, method(self))), doc=method.__doc__)
