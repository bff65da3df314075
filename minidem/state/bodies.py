"""Table of the bodies of a state: templates, and free rigid bodies without spheres.

A template is stored once for all its clumps. Copies of a state share the table, so it is not changed: adding makes a
new table. The array of the spheres of a template is shared by all tables.
"""
import numpy as np

from minidem.core.quaternions import conjugate, multiply, rotate_back

BODY = np.dtype([("inertia", float, 3), ("mass", float), ("turn_bound", float, 4), ("smallest", float),
                 ("largest", float), ("density", float), ("orientation", float, 4), ("sizes", np.intp)])
# How a clump is held. free: 1 along the axes of the lab along which forces move the centre, else 0. turns: 1 if torques
# turn it about any axis, else 0; axis: unit, lab, the only one about which they do, else 0. arm: from a pin to the
# centre [m], else 0; inertia: moments of the clump with scale 1 that replace the template's, else 0; both in principal
# axes. frame: from these to the axes of the template. wall: 1 + number of the one that carries it, else 0.
HOLD = np.dtype([("free", float, 3), ("turns", float), ("axis", float, 3), ("arm", float, 3), ("inertia", float, 3),
                 ("frame", float, 4), ("wall", float)])
FREE_HOLD = np.zeros(1, HOLD)
FREE_HOLD["free"] = FREE_HOLD["turns"] = FREE_HOLD["frame"][:, 0] = 1.0


def as_numbers(hold):
    """Holds (n,) as numbers (n, columns): NumPy hides Ctrl-C in comparisons of structured arrays."""
    return hold.view(float).reshape(len(hold), HOLD.itemsize // 8)


def turn_bounds_of(offsets):
    """The TURN_BOUND rows [m2], (4,), of spheres at offsets (k, 3) from the centre of mass: see pose.pxd."""
    outer = offsets[:, :, None] * offsets[:, None, :]
    squared = np.trace(outer, axis1=1, axis2=2)
    matrices = squared[:, None, None] * np.eye(3) - outer
    by_axis, by_norm = np.abs(matrices).sum(axis=2).max(axis=0), np.full(3, squared.max())
    best = by_axis if by_axis.sum() < by_norm.sum() else by_norm
    return np.append(4.0 * best, 16.0 * squared.max())


class BodyTable:
    """A table of kinds of bodies, first the templates.

    Attributes
    ----------
    templates : list of ClumpTemplate
    inertia : (n, 3) principal moments [kg m2];  mass : (n,) [kg];  turn_bound : (n, 4) [m2], see pose.pxd
    smallest, largest : (n,) radii of the smallest and the largest sphere [m];  density : (n,) [kg/m3]
    orientation : (n, 4) quaternions, principal frame -> template frame
    sizes : (n,) spheres of each
    shapes : list of (k, 4) offsets in the principal frame and radii [m]
    table : (n,) BODY, all of these
    hold : (n,) HOLD of a table that `held` has made, else None
    """

    def __init__(self, templates=(), shapes=(), table=None, hold=None):
        self.templates, self.shapes, self.hold = list(templates), list(shapes), hold
        self.table = np.zeros(0, BODY) if table is None else table
        vars(self).update((name, self.table[name]) for name in BODY.names)

    def including(self, template):
        """(The same, with a template if it is none of them yet; its row.)"""
        if template in self.templates:
            return self, self.templates.index(template)
        return self.with_templates([template]), len(self.sizes)

    def with_templates(self, templates):
        """The same with more templates."""
        shapes = [np.column_stack([template.offsets, template.radii]) for template in templates]
        rows = np.array([(one.inertia, one.mass, turn_bounds_of(shape[:, :3]), shape[:, 3].min(), shape[:, 3].max(),
                          one.density, one.orientation, len(shape)) for one, shape in zip(templates, shapes)], BODY)
        return BodyTable(self.templates + list(templates), self.shapes + shapes, np.append(self.table, rows))

    @classmethod
    def of_moments(cls, inertia):
        """Bodies of these principal moments (n, 3) and of no spheres."""
        table = np.zeros(len(inertia), BODY)
        table["inertia"], table["mass"], table["density"], table["smallest"] = inertia, 1.0, 1.0, np.inf
        table["orientation"][:, 0] = 1.0
        return cls((), [np.zeros((0, 4))] * len(table), table)

    def held(self, template_index, hold):
        """(A table of bodies that are held, whose Holds are its `hold`; the body of each clump, (n,) int32)."""
        rows = np.column_stack([as_numbers(hold), template_index])
        order, body = np.lexsort(rows.T), np.empty(len(rows), dtype=np.int32)
        differs = np.append(True, (rows[order[1:]] != rows[order[:-1]]).any(axis=1))
        body[order], first = np.cumsum(differs) - 1, order[differs]
        template, hold = template_index[first], hold[first]
        new = BodyTable(self.templates, [self.shapes[k] for k in template], self.table[template], hold)
        new.inertia[:] = np.where(hold["inertia"] > 0.0, hold["inertia"], new.inertia)
        for k in np.flatnonzero(hold["frame"][:, 0] != 1.0):
            offsets = rotate_back(hold["frame"][k], new.shapes[k][:, :3])
            new.shapes[k], new.turn_bound[k] = np.column_stack([offsets, new.shapes[k][:, 3]]), turn_bounds_of(offsets)
        return new, body


def template_frames(state):
    """(n_clumps, 4) rotations, template frame -> principal frame."""
    frames = conjugate(state.bodies.orientation[state.template_index])
    return frames if state.hold is None else multiply(conjugate(state.hold["frame"]), frames)
