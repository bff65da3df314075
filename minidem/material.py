"""Elastic materials and the time steps that their waves allow."""

from dataclasses import dataclass
from math import pi, sqrt

from minidem.core.checks import number, positive, shown


@dataclass(frozen=True)
class Material:
    """An isotropic, linearly elastic material.

    Args:
        young: Young's modulus E [Pa], greater than 0.
        poisson: Poisson ratio, -1 < poisson <= 0.5.

    Raises ValueError for anything else.
    """

    young: float
    poisson: float

    def __post_init__(self):
        object.__setattr__(self, "young", positive("young", self.young))
        object.__setattr__(self, "poisson", number("poisson", self.poisson))
        if not -1.0 < self.poisson <= 0.5:
            raise ValueError(f"poisson = {self.poisson}: give a Poisson ratio above -1 and up to 0.5")

    @property
    def shear_modulus(self):
        """Shear modulus G = E / (2 (1 + poisson)) [Pa]."""
        return self.young / (2.0 * (1.0 + self.poisson))

    def rayleigh_step(self, radius, density):
        """Time for a Rayleigh wave to run along the surface from pole to pole of a sphere [s].

        pi R sqrt(rho / G) / (0.1631 poisson + 0.8766): the usual upper limit of a DEM time step,
        of which a fraction is taken (Li, Xu and Thornton 2005, Powder Technology 160, 219-228).

        Args:
            radius: the smallest sphere's radius [m].
            density: [kg/m3].
        """
        radius, density = positive("radius", radius), positive("density", density)
        return pi * radius * sqrt(density / self.shear_modulus) / (0.1631 * self.poisson + 0.8766)

    def p_wave_step(self, radius, density):
        """Time for a pressure wave in a thin bar to travel one radius, R sqrt(rho / E) [s].

        What Yade calls PWaveTimeStep (Yade documentation, chapter "DEM formulation", critical
        time step by wave propagation speed). Arguments as for `rayleigh_step`.
        """
        radius, density = positive("radius", radius), positive("density", density)
        return radius * sqrt(density / self.young)


def effective_modulus(first, second):
    """Effective modulus E* of a contact between two materials [Pa].

    1/E* = (1 - n1^2)/E1 + (1 - n2^2)/E2 (Johnson, Contact Mechanics, 1985, chapter 4,
    doi:10.1017/CBO9781139171731).
    """
    for name, material in (("first", first), ("second", second)):
        if not isinstance(material, Material):
            raise ValueError(f"{name} = {shown(material)}: give a minidem.Material(young, poisson)")
    return 1.0 / ((1.0 - first.poisson ** 2) / first.young + (1.0 - second.poisson ** 2) / second.young)
