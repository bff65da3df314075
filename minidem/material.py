"""Elastic materials and the time steps that elastic waves allow."""
from dataclasses import dataclass
from math import pi, sqrt

from minidem.core.checks import number, positive, short_repr


@dataclass(frozen=True)
class Material:
    """An isotropic, linearly elastic material.

    Parameters
    ----------
    young : float
        Young's modulus E [Pa], greater than 0.
    poisson : float
        Poisson ratio, -1 < poisson <= 0.5.

    Raises
    ------
    ValueError
        A modulus or ratio outside its range.
    """

    young: float
    poisson: float

    def __post_init__(self):
        object.__setattr__(self, "young", positive("young", self.young))
        object.__setattr__(self, "poisson", number("poisson", self.poisson))
        if not -1.0 < self.poisson <= 0.5:
            raise ValueError(f"poisson = {self.poisson}: give a Poisson ratio above -1 and up to 0.5")

    @property
    def shear_modulus(self) -> float:
        """Shear modulus G = E / (2 (1 + poisson)) [Pa]."""
        return self.young / (2.0 * (1.0 + self.poisson))

    def rayleigh_step(self, radius: float, density: float) -> float:
        """Time in which a Rayleigh wave travels along the surface of a sphere from pole to pole.

        A fraction of it is the usual limit of a DEM time step (Li, Xu and Thornton 2005, Powder Technology 160,
        219-228).

        Parameters
        ----------
        radius : float
            Radius of the smallest sphere [m].
        density : float
            Density [kg/m3].

        Returns
        -------
        float
            pi R sqrt(rho / G) / (0.1631 poisson + 0.8766) [s].
        """
        radius, density = positive("radius", radius), positive("density", density)
        return pi * radius * sqrt(density / self.shear_modulus) / (0.1631 * self.poisson + 0.8766)

    def p_wave_step(self, radius: float, density: float) -> float:
        """Time in which a pressure wave in a thin bar travels one radius (PWaveTimeStep of Yade).

        Parameters
        ----------
        radius : float
            Radius of the smallest sphere [m].
        density : float
            Density [kg/m3].

        Returns
        -------
        float
            R sqrt(rho / E) [s].
        """
        radius, density = positive("radius", radius), positive("density", density)
        return radius * sqrt(density / self.young)


def effective_modulus(first: Material, second: Material) -> float:
    """Effective modulus of a contact between two materials (Johnson 1985, doi:10.1017/CBO9781139171731, chapter 4).

    Parameters
    ----------
    first, second : Material
        Materials of the two bodies.

    Returns
    -------
    float
        E* [Pa], 1/E* = (1 - poisson1^2) / E1 + (1 - poisson2^2) / E2.
    """
    for name, material in (("first", first), ("second", second)):
        if not isinstance(material, Material):
            raise ValueError(f"{name} = {short_repr(material)}: give a minidem.Material(young, poisson)")
    return 1.0 / ((1.0 - first.poisson ** 2) / first.young + (1.0 - second.poisson ** 2) / second.young)
