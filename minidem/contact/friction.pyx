"""Laws with friction: sums of parts (part.pxd), chosen by their parameters, and the coefficients that parts share."""
import numpy as np

from minidem.contact.parts import bond, epsd, jkr
from minidem.contact.parts.tangential import MODELS
from minidem.core.parameters import NonNegative, Positive

from libc.string cimport memset

from minidem.contact.law cimport MAX_LAW_PARAMETERS, LawKernels
from minidem.contact.part cimport FRICTION_RECORDS, NORMAL_ROWS, PartCall, SPRING
from minidem.contact.rows cimport DESCRIPTION_ROWS, DISSIPATED, OVERLAP
from minidem.core.lanes cimport LANES

# Parts by the words of their parameters; the first word is the default.
TANGENTIAL, ROLLING = MODELS, {"none": None, "epsd": epsd.PART}
COHESION = {"none": None, "jkr": jkr.PART}      # replaces the normal part
BONDS = {"none": None, "parallel": bond.PART}

READS_OF_PAIRS = ("restitution", "friction")
READS_WITH = {"rolling=epsd": ("rolling_friction", "rolling_damping"), "bonds=parallel": ("bond_range",)}
FRICTION_PARAMETERS = {        # the first three: Parameter in part.pxd
    "limit_damping": ("no", "yes"), "friction_limit": ("repulsion", "magnitude"), "bond_range": Positive(0.5),
    "tangential": tuple(TANGENTIAL), "tangential_damping": ("stiffness-ratio", NonNegative),
    "rolling": tuple(ROLLING), "rolling_damping": NonNegative(0.3), "mass": ("contact", "clump"),
    "bonds": tuple(BONDS),
}
REFERENCES = ("thornton2013investigation", "ai2011assessment", "potyondy2004bonded")


def coefficient_rows(pair, values, stiffness, damping, tangential, ratio, rolling):
    """The first eight coefficients in the order of part.pxd, each (m, n).

    pair : properties of the pairs of materials;  values : parameters of the law by name.
    damping : at critical damping;  ratio : of the dashpots for stiffness-ratio;  rolling : stiffness without factor.
    """
    given, like = values["tangential_damping"], np.zeros_like(pair["friction"])
    loss = -np.log(pair["restitution"])
    return (stiffness + like, damping * (loss / np.sqrt(np.pi ** 2 + loss ** 2)), tangential + like,
            (ratio if given == "stiffness-ratio" else given) + like, pair["friction"],
            2.25 * pair["rolling_friction"] ** 2 * rolling, pair["rolling_friction"], values["rolling_damping"] + like)


def range_of_bonds(values, radius):
    """Largest gap [m] of bonded spheres of this effective radius [m]."""
    return values["bond_range"] * radius if values["bonds"] != "none" else 0.0


cdef inline const PartCall *parts_of(const double *parameters) noexcept nogil:
    """The parts of the law with these parameters, see Law."""
    return <const PartCall *> (<void **> (parameters + <int> MAX_LAW_PARAMETERS) + 1)


cdef void forces(const double *contact, double *history, double *result, const double *parameters) noexcept nogil:
    cdef double normal[NORMAL_ROWS * LANES]
    cdef const PartCall *part = parts_of(parameters)
    memset(result, 0, <int> (DISSIPATED + 4) * LANES * sizeof(double))
    while part.forces != NULL:
        part.forces(contact, history, history + 4 * LANES * part.first, normal, result, parameters)
        part += 1


cdef void forces_with_bonds(const double *contact, double *history, double *result,
                            const double *parameters) noexcept nogil:
    """The last part acts across gaps; where there is one, all other records are zero after a step. So the other parts
    of a block are left out if all of its contacts have gaps, and had them in the last step."""
    cdef double normal[NORMAL_ROWS * LANES]
    cdef const PartCall *part = parts_of(parameters)
    cdef const double *kept = history + (4 * SPRING + 3) * LANES
    cdef long long any_touch = 0, any_gap = 0
    cdef int lane, k
    for lane in range(LANES):
        any_touch |= <long long> ((contact[OVERLAP * LANES + lane] > 0.0) | (kept[lane] != 0.0))
        any_gap |= <long long> (contact[OVERLAP * LANES + lane] <= 0.0)
    memset(result, 0, <int> (DISSIPATED + 4) * LANES * sizeof(double))
    while part[1].forces != NULL:
        if any_touch:
            part.forces(contact, history, history + 4 * LANES * part.first, normal, result, parameters)
        part += 1
    for k in range(4 * part.first if any_touch and any_gap else 0):
        for lane in range(LANES):
            history[k * LANES + lane] = history[k * LANES + lane] if contact[OVERLAP * LANES + lane] > 0.0 else 0.0
    part.forces(contact, history, history + 4 * LANES * part.first, normal, result, parameters)


cdef void describe(const double *contact, double *history, double *result, const double *parameters) noexcept nogil:
    cdef double normal[NORMAL_ROWS * LANES]
    cdef const PartCall *part = parts_of(parameters)
    memset(result, 0, <int> DESCRIPTION_ROWS * LANES * sizeof(double))
    while part.forces != NULL:
        part.describe(contact, history, history + 4 * LANES * part.first, normal, result, parameters)
        part += 1


def friction_kernels(normal, values):
    """LawKernels of a normal part and those that the parameters choose; values : of the parameters, by name."""
    cohesion = COHESION[values.get("cohesion", "none")]
    if cohesion is not None and values["limit_damping"] == "yes":
        raise ValueError("limit_damping = yes: it clips attraction, and contacts with cohesion attract; leave one out")
    if cohesion is not None and values["bonds"] != "none":
        raise ValueError("bonds = parallel: bonds beside contacts with cohesion are not defined; leave one out")
    parts = (cohesion or normal, TANGENTIAL[values["tangential"]], ROLLING[values["rolling"]], BONDS[values["bonds"]])
    bonds, parts = parts[-1], tuple(part for part in parts if part is not None)
    return LawKernels(history=<size_t> (forces if bonds is None else forces_with_bonds), describe=<size_t> describe,
                      n_records=FRICTION_RECORDS, parts=parts, touch_records=0 if bonds is None else
                      FRICTION_RECORDS + sum(part.n_records for part in parts[:-1]))
