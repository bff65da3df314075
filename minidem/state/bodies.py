"""Table of the bodies of a state: templates, and free rigid bodies without spheres.

A template is stored once for all its clumps. Copies of a state share the table, so it is not changed: adding makes a
new table. The array of the spheres of a template is shared by all tables.
"""
import numpy as np

from minidem.core.quaternions import conjugate, multiply, rotate_back

COLUMNS = {"inertia": (3,), "mass": (), "turn_bound": (4,), "smallest": (), "largest": (), "density": (),
           "orientation": (4,)}
# How a clump is held. free: 1 along the axes of the lab along which forces move the centre, else 0. turns: 1 if torques
# turn it about any axis, else 0; axis: unit, lab, the only one about which they do, else 0. arm: from a pin to the
# centre [m], else 0; inertia: moments of the clump with scale 1 that replace the template's, else 0; both in principal
# axes. frame: from these to those of the template. wall: 1 + number of the one that carries it, else 0.
HOLD = np.dtype([("free", float, 3), ("turns", float), ("axis", float, 3), ("arm", float, 3), ("inertia", float, 3),
                 ("frame", float, 4), ("wall", float)])
FREE_HOLD = np.zeros(1, HOLD)
FREE_HOLD["free"] = FREE_HOLD["turns"] = FREE_HOLD["frame"][:, 0] = 1.0


def as_numbers(hold):
    """Holds (n,) as numbers (n, columns): NumPy hides Ctrl-C in comparisons of structured arrays."""
    return hold.view(float).reshape(len(hold), -1)


def turn_bounds_of(offsets):
    """The TURN_BOUND rows [m2], (4,), of spheres at offsets (k, 3) from the centre of mass: see pose.pxd."""
    outer = offsets[:, :, None] * offsets[:, None, :]
    squared = np.trace(outer, axis1=1, axis2=2)
    matrices = squared[:, None, None] * np.eye(3) - outer
    by_axis, by_norm = np.abs(matrices).sum(axis=2).max(axis=0), np.full(3, squared.max())
    best = by_axis if by_axis.sum() < by_norm.sum() else by_norm
    return np.append(4.0 * best, 16.0 * squared.max())


class Bodies:
    """A table of kinds of bodies, first those of the templates.

    Attributes
    ----------
    templates : list of ClumpTemplate
    inertia : (n, 3) principal moments [kg m2];  mass : (n,) [kg];  turn_bound : (n, 4) [m2], see pose.pxd
    smallest, largest : (n,) radii of the smallest and the largest sphere [m];  density : (n,) [kg/m3]
    orientation : (n, 4) quaternions, principal frame -> that in which it was drawn
    sizes : (n,) spheres of each
    shapes : list of (k, 4) offsets in the principal frame and radii [m]
    """

    hold = None                     # of a table that `held` has made

    def __init__(self, templates=()):
        self.templates, self.shapes = [], []
        self.sizes = np.zeros(0, dtype=np.intp)
        for name, shape in COLUMNS.items():
            setattr(self, name, np.zeros((0, *shape)))
        self._add_templates(list(templates))

    def number_of(self, template):
        """The row of a template; the next one if it is none of them."""
        return self.templates.index(template) if template in self.templates else len(self.templates)

    def with_template(self, template):
        """The same with one more template."""
        new = self._copy()
        new._add_templates([template])
        return new

    def with_moments(self, inertia):
        """The same with bodies of these principal moments (n, 3) and of no spheres."""
        new = self._copy()
        n, unturned = len(inertia), (1.0, 0.0, 0.0, 0.0)
        new._add([np.zeros((0, 4))] * n, inertia=inertia, mass=np.ones(n), turn_bound=np.zeros((n, 4)),
                 smallest=np.full(n, np.inf), largest=np.zeros(n), density=np.ones(n),
                 orientation=np.broadcast_to(unturned, (n, 4)))
        return new

    def held(self, template_index, hold):
        """(A table of bodies that are held, whose Holds are its `hold`; the body of each clump, (n,) int32)."""
        rows = np.column_stack([as_numbers(hold), template_index])
        order, body = np.lexsort(rows.T), np.empty(len(rows), dtype=np.int32)
        differs = np.append(True, (rows[order[1:]] != rows[order[:-1]]).any(axis=1))
        body[order], first = np.cumsum(differs) - 1, order[differs]
        template, new = template_index[first], self._copy()
        for name in ("sizes", *COLUMNS):
            setattr(new, name, getattr(self, name)[template])
        new.hold, new.shapes = hold[first], [self.shapes[k] for k in template]
        new.inertia = np.where(new.hold["inertia"] > 0.0, new.hold["inertia"], new.inertia)
        for k in np.flatnonzero(new.hold["frame"][:, 0] != 1.0):
            offsets = rotate_back(new.hold["frame"][k], new.shapes[k][:, :3])
            new.shapes[k], new.turn_bound[k] = np.column_stack([offsets, new.shapes[k][:, 3]]), turn_bounds_of(offsets)
        return new, body

    def _copy(self):
        new = Bodies.__new__(Bodies)
        vars(new).update(vars(self))
        return new

    def _add_templates(self, templates):
        self.templates = self.templates + templates
        offsets, radii = [np.array(t.offsets) for t in templates], [np.array(t.radii) for t in templates]
        self._add([np.column_stack(pair) for pair in zip(offsets, radii)],
                  turn_bound=[turn_bounds_of(places) for places in offsets], smallest=[r.min() for r in radii],
                  largest=[r.max() for r in radii],
                  **{name: [getattr(t, name) for t in templates]
                     for name in ("inertia", "mass", "density", "orientation")})

    def _add(self, shapes, **columns):
        for name, rows in columns.items():
            rows = np.asarray(rows, dtype=np.float64).reshape(len(shapes), *COLUMNS[name])
            setattr(self, name, np.concatenate([getattr(self, name), rows]))
        self.shapes = self.shapes + shapes
        self.sizes = np.concatenate([self.sizes, np.array([len(s) for s in shapes], dtype=np.intp)])


def frames_to_drawn(state):
    """(n_clumps, 4) rotations from the frames in which the templates were drawn to their principal axes."""
    drawn = conjugate(state.bodies.orientation[state.template_index])
    return drawn if state.hold is None else multiply(conjugate(state.hold["frame"]), drawn)
