"""Written by tools/stubs.py: the classes that `__getattr__` of the package makes."""
from typing import Literal, Self

from minidem.core.choices import Choice

__all__ = [
    "Austin", "Buss", "BussPublished", "Cf4", "DirectMultiplication", "Dlm", "Dmv", "Euler", "EulerQuaternion",
    "Exact", "Fincham", "FinchamPublished", "ImprovedPcdm", "Johnson", "JohnsonPublished", "LieMidpoint", "LieNewmark",
    "LieVerlet", "MuntheKaas", "NoSquish", "Omelyan", "Pcdm", "Pfc4", "Richardson", "Rk4", "ScalarFactor", "SimoWong",
    "Spiral", "SpiralOmelyan", "SpiralSync", "ToumaWisdom", "VelocityVerlet", "WaltonBraun",
]

class Austin(Choice):
    """Austin, Krishnaprasad & Wang 1993; as text rotation="austin".

    Notes
    -----
    Formulas: ``print(md.rotation.info("austin").doc)``.
    """
    def __new__(cls) -> Self: ...

class Buss(Choice):
    """Buss 2000; as text rotation="buss".

    Notes
    -----
    Equations: B.7 to B.9 of 10.1016/j.cpc.2023.109077;
    DOI: 10.1006/jcph.2000.6602;
    Formulas: ``print(md.rotation.info("buss").doc)``.
    """
    def __new__(cls) -> Self: ...

class BussPublished(Choice):
    """Buss as in the SPIRAL paper; as text rotation="buss-published".

    Notes
    -----
    Equations: B.7 to B.9;
    DOI: 10.1016/j.cpc.2023.109077;
    Formulas: ``print(md.rotation.info("buss-published").doc)``.
    """
    def __new__(cls) -> Self: ...

class Cf4(Choice):
    """commutator-free, order 4 (Celledoni et al. 2003); as text rotation="cf4".

    Notes
    -----
    DOI: 10.1016/S0167-739X(02)00161-9;
    Formulas: ``print(md.rotation.info("cf4").doc)``.
    """
    def __new__(cls) -> Self: ...

class DirectMultiplication(Choice):
    """direct multiplication; as text rotation="direct-multiplication".

    Parameters
    ----------
    omega : one of old, new; default old
        Angular velocity of the rotation: old from the start of the step, new from its end.

    Notes
    -----
    Equations: 49, 50;
    DOI: 10.1007/s00707-013-0914-2;
    Formulas: ``print(md.rotation.info("direct-multiplication").doc)``.
    """
    def __new__(cls, *,
                omega: Literal["old", "new"] = "old") -> Self: ...

class Dlm(Choice):
    """DLM (Dullweber, Leimkuhler and McLachlan 1997); as text rotation="dlm".

    Notes
    -----
    DOI: 10.1063/1.474310;
    Formulas: ``print(md.rotation.info("dlm").doc)``.
    """
    def __new__(cls) -> Self: ...

class Dmv(Choice):
    """discrete Moser-Veselov, preprocessed; as text rotation="dmv".

    Parameters
    ----------
    order : one of 4, 6, 2; default 4
        Order of convergence of free rotation.

    Notes
    -----
    DOI: 10.1007/BF02352494;
    Formulas: ``print(md.rotation.info("dmv").doc)``.
    """
    def __new__(cls, *,
                order: Literal["4", "6", "2"] = "4") -> Self: ...

class Euler(Choice):
    """direct Euler; as text rotation="euler".

    Notes
    -----
    Equations: B.1;
    DOI: 10.1016/j.cpc.2023.109077;
    Formulas: ``print(md.rotation.info("euler").doc)``.
    """
    def __new__(cls) -> Self: ...

class EulerQuaternion(Choice):
    """Euler quaternion; as text rotation="euler-quaternion".

    Parameters
    ----------
    omega : one of old, new; default old
        Angular velocity of the rotation: old from the start of the step, new from its end.

    Notes
    -----
    Equations: 31, 32;
    DOI: 10.1007/s00707-013-0914-2;
    Formulas: ``print(md.rotation.info("euler-quaternion").doc)``.
    """
    def __new__(cls, *,
                omega: Literal["old", "new"] = "old") -> Self: ...

class Exact(Choice):
    """exact free rotation between kicks; as text rotation="exact".

    Notes
    -----
    DOI: 10.1016/j.jcp.2006.11.019;
    Formulas: ``print(md.rotation.info("exact").doc)``.
    """
    def __new__(cls) -> Self: ...

class Fincham(Choice):
    """Fincham 1992; as text rotation="fincham".

    Notes
    -----
    Equations: B.4 to B.6 of 10.1016/j.cpc.2023.109077;
    DOI: 10.1080/08927029208022474;
    Formulas: ``print(md.rotation.info("fincham").doc)``.
    """
    def __new__(cls) -> Self: ...

class FinchamPublished(Choice):
    """Fincham as in the SPIRAL paper; as text rotation="fincham-published".

    Notes
    -----
    Equations: B.4 to B.6;
    DOI: 10.1016/j.cpc.2023.109077;
    Formulas: ``print(md.rotation.info("fincham-published").doc)``.
    """
    def __new__(cls) -> Self: ...

class ImprovedPcdm(Choice):
    """improved PCDM (Seelen et al.); as text rotation="improved-pcdm".

    Parameters
    ----------
    predictor : one of reused, recomputed; default reused
        Acceleration of the prediction: reused as published; recomputed halves the energy error.

    Notes
    -----
    Equations: section 2.2, steps 2 to 4;
    DOI: 10.1007/s00707-016-1670-x;
    Formulas: ``print(md.rotation.info("improved-pcdm").doc)``.
    """
    def __new__(cls, *,
                predictor: Literal["reused", "recomputed"] = "reused") -> Self: ...

class Johnson(Choice):
    """Johnson et al. 2008; as text rotation="johnson".

    Notes
    -----
    Equations: B.13 to B.15 of 10.1016/j.cpc.2023.109077;
    DOI: 10.1002/nme.2210;
    Formulas: ``print(md.rotation.info("johnson").doc)``.
    """
    def __new__(cls) -> Self: ...

class JohnsonPublished(Choice):
    """Johnson as in the SPIRAL paper; as text rotation="johnson-published".

    Notes
    -----
    Equations: B.13 to B.15;
    DOI: 10.1016/j.cpc.2023.109077;
    Formulas: ``print(md.rotation.info("johnson-published").doc)``.
    """
    def __new__(cls) -> Self: ...

class LieMidpoint(Choice):
    """LIEMID[EA] (Krysl 2005); as text rotation="lie-midpoint".

    Notes
    -----
    DOI: 10.1002/nme.1361;
    Formulas: ``print(md.rotation.info("lie-midpoint").doc)``.
    """
    def __new__(cls) -> Self: ...

class LieNewmark(Choice):
    """explicit Lie-Newmark (Krysl & Endres 2005); as text rotation="lie-newmark".

    Notes
    -----
    DOI: 10.1002/nme.1272;
    Formulas: ``print(md.rotation.info("lie-newmark").doc)``.
    """
    def __new__(cls) -> Self: ...

class LieVerlet(Choice):
    """variational Lie-Verlet (Bou-Rabee & Marsden 2009); as text rotation="lie-verlet".

    Notes
    -----
    DOI: 10.1007/s10208-008-9030-4;
    Formulas: ``print(md.rotation.info("lie-verlet").doc)``.
    """
    def __new__(cls) -> Self: ...

class MuntheKaas(Choice):
    """Runge-Kutta-Munthe-Kaas, order 4; as text rotation="munthe-kaas".

    Notes
    -----
    DOI: 10.1016/S0168-9274(98)00030-0;
    Formulas: ``print(md.rotation.info("munthe-kaas").doc)``.
    """
    def __new__(cls) -> Self: ...

class NoSquish(Choice):
    """NO_SQUISH (Miller et al. 2002); as text rotation="no-squish".

    Notes
    -----
    DOI: 10.1063/1.1473654;
    Formulas: ``print(md.rotation.info("no-squish").doc)``.
    """
    def __new__(cls) -> Self: ...

class Omelyan(Choice):
    """Omelyan 1998; as text rotation="omelyan".

    Parameters
    ----------
    iterations : a positive whole number up to 2147483647; default 3
        Iterations for the angular velocity in a step; three, as published, are not converged.
    start : one of euler, map; default euler
        First half step back: by euler as published, or by the map of the scheme.

    Notes
    -----
    Equations: B.10 to B.12 of 10.1016/j.cpc.2023.109077;
    DOI: 10.1103/PhysRevE.58.1169;
    Formulas: ``print(md.rotation.info("omelyan").doc)``.
    """
    def __new__(cls, *,
                iterations: int = 3,
                start: Literal["euler", "map"] = "euler") -> Self: ...

class Pcdm(Choice):
    """PCDM (Zhao and van Wachem); as text rotation="pcdm".

    Notes
    -----
    Equations: 55 to 63;
    DOI: 10.1007/s00707-013-0914-2;
    Formulas: ``print(md.rotation.info("pcdm").doc)``.
    """
    def __new__(cls) -> Self: ...

class Pfc4(Choice):
    """PFC4, MercuryDPM; as text rotation="pfc4".

    Notes
    -----
    Equations: B.16 to B.18;
    DOI: 10.1016/j.cpc.2023.109077;
    Formulas: ``print(md.rotation.info("pfc4").doc)``.
    """
    def __new__(cls) -> Self: ...

class Richardson(Choice):
    """Richardson extrapolation, as in LAMMPS; as text rotation="richardson".

    Notes
    -----
    DOI: 10.1016/j.cpc.2021.108171;
    Formulas: ``print(md.rotation.info("richardson").doc)``.
    """
    def __new__(cls) -> Self: ...

class Rk4(Choice):
    """Runge-Kutta 4; as text rotation="rk4".

    Notes
    -----
    Equations: section 3;
    DOI: 10.1016/j.cpc.2023.109077;
    Formulas: ``print(md.rotation.info("rk4").doc)``.
    """
    def __new__(cls) -> Self: ...

class ScalarFactor(Choice):
    """scalar factor (Kleppmann); as text rotation="scalar-factor".

    Parameters
    ----------
    omega : one of old, new; default old
        Angular velocity of the rotation: old from the start of the step, new from its end.

    Notes
    -----
    Equations: 40 to 45;
    DOI: 10.1007/s00707-013-0914-2;
    Formulas: ``print(md.rotation.info("scalar-factor").doc)``.
    """
    def __new__(cls, *,
                omega: Literal["old", "new"] = "old") -> Self: ...

class SimoWong(Choice):
    """Simo & Wong 1991, implicit; as text rotation="simo-wong".

    Notes
    -----
    DOI: 10.1002/nme.1620310103;
    Formulas: ``print(md.rotation.info("simo-wong").doc)``.
    """
    def __new__(cls) -> Self: ...

class Spiral(Choice):
    """SPIRAL, leapfrog; as text rotation="spiral".

    Parameters
    ----------
    inner : one of ssprk3, rk4; default ssprk3
        Method for the angular velocity: ssprk3 as published; with rk4 the energy does not drift.

    Notes
    -----
    Equations: 7, 9, 10;
    DOI: 10.1016/j.cpc.2023.109077;
    Formulas: ``print(md.rotation.info("spiral").doc)``.
    """
    def __new__(cls, *,
                inner: Literal["ssprk3", "rk4"] = "ssprk3") -> Self: ...

class SpiralOmelyan(Choice):
    """SPIRAL with Omelyan's angular velocity; as text rotation="spiral-omelyan".

    Parameters
    ----------
    iterations : a positive whole number up to 2147483647; default 3
        Iterations for the angular velocity in a step; three, as published, are not converged.

    Notes
    -----
    Equations: 7, B.10 to B.12;
    DOI: 10.1016/j.cpc.2023.109077;
    Formulas: ``print(md.rotation.info("spiral-omelyan").doc)``.
    """
    def __new__(cls, *,
                iterations: int = 3) -> Self: ...

class SpiralSync(Choice):
    """SPIRAL, synchronous; as text rotation="spiral-sync".

    Parameters
    ----------
    form : one of product, sum; default product
        Product of two exponentials as published, or exponential of a sum, more exact.

    Notes
    -----
    Equations: A.1 to A.3, 9, 10;
    DOI: 10.1016/j.cpc.2023.109077;
    Formulas: ``print(md.rotation.info("spiral-sync").doc)``.
    """
    def __new__(cls, *,
                form: Literal["product", "sum"] = "product") -> Self: ...

class ToumaWisdom(Choice):
    """Touma & Wisdom 1994; as text rotation="touma-wisdom".

    Notes
    -----
    Formulas: ``print(md.rotation.info("touma-wisdom").doc)``.
    """
    def __new__(cls) -> Self: ...

class VelocityVerlet(Choice):
    """velocity Verlet; as text rotation="velocity-verlet".

    Notes
    -----
    Equations: B.2, B.3;
    DOI: 10.1016/j.cpc.2023.109077;
    Formulas: ``print(md.rotation.info("velocity-verlet").doc)``.
    """
    def __new__(cls) -> Self: ...

class WaltonBraun(Choice):
    """Walton and Braun; as text rotation="walton-braun".

    Notes
    -----
    Equations: 33 to 39;
    DOI: 10.1007/s00707-013-0914-2;
    Formulas: ``print(md.rotation.info("walton-braun").doc)``.
    """
    def __new__(cls) -> Self: ...
