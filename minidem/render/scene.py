"""Pictures of spheres, walls and contacts, with the scales and axes that explain them.

Spheres are drawn by VTK's sphere mapper: one billboard per sphere, on which the graphics processor, or Mesa's software
renderer, computes the exact surface and depth of each pixel. 25 000 of them take a third of a second in software, where
triangulated spheres take 16 s. Without a display VTK 9.4 or newer renders by EGL, or by OSMesa if there is no EGL.
"""
import math
from ctypes.util import find_library
from types import SimpleNamespace

import numpy as np

from minidem.render import require
from minidem.render.colour import colour, label, lookup_table, ticks, value_range, values

VIEW_ANGLE = 30.0                               # vertical [degrees]
VIEWS = {"x": (90.0, 0.0), "y": (0.0, 0.0), "z": (0.0, 90.0)}
CAMERA = (24.0, 18.0, 1.0)                      # default: from the front, slightly from the right and above
MARGIN = 1.08                                   # of the picture around the bounds
LIGHTS = ((-0.6, 0.9, 1.0), 0.65), ((0.9, 0.1, 1.0), 0.45)      # position (right, up, back) relative to the camera
SKY = np.array([-0.6, -0.1, 0.9])               # walls with such a normal are the brightest
GLASS = 0.12                                    # opacity of walls
MIST = 0.15                                     # and of spheres in front of contacts
# VTK's billboard is a triangle about the circle with the sphere's radius r; seen from the distance d the outline of the
# sphere is larger by 1 / sqrt(1 - (r / d)^2), so that it would be cut at three sides.
BILLBOARD = "offset.x*base1 + offset.y*base2"           # in VTK's geometry shader
SILHOUETTE = (BILLBOARD, True, f"({BILLBOARD}) * inversesqrt(max(0.01, 1.0 - radiusVCGSOutput * radiusVCGSOutput / "
              "dot(centerVCGSOutput, centerVCGSOutput)))", True)
SAMPLING = 2                                    # a pixel is the mean of 2 x 2; VTK's supersampling takes twice the time
TUBE = 0.4                  # diameter of the thickest tubes, in median lengths of the lines of contacts
STRIP = 0.14                                    # part of the picture's width for the scale of the colours
SCALE = 0.16                                    # the scale of lengths is at most this part of the picture's width
RIGHT, BOTTOM, TICK = 0.97, 0.035, 0.008        # its place and the height of its ends, in parts of the picture
LENGTHS = ("m", 1.0), ("mm", 1e-3), ("µm", 1e-6)


def middles(lines):
    """Contacts, the lines of `contact_mesh`, as a frame: their middles, with their data, `length` and `direction`."""
    first, second = lines.points[0::2], lines.points[1::2]         # no two lines share a point
    data = {name: np.asarray(lines.cell_data[name]) for name in lines.cell_data.keys()}
    data["length"] = np.linalg.norm(second - first, axis=1)
    data["direction"] = (second - first) / np.maximum(data["length"], np.finfo(float).tiny)[:, None]
    return SimpleNamespace(points=0.5 * (first + second), n_points=len(first), point_data=data)


class Tubes:
    """Contacts as tubes whose diameter is proportional to the force, so that they show force chains.

    samples : list of contacts. The largest force of their `value_range` has the diameter TUBE times the median length
    of their lines, also larger ones; small ones are drawn no thinner than a `pixel` [m].
    """

    def __init__(self, samples, pixel):
        from vtkmodules.vtkRenderingOpenGL2 import vtkOpenGLStickMapper
        length = np.concatenate([one.point_data["length"] for one in samples])
        _, self.largest = value_range(samples, "force")
        self.thinnest, self.thickest = pixel, TUBE * np.median(length) if len(length) else 0.0
        self.mapper = vtkOpenGLStickMapper()
        self.mapper.SetOrientationArray("direction")
        self.mapper.SetScaleArray("size")
        self.actor = require().Actor()
        self.actor.SetMapper(self.mapper)
        self.actor.prop.ambient = 0.3

    def show(self, contacts, colours):
        """Draw these contacts. colours: (n,) values of the field."""
        self.actor.visibility = contacts.n_points > 0
        if contacts.n_points:
            tubes, data = require().PolyData(contacts.points.astype(np.float32)), contacts.point_data
            diameter = self.thickest * np.minimum(data["force"] / self.largest, 1.0)
            radius = 0.5 * np.maximum(diameter, self.thinnest)
            tubes["size"] = np.column_stack([data["length"], radius, radius]).astype(np.float32)
            tubes["direction"] = data["direction"].astype(np.float32)
            tubes["colour"] = colours
            self.mapper.SetInputData(tubes)


def add_colours(plotter, field, table, ink, font_size):
    """Scale of the colours at the right: a continuous one, or one box for each category with its number."""
    pyvista = require()
    mapper = pyvista.DataSetMapper()
    mapper.lookup_table, mapper.scalar_range = table, table.scalar_range
    bar = plotter.add_scalar_bar(
        label(field), mapper=mapper, color=ink, vertical=True, position_x=1.0 - 0.85 * STRIP, position_y=0.25,
        height=0.5, width=0.05, n_labels=5, fmt="%.3g", title_font_size=font_size,
        label_font_size=round(0.8 * font_size))
    bar.SetVerticalTitleSeparation(font_size // 2)
    marks = ticks(field, table.scalar_range)
    if marks is not None:
        from vtkmodules.util.numpy_support import numpy_to_vtk
        bar.SetCustomLabels(numpy_to_vtk(marks, deep=True))
        bar.SetUseCustomLabels(True)


def nice_length(longest):
    """1, 2 or 5 times a power of ten, at most `longest` [m], and its text."""
    power = 10.0 ** math.floor(math.log10(longest))
    length = next(digit * power for digit in (5, 2, 1) if digit * power <= longest)
    name, unit = next(((name, unit) for name, unit in LENGTHS if length >= 0.0999 * unit), LENGTHS[-1])
    return length, f"{length / unit:.4g} {name}"


def add_length(plotter, width, ink, font_size):
    """Scale of lengths at the lower right. width: of the picture [m], at the middle of what the camera shows."""
    from vtkmodules.vtkRenderingCore import vtkActor2D, vtkCoordinate, vtkPolyDataMapper2D
    length, text = nice_length(SCALE * width)
    left = RIGHT - length / width
    line = require().lines_from_points([(left, BOTTOM + TICK, 0), (left, BOTTOM, 0), (RIGHT, BOTTOM, 0),
                                        (RIGHT, BOTTOM + TICK, 0)])
    place, mapper, actor = vtkCoordinate(), vtkPolyDataMapper2D(), vtkActor2D()
    place.SetCoordinateSystemToNormalizedViewport()
    mapper.SetInputData(line)
    mapper.SetTransformCoordinate(place)
    actor.SetMapper(mapper)
    actor.GetProperty().SetColor(require().Color(ink).float_rgb)
    actor.GetProperty().SetLineWidth(font_size / 10)
    plotter.add_actor(actor, reset_camera=False)
    shown = plotter.add_text(text, position=(0.5 * (left + RIGHT), BOTTOM + TICK), viewport=True, color=ink)
    shown.prop.font_size, shown.prop.justification_horizontal = round(0.8 * font_size), "center"


def bounds_of(frames, walls=()):
    """Low and high corner (2, 3) of the spheres in these frames and of these walls, None among which are left out."""
    corners = [mesh.points for mesh in walls if mesh is not None]
    for frame in frames:
        radius = frame["radius"][:, None]
        corners += [frame.points - radius, frame.points + radius]
    corners = np.concatenate(corners)
    return np.array([corners.min(axis=0), corners.max(axis=0)], dtype=float)


def split_walls(walls):
    """Walls of a file as three pyvista.PolyData: planes, turned to the clumps; other surfaces; edges of a box."""
    pyvista, corners = require(), walls.cell_connectivity
    first = pyvista.convert_array(walls.GetCells().GetOffsetsArray())
    sizes = np.diff(first)
    lines, alone = sizes == 2, np.maximum.reduceat(np.bincount(corners)[corners], first[:-1]) == 1
    kinds = alone & ~lines, ~alone & ~lines, lines
    planes, others, edges = (walls.cells[np.repeat(chosen, sizes + 1)] for chosen in kinds)
    return (pyvista.PolyData(walls.points, faces=planes), pyvista.PolyData(walls.points, faces=others),
            pyvista.PolyData(walls.points, lines=edges))


def view(camera, bounds, aspect, room=1.0):
    """Position, focal point, up direction and view angle [degrees] of a camera that shows the bounds.

    camera: azimuth and elevation [degrees] and zoom; at azimuth 0 on the side of negative y, at 90 of positive x
    room : part of the picture's width that the bounds may fill; the rest is a strip at the right
    """
    azimuth, elevation = np.radians(camera[:2])
    back = np.array([np.sin(azimuth) * np.cos(elevation), -np.cos(azimuth) * np.cos(elevation), np.sin(elevation)])
    up = np.array([-np.sin(azimuth) * np.sin(elevation), np.cos(azimuth) * np.sin(elevation), np.cos(elevation)])
    right = np.cross(up, back)
    center, half = bounds.mean(axis=0), 0.5 * MARGIN * np.ptp(bounds, axis=0)
    corners = half * np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    slope = math.tan(math.radians(VIEW_ANGLE / 2))
    distance = 0.0
    for across, slope_across in ((right, slope * aspect * room), (up, slope)):      # two sides of the picture each
        one, other = ((sign * corners @ across / slope_across + corners @ back).max() for sign in (1.0, -1.0))
        distance = max(distance, 0.5 * (one + other))
        center = center + 0.5 * slope_across * (one - other) * across
    slope /= camera[2]
    center = center + distance * slope * aspect * (1.0 - room) * right
    angle = 2.0 * math.degrees(math.atan(slope))
    return center + distance * back, center, up, angle


def checked_camera(camera):
    """Azimuth and elevation [degrees] and zoom from two or three numbers, or text: such numbers, or x, y, z."""
    pieces = camera.split(",") if isinstance(camera, str) else list(camera)
    numbers = [*VIEWS[pieces[0]], *pieces[1:]] if pieces and pieces[0] in VIEWS else pieces
    try:
        azimuth, elevation, zoom = map(float, numbers if len(numbers) == 3 else [*numbers, 1.0])
        if not (math.isfinite(azimuth + elevation) and 0.01 <= zoom <= 100.0):
            raise ValueError
    except (TypeError, ValueError):
        raise ValueError(f"camera: {camera!r}; give azimuth,elevation or azimuth,elevation,zoom, with a zoom from 0.01 "
                         "to 100, or x, y, z") from None
    return azimuth, elevation, zoom


def _plotter(size):
    """An off-screen window. Without a display VTK logs that there is no X server before it takes EGL or OSMesa."""
    pyvista = require()
    from vtkmodules.vtkCommonCore import vtkLogger
    vtkLogger.SetStderrVerbosity(vtkLogger.VERBOSITY_ERROR)
    plotter = pyvista.Plotter(off_screen=True, window_size=[SAMPLING * number for number in size], lighting="none")
    if plotter.render_window.GetClassName() == "vtkOSOpenGLRenderWindow" and not find_library("OSMesa"):
        raise OSError("there is neither a display nor a library for rendering without one; install EGL, on Debian or "
                      "Ubuntu:  apt-get install libegl1 libgl1-mesa-dri")       # VTK would end the process
    plotter.render_window.SetMultiSamples(0)            # has no effect on billboards and takes most of the time
    for position, intensity in LIGHTS:
        light = pyvista.Light(light_type="camera light", intensity=intensity)
        light.position = position
        plotter.add_light(light)
    return plotter


class Scene:
    """A picture that is drawn again for each frame, with the same camera, walls and colours.

    Parameters as of `show`, but
    bounds : (2, 3), what the camera shows (`bounds_of`);  span : values at the ends of the colour map (`value_range`)
    camera : three numbers, see `view`
    contacts : list (`middles`), samples from which the widths of the tubes follow. With them contacts are drawn
    and coloured instead of the spheres, which are mist.
    """

    def __init__(self, size, bounds, span, field="speed", colormap=None, background="white",
                 camera=CAMERA, transparent_walls=False, contacts=None):
        pyvista = require()
        from vtkmodules.vtkRenderingOpenGL2 import vtkOpenGLSphereMapper
        self.field, self.background = field, colour(background)
        dark = sum(self.background.float_rgb) < 1.5
        self.ink = "white" if dark else "black"
        self.font_size = SAMPLING * max(9, round(min(size) / 36))
        table = lookup_table(field, colormap, span)
        self.plotter = _plotter(size)
        self.plotter.set_background(self.background)
        self.transparent_walls = transparent_walls
        self.mapper = vtkOpenGLSphereMapper()
        self.mapper.SetScaleArray("radius")
        self.mapper.SetInputData(pyvista.PolyData())
        actor = pyvista.Actor()
        actor.SetMapper(self.mapper)
        actor.GetShaderProperty().AddGeometryShaderReplacement(*SILHOUETTE)
        actor.prop.specular, actor.prop.specular_power, actor.prop.ambient = 0.3, 20.0, 0.1
        self.plotter.add_actor(actor, reset_camera=False)
        aspect, extent = size[0] / size[1], np.linalg.norm(np.ptp(bounds, axis=0))
        position, focus, up, angle = view(camera, bounds, aspect, 1.0 - STRIP if label(field) else 1.0)
        distance = np.linalg.norm(position - focus)
        self.plotter.camera_position, self.plotter.camera.view_angle = [position, focus, up], angle
        self.plotter.camera.clipping_range = (max(distance - extent, 0.01 * distance), distance + 2.0 * extent)
        width = 2.0 * distance * math.tan(math.radians(angle / 2)) * aspect      # [m] at the middle of the bounds
        self.tubes, coloured = None, self.mapper
        if contacts is not None:
            self.mapper.ScalarVisibilityOff()
            actor.prop.color, actor.prop.opacity, actor.prop.lighting = self.ink, MIST, False
            self.tubes = Tubes(contacts, width / size[0])
            self.plotter.add_actor(self.tubes.actor, reset_camera=False)
            coloured = self.tubes.mapper
        coloured.SetScalarRange(*span)
        coloured.SetLookupTable(table)
        coloured.SetScalarModeToUsePointFieldData()
        coloured.SelectColorArray("colour")
        if label(field):
            add_colours(self.plotter, field, table, self.ink, self.font_size)
        self.text = self.plotter.add_text("t", position=(0.02, 0.93), viewport=True, color=self.ink)
        self.text.prop.font_size = self.font_size
        add_length(self.plotter, width, self.ink, self.font_size)
        self.plotter.add_axes(color=self.ink, viewport=(0.0, 0.0, 0.15, 0.2), line_width=4, label_size=(0.4, 0.16),
                              xlabel="x", ylabel="y", zlabel="z")       # at the lower left

    def set_walls(self, walls):
        """Show these walls instead of earlier ones: planes behind the spheres, others as glass, and edges."""
        planes, others, box = split_walls(walls)
        surface = planes.append_polydata(others)
        if self.transparent_walls:
            planes, others = require().PolyData(), surface
        self._add("planes", planes, culling="back", lighting=False, scalars="shade", rgb=True)
        self._add("glass", others, color=self.ink, opacity=GLASS)
        for name, lines in (("edges", surface.extract_feature_edges(30.0)), ("box", box)):
            self._add(name, lines, color="grey", line_width=1.2 * SAMPLING, lighting=False)

    def _add(self, name, mesh, **look):
        if mesh.n_cells and "scalars" in look:      # shaded once: light on large areas would take as long as spheres
            mesh = mesh.compute_normals(point_normals=False, auto_orient_normals=False, consistent_normals=False)
            ink = 0.14 - 0.05 * (mesh["Normals"] @ SKY)[:, None]
            mesh["shade"] = ink * colour(self.ink).float_rgb + (1.0 - ink) * self.background.float_rgb
        self.plotter.remove_actor(name)
        if mesh.n_cells:
            self.plotter.add_mesh(mesh, name=name, reset_camera=False, **look)

    def draw(self, frame, text="", contacts=None):
        """Picture, a PIL.Image, of the spheres of a frame and the contacts, with a text in the upper left corner."""
        from PIL import Image  # a dependency of pyvista
        from vtkmodules.vtkCommonCore import vtkUnsignedCharArray
        # The sphere mapper reads radii as float32, whatever they are.
        spheres = require().PolyData(np.asarray(frame.points, dtype=np.float32))
        spheres["radius"] = np.asarray(frame["radius"], dtype=np.float32)
        if self.tubes is None:
            spheres["colour"] = values(frame, self.field)
        else:
            self.tubes.show(contacts, values(contacts, self.field))
        self.mapper.SetInputData(spheres)
        self.text.input = text
        self.plotter.render_window.Render()
        width, height = self.plotter.window_size
        pixels = vtkUnsignedCharArray()
        self.plotter.render_window.GetPixelData(0, 0, width - 1, height - 1, 0, pixels, 0)
        upwards = -1                # the first row is the lowest
        return Image.frombuffer("RGB", (width, height), pixels, "raw", "RGB", 0, upwards).reduce(SAMPLING)

    def close(self):
        self.plotter.close()
