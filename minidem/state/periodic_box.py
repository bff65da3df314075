"""The periodic box: which axes are periodic, and where positions are within it."""
import numpy as np

from minidem.core.checks import LARGEST, finite_array, refuse, short_repr

AXES = "xyz"


def periodic_box(periodic):
    """The PeriodicBox of the argument `periodic` of a simulation; None for None."""
    if periodic is None:
        return None
    if not isinstance(periodic, (list, tuple)) or len(periodic) != 3:
        raise ValueError(f"periodic = {short_repr(periodic)}: give (low (3,), high (3,), (True, False, True)), or None")
    return PeriodicBox(*periodic)


class PeriodicBox:
    """A box whose opposite faces are connected along some axes.

    Parameters
    ----------
    low, high : (3,) array_like
        Corners [m].
    axes : (3,) of bool
        Which axes are periodic.

    Attributes
    ----------
    low, high : (3,)
    axes : (3,) bool
    length : (3,) [m], zero along open axes;  record : (9,) for compiled code, see periodic_box.pxd
    """

    def __init__(self, low, high, axes):
        self.low, self.high = (finite_array(f"periodic: {name}", corner, (3,), limit=LARGEST)
                               for name, corner in (("low", low), ("high", high)))
        refuse("periodic: high", self.high, self.high <= self.low,
               f"give high above low = {self.low.tolist()} in every component")
        flags = [axis for axis in axes if isinstance(axis, (bool, np.bool_))] if np.iterable(axes) else []
        if len(flags) != 3 or len(axes) != 3:
            raise ValueError(f"periodic: axes = {short_repr(axes)}: give three times True or False")
        self.axes = np.array(axes)
        if not self.axes.any():
            raise ValueError(f"periodic: axes = {short_repr(axes)}: no axis is periodic; leave periodic out")
        self.length = np.where(self.axes, self.high - self.low, 0.0)
        inverse = np.divide(1.0, self.length, where=self.axes, out=np.zeros(3))
        self.record = np.concatenate([self.length, inverse, self.low])

    @property
    def values(self):
        """(low, high, axes) as tuples of Python's numbers: the argument `periodic` of a simulation."""
        return tuple(tuple(values.tolist()) for values in (self.low, self.high, self.axes))

    def refuse_walls(self, walls):
        """ValueError for a wall that is not the same along all periodic axes."""
        for k, wall in enumerate(walls):
            uneven, remedy = wall.uneven(self.axes)
            if uneven.any():
                raise ValueError(f"walls[{k}] = {short_repr(wall)}: it is not the same along the periodic axis "
                                 f"{AXES[np.argmax(uneven)]}; {remedy}")

    def refuse_large(self, template, scale):
        """ValueError for clumps that are too large for the box.

        template : ClumpTemplate;  scale : (n,) of its lengths.

        Only the nearest images of two spheres may touch: the box is longer than four radii. No clump touches its own
        image: the box is longer than the diameter of the bounding sphere. The skins of the lists may exceed both.
        """
        largest = float(np.max(scale, initial=0.0))
        for needed, what in ((4.0 * template.radii.max(), "four radii of the largest sphere of the template"),
                             (2.0 * template.bounding_radius, "the diameter of the template")):
            short = self.axes & (self.length <= needed * largest)
            if short.any():
                axis = int(np.argmax(short))
                raise ValueError(f"template: the periodic box is {self.length[axis]:.6g} m long along {AXES[axis]}, "
                                 f"which is not more than {what}, {needed * largest:.6g} m; take a longer box")

    def refuse_outside(self, low, high):
        """ValueError for a region with corners low, high (3,) that extends beyond the box along a periodic axis."""
        for name, corner, beyond in (("low", low, low < self.low), ("high", high, high > self.high)):
            refuse(name, corner, self.axes & beyond, f"stay within the periodic box, from {self.low.tolist()} to "
                   f"{self.high.tolist()} m")

    def lengths_in(self, d):
        """(n, 3) whole lengths of the box in differences, to the nearest integer."""
        return np.rint(d * self.record[3:6])

    def image(self, position):
        """(n, 3) int64, the box lengths by which positions (n, 3) are outside of the box; 0 along open axes."""
        with np.errstate(invalid="ignore"):             # of a pose that is not finite
            return np.floor((position - self.low) * self.record[3:6]).astype(np.int64)

    def wrapped(self, position):
        """Positions (n, 3) within the box, low <= x <= high along periodic axes."""
        inside = position - self.length * self.image(position)
        return np.where(self.axes, np.clip(inside, self.low, self.high), position)

    def shifts(self):
        """(m, 3) shifts by -1, 0, 1 lengths along periodic axes [m]."""
        lengths = np.meshgrid(*([-1, 0, 1] if periodic else [0] for periodic in self.axes), indexing="ij")
        return np.stack(lengths, axis=-1).reshape(-1, 3) * self.length

    def images(self, centers, radii):
        """Spheres within the box and their images around it: centres (m n, 3) and radii (m n,)."""
        shifts = self.shifts()
        return (self.wrapped(centers) + shifts[:, None]).reshape(-1, 3), np.tile(radii, len(shifts))
