"""See a run in ParaView: its spheres, coloured by speed, in the outline of the box.

A picture, without a window (on a machine without a display put `xvfb-run -a` in front):

    pvbatch tools/paraview_view.py results/rods_in_box/rods_in_box.pvd --png rods.png --time 1.5

In ParaView itself: open the .pvd file, press Apply, then View > Python Shell > Run Script, and choose
this file. It shows the data opened (or, with nothing opened, the file named in the environment variable
MINIDEM_PVD).

Needs ParaView 5.11 or newer, with its Python (Debian and Ubuntu: paraview and python3-paraview).
"""

import argparse
import os
import sys

from paraview import simple as pv

TEXT = [0.1, 0.1, 0.1]


def series(path):
    """The reader of a .pvd file, up to date."""
    if not os.path.isfile(path):
        sys.exit(f"paraview_view: there is no file {path}")
    reader = pv.PVDReader(registrationName=os.path.basename(path), FileName=path)
    reader.UpdatePipeline()
    return reader


def show_spheres(reader, view, time):
    """Points as shaded spheres of their own radius: the representation that copes with millions."""
    view.ViewTime = time
    reader.UpdatePipeline(time)
    shown = pv.Show(reader, view, "UnstructuredGridRepresentation")
    shown.SetRepresentationType("Point Gaussian")
    shown.ShaderPreset = "Sphere"
    shown.GaussianRadius = 1.0
    shown.ScaleByArray = 1
    shown.SetScaleArray = ["POINTS", "radius"]
    shown.UseScaleFunction = 0
    pv.ColorBy(shown, ("POINTS", "velocity", "Magnitude"))
    colours = pv.GetColorTransferFunction("velocity")
    colours.ApplyPreset("Viridis (matplotlib)", True)
    shown.RescaleTransferFunctionToDataRange(False, True)
    bar = pv.GetScalarBar(colours, view)
    bar.Title, bar.ComponentTitle = "speed (m/s)", ""
    bar.TitleColor = bar.LabelColor = TEXT
    bar.TitleFontSize = bar.LabelFontSize = 14
    bar.TitleBold = 0
    bar.WindowLocation = "Any Location"
    bar.Position, bar.ScalarBarLength = [0.89, 0.3], 0.4
    bar.AutomaticLabelFormat = 0
    bar.LabelFormat = bar.RangeLabelFormat = "%.3g"
    shown.SetScalarBarVisibility(view, True)


def show_walls(path, view):
    """The edges of the walls, if the run has written any."""
    if os.path.isfile(path):
        walls = pv.XMLUnstructuredGridReader(registrationName="walls", FileName=[path])
        edges = pv.Show(walls, view, "UnstructuredGridRepresentation")
        edges.SetRepresentationType("Wireframe")
        edges.AmbientColor = edges.DiffuseColor = [0.25, 0.25, 0.25]
        edges.LineWidth = 1.5


def show_time(reader, view):
    label = pv.AnnotateTimeFilter(registrationName="time", Input=reader, Format="t = {time:.3f} s")
    text = pv.Show(label, view, "TextSourceRepresentation")
    text.Color, text.FontSize = TEXT, 16
    text.WindowLocation = "Upper Left Corner"


def look_at_all(view):
    """From the front, a little from the right and above, with the z axis up."""
    view.CameraFocalPoint = [0.0, 0.0, 0.0]
    view.CameraPosition = [0.45, -1.0, 0.35]
    view.CameraViewUp = [0.0, 0.0, 1.0]
    pv.ResetCamera(view)


def main():
    parser = argparse.ArgumentParser(prog="paraview_view.py", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pvd", nargs="?", default=os.environ.get("MINIDEM_PVD"), help="time series of a run")
    parser.add_argument("--png", metavar="FILE", help="picture to write")
    parser.add_argument("--time", type=float, help="instant to show [s] (default: the last)")
    parser.add_argument("--size", type=int, nargs=2, default=[1280, 1024], metavar=("W", "H"),
                        help="of the picture, in pixels (default: 1280 1024)")
    # ParaView's own shell has arguments of its own, or none at all.
    options, _ = parser.parse_known_args(getattr(sys, "argv", [""])[1:])

    reader = pv.GetActiveSource() if options.pvd is None else series(options.pvd)
    if reader is None or not hasattr(reader, "FileName"):
        parser.error("name a .pvd file, or open one in ParaView first")
    times = list(reader.TimestepValues)
    if not times:
        sys.exit(f"paraview_view: {reader.FileName} lists no frame")
    time = times[-1] if options.time is None else min(times, key=lambda one: abs(one - options.time))

    view = pv.GetActiveViewOrCreate("RenderView")
    view.UseColorPaletteForBackground = 0
    view.BackgroundColorMode = "Single Color"
    view.Background = [1.0, 1.0, 1.0]
    view.OrientationAxesLabelColor = TEXT
    show_spheres(reader, view, time)
    show_walls(os.path.join(os.path.dirname(reader.FileName), "walls.vtu"), view)
    show_time(reader, view)
    look_at_all(view)
    pv.Render(view)
    if options.png:
        view.ViewSize = options.size
        pv.SaveScreenshot(options.png, view, ImageResolution=options.size)


main()  # also in ParaView's shell, where __name__ is not "__main__"
