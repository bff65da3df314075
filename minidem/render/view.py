"""A view of a simulation that one can turn, as an HTML page."""
import html
from pathlib import Path

import numpy as np

from minidem.core.atomic import replace_text
from minidem.core.checks import file_path
from minidem.render import require
from minidem.render.colour import SPEED, colour, label, lookup_table, value_range, values
from minidem.render.scene import CAMERA, GLASS, bounds_of, split_walls, view as placed
from minidem.render.show import drawn
from minidem.simulation import Simulation

ASPECT, THIN = 1.5, 500         # of the view; of the height are lines thin
GREY = 0x808080


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


def view(sim: Simulation, color: str | None = None, colormap: str | None = None, background: str = "white") -> View:
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
    plot = k3d.plot(background_color=_number(ground), grid_visible=False, camera_auto_fit=False, menu_visibility=False,
                    colorbar_object_id=-1 if label(field) else 0)
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
    position, focus, up, angle = placed(CAMERA, bounds, ASPECT)
    plot.camera, plot.camera_fov, plot.snapshot_type = [*position, *focus, *up], angle, "full"
    return View(plot.get_snapshot())


def _cells(points, cells):
    """Points and, without the number of points before each, cells, as k3d takes them."""
    return np.asarray(points, dtype=np.float32), cells[:, 1:].astype(np.uint32)


def _number(color):
    """0xrrggbb of a pyvista.Color."""
    return int(color.hex_rgb.lstrip("#"), 16)
