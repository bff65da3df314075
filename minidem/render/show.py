"""Pictures of a simulation for notebooks: one, one that follows a run, and a view that one can turn."""
import html
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from minidem.core.atomic import replace_text
from minidem.core.checks import file_path, flag
from minidem.core.keywords import by_keyword
from minidem.output import vtu
from minidem.output.wall_shapes import wall_mesh
from minidem.render import require, scene
from minidem.render.colour import SPEED, colour, label, lookup_table, value_range, values
from minidem.render.scene import CAMERA, GLASS, bounds_of, checked_camera, middles, split_walls
from minidem.simulation import Simulation

if TYPE_CHECKING:
    from PIL.Image import Image

ASPECT, THIN = 1.5, 500         # of a view; of the height are lines thin
GREY = 0x808080


def drawn(sim, contacts=False):
    """Spheres, walls or None, and contacts or None, as of a frame of a run; ValueError without clumps."""
    if sim.n_clumps == 0:
        raise ValueError("sim: there are no clumps to show; add some first")
    meshes = vtu.Frame(sim).mesh(), wall_mesh(sim), vtu.contact_mesh(sim) if contacts else None
    spheres, walls, lines = (None if mesh is None else require().from_meshio(mesh) for mesh in meshes)
    return spheres, walls, None if lines is None else middles(lines)


@by_keyword
def show(sim: Simulation, *, color: str | None = None, size: tuple[int, int] = (800, 600),
         camera: str | Sequence[float] = CAMERA, colormap: str | None = None, background: str = "white",
         transparent_walls: bool = False, contacts: bool = False) -> "Image":
    """Draw the spheres and walls at the present time.

    A notebook displays the picture as the last value of a cell; elsewhere, ``md.show(sim).save("picture.png")``. No
    display is needed, but the packages pyvista and imageio-ffmpeg (extra `render`). `python -m minidem movie` draws
    the frames of a run in the same way, and `movie` in a notebook; `Live` follows a run.

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
        Spheres are translucent. Diameters are proportional to the force (see the guide, output).

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
    drawing = scene.Scene(size, bounds_of([frame], [mesh]), value_range([coloured], color), color, colormap, background,
                          camera, transparent_walls, [tubes] if contacts else None)
    if mesh is not None:
        drawing.set_walls(mesh)
    picture = drawing.draw(frame, f"t = {sim.time:.4g} s", tubes)
    drawing.close()
    return picture


class Live:
    """A picture that follows a run in a notebook, updated in place: a callback of `Simulation.run`.

    ``sim.run(10_000, every=500, callback=md.Live(color="clump"))`` displays the last of twenty pictures at the end. A
    further cell needs a further Live. A script has no place for it: `Frames` and `movie` write files.

    Parameters
    ----------
    **options
        As of `show`: color, size, camera ...
    """

    def __init__(self, **options):
        self.options: dict = options
        self._shown: Any = None

    def __call__(self, sim) -> None:
        ipython = sys.modules.get("IPython")
        if ipython is None or ipython.get_ipython() is None:
            raise RuntimeError("md.Live shows pictures in a notebook, and this is none; md.Frames and md.movie write "
                               "files")
        picture = show(sim, **self.options)
        if self._shown is None:
            self._shown = ipython.display.display(picture, display_id=True)
        else:
            self._shown.update(picture)


class View:
    """A page with spheres that one can turn with the mouse; a notebook displays it as the last value of a cell.

    Attributes
    ----------
    page : str
        HTML that needs no other file and no network: 1.2 MB, and about 20 bytes per sphere.
    """

    def __init__(self, page: str):
        self.page = page

    def save(self, path: str | Path) -> None:
        """Write the page, NAME.html. OSError if that fails."""
        replace_text(file_path("path", path, ".html"), self.page)

    def _repr_html_(self):
        return (f'<iframe srcdoc="{html.escape(self.page)}" title="view" '
                'style="width: 100%; height: 30em; border: 0"></iframe>')


@by_keyword
def view(sim: Simulation, *, color: str | None = None, colormap: str | None = None, background: str = "white") -> View:
    """A view of the spheres and walls at the present time that one can turn in a browser.

    ``md.view(sim).save("view.html")`` writes a page that can be sent or put on a web site. The browser must have WebGL.

    Parameters
    ----------
    sim : Simulation
    color, colormap, background : str, optional
        As of `show`.

    Returns
    -------
    View

    Raises
    ------
    ValueError
        For a simulation without clumps, or an unknown field, colour map or colour.
    ModuleNotFoundError
        Without pyvista or k3d (extra `render`); the message has the command that installs them.
    """
    k3d = require("k3d")
    frame, walls, _ = drawn(sim)
    field = color or SPEED
    span, ground = value_range([frame], field), colour(background)
    table = lookup_table(field, colormap, span).values[:, :3] / 255.0
    points = np.asarray(frame.points, dtype=np.float32)
    plot = k3d.plot(background_color=int(ground.hex_rgb.lstrip("#"), 16), grid_visible=False, camera_auto_fit=False,
                    menu_visibility=False, colorbar_object_id=-1 if label(field) else 0)
    plot += k3d.points(points, point_sizes=2.0 * np.asarray(frame["radius"], dtype=np.float32), shader="3d",
                       attribute=np.asarray(values(frame, field), dtype=np.float32), color_range=list(span),
                       color_map=np.column_stack([np.linspace(0.0, 1.0, len(table)), table]).ravel().tolist(),
                       name=label(field) or field)
    if label(field):
        plot += k3d.text2d(label(field).replace(" ", r"\ "), position=(0.02, 0.62), reference_point="lb", size=0.9,
                           label_box=False, color=0xffffff if sum(ground.float_rgb) < 1.5 else 0)
    bounds = bounds_of([frame], [walls])
    if walls is not None:
        planes, others, box = split_walls(walls)
        width = float(np.ptp(bounds, axis=0).max()) / THIN
        for mesh in (planes.extract_feature_edges(30.0), others.extract_feature_edges(30.0), box):
            if mesh.n_cells:
                plot += k3d.lines(*_cells(mesh.points, mesh.lines.reshape(-1, 3)), indices_type="segment",
                                  width=width, shader="simple", color=GREY)
        if others.n_cells:
            surface = others.triangulate()
            plot += k3d.mesh(*_cells(surface.points, surface.faces.reshape(-1, 4)), color=GREY, opacity=GLASS,
                             side="double")
    position, focus, up, angle = scene.view(CAMERA, bounds, ASPECT)
    plot.camera, plot.camera_fov, plot.snapshot_type = [*position, *focus, *up], angle, "full"
    return View(plot.get_snapshot())


def _cells(points, cells):
    """Points and, without the number of points before each, cells, as k3d takes them."""
    return np.asarray(points, dtype=np.float32), cells[:, 1:].astype(np.uint32)
