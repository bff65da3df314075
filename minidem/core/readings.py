"""Arrays that are handed out: copies, which say so where an assignment to them would be lost."""
import numpy as np


class Reading(np.ndarray):
    """A copy of a quantity, as an array that refuses to be assigned to.

    `sim.position[0] = 0.9` would change a copy and leave the simulation as it is. So `position`, and views of it,
    raise ValueError there. All else works as with any array, in-place arithmetic included, and what is computed
    from it, `position.copy()` among it, is an array to write into. The memory is writable: compiled code that asks
    for a writable buffer takes it (a read-only array it would refuse).
    """

    name = None             # of the quantity; None: an array of the user's own

    def __array_finalize__(self, source):
        name = getattr(source, "name", None)
        if name is not None and np.may_share_memory(self, source):      # a view
            self.name = name

    def __array_wrap__(self, array, context=None, return_scalar=False):      # NumPy 1 does not say return_scalar
        return np.asarray(array)[()] if array.ndim == 0 else np.asarray(array)

    def __setitem__(self, where, value):
        if self.name is not None:
            raise ValueError(f"{self.name} is a copy, to write into it would change nothing else: "
                             f"take {self.name}.copy() for an array of your own")
        super().__setitem__(where, value)

    def __repr__(self):
        return repr(np.asarray(self))

    def __reduce__(self):
        return np.array(self).__reduce__()

    def copy(self, order="C"):
        """An array of your own."""
        return np.array(self, order=order)


def reading(name, values):
    """`values`, an array that nothing else refers to, as a `Reading` of that name."""
    view = values.view(Reading)
    view.name = name
    return view
