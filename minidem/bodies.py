"""What the clumps of a state are: templates, and what the kernels need to know of each.

A template is written once, however many clumps and blocks have it. What a `State` shares with its copies must not
change, so that adding makes a new table; the spheres of a template are in all of them the same array.
"""
from typing import NamedTuple

import numpy as np

UNTURNED = np.array([1.0, 0.0, 0.0, 0.0])


def reaches_of(offsets):
    """The REACH rows [m2], (4,), of spheres at offsets (k, 3) from the centre of mass: see reach.pxd."""
    outer = offsets[:, :, None] * offsets[:, None, :]
    squared = np.trace(outer, axis1=1, axis2=2)
    matrices = squared[:, None, None] * np.eye(3) - outer
    by_axis, by_norm = np.abs(matrices).sum(axis=2).max(axis=0), np.full(3, squared.max())
    best = by_axis if by_axis.sum() < by_norm.sum() else by_norm
    return np.append(4.0 * best, 16.0 * squared.max())


class Body(NamedTuple):
    """A row of the table, see `Bodies`."""

    inertia: np.ndarray
    mass: float
    reach: np.ndarray
    smallest: float
    density: float
    orientation: np.ndarray
    shape: np.ndarray

    @classmethod
    def of(cls, template):
        offsets, radii = np.array(template.offsets), np.array(template.radii)
        return cls(np.array(template.inertia), template.mass, reaches_of(offsets), radii.min(), template.density,
                   np.array(template.orientation), np.column_stack([offsets, radii]))


class Bodies:
    """A table of kinds of bodies, first those of the templates.

    Attributes
    ----------
    templates : list of ClumpTemplate
    inertia : (n, 3) principal moments [kg m2];  mass : (n,) [kg];  reach : (n, 4) [m2], see reach.pxd
    smallest : (n,) radius of the smallest sphere [m];  density : (n,) [kg/m3]
    orientation : (n, 4) quaternions, principal frame -> that in which it was drawn
    sizes : (n,) spheres of each
    shapes : list of (k, 4) offsets in the principal frame and radii [m];  addresses : (n,) of the first number of each
    """

    def __init__(self, templates=()):
        self.templates = []
        self.inertia, self.mass, self.reach = np.zeros((0, 3)), np.zeros(0), np.zeros((0, 4))
        self.smallest, self.density, self.orientation = np.zeros(0), np.zeros(0), np.zeros((0, 4))
        self.sizes, self.addresses = np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.uintp)
        self.shapes = []
        self._extend(list(templates))

    def number_of(self, template):
        """The row of a template; the next one if it is none of them."""
        return self.templates.index(template) if template in self.templates else len(self.templates)

    def with_template(self, template):
        """The same with one more template."""
        new = self._copy()
        new._extend([template])
        return new

    def with_moments(self, inertia):
        """The same with bodies of these principal moments (n, 3) and of no spheres."""
        new = self._copy()
        new._add([Body(moments, 1.0, np.zeros(4), np.inf, 1.0, UNTURNED, np.zeros((0, 4))) for moments in inertia])
        return new

    def _copy(self):
        new = Bodies.__new__(Bodies)
        vars(new).update(vars(self))
        return new

    def _extend(self, templates):
        self.templates = self.templates + templates
        self._add([Body.of(template) for template in templates])

    def _add(self, bodies):
        if bodies:
            for name in ("inertia", "mass", "reach", "smallest", "density", "orientation"):
                rows = np.array([getattr(body, name) for body in bodies])
                setattr(self, name, np.concatenate([getattr(self, name), rows]))
            self.shapes = self.shapes + [body.shape for body in bodies]
            self.sizes = np.concatenate([self.sizes, np.array([len(b.shape) for b in bodies], dtype=np.intp)])
            self.addresses = np.concatenate([self.addresses,
                                             np.array([b.shape.ctypes.data for b in bodies], dtype=np.uintp)])
