"""A picture of a simulation, for notebooks."""
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from minidem.core.checks import flag
from minidem.output import vtu
from minidem.output.wall_shapes import write_walls
from minidem.render import read, require
from minidem.render.colour import SPEED, value_range
from minidem.render.scene import CAMERA, Contacts, Scene, bounds_of, checked_camera
from minidem.simulation import Simulation

if TYPE_CHECKING:
    from PIL.Image import Image


def drawn(sim, contacts=False):
    """Spheres, walls or None, and `Contacts` or None, as of a frame of a run; ValueError without clumps."""
    if sim.n_clumps == 0:
        raise ValueError("sim: there are no clumps to show; add some first")
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        spheres, walls = folder / "spheres.vtu", folder / "walls.vtu"
        vtu.write_spheres(spheres, sim)
        tubes = None
        if contacts:
            vtu.write_contacts(folder / "contacts.vtu", sim)
            tubes = Contacts.read(folder / "contacts.vtu")
        return read(spheres), read(walls) if write_walls(walls, sim) else None, tubes


def show(sim: Simulation, color: str | None = None, size: tuple[int, int] = (800, 600),
         camera: str | Sequence[float] = CAMERA, colormap: str | None = None, background: str = "white",
         transparent_walls: bool = False, contacts: bool = False) -> "Image":
    """Draw the spheres and walls at the present time.

    A notebook displays the picture as the last value of a cell; elsewhere, ``md.show(sim).save("picture.png")``. No
    display is needed, but the packages pyvista and imageio-ffmpeg (extra `render`). `python -m minidem movie` draws
    the frames of a run in the same way.

    Parameters
    ----------
    sim : Simulation
    color : str, optional
        Field by which spheres are coloured: "speed" (of the clump; default), "clump", "template", "solid" (one colour),
        "radius", "velocity" (magnitude at the sphere's centre), "velocity_x", "angular_velocity" and so on. With
        `contacts`, of the contacts: "force" (default), "normal_force", "tangential_force", "overlap", "sliding".
    size : (int, int)
        Width and height in pixels.
    camera : (float, float) or (float, float, float), or str
        Azimuth and elevation in degrees, and zoom; at azimuth 0 the camera is on the side of negative y, at 90 on that
        of positive x. Or "x", "y", "z" for a view along this axis.
    colormap : str, optional
        Name of a colour map of matplotlib; default: one that suits the field.
    background : str
        Name of a colour, or "#rrggbb".
    transparent_walls : bool
        Draw all walls as glass. Default: curved walls and meshes; of planes those behind the spheres, and the edges.
    contacts : bool
        Draw contacts as tubes between the centres of clumps, or a centre and the contact point on a wall: force chains.
        Spheres are translucent. Diameters are proportional to the force, and at least a pixel; the force that 1 % of
        the contacts exceed has 0.4 of the median length, and larger ones have no more.

    Returns
    -------
    PIL.Image.Image

    Raises
    ------
    ValueError
        For a simulation without clumps, an unknown field, colour map or colour, and a camera or size out of range.
    ModuleNotFoundError
        Without pyvista; the message has the command that installs it.
    """
    transparent_walls, contacts = flag("transparent_walls", transparent_walls), flag("contacts", contacts)
    require()
    if np.shape(size) != (2,) or not all(16 <= number <= 4096 for number in size):
        raise ValueError(f"size = {size}: give width and height in pixels, from 16 to 4096")
    camera = checked_camera(camera)
    frame, mesh, tubes = drawn(sim, contacts)
    color, coloured = color or ("force" if contacts else SPEED), tubes or frame
    scene = Scene(size, bounds_of([frame], [mesh]), value_range([coloured], color), color, colormap, background, camera,
                  transparent_walls, [tubes] if contacts else None)
    if mesh is not None:
        scene.set_walls(mesh)
    picture = scene.draw(frame, f"t = {sim.time:.4g} s", tubes)
    scene.close()
    return picture
