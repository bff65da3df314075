"""Make a clump from a mesh: fill a closed surface with spheres, write them as text, draw a picture.

    python tools/make_clump.py stone.stl --spheres 100

writes stone.txt and, with matplotlib, stone.png. Prints volume and principal inertia of the clump beside
those of the mesh. The text, a line x,y,z,r per sphere in m, is what `minidem.ClumpTemplate.from_file` reads,
and other codes as well.
"""
import argparse
import sys
from pathlib import Path

import numpy as np

from minidem import ClumpTemplate
from minidem.mesh_report import MeshReport
from minidem.meshes import TriangleMesh
from minidem.scenario import plot


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
        axes.set_box_aspect(high - low)
        axes.view_init(elev=15, azim=-65)
        axes.set_axis_off()


def sphere_triangles(clump, turns=18):
    """Triangles (m, 3, 3) of the clump's spheres, of those parts that show, and a rim under the others."""
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


def main(argv=None):
    parser = argparse.ArgumentParser(prog="make_clump.py", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mesh", type=Path, help="closed surface: .stl, .obj or .ply")
    parser.add_argument("--spheres", type=int, default=100, metavar="N", help="how many at most (default: 100)")
    parser.add_argument("--scale", type=float, default=1.0, metavar="S",
                        help="what a unit of the mesh file is in m: 1e-3 for mm (default: 1)")
    parser.add_argument("--density", type=float, default=2500.0, metavar="RHO",
                        help="[kg/m3], for the printed inertia (default: 2500)")
    parser.add_argument("--out", type=Path, metavar="FILE", help="text to write (default: beside the mesh, .txt)")
    parser.add_argument("--png", type=Path, metavar="FILE",
                        help="picture to write (default: beside the text, .png)")
    options = parser.parse_args(argv)
    out = options.out or options.mesh.with_suffix(".txt")
    png = options.png or out.with_suffix(".png")
    try:
        mesh = TriangleMesh.read(options.mesh, options.scale)
        clump = ClumpTemplate.from_mesh(mesh, options.spheres, options.density)
        report = MeshReport(mesh, clump)
        clump.to_file(out)
        drawn = plot.save(png, (10.0, 5.4), lambda figure: draw(figure, report))
    except (ValueError, OSError) as error:
        print(f"make_clump: {error}", file=sys.stderr)
        return 2
    print(report)
    print(f"written: {out}, {png}" if drawn else f"written: {out}; a picture needs matplotlib")
    return 0


if __name__ == "__main__":
    sys.exit(main())
