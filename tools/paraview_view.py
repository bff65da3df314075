"""Show a run in ParaView: spheres coloured by speed, and the walls as glass with their edges.

Contacts, of a run with --contacts, are shown as tubes coloured by their force, between translucent spheres. Radii are
proportional to the force; the largest force at the time that is shown first has 0.4 of the largest radius of a sphere.

A picture, without a window (without a display, put `xvfb-run -a` in front):

    pvbatch tools/paraview_view.py results/rods_in_box/rods_in_box.pvd --png rods.png --time 1.5

An interactive window:

    pvpython tools/paraview_view.py results/rods_in_box/rods_in_box.pvd

A single frame (.vtu) also works. In ParaView itself: open the .pvd file, press Apply, then View > Python Shell >
Run Script, and choose this file. It shows the open data, or, if there is none, the file named in the environment
variable MINIDEM_PVD.

Requires ParaView 5.11 or newer, with its Python (Debian and Ubuntu: paraview and python3-paraview).
"""

import argparse
import os
import sys
from xml.etree import ElementTree

try:
    from paraview import simple as pv
except ModuleNotFoundError:     # --help and the checks of the options work without ParaView
    pv = None

TEXT = [0.1, 0.1, 0.1]
GREY = [0.25, 0.25, 0.25]
SPHERES, WALLS, CONTACTS = 0, 1, 2      # part numbers in a .pvd file
MIST = 0.08                             # opacity of spheres among contacts
GLASS = 0.08                            # and of walls
THICKEST = 0.4                          # radius of the tube of the largest force, in largest radii of spheres


def parse(words):
    """Options of a command line."""
    parser = argparse.ArgumentParser(prog="paraview_view.py", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", default=os.environ.get("MINIDEM_PVD"),
                        help="time series (.pvd) or single frame (.vtu) of a run")
    parser.add_argument("--png", metavar="FILE", help="picture to write (default: open a window, requires pvpython)")
    parser.add_argument("--time", type=float,
                        help="show the frame nearest to this time [s] (default: the last)")
    parser.add_argument("--no-contacts", action="store_true", help="show the spheres alone, coloured by speed")
    parser.add_argument("--size", type=int, nargs=2, default=[1280, 1024], metavar=("W", "H"),
                        help="size of the picture in pixels (default: 1280 1024)")
    options = parser.parse_args(words)
    if options.file is not None:
        if not os.path.isfile(options.file):
            parser.error(f"there is no file {options.file}")
        if not options.file.endswith((".pvd", ".vtu")):
            parser.error(f"{options.file}: give the .pvd file of a run, or a .vtu file of its folder frames/")
        if options.time is not None and options.file.endswith(".vtu"):
            parser.error(f"--time: {options.file} is a single frame; give the .pvd file of the run")
    if options.png is not None:
        if not options.png.endswith(".png"):
            parser.error(f"--png: {options.png} does not end in .png")
        if not os.path.isdir(os.path.dirname(options.png) or "."):
            parser.error(f"--png: there is no folder {os.path.dirname(options.png)}")
    return options


def nearest(times, wanted):
    """Element of `times` nearest to `wanted`; the last if that is None."""
    if wanted is None:
        return times[-1]
    if not times[0] <= wanted <= times[-1]:
        sys.exit(f"paraview_view: --time: {wanted:g} s is not in the series, which goes from {times[0]:g} to "
                 f"{times[-1]:g} s")
    return min(times, key=lambda one: abs(one - wanted))


def reader_of(path):
    """Updated reader of a .pvd or .vtu file."""
    make, file = (pv.PVDReader, path) if path.endswith(".pvd") else (pv.XMLUnstructuredGridReader, [path])
    reader = make(registrationName=os.path.basename(path), FileName=file)
    reader.UpdatePipeline()
    return reader


def parts_of(reader, path):
    """Sources of the spheres, walls and contacts of a file, by part number; several parts are blocks in their order."""
    numbers = [SPHERES]
    if path.endswith(".pvd"):
        numbers = sorted({int(entry.get("part", SPHERES)) for entry in ElementTree.parse(path).iter("DataSet")})
    if len(numbers) == 1:
        return {SPHERES: reader}
    pv.Hide(reader)
    names = {SPHERES: "spheres", WALLS: "moving walls", CONTACTS: "contacts"}
    return {number: pv.ExtractBlock(registrationName=names[number], Input=reader, Selectors=[f"/Root/Block{block}"])
            for block, number in enumerate(numbers)}


def show_spheres(spheres, view, alone):
    """Points as shaded spheres with their radii, a representation for millions of spheres."""
    shown = pv.Show(spheres, view, "UnstructuredGridRepresentation")
    shown.SetRepresentationType("Point Gaussian")
    shown.ShaderPreset = "Sphere"
    shown.GaussianRadius = 1.0
    shown.ScaleByArray = 1
    shown.SetScaleArray = ["POINTS", "radius"]
    shown.UseScaleFunction = 0
    if alone:
        pv.ColorBy(shown, ("POINTS", "velocity", "Magnitude"))
        colour_scale(shown, view, "velocity", "speed (m/s)")
    else:
        shown.ColorArrayName = [None, ""]
        shown.AmbientColor = shown.DiffuseColor = GREY
        shown.Opacity = MIST


def show_contacts(contacts, view, largest_radius):
    """Lines as tubes whose radius is proportional to the force."""
    at_ends = pv.CellDatatoPointData(registrationName="forces", Input=contacts)
    at_ends.UpdatePipeline(view.ViewTime)
    force = at_ends.PointData.GetArray("force")
    lines = pv.ExtractSurface(registrationName="lines", Input=at_ends)
    scale = THICKEST * largest_radius / (force and force.GetRange()[1] or 1.0)      # [m/N]
    radii = pv.Calculator(registrationName="radii", Input=lines, Function=f"{scale!r}*force",
                          ResultArrayName="tube_radius")
    tubes = pv.Tube(registrationName="tubes", Input=radii, Scalars=["POINTS", "tube_radius"],
                    VaryRadius="By Absolute Scalar", NumberofSides=12)
    shown = pv.Show(tubes, view, "GeometryRepresentation")
    pv.ColorBy(shown, ("POINTS", "force"))
    colour_scale(shown, view, "force", "force (N)")


def colour_scale(shown, view, array, title):
    """Colours of an array from 0 to its largest value, and their scale at the right."""
    colours = pv.GetColorTransferFunction(array)
    colours.ApplyPreset("Viridis (matplotlib)", True)
    shown.RescaleTransferFunctionToDataRange(False, True)
    colours.RescaleTransferFunction(0.0, colours.RGBPoints[-4])     # points of four numbers: value, red, green, blue
    bar = pv.GetScalarBar(colours, view)
    bar.Title, bar.ComponentTitle = title, ""
    bar.TitleColor = bar.LabelColor = TEXT
    bar.TitleFontSize = bar.LabelFontSize = 14
    bar.TitleBold = 0
    bar.WindowLocation = "Any Location"
    bar.Position, bar.ScalarBarLength = [0.84, 0.3], 0.4
    bar.AutomaticLabelFormat = 0
    bar.LabelFormat = bar.RangeLabelFormat = "%.3g"
    shown.SetScalarBarVisibility(view, True)


def show_walls(walls, view):
    """Walls as glass, with the edges at which a surface ends or bends by 30 degrees, and the edges of a periodic box.

    All edges of the triangles of a mesh would hide what is in it.
    """
    box = pv.ExtractCellsByType(registrationName="edges of the box", Input=walls, CellTypes=["Line"])
    glass = pv.ExtractSurface(registrationName="glass", Input=walls)
    for source, kind, opacity in ((walls, "Feature Edges", 1.0), (box, "Wireframe", 1.0), (glass, "Surface", GLASS)):
        shown = pv.Show(source, view)
        shown.SetRepresentationType(kind)
        shown.ColorArrayName = [None, ""]
        shown.AmbientColor = shown.DiffuseColor = GREY
        shown.LineWidth, shown.Opacity = 1.5, opacity


def show_time(reader, view):
    label = pv.AnnotateTimeFilter(registrationName="time", Input=reader, Format="t = {time:.3f} s")
    text = pv.Show(label, view, "TextSourceRepresentation")
    text.Color, text.FontSize = TEXT, 16
    text.WindowLocation = "Upper Left Corner"


def set_camera(view):
    """View from the front, slightly from the right and above, z axis up."""
    view.CameraFocalPoint = [0.0, 0.0, 0.0]
    view.CameraPosition = [0.45, -1.0, 0.35]
    view.CameraViewUp = [0.0, 0.0, 1.0]
    pv.ResetCamera(view)


def show(reader, wanted, with_contacts=True):
    """View with spheres, walls, contacts and time. wanted: time [s] or None."""
    path = reader.FileName if isinstance(reader.FileName, str) else reader.FileName[0]
    folder = os.path.dirname(os.path.abspath(path))
    times = list(reader.TimestepValues or ())
    if not times and path.endswith(".pvd"):
        sys.exit(f"paraview_view: {path} lists no frame")
    time = nearest(times, wanted) if times else 0.0
    reader.UpdatePipeline(time)
    if not {"radius", "velocity"} <= set(reader.PointData.keys()):
        sys.exit(f"paraview_view: {path} has no spheres with radius and velocity; give the .pvd file of a run, or a "
                 ".vtu file of its folder frames/")
    view = pv.GetActiveViewOrCreate("RenderView")
    view.UseColorPaletteForBackground = 0
    view.BackgroundColorMode = "Single Color"
    view.Background = [1.0, 1.0, 1.0]
    view.OrientationAxesLabelColor = TEXT
    view.ViewTime = time
    parts = parts_of(reader, path)
    with_contacts = with_contacts and CONTACTS in parts
    show_spheres(parts[SPHERES], view, not with_contacts)
    if with_contacts:
        show_contacts(parts[CONTACTS], view, reader.PointData["radius"].GetRange()[1])
    still = os.path.join(folder if times else os.path.dirname(folder), "walls.vtu")
    if WALLS in parts:
        show_walls(parts[WALLS], view)
    elif os.path.isfile(still):
        show_walls(pv.XMLUnstructuredGridReader(registrationName="walls", FileName=[still]), view)
    if times:
        show_time(reader, view)
    set_camera(view)
    pv.Render(view)
    return view


def has_window():
    """True in pvpython with a display; pvbatch has no window."""
    from paraview.modules.vtkRemotingCore import vtkProcessModule
    display = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or sys.platform in ("darwin", "win32")
    return bool(display) and vtkProcessModule.GetProcessType() != vtkProcessModule.PROCESS_BATCH


def main(words):
    """words: arguments of the command line; None in the Python shell of ParaView."""
    options = parse(words or [])
    if pv is None:
        sys.exit("paraview_view: this Python has no ParaView; run it with pvbatch or pvpython, which come with "
                 "ParaView")
    if words is not None and options.file is None:
        sys.exit("paraview_view: name the .pvd file of a run")
    if words is not None and options.png is None and not has_window():
        sys.exit("paraview_view: there is no window here; give --png FILE for a picture, or take pvpython, on a "
                 "display, for a window")
    reader = pv.GetActiveSource() if options.file is None else reader_of(options.file)
    if reader is None or not hasattr(reader, "FileName"):
        sys.exit("paraview_view: open a .pvd file in ParaView first")
    view = show(reader, options.time, not options.no_contacts)
    if options.png is not None:
        view.ViewSize = options.size
        pv.SaveScreenshot(options.png, view, ImageResolution=options.size)
    elif words is not None:
        view.ViewSize = options.size
        pv.Interact(view)


if __name__ in ("__main__", "__vtkconsole__"):      # the latter in the shell of ParaView
    main(sys.argv[1:] if getattr(sys, "argv", None) and sys.argv[0] else None)
