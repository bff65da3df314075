"""Materials, their contacts, and the time steps that elastic waves allow."""
from dataclasses import KW_ONLY, dataclass, fields
from math import pi, sqrt

from minidem.core.checks import flag, non_negative, number, positive, short_repr

# of contacts of two bodies, beside the moduli
PAIR_PROPERTIES = ("restitution", "friction", "rolling_friction", "adhesion", "bridge_volume", "static_friction")


def _check_contact_properties(owner, names=PAIR_PROPERTIES):
    """Validate these properties of a new Material or Pair."""
    for name in names:
        value = number(name, getattr(owner, name)) if name == "restitution" else non_negative(
            name, getattr(owner, name))
        object.__setattr__(owner, name, value)
    if "restitution" in names and not 0.0 < owner.restitution <= 1.0:
        raise ValueError(f"restitution = {owner.restitution}: give a coefficient of restitution above 0 and up to 1")
    if {"friction", "static_friction"} <= set(names) and 0.0 < owner.static_friction < owner.friction:
        raise ValueError(f"static_friction = {owner.static_friction}: give at least the friction, {owner.friction}, or "
                         "0 for the same")


def label_of(owner):
    """A Material, by its name if it has one, or a Pair, for messages."""
    if isinstance(owner, Pair):
        return f"the pair of {label_of(owner.a)} and {label_of(owner.b)}"
    if owner.name is not None:
        return f"material {owner.name!r}"
    given = {field.name: getattr(owner, field.name) for field in fields(owner)
             if getattr(owner, field.name) != field.default}
    return f"Material({', '.join(f'{name}={value!r}' for name, value in given.items())})"


def require_materials(**materials):
    """Refuse arguments that are not a Material."""
    for name, material in materials.items():
        if not isinstance(material, Material):
            raise ValueError(f"{name} = {short_repr(material)}: give a minidem.Material(young, poisson)")


@dataclass(frozen=True)
class Material:
    """An isotropic, linearly elastic material, and the properties of contacts between two bodies of it.

    Materials with equal values are the same material. A contact of two materials has the properties of their `Pair`.

    Parameters
    ----------
    young : float
        Young's modulus E [Pa], greater than 0.
    poisson : float
        Poisson ratio, -1 < poisson <= 0.5.
    density : float, optional
        Density [kg/m3]. Masses follow from the templates; `Simulation.add_clumps` refuses a template of another
        density.
    restitution : float
        Coefficient of restitution of two spheres, 0 < restitution <= 1; clumps that turn rebound with less.
    friction : float
        Coefficient of sliding friction, 0 or greater.
    rolling_friction : float
        Coefficient of rolling friction, 0 or greater, with contact="hertz-mindlin:rolling=epsd" and the like.
    adhesion : float
        Work of adhesion w [J/m2], 0 or greater: the energy to part two surfaces of unit area, gamma_1 + gamma_2 -
        gamma_12 of their surface energies, with contact="hertz-mindlin:cohesion=jkr" and the like.
    bridge_volume : float
        Volume of each liquid bridge [m3], 0 or greater, 0 being dry; with contact="hertz-mindlin:liquid=willett" and
        the like.
    static_friction : float
        Coefficient of friction of contacts that stick, not below `friction`, or 0: the same; with
        contact="hertz-mindlin:sliding=static" and the like.
    name : str, optional
        Name for messages. It distinguishes materials with otherwise equal values.

    Raises
    ------
    ValueError
        A value outside its range.
    """

    young: float
    poisson: float
    _: KW_ONLY
    density: float | None = None
    restitution: float = 1.0
    friction: float = 0.0
    rolling_friction: float = 0.0
    adhesion: float = 0.0
    bridge_volume: float = 0.0
    static_friction: float = 0.0
    name: str | None = None

    def __post_init__(self):
        object.__setattr__(self, "young", positive("young", self.young))
        object.__setattr__(self, "poisson", number("poisson", self.poisson))
        if not -1.0 < self.poisson <= 0.5:
            raise ValueError(f"poisson = {self.poisson}: give a Poisson ratio above -1 and up to 0.5")
        if self.density is not None:
            object.__setattr__(self, "density", positive("density", self.density))
        if self.name is not None and not isinstance(self.name, str):
            raise ValueError(f"name = {short_repr(self.name)}: give a str, or None")
        _check_contact_properties(self)

    @property
    def compliance(self) -> float:
        """(1 - poisson^2) / E [1/Pa], the contribution of one body to 1/E* of a contact."""
        return (1.0 - self.poisson ** 2) / self.young

    @property
    def shear_compliance(self) -> float:
        """2 (2 - poisson) (1 + poisson) / E [1/Pa], the contribution of one body to 1/G* of a contact."""
        return 2.0 * (2.0 - self.poisson) * (1.0 + self.poisson) / self.young

    @property
    def shear_modulus(self) -> float:
        """Shear modulus G = E / (2 (1 + poisson)) [Pa]."""
        return self.young / (2.0 * (1.0 + self.poisson))

    def rayleigh_step(self, radius: float, density: float) -> float:
        """Time [s] in which a Rayleigh wave travels along the surface of a sphere from pole to pole.

        pi R sqrt(rho / G) / (0.1631 poisson + 0.8766), with the radius of the smallest sphere [m] and its density
        [kg/m3]. A fraction of it is the usual limit of a DEM time step (Li, Xu and Thornton 2005, Powder Technology
        160, 219-228).
        """
        radius, density = positive("radius", radius), positive("density", density)
        return pi * radius * sqrt(density / self.shear_modulus) / (0.1631 * self.poisson + 0.8766)

    def p_wave_step(self, radius: float, density: float) -> float:
        """Time [s] in which a pressure wave in a thin bar travels one radius, R sqrt(rho / E) (PWaveTimeStep of Yade).

        radius : of the smallest sphere [m];  density : [kg/m3]
        """
        radius, density = positive("radius", radius), positive("density", density)
        return radius * sqrt(density / self.young)


@dataclass(frozen=True)
class Pair:
    """Properties of contacts between two different materials; there is no mixing rule for them.

    The elastic constants always combine as in `effective_modulus` and `effective_shear_modulus`.

    Parameters
    ----------
    a, b : Material
        The two materials, in any order.
    restitution, friction, rolling_friction, adhesion, bridge_volume, static_friction : float, optional
        As of a `Material`. Default: the value of both materials if they have the same one, else None: a contact law
        that reads this property then refuses the pair.
    interacts : bool
        False: clumps of a and b, or clumps of one and walls of the other, pass through each other.

    Raises
    ------
    ValueError
        A value outside its range, or two equal materials.
    """

    a: Material
    b: Material
    _: KW_ONLY
    restitution: float | None = None
    friction: float | None = None
    rolling_friction: float | None = None
    adhesion: float | None = None
    bridge_volume: float | None = None
    static_friction: float | None = None
    interacts: bool = True

    def __post_init__(self):
        require_materials(a=self.a, b=self.b)
        object.__setattr__(self, "interacts", flag("interacts", self.interacts))
        if self.a == self.b:
            raise ValueError(f"b = {short_repr(self.b)}: equals a; give {', '.join(PAIR_PROPERTIES)} of contacts "
                             "of a material with itself to the Material")
        for name in PAIR_PROPERTIES:
            if getattr(self, name) is None and getattr(self.a, name) == getattr(self.b, name):
                object.__setattr__(self, name, getattr(self.a, name))
        _check_contact_properties(self, [name for name in PAIR_PROPERTIES if getattr(self, name) is not None])


def effective_modulus(first: Material, second: Material) -> float:
    """Effective modulus E* [Pa] of a contact of two materials, 1/E* = (1 - poisson1^2) / E1 + (1 - poisson2^2) / E2.

    K. L. Johnson, Contact Mechanics (1985), doi 10.1017/CBO9781139171731, chapter 4.
    """
    require_materials(first=first, second=second)
    return 1.0 / (first.compliance + second.compliance)


def effective_shear_modulus(first: Material, second: Material) -> float:
    """Effective shear modulus G* [Pa] of a contact, 1/G* = (2 - poisson1) / G1 + (2 - poisson2) / G2.

    K. L. Johnson, Contact Mechanics (1985), chapter 7, with G = E / (2 (1 + poisson)) of each material.
    """
    require_materials(first=first, second=second)
    return 1.0 / (first.shear_compliance + second.shear_compliance)
