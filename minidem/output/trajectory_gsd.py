"""Trajectories in GSD files, as HOOMD-blue writes rigid bodies.

The guide (output) has a table of what is in a file. In addition:

- `body` is -1 for a clump of one sphere, a free particle;
- `diameter` of a central particle is MARKER of its smallest sphere, since OVITO replaces 0;
- `orientation` is from the principal frame to the lab frame, of the clump; its `moment_inertia` [kg m2] is that in the
  principal frame, `angmom` the quaternion 2 q (0, L) with the angular momentum L in the principal frame [kg m2/s];
- `mass` [kg] and `moment_inertia` of spheres of rigid bodies are zero, so that sums over all particles are right;
- `velocity` [m/s] is the velocity of each particle's centre;
- bonds of clumps that are not in the file are omitted.

Each frame has the box of the first one, unless the periodic box moves. An open axis reaches from -2^k to 2^k metres
with the least k that takes in all spheres (k = 0 without clumps). It is doubled when the centre of a particle leaves
it, which GSD does not allow.

H. Kamberaj, R. J. Li, S. M. Anderson, J. Chem. Phys. 122, 224114 (2005), doi 10.1063/1.1906216, for `angmom`.
"""
import os
import struct

import gsd.fl
import gsd.hoomd
import numpy as np

from minidem.analysis.contacts import enclosed_box
from minidem.core.atomic import naming, replacing
from minidem.core.quaternions import multiply

MARKER = 0.01
ENTRY = 32              # bytes of an entry of the index of GSD files
BYTES, BOND, MARGIN = 160, 12, 1 << 16      # bytes of a particle or type, a bond, all else in a frame, at most
MAGIC = 0x65DF65DF65DF65DF


class GsdFile:
    """Frames of a GSD file. until: time up to which the frames of an existing file are kept; None: a new file."""

    def __init__(self, path, until=None):
        self._path, self.last, self._origin, self._half = path, None, None, None
        times, complete = ([], True) if until is None else _times(path)
        kept = sum(time <= until for time in times)     # times ascend
        if until is None or kept < len(times) or not complete:
            with replacing(path) as temporary:
                with gsd.hoomd.open(temporary, "w") as new:
                    if kept:
                        _reserve(temporary, path.stat().st_size)
                        with gsd.hoomd.open(path, "r") as old:
                            new.extend(old[:kept])
        self._file = gsd.hoomd.open(path, "r+")
        if kept:
            self.last, self._origin = times[kept - 1], self._file[0].log["origin"]
            self._half = 0.5 * self._file[kept - 1].configuration.box[:3]

    def append(self, sample):
        frame, n = gsd.hoomd.Frame(), len(sample.ids)
        alone = np.bincount(sample.clump, minlength=n) == 1
        first, part = np.searchsorted(sample.clump, np.arange(n)), ~alone[sample.clump]
        clump, radii = sample.clump[part], sample.spheres[:, 3]
        smallest = np.minimum.reduceat(radii, first) if n else np.zeros(0)
        position = np.concatenate([sample.position, sample.spheres[part, :3]])
        arm, at_rest = position[n:] - sample.position[clump], np.zeros((len(clump), 3))
        diameter = np.concatenate([np.where(alone, 2.0, 2.0 * MARKER) * smallest, 2.0 * radii[part]])
        image, tilts, box = np.zeros(position.shape), (0.0, 0.0, 0.0), sample.box
        if box is not None:
            if box.across is None:
                image, position = box.image(position), box.wrapped(position)
            else:
                position, image = box.in_cell(position, box.center - 0.5 * box.lattice.sum(axis=0))
                tilts = box.tilts / np.where(box.axes, box.length, 1.0)[[1, 2, 2]]      # of GSD: per length of an axis
        velocity = sample.velocity
        if box is not None and box.moves:               # of the images that are drawn
            velocity = velocity + box.flow(position[:n]) - box.flow(sample.position)
        position = self._in_box(sample, position, 0.5 * diameter[:, None])
        spin = np.column_stack([np.zeros(n), sample.inertia * sample.rate])
        columns = {
            "position": position, "diameter": diameter,
            "orientation": (sample.principal, sample.principal[clump]),
            "velocity": (velocity, velocity[clump] + np.cross(sample.angular_velocity[clump], arm)),
            "angmom": (2.0 * multiply(sample.principal, spin), np.zeros((len(clump), 4))),
            "mass": (sample.mass, at_rest[:, 0]), "moment_inertia": (sample.inertia, at_rest)}
        particles = frame.particles
        for name, values in columns.items():
            setattr(particles, name, _single(np.concatenate(values) if isinstance(values, tuple) else values))
        types, of_center, of_sphere = _types(sample.templates)
        typeid = of_center[sample.template], of_sphere[sample.template[clump]]
        particles.N, particles.types, particles.image = len(position), types, image.astype(np.int32)
        particles.typeid = np.concatenate(typeid).astype(np.uint32)
        particles.body = np.concatenate([np.where(alone, -1, np.arange(n)), clump]).astype(np.int32)
        pairs = np.where(part, n - 1 + np.cumsum(part), sample.clump)[sample.bonds]
        if len(pairs):                                  # without: what a frame has by default
            frame.bonds.N, frame.bonds.types, frame.bonds.group = len(pairs), ["parallel"], pairs.astype(np.uint32)
        frame.configuration.step = sample.step
        frame.configuration.box = [*(2.0 * self._half), *tilts]
        frame.log = {"origin": self._origin,
                     "periodic": np.array(box.axes if box else 3 * [False]).astype(np.uint8),
                     "particles/clump": np.concatenate([sample.ids, sample.ids[clump]]).astype(np.int32),
                     **{f"particles/{name}": _single(np.concatenate([values, values[clump]]))
                        for name, values in sample.fields.items()},
                     "time": np.array([sample.time])}       # the last one, see _times
        _reserve(self._path, BYTES * (particles.N + len(types)) + BOND * len(pairs) + MARGIN)
        self._file.append(frame)
        self._file.file.flush()

    def _in_box(self, sample, position, radius):
        """Positions (n, 3) relative to the origin; sets the origin and the halves of the box, float32 as in a file."""
        if self._origin is None:
            low, high = enclosed_box(sample.walls, sample.box)
            closed = np.isfinite(high - low) & (low < high)
            low, high = np.where(closed, low, 0.0), np.where(closed, high, 0.0)
            reach = (np.abs(position) + radius).max(axis=0, initial=0.0)
            self._origin = 0.5 * (low + high)
            self._half = _single(np.where(closed, 0.5 * (high - low), _power_of_two(np.where(reach, reach, 1.0))))
        if sample.box is not None:                      # its lengths may change
            self._half = _single(np.where(sample.box.axes, 0.5 * sample.box.length, self._half))
        position = position - self._origin
        beyond = np.abs(position).max(axis=0, initial=0.0) / self._half
        if sample.box is not None:
            beyond[sample.box.axes] = 1.0           # the box, except for rounding
        self._half = self._half * _single(_power_of_two(np.maximum(beyond, 1.0)))
        return position

    def close(self):
        self._file.close()


def _power_of_two(values):
    """The least powers of two that are not below the values."""
    return np.exp2(np.ceil(np.log2(values)))


def _single(values):
    """Convert to float32: gsd compares arrays with the first frame, and does not write equal ones again."""
    return np.asarray(values, dtype=np.float32)


def _times(path):
    """Times of the frames of a file, and whether the last one is complete; ValueError if it is no trajectory."""
    try:
        _reserve(path)
        with gsd.fl.open(str(path), "r") as file:
            n = file.nframes
            complete = not n or file.chunk_exists(frame=n - 1, name="log/time")
            return [float(file.read_chunk(frame=k, name="log/time")[0]) for k in range(n - (not complete))], complete
    except (KeyError, RuntimeError) as error:
        raise ValueError(f"{path}: no trajectory of minidem ({error}); remove it to begin another one") from None


def _reserve(path, size=0):
    """OSError unless the disk has room for the index of a GSD file, and for `size` bytes and a longer index at its end.

    gsd maps the index into memory, which ends the process with SIGBUS if the disk is full; and it writes wrongly
    without room for a longer index.
    """
    with naming(path), open(path, "r+b") as file:
        header, end = file.read(24), file.seek(0, os.SEEK_END)
        magic, index, entries = struct.unpack("<3Q", header.ljust(24, b"\0"))
        if not hasattr(os, "posix_fallocate") or magic != MAGIC or index + ENTRY * entries > end:
            return              # macOS, or a file that gsd refuses
        try:
            os.posix_fallocate(file.fileno(), index, ENTRY * entries)
            if size:
                os.posix_fallocate(file.fileno(), end, size + 2 * ENTRY * entries)
        finally:
            file.truncate(end)


def _types(templates):
    """Type names, and numbers of the types of centres and of spheres by template."""
    names, numbers = [], []
    for k, template in enumerate(templates):
        numbers.append((len(names), len(names) + 1))
        names += [f"template_{k}", f"template_{k}_sphere"][:len(template.radii)]
    return names, *np.array(numbers, dtype=int).reshape(-1, 2).T
