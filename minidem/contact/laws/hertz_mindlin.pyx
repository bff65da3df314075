"""Damped Hertz contact with Mindlin friction, Coulomb's limit, and rolling resistance as an option.

    normal      F = 4/3 E* a d + c d',  a = sqrt(R* d),  c = sqrt(5) beta sqrt(m* k),  k = 4/3 E* a
                beta = -ln e / sqrt(pi^2 + ln^2 e): e is the restitution at any speed
    tangential  a spring T and a dashpot T_d = -x c u_t
                |T + T_d| <= mu L: beyond it the sum has this length, and T is what T_d leaves of it
        rescale     dT = -8 G* a ds while the contact grows, d(T / a) = -8 G* ds while it shrinks
        mindlin     T = -8 G* a xi, as in LIGGGHTS, MFiX, EDEM; creates energy where a contact grows at a given xi
        linear      T = -k_t xi,  k_t = tangential_stiffness [N/m] for all contacts
    rolling     dM = -k_r d(theta),  k_r = 2.25 mu_r^2 R*^2 2 E* a,  M_d = -2 eta sqrt(I_r k_r) d(theta)/dt
                |M + M_d| <= mu_r R* L,  L = max(F, 0)

E* = 1 / sum((1 - nu^2) / E), G* = 1 / sum(2 (2 - nu) (1 + nu) / E) [Pa]; R*: effective radius [m]; m*: effective
mass [kg]; d: overlap [m]; s, xi: relative displacement of the contact points in a step, and since they stick [m];
theta: relative rotation.

tangential is the model. tangential_damping is x, or "stiffness-ratio": sqrt(4 G* / E*), as in EDEM and LIGGGHTS.
mass=contact has the m* that a push at the contact point feels when the contact begins, so that single contacts of
clumps rebound with e; mass=clump that of their masses without rotation, as in LAMMPS. limit_damping=yes clips the
attraction before lift-off; the restitution is then larger than e. friction_limit=magnitude has L = |F|, so that
friction acts while the damped force attracts, as in LAMMPS. rolling=epsd adds rolling resistance, the elastic-plastic
spring-dashpot model C of Ai et al., with the damping eta = rolling_damping; without it rolling_friction is not read.
FRICTION.md has the time levels and the energy.

cohesion=jkr has the elastic adhesive contact of Johnson, Kendall and Roberts with the `adhesion` w of materials and
pairs, F = 4/3 E* a^3/R* - sqrt(8 pi w E* a^3) + c d', d = a^2/R* - sqrt(2 pi w a/E*), from touch to tear-off at a gap,
and L = max(F + 3 pi w R*, 0), twice the pull-off force more (Thornton 1991). Restitution is that of the dashpot alone.
COHESION.md has the energy.
"""
from math import sqrt

from minidem.contact.friction import (
    COHESION, FRICTION_PARAMETERS, READS_OF_PAIRS, READS_WITH, REFERENCES, coefficient_rows, friction_kernels,
)
from minidem.contact.parts.jkr import length_root
from minidem.contact.parts.normal import HERTZ
from minidem.contact.record import ContactLaw
from minidem.core.parameters import Positive


def coefficients(pair, values):
    """Rows of coefficients (part.pxd) of pairs of materials."""
    stiffness, given = 4.0 / 3.0 * pair["modulus"], values["tangential_stiffness"]
    if (values["tangential"] == "linear") != (given != "none"):
        raise ValueError(f"contact 'hertz-mindlin': tangential={values['tangential']} with tangential_stiffness="
                         f"{given}; tangential=linear needs tangential_stiffness=NUMBER [N/m], the other models have "
                         "the stiffness of the materials")
    tangential = 8.0 * pair["shear_modulus"] if given == "none" else given
    rows = coefficient_rows(pair, values, stiffness, sqrt(5.0) * stiffness ** 0.5, tangential,
                            2.0 * (pair["shear_modulus"] / pair["modulus"]) ** 0.5, 2.0 * pair["modulus"])
    return rows if values["cohesion"] == "none" else (*rows, length_root(pair["modulus"], pair["adhesion"]))


def largest_gap(pair, values, radius):
    """Gap [m] at which contacts of this effective radius [m] tear off; arguments and result as for `coefficients`."""
    if values["cohesion"] == "none":
        return 0.0
    return 3.0 * (0.25 * length_root(pair["modulus"], pair["adhesion"])) ** (4 / 3) * radius ** (1 / 3)


LAWS = [ContactLaw(
    name="hertz-mindlin", title="damped Hertz contact with Mindlin friction",
    cites=("antypov2011analytical", *REFERENCES, "johnson1971surface", "thornton1991interparticle"), range=largest_gap,
    equations="10, 17 of 10.1209/0295-5075/94/50004",
    kernels=lambda values: friction_kernels(HERTZ, values),
    power=1.5, needs_velocity=True, has_history=True, dashpots=True, conservative=False, coefficients=coefficients,
    reads=("young", "poisson"), reads_of_pairs=READS_OF_PAIRS,
    reads_with={**READS_WITH, "cohesion=jkr": ("adhesion",)},
    parameters={**FRICTION_PARAMETERS, "tangential_stiffness": ("none", Positive), "cohesion": tuple(COHESION)},
    used_in="LAMMPS, LIGGGHTS, Yade, EDEM, MercuryDPM")]
