"""Clumps in a box that may overlap, and the pushes that part them.

Every push moves all clumps at once: each two of them, or a clump and a wall, by the displacement and rotation
that part their deepest overlap, in inverse proportion to masses and moments of inertia (position-based
dynamics: Mueller et al., J. Vis. Commun. Image R. 18, 109 (2007), doi:10.1016/j.jvcir.2007.01.005; of rigid
bodies: Deul, Charrier and Bender, Comput. Anim. Virtual Worlds 27, 103 (2016), doi:10.1002/cav.1614).
"""

import numpy as np
import scipy

from minidem.core.quaternions import cross, multiply, rotate

LEAST_GAP = 0.001       # over the sum of radii: spheres count as apart from here on ...
GAP = 0.03              # ... and closer ones are pushed so far apart, so that most of them stay apart
OVERSHOOT = 1.3         # successive over-relaxation, for fewer pushes


class Crowd:
    """Clumps of some templates in a box; poses: (position (n, 3), orientation (n, 4)) for each template."""

    def __init__(self, templates, poses, low, high):
        self.low, self.high = low, high
        self.numbers = [len(position) for position, _ in poses]
        position, orientation = (np.concatenate(arrays) for arrays in zip(*poses))
        # Side by side in space, side by side in memory
        cell = np.floor((position - low) / (2.0 * max(t.bounding_radius for t in templates)))
        self.order = np.lexsort(cell.T)
        kinds = np.repeat(np.arange(len(templates)), self.numbers)[self.order]
        self.position, self.orientation = position[self.order], orientation[self.order]
        self.ease = np.array([1.0 / t.mass for t in templates])[kinds]
        self.turning_ease = np.array([1.0 / np.mean(t.inertia) for t in templates])[kinds]
        self.clump = np.repeat(np.arange(len(kinds)), np.array([len(t.radii) for t in templates])[kinds])
        self.radii = np.concatenate([templates[k].radii for k in kinds])
        offsets = [t.centers - t.center_of_mass for t in templates]
        self.offsets = np.concatenate([offsets[k] for k in kinds])
        self.centers = np.empty_like(self.offsets)
        self._pose(slice(None))
        self.moved = np.ones(len(self.radii), dtype=bool)       # spheres, in the last push

    def poses(self):
        """What was given, as pushed since."""
        position, orientation = np.empty_like(self.position), np.empty_like(self.orientation)
        position[self.order], orientation[self.order] = self.position, self.orientation
        ends = np.cumsum(self.numbers)[:-1]
        return list(zip(np.split(position, ends), np.split(orientation, ends)))

    def near(self, gap):
        """Spheres i, j (n,) of different clumps with less than `gap` times the sum of their radii between."""
        reach = (1.0 + gap) * 2.0 * self.radii.max()
        pairs = scipy.spatial.cKDTree(self.centers).query_pairs(reach, output_type="ndarray")
        pairs = pairs[self.clump[pairs[:, 0]] != self.clump[pairs[:, 1]]]
        i, j = pairs[self._closer_than(gap, *pairs.T)].T
        order = np.argsort(i, kind="stable")
        self.moved[:] = True            # pairs that the last push did not know of
        return i[order], j[order]

    def push_apart(self, near):
        """Push clumps with less than LEAST_GAP between spheres of the pairs `near`, or so near to a wall.

        False if there were none.
        """
        i, j, normal, depth = self._pair_overlaps(near)
        touching, wall_normal, wall_depth = self._wall_overlaps()
        if len(i) + len(touching) == 0:
            return False
        sphere = np.concatenate([i, j, touching])
        clump = self.clump[sphere]
        push = np.concatenate([normal, -normal, wall_normal])
        torque = cross(self.centers[sphere] - self.position[clump], push)
        ease = self.ease[clump] + self.turning_ease[clump] * np.sum(torque * torque, axis=1)
        ease_i, ease_j, ease_at_wall = np.split(ease, [len(i), 2 * len(i)])
        impulse = depth / (ease_i + ease_j)
        impulse = OVERSHOOT * np.concatenate([impulse, impulse, wall_depth / ease_at_wall])[:, None]
        pushed = np.bincount(clump, minlength=len(self.position)) > 0
        self.position[pushed] += (self.ease[:, None] * self._sum(clump, impulse * push))[pushed]
        half_turn = 0.5 * (self.turning_ease[:, None] * self._sum(clump, impulse * torque))[pushed]
        turned = multiply(np.insert(half_turn, 0, 1.0, axis=1), self.orientation[pushed])
        self.orientation[pushed] = turned / np.linalg.norm(turned, axis=1, keepdims=True)
        self.moved = pushed[self.clump]
        self._pose(np.flatnonzero(self.moved))
        return True

    def _pair_overlaps(self, near):
        """Spheres i and j of the deepest overlap of each two clumps, normal from j to i, way to go to GAP."""
        i, j = near
        changed = self.moved[i] | self.moved[j]         # others were apart before and are still
        i, j = i[changed], j[changed]
        close = self._closer_than(LEAST_GAP, i, j)
        i, j = i[close], j[close]
        between = self.centers[i] - self.centers[j]
        distance = np.linalg.norm(between, axis=1)
        depth = (1.0 + GAP) * (self.radii[i] + self.radii[j]) - distance
        deepest = _deepest(self.clump[i], self.clump[j], depth)
        i, j = i[deepest], j[deepest]
        return i, j, between[deepest] / distance[deepest, None], depth[deepest]

    def _wall_overlaps(self):
        """The sphere of each clump that is deepest in each wall, normal of the wall, way to go to GAP."""
        found = []
        for axis in range(3):
            for sign, wall in ((1.0, self.low[axis]), (-1.0, self.high[axis])):
                height = sign * (self.centers[:, axis] - wall)
                low = np.flatnonzero(height < (1.0 + LEAST_GAP) * self.radii)
                depth = (1.0 + GAP) * self.radii[low] - height[low]
                deepest = _deepest(self.clump[low], np.zeros_like(low), depth)
                normal = np.zeros((len(deepest), 3))
                normal[:, axis] = sign
                found.append((low[deepest], normal, depth[deepest]))
        return tuple(np.concatenate(parts) for parts in zip(*found))

    def _closer_than(self, gap, i, j):
        between = self.centers[i] - self.centers[j]
        return np.einsum("ij,ij->i", between, between) < ((1.0 + gap) * (self.radii[i] + self.radii[j])) ** 2

    def _sum(self, clump, vectors):
        """Sums of vectors (m, 3) of the same clump, (n, 3)."""
        return np.column_stack([np.bincount(clump, vectors[:, k], len(self.position)) for k in range(3)])

    def _pose(self, spheres):
        clump = self.clump[spheres]
        self.centers[spheres] = self.position[clump] + rotate(self.orientation[clump], self.offsets[spheres])


def _deepest(a, b, depth):
    """Index of the largest depth for each pair (a, b) that occurs."""
    order = np.lexsort((-depth, b, a))
    a, b = a[order], b[order]
    first = np.ones(len(order), dtype=bool)
    first[1:] = (a[1:] != a[:-1]) | (b[1:] != b[:-1])
    return order[first]
