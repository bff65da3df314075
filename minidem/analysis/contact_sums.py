"""Sums over a table of contacts: coordination number, Love-Weber stress, forces and torques on walls.

The table is sorted by the user's numbers of the spheres, and sums run in its order.
"""
import numpy as np

from minidem.core.quaternions import cross


def coordination_number(contacts, n_clumps, walls, neighbours):
    """See `Observables.coordination_number`."""
    i, j = contacts["clump_i"].astype(np.int64), contacts["clump_j"].astype(np.int64)
    ends = np.concatenate([np.stack([i, j], axis=1)[(j >= 0) | walls], np.stack([j, i], axis=1)[j >= 0]])
    return len(np.unique(ends, axis=0) if neighbours else ends) / n_clumps if n_clumps else 0.0


def wall_wrenches(contacts, walls, about=None):
    """(n, 6) forces on walls at rest and torques about `about` [N, N m], lab; default: the centre of each wall."""
    found = np.zeros((len(walls), 6))
    contacts = contacts[contacts["clump_j"] < 0]
    wall = -1 - contacts["clump_j"]
    points = np.array([w.center for w in walls]).reshape(-1, 3)[wall] if about is None else about
    np.add.at(found[:, :3], wall, -contacts["force"])
    np.add.at(found[:, 3:], wall, -(cross(contacts["point"] - points, contacts["force"]) + contacts["couple"]))
    return found


def love_weber(contacts, position, low, high, box=None, centers=None):
    """(3, 3) sum of force times branch vector [J]; of branches that leave the volume, the part inside.

    position : (n, 3) of the clumps;  low, high : (3,) corners of the volume, infinite ones included.
    box : PeriodicBox, or None;  centers : (n_spheres, 3), needed with it.
    """
    start = position[contacts["clump_i"]]
    at_wall = (contacts["clump_j"] < 0)[:, None]
    branch = start - np.where(at_wall, contacts["point"], position[np.where(at_wall[:, 0], 0, contacts["clump_j"])])
    if box is None:
        share = _share_inside(start, branch, low, high)
    else:                               # between images of two clumps whose spheres are nearest images
        i, j = contacts["sphere_i"], contacts["sphere_j"]
        branch -= np.where(at_wall, 0.0, box.length * box.lengths_in(centers[i] - centers[np.where(j < 0, 0, j)]))
        images = box.shifts() if np.isfinite(low).all() else np.zeros((1, 3))
        share = sum(_share_inside(box.wrapped(start) + shift, branch, low, high) for shift in images)
    return np.einsum("ni,nj->ij", share[:, None] * contacts["force"], branch)


def _share_inside(start, branch, low, high):
    """(n,) fraction of each segment from start - branch to start (n, 3) that is inside a box."""
    flat = branch == 0.0
    along = np.where(flat, 1.0, -branch)
    ends = np.sort([(corner - start) / along for corner in (low, high)], axis=0)
    inside = (low <= start) & (start <= high)
    enter, leave = np.where(flat, np.where(inside, -np.inf, np.inf), ends[0]), np.where(flat, np.inf, ends[1])
    return np.maximum(0.0, np.minimum(1.0, leave.min(axis=1)) - np.maximum(0.0, enter.max(axis=1)))


def enclosed_box(walls, box=None):
    """(low, high) corners (3,) of the room that planes normal to the axes, or a PeriodicBox, enclose; else infinite."""
    low, high = np.full(3, -np.inf), np.full(3, np.inf)
    if box is not None:
        low, high = np.where(box.axes, box.low, low), np.where(box.axes, box.high, high)
    for wall in walls:
        axis, sign, place = wall.face() or (0, 0.0, 0.0)
        if sign > 0.0:
            low[axis] = max(low[axis], place)
        elif sign < 0.0:
            high[axis] = min(high[axis], place)
    return low, high
