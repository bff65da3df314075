"""VTU frames for ParaView: the spheres of all clumps as points, and the walls as polygons.

Only `Mesh` and `vtu.write` of meshio are used, and only here: other writers have known faults (arrays of shape
(n, 3, 3) are mis-written, `field_data` such as the time is dropped), so that the time is written by pvd.py. Without
compression frames are 1.5 times as large and written ten times as fast.
"""

import meshio
import numpy as np

from minidem.output import replacing
from minidem.output.wall_polygons import wall_polygons


def write_spheres(path, sim, float32=False):
    """Write the spheres of `sim` at its current time to the VTU file `path`, atomically.

    One vertex per sphere, in the order of `sim.sphere_centers()`, in the lab frame:

    - points: centre [m];
    - `radius` [m], `clump` (int32, index of the sphere's clump);
    - `velocity` [m/s] of the sphere's centre, v + w x (centre - x);
    - `angular_velocity` [rad/s] and `orientation` (w, x, y, z; template frame to lab frame) of its clump.

    Parameters
    ----------
    path : path
    sim : Simulation
        Without spheres the file has no points; ParaView opens it, meshio does not.
    float32 : bool
        Single precision, which halves the file. Default: float64.
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
    """Write the walls of `sim` as polygons to the VTU file `path`; False if there is nothing to write.

    Walls that enclose a convex room are written completely. An infinite plane is cut at the bounding box of the
    spheres; without spheres its extent is arbitrary, and it is not written.
    """
    centers, radii = sim.sphere_centers(), np.asarray(sim.sphere_radii)[:, None]
    bounds = ((centers - radii).min(axis=0), (centers + radii).max(axis=0)) if len(centers) else None
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
