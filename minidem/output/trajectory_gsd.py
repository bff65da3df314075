"""Trajectories in GSD files, as HOOMD-blue writes rigid bodies.

First there is one particle per clump, its centre, and then the spheres of all clumps of more than one sphere:

- `body`: number of the central particle, for it and its spheres; -1 for a clump of one sphere, a free particle;
- types `template_K` of the centres, `template_K_rR` of the spheres of template K with radius R in the template;
- `diameter` of each sphere [m]; that of a central particle is MARKER of its smallest sphere, since OVITO replaces 0;
- `position` [m], relative to the `log/origin` [m, lab frame] of the file: the centre of the box lies at zero;
- `orientation` from the principal frame to the lab frame, of the clump; its `moment_inertia` [kg m2] is that in the
  principal frame, `angmom` the quaternion 2 q (0, L) with the angular momentum L in the principal frame [kg m2/s];
- `mass` [kg] and `moment_inertia` of spheres of rigid bodies are zero, so that sums over all particles are right;
- `velocity` [m/s] of each particle's centre;
- `image`: box lengths by which each particle, sphere or centre, was moved into a periodic box; position + image times
  the length of the box is without jumps;
- `log/time` [s]; `log/particles/clump`, id of the clump; `log/periodic` (3,), whether each axis is periodic. Other
  axes are open or end at walls, for which box.periodic of freud and pbc of OVITO have to be set to false.

The box is the periodic box, or that of the walls, moving ones at their present places; where it is open or clumps have
left it, it contains all spheres.

H. Kamberaj, R. J. Li, S. M. Anderson, J. Chem. Phys. 122, 224114 (2005), doi 10.1063/1.1906216, for `angmom`.
"""
import gsd.fl
import gsd.hoomd
import numpy as np

from minidem.analysis.contact_sums import enclosed_box
from minidem.core.quaternions import multiply
from minidem.output import replacing

MARKER = 0.01


class GsdFile:
    """Frames of a GSD file. until: time up to which the frames of an existing file are kept; None: a new file."""

    def __init__(self, path, until=None):
        self.last = self.origin = None
        times = [] if until is None else _times(path)
        kept = sum(time <= until for time in times)     # times ascend
        if until is None or kept < len(times):
            with replacing(path) as temporary, gsd.hoomd.open(temporary, "w") as new:
                if kept:
                    with gsd.hoomd.open(path, "r") as old:
                        new.extend(old[:kept])
        self._file = gsd.hoomd.open(path, "r+")
        if kept:
            self.last, self.origin = times[kept - 1], self._file[0].log["origin"]

    def append(self, sample):
        frame, n = gsd.hoomd.Frame(), len(sample.ids)
        alone = np.bincount(sample.clump, minlength=n) == 1
        first, part = np.searchsorted(sample.clump, np.arange(n)), ~alone[sample.clump]
        clump, radii = sample.clump[part], sample.spheres[:, 3]
        smallest = np.minimum.reduceat(radii, first) if n else np.zeros(0)
        position = np.concatenate([sample.position, sample.spheres[part, :3]])
        arm, at_rest = position[n:] - sample.position[clump], np.zeros((len(clump), 3))
        diameter = np.concatenate([np.where(alone, 2.0, 2.0 * MARKER) * smallest, 2.0 * radii[part]])
        image, position = _into(sample.box, position)
        low, high = _box(sample, position, 0.5 * diameter[:, None])
        if self.origin is None:
            self.origin = 0.5 * (low + high)
        spin = np.column_stack([np.zeros(n), sample.inertia * sample.rate])
        columns = {
            "position": position - self.origin, "diameter": diameter,
            "orientation": (sample.principal, sample.principal[clump]),
            "velocity": (sample.velocity, sample.velocity[clump] + np.cross(sample.angular_velocity[clump], arm)),
            "angmom": (2.0 * multiply(sample.principal, spin), np.zeros((len(clump), 4))),
            "mass": (sample.mass, at_rest[:, 0]), "moment_inertia": (sample.inertia, at_rest)}
        particles = frame.particles
        for name, values in columns.items():
            setattr(particles, name, _single(np.concatenate(values) if isinstance(values, tuple) else values))
        types, of_center, of_sphere = _types(sample, first)
        typeid = np.where(alone, of_sphere[first], of_center), of_sphere[part]
        particles.N, particles.types, particles.image = len(position), types, image.astype(np.int32)
        particles.typeid = np.concatenate(typeid).astype(np.uint32)
        particles.body = np.concatenate([np.where(alone, -1, np.arange(n)), clump]).astype(np.int32)
        frame.configuration.step = sample.step
        frame.configuration.box = _single([*(2.0 * np.maximum(high - self.origin, self.origin - low)), 0.0, 0.0, 0.0])
        frame.log = {"time": np.array([sample.time]), "origin": self.origin,
                     "periodic": np.array(sample.box.axes if sample.box else 3 * [False]).astype(np.uint8),
                     "particles/clump": np.concatenate([sample.ids, sample.ids[clump]]).astype(np.int32)}
        self._file.append(frame)
        self._file.file.flush()

    def close(self):
        self._file.close()


def _single(values):
    """As float32, which gsd compares with the first frame: equal arrays are not written again."""
    return np.asarray(values).astype(np.float32)


def _times(path):
    """Times of the frames of a file; ValueError if it is no trajectory."""
    try:
        with gsd.fl.open(str(path), "r") as file:
            return [float(file.read_chunk(frame=k, name="log/time")[0]) for k in range(file.nframes)]
    except (KeyError, RuntimeError) as error:
        raise ValueError(f"{path}: no trajectory of minidem ({error}); remove it to begin another one") from None


def _types(sample, first):
    """Type names, and numbers of the types of the centres (n,) and of the spheres (m,).

    first : (n,) index of the first sphere of each clump
    """
    names, centers, of_member, start = [], [], [np.zeros(0, dtype=int)], []
    for k, template in enumerate(sample.templates):
        sizes, number = np.unique([f"{radius:.6g}" for radius in template.radii], return_inverse=True)
        centers.append(len(names))
        start.append(sum(map(len, of_member)))
        of_member.append(len(names) + 1 + number)
        names += [f"template_{k}", *(f"template_{k}_r{size}" for size in sizes)]
    centers, start = np.array(centers, dtype=int), np.array(start, dtype=int)
    member = np.arange(len(sample.clump)) - first[sample.clump] + start[sample.template[sample.clump]]
    return names, centers[sample.template], np.concatenate(of_member)[member]


def _into(box, position):
    """(images, positions (n, 3) moved into the periodic box)."""
    return (np.zeros(position.shape), position) if box is None else (box.image(position), box.wrapped(position))


def _box(sample, position, radius):
    """(low, high) corners of the box of walls and periodic axes; where it is open or left, of the particles."""
    low, high = enclosed_box(sample.walls, sample.box)
    if len(position):
        closed = np.isfinite(low) & (low <= position.min(axis=0)), np.isfinite(high) & (high >= position.max(axis=0))
        return (np.where(closed[0], low, (position - radius).min(axis=0)),
                np.where(closed[1], high, (position + radius).max(axis=0)))
    return np.where(np.isfinite(low), low, -0.5), np.where(np.isfinite(high), high, 0.5)
