"""Laws with friction: sums of parts (part.pxd), chosen by their parameters, and the coefficients that parts share."""
from functools import reduce

import numpy as np

from minidem.contact.parts import bond, jkr, liquid, plastic, twisting
from minidem.contact.parts.springs import CONSTANT_ROLLING, COULOMB, MODELS, ROLLING, STATIC
from minidem.contact.registry import MASSES, ContactLaw
from minidem.core.parameters import NonNegative, Positive

from libc.string cimport memset

from minidem.contact.contact cimport Contact, Energies, Result, Row
from minidem.contact.law cimport LawKernels
from minidem.contact.part cimport (
    DAMPING, FRICTION, ROLLING_DAMPING, ROLLING_FRICTION, ROLLING_STIFFNESS, STIFFNESS, TANGENTIAL_DAMPING,
    TANGENTIAL_STIFFNESS, FrictionHistory, LawParameters, Normal, OwnFriction, PartCall,
)
from minidem.core.lanes cimport LANES

FRICTION_RECORDS = <int> (sizeof(FrictionHistory) // (4 * sizeof(Row)))

# Numbers of coefficients of part.pxd by name.
COEFFICIENT_INDEX = {"stiffness": STIFFNESS, "damping": DAMPING, "tangential_stiffness": TANGENTIAL_STIFFNESS,
                     "tangential_damping": TANGENTIAL_DAMPING, "friction": FRICTION}

PARTS = {                       # by the options that choose them, and their words; the first word is the default
    "tangential": MODELS, "sliding": {"coulomb": COULOMB, "static": STATIC},
    "rolling": {"none": None, "epsd": ROLLING, "constant": CONSTANT_ROLLING},
    "twisting": {"none": None, "marshall": twisting.PART}, "liquid": {"none": None, "willett": liquid.PART},
    "bonds": {"none": None, "parallel": bond.PART}, "cohesion": {"none": None, "jkr": jkr.PART, "dmt": liquid.DMT},
    "plastic": {"none": None, "walton-braun": plastic.WALTON_BRAUN, "luding": plastic.LUDING},
}
FRICTION_PARAMETERS = {         # the first four in the order of part.pxd
    "limit_damping": ("no", "yes"), "friction_limit": ("repulsion", "magnitude"), "bond_range": Positive(0.5),
    "mobilised_damping": NonNegative(0.0),
    "tangential": tuple(MODELS), "tangential_damping": ("stiffness-ratio", NonNegative),
    "rolling": tuple(PARTS["rolling"]), "rolling_damping": NonNegative(0.3), "mass": MASSES,
    "bonds": tuple(PARTS["bonds"]), "liquid": tuple(PARTS["liquid"]), "surface_tension": NonNegative(0.0728),
    "contact_angle": NonNegative(0.0), "sliding": tuple(PARTS["sliding"]), "twisting": tuple(PARTS["twisting"]),
}
MEANINGS = {
    "limit_damping": "With yes, attraction before lift-off is clipped, and the restitution larger than given.",
    "friction_limit": "Normal force of Coulomb's limit: where it repels, or its magnitude, as in LAMMPS.",
    "bond_range": "Largest gap that a bond spans, in effective radii, with bonds=parallel.",
    "tangential": "Spring: rescale creates no energy; the mindlin ones of other codes may; linear has one stiffness.",
    "tangential_damping": "Dashpot of friction over the normal one; stiffness-ratio: root of the ratio of stiffnesses.",
    "rolling": "Resistance by the rolling_friction of materials, of Ai et al. 2011: constant is model A, epsd model C.",
    "mobilised_damping": "Factor f of the rolling dashpot that acts beyond the limit, with rolling=epsd; 0 or 1 there.",
    "rolling_damping": "Damping ratio of rolling, with rolling=epsd.",
    "sliding": "With static, a contact that sticks holds up to the static_friction of materials before it slides.",
    "twisting": "With marshall, resistance to rotation about the normal, from tangential stiffness and friction.",
    "mass": "Effective mass: shared by the contacts of two bodies, of a single one, or of clumps that do not rotate.",
    "bonds": "With parallel, bonds of sim.bonds.add, by Potyondy and Cundall 2004.",
    "liquid": "With willett, a liquid bridge of the bridge_volume of materials forms at touch, by Willett et al. 2000.",
    "surface_tension": "Of the liquid [N/m], with liquid=willett; the default is that of water.",
    "contact_angle": "Of the liquid on all bodies [rad], below pi/2, with liquid=willett.",
}
for model in MODELS.values():
    for name in model.parameters:
        assert name not in FRICTION_PARAMETERS, f"{name}: a tangential model needs another name for it"
    FRICTION_PARAMETERS |= model.parameters
REFERENCES = ("thornton2013investigation", "ai2011assessment", "potyondy2004bonded", "willett2000capillary",
              "lian1993theoretical", "marshall2009discrete")


def parts_chosen(values):
    """The parts that parameters choose, in the order of PARTS; values : of the law, by name."""
    chosen = (words[values[option]] for option, words in PARTS.items() if option in values)
    return [part for part in chosen if part is not None]


def coefficient_rows(pair, values, stiffness, damping, tangential, ratio, rolling):
    """The coefficients in the order of part.pxd, each a number or (m, n).

    pair : properties of the pairs of materials;  values : parameters of the law by name.
    damping : at critical damping;  ratio : of the dashpots for stiffness-ratio;  rolling : stiffness without factor.
    """
    given, loss = values["tangential_damping"], -np.log(pair["restitution"])
    rows = {STIFFNESS: stiffness, DAMPING: damping * (loss / np.sqrt(np.pi ** 2 + loss ** 2)),
            TANGENTIAL_STIFFNESS: tangential, TANGENTIAL_DAMPING: ratio if given == "stiffness-ratio" else given,
            FRICTION: pair["friction"], ROLLING_STIFFNESS: 2.25 * pair["rolling_friction"] ** 2 * rolling,
            ROLLING_FRICTION: pair["rolling_friction"], ROLLING_DAMPING: values["rolling_damping"]}
    for part in parts_chosen(values):
        rows |= part.coefficients(pair, values) if part.coefficients else {}
    return [rows.get(k, 0.0) for k in range(max(rows) + 1)]


def largest_gap(pair, values, radius):
    """Gap [m] at which contacts of an effective radius [m] tear off, bridges or bonds break; pair, values : see above.
    """
    return reduce(np.maximum, (part.reach(pair, values, radius) for part in parts_chosen(values) if part.reach), 0.0)


cdef void forces(const Contact *contact, double *history, Result *result,
                 const LawParameters *parameters) noexcept nogil:
    cdef Normal normal
    cdef const PartCall *part = parameters.parts
    memset(result, 0, <size_t> (<char *> result.goes_on - <char *> result))
    while part.forces != NULL:
        part.forces(contact, <OwnFriction> history, history + part.first, &normal, result, parameters)
        part += 1


cdef void forces_across(const Contact *contact, double *history, Result *result,
                        const LawParameters *parameters) noexcept nogil:
    """The last parts act across gaps; where there is one, all records of others are zero after a step. So the others
    are left out in a block if all of its contacts have gaps, and had them in the last step."""
    cdef Normal normal
    cdef const PartCall *part = parameters.parts
    cdef const FrictionHistory *last = <const FrictionHistory *> history
    cdef long long any_touch = 0, any_gap = 0
    cdef int lane
    cdef Py_ssize_t row
    for lane in range(LANES):
        any_touch |= <long long> ((contact.overlap[lane] > 0.0) | (last.radius[lane] != 0.0))
        any_gap |= <long long> (contact.overlap[lane] <= 0.0)
    memset(result, 0, <size_t> (<char *> result.goes_on - <char *> result))
    while not part.across:
        if any_touch:
            part.forces(contact, <OwnFriction> history, history + part.first, &normal, result, parameters)
        part += 1
    for row in range(part.first // LANES if any_touch and any_gap else 0):
        for lane in range(LANES):
            history[row * LANES + lane] = history[row * LANES + lane] if contact.overlap[lane] > 0.0 else 0.0
    while part.forces != NULL:
        part.forces(contact, <OwnFriction> history, history + part.first, &normal, result, parameters)
        part += 1


cdef void describe(const Contact *contact, double *history, Energies *energies,
                   const LawParameters *parameters) noexcept nogil:
    cdef Normal normal
    cdef const PartCall *part = parameters.parts
    memset(energies, 0, sizeof(Energies))
    while part.forces != NULL:
        if part.describe != NULL:
            part.describe(contact, <OwnFriction> history, history + part.first, &normal, energies, parameters)
        part += 1


def friction_kernels(normal, values):
    """LawKernels of a normal part and those that the parameters choose; values : of the parameters, by name."""
    parts = parts_chosen(values)
    for part in parts:
        for name, reason in part.excludes.items():
            if values[name] not in ("none", "no"):
                raise ValueError(f"{name} = {values[name]}: {reason}; leave one out")
    if not 0.0 <= values["contact_angle"] < 0.5 * np.pi:
        raise ValueError(f"contact_angle = {values['contact_angle']}: give an angle below pi/2, in radians")
    if not any(part.is_normal for part in parts):
        parts.insert(0, normal)
    parts.sort(key=lambda part: part.across - part.is_normal)
    return LawKernels(history=<size_t> (forces_across if parts[-1].across else forces), describe=<size_t> describe,
                      n_records=FRICTION_RECORDS, parts=tuple(parts))


def friction_law(normal, parameters, meanings, **fields):
    """ContactLaw of a normal part with friction; parameters, meanings : its own, fields : as for `ContactLaw`."""
    parameters, always = FRICTION_PARAMETERS | parameters, ("restitution", "friction")
    parts = {f"{option}={word}": part for option, words in PARTS.items() if option in parameters
             for word, part in words.items() if part is not None}
    reads = {given: tuple(name for name in (*part.needs, *part.reads) if name not in always)
             for given, part in parts.items()}
    return ContactLaw(
        kernels=lambda values: friction_kernels(normal, values), range=largest_gap, needs_velocity=True,
        has_history=True, dashpots=True, conservative=False, reads_of_pairs=always,
        reads_with={given: names for given, names in reads.items() if names},
        needs={given: part.needs for given, part in parts.items() if part.needs}, parameters=parameters,
        meanings=MEANINGS | meanings, **fields)
