"""Comparison of a clump with the mesh it was fitted to: `print(MeshReport(mesh, clump))`."""
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from minidem.templates.triangle_mesh import TriangleMesh

MAX_DIFFERENCE = 0.1    # of volume, moments of inertia and centre of mass; beyond it the report warns
MIN_SURFACE = 0.9       # part of the surface left by a repair; below it the report warns
MIN_FILLING = 0.5       # part of the mesh filled by the spheres, below which a matched clump is reported


@dataclass(frozen=True)
class MeshReport:
    """Comparison of a mesh and a clump fitted to it; relative differences are (spheres - mesh) / mesh.

    Differences are computed for the union of the spheres, also for a clump with the mass properties of the mesh
    (`ClumpTemplate.from_mesh(..., match="mesh")`).

    Parameters
    ----------
    mesh : TriangleMesh
    template : ClumpTemplate

    Attributes
    ----------
    spheres : ClumpTemplate
        The spheres alone, with the mass properties of their union.
    """
    mesh: TriangleMesh
    template: Any
    spheres: Any = field(init=False)

    def __post_init__(self):
        clump = self.template
        object.__setattr__(self, "spheres", type(clump)(clump.centers, clump.radii, clump.density))

    @property
    def matched(self) -> bool:
        """Whether the mass properties of the template differ from the union of its spheres."""
        return self.template.mass != self.spheres.mass

    @property
    def volume_error(self) -> float:
        """Relative difference of the volume."""
        return self.spheres.volume / self.mesh.volume - 1.0

    @property
    def center_error(self) -> float:
        """Distance of the centres of mass over the cube root of the volume of the mesh."""
        away = self.spheres.center_of_mass - self.mesh.center_of_mass
        return float(np.sqrt(away @ away)) / self.mesh.volume ** (1.0 / 3.0)

    @property
    def inertia_error(self) -> np.ndarray:
        """Relative differences (3,) of the ascending principal moments, each about its own centre of mass."""
        return np.asarray(self.spheres.inertia / (self.spheres.density * self.mesh.moments) - 1.0)

    @property
    def worst_inertia_error(self) -> float:
        """The element of `inertia_error` that is largest in magnitude."""
        return self.inertia_error[np.abs(self.inertia_error).argmax()]

    @property
    def warning(self) -> str | None:
        """A sentence with the differences and the remedies if the fit is bad, else None."""
        mesh, worst = self.mesh, self.worst_inertia_error
        if mesh.remaining_surface < MIN_SURFACE:
            return (f"{mesh.name}: {100 * mesh.remaining_surface:.0f} % of the surface is left after the repair; look "
                    "at the picture of tools/make_clump.py, or fill the holes in a mesh editor")
        if self.matched:
            if self.volume_error >= -MIN_FILLING:
                return None
            remedies = "increase spheres: contacts are those of the spheres alone"
        elif max(abs(self.volume_error), abs(worst), self.center_error) > MAX_DIFFERENCE:
            remedies = ("increase spheres, or give match='mesh' (make_clump: --match mesh) for mass, centre and "
                        "inertia of the mesh")
        else:
            return None
        bodies = (f"; the mesh has {mesh.bodies} bodies, and their overlaps count twice in its volume"
                  if mesh.bodies > 1 else "")
        return (f"{mesh.name}: {len(self.spheres.radii)} spheres fit badly: volume "
                f"{100 * self.volume_error:+.1f} %, inertia {100 * worst:+.1f} %, centre of mass off by "
                f"{100 * self.center_error:.1f} % of volume^(1/3){bodies}; {remedies}")

    def __str__(self):
        mesh, clump = self.mesh, self.spheres
        rows = [("", "mesh", "spheres", "difference"),
                ("volume [m3]", f"{mesh.volume:.6g}", f"{clump.volume:.6g}", f"{100 * self.volume_error:+.2f} %")]
        rows += [(f"inertia {k + 1} [kg m2]", f"{clump.density * mesh.moments[k]:.6g}", f"{clump.inertia[k]:.6g}",
                  f"{100 * error:+.2f} %") for k, error in enumerate(self.inertia_error)]
        rows += [("centre of mass", "", "", f"{100 * self.center_error:.2f} % of volume^(1/3)")]
        head = (f"{len(clump.radii)} spheres of radius {clump.radii.min():.4g} to {clump.radii.max():.4g} m, "
                f"inside {len(mesh.triangles)} triangles")
        if mesh.closed_edges:
            head += (f"; the repair closed {mesh.closed_edges} open edges, {100 * mesh.remaining_surface:.0f} % of the "
                     "surface is left: compare the shape with the picture")
        foot = ["the clump has mass, centre of mass and inertia of the mesh"] if self.matched else []
        return "\n".join([head] + [f"{a:<20}{b:>14}{c:>14}  {d}".rstrip() for a, b, c, d in rows] + foot)
