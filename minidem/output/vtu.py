"""Frames for ParaView: the spheres of all clumps as points (VTU), and the walls as polygons.

meshio is used here and nowhere else, and of it only `Mesh` and `vtu.write`: its other writers have
known faults (arrays of shape (n, 3, 3) come out wrong, `field_data` such as the time is dropped). Time
is therefore told to ParaView by pvd.py. Compression is off: frames are half again as large but ten
times as fast to write.
"""

import meshio
import numpy as np

from minidem.output import replacing
from minidem.output.wall_polygons import wall_polygons


def write_spheres(path, sim, float32=False):
    """Write the spheres of `sim` at its present time to the VTU file `path`.

    One vertex per sphere, in the order of `sim.sphere_centers()`, all in the lab frame and in SI units:

    - points: centre [m];
    - `radius` [m], `clump` (int32, number of the sphere's clump);
    - `velocity` [m/s] of the sphere's centre, v + w x (centre - x);
    - `angular_velocity` [rad/s] and `orientation` (w, x, y, z; body to lab) of its clump.

    float32 halves the file (1 part in 10^7 is enough for a picture); the default keeps every bit. A
    simulation without spheres gives a valid file without points (ParaView opens it; meshio itself
    cannot read such a file).
    """
    clump = np.asarray(sim.sphere_clump)
    centers = sim.sphere_centers()
    angular_velocity = sim.angular_velocity[clump]
    arm = centers - sim.position[clump]
    real = np.float32 if float32 else np.float64
    point_data = {
        "radius": np.asarray(sim.sphere_radii, dtype=real),
        "clump": clump.astype(np.int32),
        "velocity": (sim.velocity[clump] + np.cross(angular_velocity, arm)).astype(real),
        "angular_velocity": angular_velocity.astype(real),
        "orientation": sim.orientation[clump].astype(real),
    }
    vertices = np.arange(len(clump), dtype=np.int32)[:, None]
    _write(path, meshio.Mesh(centers.astype(real), {"vertex": vertices}, point_data=point_data))


def write_walls(path, sim):
    """Write the walls of `sim` as polygons to the VTU file `path`; True if there was something to write.

    Walls that close a box (or any convex room) are written whole. Where they leave it open, an infinite
    plane is shown as far as the spheres reach; without any sphere its extent is arbitrary, and nothing
    is written.
    """
    centers, radii = sim.sphere_centers(), np.asarray(sim.sphere_radii)[:, None]
    reach = (centers - radii, centers + radii)
    bounds = (reach[0].min(axis=0), reach[1].max(axis=0)) if len(centers) else None
    polygons = wall_polygons([(wall.point, wall.normal) for wall in sim.walls or ()], bounds)
    if not polygons:
        return False
    cells, first = [], 0
    for polygon in polygons:
        corners = np.arange(first, first + len(polygon), dtype=np.int32)
        cells.append(("quad" if len(polygon) == 4 else "polygon", corners[None, :]))
        first += len(polygon)
    _write(path, meshio.Mesh(np.concatenate(polygons), cells))
    return True


def _write(path, mesh):
    with replacing(path) as temporary:
        meshio.vtu.write(temporary, mesh, compression=None)
