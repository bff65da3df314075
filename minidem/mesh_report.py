"""How well a clump stands for the mesh it was made from::

    from minidem import ClumpTemplate
    from minidem.mesh_report import MeshReport
    from minidem.meshes import TriangleMesh

    mesh = TriangleMesh.read("stone.stl", scale=1e-3)
    clump = ClumpTemplate.from_mesh(mesh, spheres=100, density=2500.0)
    print(MeshReport(mesh, clump))              # volume and inertia of both, side by side
"""
from dataclasses import dataclass

import numpy as np

from .clump import ClumpTemplate
from .meshes import TriangleMesh


@dataclass(frozen=True)
class MeshReport:
    """A mesh and a clump of it, side by side; relative differences are (clump - mesh) / mesh.

    Attributes: mesh; template; volume_error; center_error, distance of the centres of mass over the cube
    root of the mesh's volume; inertia_error (3,), of the principal moments about each body's own centre,
    ascending, at the density of the template.
    """
    mesh: TriangleMesh
    template: ClumpTemplate

    @property
    def volume_error(self):
        return self.template.volume / self.mesh.volume - 1.0

    @property
    def center_error(self):
        away = self.template.center_of_mass - self.mesh.center_of_mass
        return float(np.sqrt(away @ away)) / self.mesh.volume ** (1.0 / 3.0)

    @property
    def inertia_error(self):
        return self.template.inertia / (self.template.density * self.mesh.moments) - 1.0

    def __str__(self):
        mesh, clump = self.mesh, self.template
        rows = [("", "mesh", "clump", "difference"),
                ("volume [m3]", f"{mesh.volume:.6g}", f"{clump.volume:.6g}",
                 f"{100 * self.volume_error:+.2f} %")]
        for k, error in enumerate(self.inertia_error):
            rows.append((f"inertia {k + 1} [kg m2]", f"{clump.density * mesh.moments[k]:.6g}",
                         f"{clump.inertia[k]:.6g}", f"{100 * error:+.2f} %"))
        rows.append(("centre of mass", "", "", f"{100 * self.center_error:.2f} % of volume^(1/3)"))
        head = (f"{len(clump.radii)} spheres of radius {clump.radii.min():.4g} to {clump.radii.max():.4g} m, "
                f"inside {len(mesh.triangles)} triangles")
        return "\n".join([head] + [f"{a:<20}{b:>14}{c:>14}  {d}".rstrip() for a, b, c, d in rows])
