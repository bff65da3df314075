"""Written by tools/stubs.py: the classes that `__getattr__` of the package makes."""
from typing import Literal, Self

from minidem.core.choices import Choice

__all__ = [
    "Hertz", "HertzMindlin", "Hooke", "HookeCoulomb",
]

class Hertz(Choice):
    """Hertz's law; as text contact="hertz".

    Parameters
    ----------
    onset : one of plain, corrected; default plain
        With corrected, a small force where a contact begins or ends removes the energy error of these
        steps.

    Notes
    -----
    Equations: 4.22 to 4.24 of 10.1017/CBO9781139171731;
    DOI: 10.1515/crll.1882.92.156;
    Formulas: ``print(md.contact.info("hertz").doc)``.
    """
    def __new__(cls, *,
                onset: Literal["plain", "corrected"] = "plain") -> Self: ...

class HertzMindlin(Choice):
    """damped Hertz contact with Mindlin friction; as text contact="hertz-mindlin".

    Parameters
    ----------
    limit_damping : one of no, yes; default no
        With yes, attraction before lift-off is clipped, and the restitution larger than given.
    friction_limit : one of repulsion, magnitude; default repulsion
        Normal force of Coulomb's limit: where it repels, or its magnitude, as in LAMMPS.
    bond_range : a positive number, from 1e-60 to 1e+60; default 0.5
        Largest gap that a bond spans, in effective radii, with bonds=parallel.
    mobilised_damping : a number from 0 on, up to 1e+60; default 0.0
        Factor f of the rolling dashpot that acts beyond the limit, with rolling=epsd; 0 or 1 there.
    tangential : one of rescale, mindlin, linear, mindlin-rescale, mindlin-force; default rescale
        Spring: rescale creates no energy; the mindlin ones of other codes may; linear has one
        stiffness.
    tangential_damping : stiffness-ratio, or a number from 0 on, up to 1e+60; default stiffness-ratio
        Dashpot of friction over the normal one; stiffness-ratio: root of the ratio of stiffnesses.
    rolling : one of none, epsd, constant; default none
        Resistance by the rolling_friction of materials, of Ai et al. 2011: constant is model A, epsd
        model C.
    rolling_damping : a number from 0 on, up to 1e+60; default 0.3
        Damping ratio of rolling, with rolling=epsd.
    mass : one of shared, single, clump; default shared
        Effective mass: shared by the contacts of two bodies, of a single one, or of clumps that do not
        rotate.
    bonds : one of none, parallel; default none
        With parallel, bonds of sim.bonds.add, by Potyondy and Cundall 2004.
    liquid : one of none, willett; default none
        With willett, a liquid bridge of the bridge_volume of materials forms at touch, by Willett et
        al. 2000.
    surface_tension : a number from 0 on, up to 1e+60; default 0.0728
        Of the liquid [N/m], with liquid=willett; the default is that of water.
    contact_angle : a number from 0 on, up to 1e+60; default 0.0
        Of the liquid on all bodies [rad], below pi/2, with liquid=willett.
    sliding : one of coulomb, static; default coulomb
        With static, a contact that sticks holds up to the static_friction of materials before it
        slides.
    twisting : one of none, marshall; default none
        With marshall, resistance to rotation about the normal, from tangential stiffness and friction.
    tangential_stiffness : none, or a positive number, from 1e-60 to 1e+60; default none
        Stiffness k_t of all contacts [N/m], for tangential=linear, which needs it.
    cohesion : one of none, jkr, dmt; default none
        By the adhesion of materials: of Johnson, Kendall and Roberts or of Derjaguin, Muller and
        Toporov.

    Notes
    -----
    Equations: 10, 17 of 10.1209/0295-5075/94/50004;
    DOI: 10.1209/0295-5075/94/50004;
    Formulas: ``print(md.contact.info("hertz-mindlin").doc)``.
    """
    def __new__(cls, *,
                limit_damping: Literal["no", "yes"] = "no",
                friction_limit: Literal["repulsion", "magnitude"] = "repulsion",
                bond_range: float = 0.5,
                mobilised_damping: float = 0.0,
                tangential: Literal["rescale", "mindlin", "linear", "mindlin-rescale", "mindlin-force"] = "rescale",
                tangential_damping: Literal["stiffness-ratio"] | float = "stiffness-ratio",
                rolling: Literal["none", "epsd", "constant"] = "none",
                rolling_damping: float = 0.3,
                mass: Literal["shared", "single", "clump"] = "shared",
                bonds: Literal["none", "parallel"] = "none",
                liquid: Literal["none", "willett"] = "none",
                surface_tension: float = 0.0728,
                contact_angle: float = 0.0,
                sliding: Literal["coulomb", "static"] = "coulomb",
                twisting: Literal["none", "marshall"] = "none",
                tangential_stiffness: Literal["none"] | float = "none",
                cohesion: Literal["none", "jkr", "dmt"] = "none") -> Self: ...

class Hooke(Choice):
    """linear spring; as text contact="hooke".

    Parameters
    ----------
    stiffness : a positive number, from 1e-60 to 1e+60
        Stiffness k of all contacts [N/m].
    onset : one of plain, corrected; default plain
        With corrected, a small force where a contact begins or ends removes the energy error of these
        steps.

    Notes
    -----
    DOI: 10.1680/geot.1979.29.1.47;
    Formulas: ``print(md.contact.info("hooke").doc)``.
    """
    def __new__(cls, *,
                stiffness: float,
                onset: Literal["plain", "corrected"] = "plain") -> Self: ...

class HookeCoulomb(Choice):
    """damped linear spring with Coulomb friction; as text contact="hooke-coulomb".

    Parameters
    ----------
    limit_damping : one of no, yes; default no
        With yes, attraction before lift-off is clipped, and the restitution larger than given.
    friction_limit : one of repulsion, magnitude; default repulsion
        Normal force of Coulomb's limit: where it repels, or its magnitude, as in LAMMPS.
    bond_range : a positive number, from 1e-60 to 1e+60; default 0.5
        Largest gap that a bond spans, in effective radii, with bonds=parallel.
    mobilised_damping : a number from 0 on, up to 1e+60; default 0.0
        Factor f of the rolling dashpot that acts beyond the limit, with rolling=epsd; 0 or 1 there.
    tangential : one of rescale, mindlin, linear, mindlin-rescale, mindlin-force; default rescale
        Spring: rescale creates no energy; the mindlin ones of other codes may; linear has one
        stiffness.
    tangential_damping : stiffness-ratio, or a number from 0 on, up to 1e+60; default stiffness-ratio
        Dashpot of friction over the normal one; stiffness-ratio: root of the ratio of stiffnesses.
    rolling : one of none, epsd, constant; default none
        Resistance by the rolling_friction of materials, of Ai et al. 2011: constant is model A, epsd
        model C.
    rolling_damping : a number from 0 on, up to 1e+60; default 0.3
        Damping ratio of rolling, with rolling=epsd.
    mass : one of shared, single, clump; default shared
        Effective mass: shared by the contacts of two bodies, of a single one, or of clumps that do not
        rotate.
    bonds : one of none, parallel; default none
        With parallel, bonds of sim.bonds.add, by Potyondy and Cundall 2004.
    liquid : one of none, willett; default none
        With willett, a liquid bridge of the bridge_volume of materials forms at touch, by Willett et
        al. 2000.
    surface_tension : a number from 0 on, up to 1e+60; default 0.0728
        Of the liquid [N/m], with liquid=willett; the default is that of water.
    contact_angle : a number from 0 on, up to 1e+60; default 0.0
        Of the liquid on all bodies [rad], below pi/2, with liquid=willett.
    sliding : one of coulomb, static; default coulomb
        With static, a contact that sticks holds up to the static_friction of materials before it
        slides.
    twisting : one of none, marshall; default none
        With marshall, resistance to rotation about the normal, from tangential stiffness and friction.
    stiffness : a positive number, from 1e-60 to 1e+60
        Stiffness k of all contacts [N/m].
    tangential_stiffness : a positive number, from 1e-60 to 1e+60; default 0.2857142857142857
        Of friction, in units of k.
    plastic : one of none, walton-braun, luding; default none
        With walton-braun, loading with k and unloading with k/e^2 in place of the dashpot; luding
        attracts.
    adhesive_stiffness : a number from 0 on, up to 1e+60; default 0.0
        Of the attraction with plastic=luding, in units of k.

    Notes
    -----
    DOI: 10.1680/geot.1979.29.1.47;
    Formulas: ``print(md.contact.info("hooke-coulomb").doc)``.
    """
    def __new__(cls, *,
                limit_damping: Literal["no", "yes"] = "no",
                friction_limit: Literal["repulsion", "magnitude"] = "repulsion",
                bond_range: float = 0.5,
                mobilised_damping: float = 0.0,
                tangential: Literal["rescale", "mindlin", "linear", "mindlin-rescale", "mindlin-force"] = "rescale",
                tangential_damping: Literal["stiffness-ratio"] | float = "stiffness-ratio",
                rolling: Literal["none", "epsd", "constant"] = "none",
                rolling_damping: float = 0.3,
                mass: Literal["shared", "single", "clump"] = "shared",
                bonds: Literal["none", "parallel"] = "none",
                liquid: Literal["none", "willett"] = "none",
                surface_tension: float = 0.0728,
                contact_angle: float = 0.0,
                sliding: Literal["coulomb", "static"] = "coulomb",
                twisting: Literal["none", "marshall"] = "none",
                stiffness: float,
                tangential_stiffness: float = 0.2857142857142857,
                plastic: Literal["none", "walton-braun", "luding"] = "none",
                adhesive_stiffness: float = 0.0) -> Self: ...
