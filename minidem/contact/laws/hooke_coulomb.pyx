"""Damped linear spring with Coulomb friction: one stiffness for all contacts, optional rolling resistance.

    normal      F = k d + c d',  c = 2 beta sqrt(m* k),  beta = -ln e / sqrt(pi^2 + ln^2 e): of two spheres, e is exact
    tangential  T = -k_t xi,  k_t = k tangential_stiffness;  T_d = -x c u_t;  |T + T_d| <= mu L
    rolling     dM = -k_r d(theta),  k_r = 2.25 mu_r^2 R*^2 k,  M_d = -2 eta sqrt(I_r k_r) d(theta)/dt
                |M + M_d| <= mu_r R* L,  L = max(F, 0)

Symbols and parameters as for hertz-mindlin; "stiffness-ratio" is x = sqrt(k_t / k). The stiffness does not depend on a
contact radius, so that all models of `tangential` are this one. The duration of a collision does not depend on its
speed. The elastic constants of the materials are not used.
"""
from minidem.contact.friction import (
    FRICTION_PARAMETERS, READS_OF_PAIRS, READS_WITH, REFERENCES, coefficient_rows, friction_kernels,
)
from minidem.contact.parts.normal import HOOKE
from minidem.contact.record import ContactLaw
from minidem.core.parameters import Positive


def coefficients(pair, values):
    """Rows of coefficients (part.pxd) of pairs of materials."""
    stiffness, ratio = values["stiffness"], values["tangential_stiffness"]
    return coefficient_rows(pair, values, stiffness, 2.0 * stiffness ** 0.5, ratio * stiffness, ratio ** 0.5, stiffness)


LAWS = [ContactLaw(
    name="hooke-coulomb", title="damped linear spring with Coulomb friction",
    cites=("cundall1979discrete", *REFERENCES), kernels=lambda values: friction_kernels(HOOKE, values),
    power=1.0, needs_velocity=True, has_history=True, dashpots=True, conservative=False, coefficients=coefficients,
    reads_of_pairs=READS_OF_PAIRS, reads_with=READS_WITH, used_in="LAMMPS, LIGGGHTS, Yade, MercuryDPM",
    parameters={**FRICTION_PARAMETERS, "stiffness": Positive, "tangential_stiffness": Positive(2.0 / 7.0)})]
