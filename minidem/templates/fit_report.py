"""How well a clump stands for the mesh it was made from::

    from minidem import ClumpTemplate
    from minidem.templates.fit_report import MeshReport
    from minidem.templates.triangle_mesh import TriangleMesh

    mesh = TriangleMesh.read("stone.stl", scale=1e-3)
    clump = ClumpTemplate.from_mesh(mesh, spheres=100, density=2500.0)
    print(MeshReport(mesh, clump))              # volume and inertia of both, side by side
"""
from dataclasses import dataclass, field

import numpy as np

from minidem.templates.triangle_mesh import TriangleMesh

BAD = 0.1           # a fit that is worse in volume, in a moment of inertia or in its centre is bad
KEPT = 0.9          # of the surface: a repair that leaves less has cut away parts of the body
SPARSE = 0.5        # spheres that fill less of the mesh show contacts another body, whatever its mass


@dataclass(frozen=True)
class MeshReport:
    """A mesh and a clump of it, side by side; relative differences are (spheres - mesh) / mesh.

    Differences are those of the union of the clump's spheres, also where the clump has mass and inertia of the
    mesh (`ClumpTemplate.from_mesh(..., match="mesh")`).

    Attributes: mesh; template; spheres, the template of the spheres alone; matched, whether mass, centre and
    inertia of the template are others than theirs; volume_error; center_error, distance of the centres of mass
    over the cube root of the mesh's volume; inertia_error (3,), of the principal moments about each body's own
    centre, ascending, at the density of the template; complaint, a sentence with numbers and remedies where the
    fit is bad, else None.
    """
    mesh: TriangleMesh
    template: object
    spheres: object = field(init=False)

    def __post_init__(self):
        clump = self.template
        object.__setattr__(self, "spheres", type(clump)(clump.centers, clump.radii, clump.density))

    @property
    def matched(self):
        return self.template.mass != self.spheres.mass

    @property
    def volume_error(self):
        return self.spheres.volume / self.mesh.volume - 1.0

    @property
    def center_error(self):
        away = self.spheres.center_of_mass - self.mesh.center_of_mass
        return float(np.sqrt(away @ away)) / self.mesh.volume ** (1.0 / 3.0)

    @property
    def inertia_error(self):
        return np.asarray(self.spheres.inertia / (self.spheres.density * self.mesh.moments) - 1.0)

    @property
    def complaint(self):
        if self.mesh.kept < KEPT:
            return (f"{self.mesh.name}: the repair kept {100 * self.mesh.kept:.0f} % of the surface; look at the "
                    "picture of tools/make_clump.py, or fill the holes in a mesh editor")
        worst = self.inertia_error[np.abs(self.inertia_error).argmax()]
        if self.matched:
            if self.volume_error >= -SPARSE:
                return None
            remedies = "ask for more spheres: contacts meet these alone"
        elif max(abs(self.volume_error), abs(worst), self.center_error) > BAD:
            remedies = ("ask for more spheres, or for match='mesh' (make_clump: --match mesh), which gives the clump "
                        "mass, centre and inertia of the mesh")
        else:
            return None
        bodies = (f"; the mesh has {self.mesh.bodies} bodies, and where these overlap its volume counts twice"
                  if self.mesh.bodies > 1 else "")
        return (f"{self.mesh.name}: {len(self.spheres.radii)} spheres fit badly: volume "
                f"{100 * self.volume_error:+.1f} %, inertia {100 * worst:+.1f} %, centre of mass off by "
                f"{100 * self.center_error:.1f} % of volume^(1/3){bodies}; {remedies}")

    def __str__(self):
        mesh, clump = self.mesh, self.spheres
        rows = [("", "mesh", "spheres", "difference"),
                ("volume [m3]", f"{mesh.volume:.6g}", f"{clump.volume:.6g}",
                 f"{100 * self.volume_error:+.2f} %")]
        for k, error in enumerate(self.inertia_error):
            rows.append((f"inertia {k + 1} [kg m2]", f"{clump.density * mesh.moments[k]:.6g}",
                         f"{clump.inertia[k]:.6g}", f"{100 * error:+.2f} %"))
        rows.append(("centre of mass", "", "", f"{100 * self.center_error:.2f} % of volume^(1/3)"))
        head = (f"{len(clump.radii)} spheres of radius {clump.radii.min():.4g} to {clump.radii.max():.4g} m, "
                f"inside {len(mesh.triangles)} triangles")
        if mesh.filled:
            head += (f"; {mesh.filled} open edges were closed, {100 * mesh.kept:.0f} % of the surface kept: compare "
                     "the shape with the picture")
        foot = ["the clump has mass, centre of mass and inertia of the mesh"] if self.matched else []
        return "\n".join([head] + [f"{a:<20}{b:>14}{c:>14}  {d}".rstrip() for a, b, c, d in rows] + foot)
