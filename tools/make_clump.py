"""Make a clump from a mesh: fill a closed surface with spheres, write a sphere file and a picture.

    python tools/make_clump.py stone.stl --spheres 100      # writes stone.txt and, with matplotlib, stone.png
    python tools/make_clump.py *.stl --table                # quality of the fit for several meshes, no files

Prints volume and principal inertia of the spheres and of the mesh, and a warning if they differ by more than 10 %.
The sphere file has the density and one line x,y,z,r per sphere [m]; `minidem.ClumpTemplate.from_file` and other codes
read it.
"""
import argparse
import sys
import time
import warnings
from pathlib import Path

import numpy as np

from minidem import ClumpTemplate
from minidem.mesh_report import MeshReport
from minidem.render.scene import nice_length
from minidem.scenario import plot
from minidem.templates.triangle_mesh import TriangleMesh


def draw(figure, report):
    """Mesh and clump side by side."""
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    mesh, clump = report.mesh, report.template
    low, high = mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)
    for column, triangles, title in (
            (1, mesh.corners, f"mesh, {len(mesh.triangles)} triangles"),
            (2, sphere_triangles(clump),
             f"{len(clump.radii)} spheres, volume {100 * report.volume_error:+.1f} %")):
        axes = figure.add_subplot(1, 2, column, projection="3d")
        axes.add_collection3d(Poly3DCollection(triangles, facecolors="#c8a878", shade=True))
        axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), zlim=(low[2], high[2]), title=title)
        axes.set_box_aspect(high - low, zoom=0.9)
        axes.view_init(elev=15, azim=-65)
        axes.set_proj_type("ortho")         # one scale for both pictures
        axes.set_axis_off()
        add_length(axes, low, high)


def add_length(axes, low, high):
    """Scale of lengths along the lower front edge of the bounding box."""
    length, text = nice_length(0.5 * (high[0] - low[0]))
    below = low[2] - 0.04 * (high[2] - low[2])
    start, end = (low[0], low[1], below), (low[0] + length, low[1], below)
    bar, = axes.plot(*zip(start, end), color="black", linewidth=1.5, clip_on=False)
    label = axes.text(*np.mean([start, end], axis=0), f"\n{text}", ha="center", va="top")
    bar.set_in_layout(False)
    label.set_in_layout(False)


def sphere_triangles(clump, turns=18):
    """Triangles (m, 3, 3) of the visible parts of the spheres, with an overlap at the intersections."""
    polar, around = np.linspace(0.0, np.pi, turns // 2 + 1), np.linspace(0.0, 2.0 * np.pi, turns + 1)
    u = np.stack([np.outer(np.sin(polar), np.cos(around)), np.outer(np.sin(polar), np.sin(around)),
                  np.outer(np.cos(polar), np.ones_like(around))], axis=2)
    a, b, c, d = u[:-1, :-1], u[1:, :-1], u[1:, 1:], u[:-1, 1:]
    unit = np.concatenate([np.stack(t, axis=2).reshape(-1, 3, 3) for t in ((a, b, c), (a, c, d))])
    shown = []
    for k, (center, radius) in enumerate(zip(clump.centers, clump.radii)):
        triangles = center + radius * unit
        away = np.linalg.norm(triangles.mean(axis=1)[:, None] - clump.centers, axis=2) - clump.radii
        away[:, k] = np.inf
        shown.append(triangles[away.min(axis=1) > -0.25 * radius])
    return np.concatenate(shown)


def fit(path, options):
    """MeshReport of the clump fitted to a mesh file."""
    mesh = TriangleMesh.read(path, options.scale, options.repair)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)        # the report contains the warning
        clump = ClumpTemplate.from_mesh(mesh, options.spheres, options.density, match=options.match)
    return MeshReport(mesh, clump)


def table(options):
    """Print one row per mesh. Returns 1 if a fit is bad or impossible, otherwise 0."""
    print(f"{'volume':>8} {'inertia':>8} {'centre':>8} {'spheres':>7} {'triangles':>9} {'bodies':>6} {'s':>6}  mesh")
    status = 0
    for path in options.mesh:
        start = time.perf_counter()
        try:
            report = fit(path, options)
        except (ValueError, OSError) as error:
            print(f"{'no clump':>58}  {error}")
            status = 1
            continue
        print(f"{100 * report.volume_error:+8.1f} {100 * report.worst_inertia_error:+8.1f} "
              f"{100 * report.center_error:8.1f} {len(report.template.radii):7} {len(report.mesh.triangles):9} "
              f"{report.mesh.bodies:6} {time.perf_counter() - start:6.1f}  {path}"
              f"{'  BAD FIT' if report.warning else ''}", flush=True)
        status |= report.warning is not None
    print("deviation of the spheres from the mesh in %: volume, worst principal moment of inertia, centre of mass over "
          "volume^(1/3)")
    return status


def write(options):
    """Write sphere file and picture for one mesh."""
    path = options.mesh[0]
    out = options.out or path.with_suffix(".txt")
    png = options.png or out.with_suffix(".png")
    report = fit(path, options)
    report.template.to_file(out)
    drawn = plot.save(png, (10.0, 5.4), lambda figure: draw(figure, report))
    print(report)
    print(f"written: {out}, {png}" if drawn else f"written: {out}; a picture needs matplotlib")
    if report.warning:
        print(f"make_clump: WARNING: {report.warning}", file=sys.stderr)
    return 0


def main(argv=None):
    parser = argparse.ArgumentParser(prog="make_clump.py", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mesh", type=Path, nargs="+",
                        help="closed surface: .stl, .obj, .ply, .off, or .glb with the extra 'mesh'; several only "
                             "with --table")
    parser.add_argument("--spheres", type=int, default=100, metavar="N",
                        help="largest number of spheres (default: 100)")
    parser.add_argument("--scale", type=float, default=1.0, metavar="S",
                        help="length unit of the mesh file in m: 1e-3 for mm (default: 1)")
    parser.add_argument("--density", type=float, default=2500.0, metavar="RHO",
                        help="density, which the sphere file holds [kg/m3] (default: 2500)")
    parser.add_argument("--match", choices=("spheres", "mesh"), default="spheres",
                        help="source of mass, centre of mass and inertia of the clump (default: spheres)")
    parser.add_argument("--repair", action="store_true",
                        help="fill the holes of a mesh that is not watertight (pymeshfix, in the extra 'mesh'); "
                             "check the picture")
    parser.add_argument("--out", type=Path, metavar="FILE", help="sphere file (default: name of the mesh with .txt)")
    parser.add_argument("--png", type=Path, metavar="FILE",
                        help="picture (default: the sphere file with .png)")
    parser.add_argument("--table", action="store_true",
                        help="write no files; print one row per mesh, exit status 1 if a fit is bad or impossible")
    options = parser.parse_args(argv)
    if len(options.mesh) > 1 and not options.table:
        parser.error("argument mesh: give one mesh, or --table with several")
    try:
        return table(options) if options.table else write(options)
    except (ValueError, OSError) as error:
        print(f"make_clump: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
