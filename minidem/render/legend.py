"""What explains a picture: the scale of the colours, a scale of lengths and the directions of the axes."""
import math

from minidem.render.colour import label, ticks
from minidem.render.extra import require

WIDTH = 0.14                                    # part of the picture's width for the scale of the colours
LENGTH = 0.16                                   # the scale of lengths is at most this part of the picture's width
RIGHT, BOTTOM, TICK = 0.97, 0.035, 0.008        # its place and the height of its ends, in parts of the picture
AXES = (0.0, 0.0, 0.15, 0.2)                    # left, bottom, right, top
UNITS = ("m", 1.0), ("mm", 1e-3), ("µm", 1e-6)


def add_colours(plotter, field, table, ink, font_size):
    """Scale of the colours at the right: a continuous one, or one box for each category with its number."""
    pyvista = require()
    mapper = pyvista.DataSetMapper()
    mapper.lookup_table, mapper.scalar_range = table, table.scalar_range
    bar = plotter.add_scalar_bar(
        label(field), mapper=mapper, color=ink, vertical=True, position_x=1.0 - 0.85 * WIDTH, position_y=0.25,
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
    name, unit = next(((name, unit) for name, unit in UNITS if length >= 0.0999 * unit), UNITS[-1])
    return length, f"{length / unit:.4g} {name}"


def add_length(plotter, width, ink, font_size):
    """Scale of lengths at the lower right. width: of the picture [m], at the middle of what the camera shows."""
    from vtkmodules.vtkRenderingCore import vtkActor2D, vtkCoordinate, vtkPolyDataMapper2D
    length, text = nice_length(LENGTH * width)
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


def add_axes(plotter, ink):
    """Directions of the axes at the lower left."""
    plotter.add_axes(color=ink, viewport=AXES, line_width=4, label_size=(0.4, 0.16), xlabel="x", ylabel="y", zlabel="z")
