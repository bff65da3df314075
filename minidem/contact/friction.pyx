"""Laws with friction: sums of parts (part.pxd), chosen by their parameters, and the coefficients that parts share."""
import numpy as np

from minidem.contact.parts import bond, jkr, liquid, plastic, twisting
from minidem.contact.parts.normal import HOOKE
from minidem.contact.parts.springs import CONSTANT_ROLLING, MODELS, ROLLING, with_static_friction
from minidem.contact.registry import MASSES, ContactLaw
from minidem.core.parameters import NonNegative, Positive

from libc.string cimport memset

from minidem.contact.contact cimport Contact, Energies, Result, Row
from minidem.contact.law cimport LawKernels
from minidem.contact.part cimport (
    DAMPING, FRICTION, STIFFNESS, TANGENTIAL_DAMPING, TANGENTIAL_STIFFNESS, FrictionHistory, LawParameters, Normal,
    OwnFriction, PartCall,
)
from minidem.core.lanes cimport LANES

FRICTION_RECORDS = <int> (sizeof(FrictionHistory) // (4 * sizeof(Row)))

# Numbers of coefficients of part.pxd by name.
COEFFICIENT_INDEX = {"stiffness": STIFFNESS, "damping": DAMPING, "tangential_stiffness": TANGENTIAL_STIFFNESS,
                     "tangential_damping": TANGENTIAL_DAMPING, "friction": FRICTION}

# Parts by the words of their parameters; the first word is the default.
PARTS = {"tangential": MODELS, "rolling": {"none": None, "epsd": ROLLING, "constant": CONSTANT_ROLLING},
         "twisting": {"none": None, "marshall": twisting.HERTZ},
         "liquid": {"none": None, "willett": liquid.PART}, "bonds": {"none": None, "parallel": bond.PART}}
COHESION = {"none": None, "jkr": jkr.PART, "dmt": liquid.DMT}
PLASTICITY = {"none": None, "walton-braun": plastic.WALTON_BRAUN, "luding": plastic.LUDING}
IN_PLACE_OF_NORMAL = jkr.PART, plastic.WALTON_BRAUN, plastic.LUDING

READS_WITH = {"rolling=epsd": ("rolling_friction", "rolling_damping", "mobilised_damping"),
              "rolling=constant": ("rolling_friction",), "sliding=static": ("static_friction",),
              "bonds=parallel": ("bond_range",),
              "liquid=willett": ("bridge_volume", "surface_tension", "contact_angle"),
              **{f"tangential={name}": tuple(model.parameters) for name, model in MODELS.items() if model.parameters}}
FRICTION_PARAMETERS = {         # the first four in the order of part.pxd
    "limit_damping": ("no", "yes"), "friction_limit": ("repulsion", "magnitude"), "bond_range": Positive(0.5),
    "mobilised_damping": NonNegative(0.0),
    "tangential": tuple(MODELS), "tangential_damping": ("stiffness-ratio", NonNegative),
    "rolling": tuple(PARTS["rolling"]), "rolling_damping": NonNegative(0.3), "mass": MASSES,
    "bonds": tuple(PARTS["bonds"]), "liquid": tuple(PARTS["liquid"]), "surface_tension": NonNegative(0.0728),
    "contact_angle": NonNegative(0.0), "sliding": ("coulomb", "static"), "twisting": tuple(PARTS["twisting"]),
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


def coefficient_rows(pair, values, stiffness, damping, tangential, ratio, rolling, normal=()):
    """The coefficients in the order of part.pxd, each (m, n).

    pair : properties of the pairs of materials;  values : parameters of the law by name.
    damping : at critical damping;  ratio : of the dashpots for stiffness-ratio;  rolling : stiffness without factor.
    normal : what cohesion or plasticity reads of the pairs, a tuple of one.
    """
    given, like = values["tangential_damping"], np.zeros_like(pair["friction"])
    own = [values[name] + like for name in MODELS[values["tangential"]].parameters]
    pull = 2.0 * np.pi * pair["adhesion"] if values.get("cohesion") == "dmt" else \
        values["adhesive_stiffness"] * values["stiffness"] + like if values.get("plastic") == "luding" else None
    bridge = bridge_rows(pair["bridge_volume"], values) if values["liquid"] != "none" else () if pull is None else (
        pull, like, like)
    static = (np.maximum(pair["static_friction"], pair["friction"]),) if values["sliding"] == "static" else ()
    loss = -np.log(pair["restitution"])
    return (stiffness + like, damping * (loss / np.sqrt(np.pi ** 2 + loss ** 2)), tangential + like,
            (ratio if given == "stiffness-ratio" else given) + like, pair["friction"],
            2.25 * pair["rolling_friction"] ** 2 * rolling, pair["rolling_friction"], values["rolling_damping"] + like,
            *(normal or (bridge or static or own) and (like,)), *(bridge or (static or own) and 3 * (like,)),
            *(static or own and (like,)), *own)


def bridge_rows(volume, values):
    """The coefficients of liquid bridges of these volumes (m, n)."""
    pull = 4.0 * np.pi * values["surface_tension"] * np.cos(values["contact_angle"])
    shortness = np.sqrt(2.0 / np.where(volume > 0.0, volume, np.inf))
    return pull * (volume > 0.0), shortness, liquid.rupture_distance(volume, values["contact_angle"])


def largest_gap(pair, values, radius):
    """Gap [m] at which contacts of an effective radius [m] tear off, bridges or bonds break; pair, values : see above.
    """
    if values.get("cohesion") == "jkr":
        return 3.0 * (0.25 * jkr.length_root(pair["modulus"], pair["adhesion"])) ** (4 / 3) * radius ** (1 / 3)
    bonds = values["bond_range"] * radius if values["bonds"] != "none" else 0.0
    wet = values["liquid"] != "none"
    return np.maximum(bonds, liquid.rupture_distance(pair["bridge_volume"], values["contact_angle"])) if wet else bonds


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
        part.describe(contact, <OwnFriction> history, history + part.first, &normal, energies, parameters)
        part += 1


def friction_kernels(normal, values):
    """LawKernels of a normal part and those that the parameters choose; values : of the parameters, by name."""
    cohesion = COHESION[values.get("cohesion", "none")]
    plasticity = PLASTICITY[values.get("plastic", "none")]
    if plasticity is not None and values["limit_damping"] == "yes":
        raise ValueError("limit_damping = yes: plastic contacts have no dashpot that attracts; leave one out")
    if plasticity is plastic.LUDING and values["liquid"] != "none":
        raise ValueError("liquid = willett: it is not defined beside plastic contacts that attract; leave one out")
    if cohesion is not None and values["limit_damping"] == "yes":
        raise ValueError("limit_damping = yes: it clips attraction, and contacts with cohesion attract; leave one out")
    for name in ("bonds", "liquid") if cohesion is not None else ():
        if values[name] != "none":
            raise ValueError(f"{name} = {values[name]}: {name} beside contacts with cohesion is not defined; leave one "
                             "out")
    if not 0.0 <= values["contact_angle"] < 0.5 * np.pi:
        raise ValueError(f"contact_angle = {values['contact_angle']}: give an angle below pi/2, in radians")
    parts = (normal, *(PARTS[name][values[name]] for name in PARTS), cohesion or plasticity)
    if values["sliding"] == "static":
        parts = normal, with_static_friction(parts[1]), *parts[2:]
    parts = tuple(twisting.HOOKE if part is twisting.HERTZ and normal is HOOKE else part
                  for part in parts if part is not None)
    if parts[-1] in IN_PLACE_OF_NORMAL:
        parts = parts[-1:] + parts[1:-1]
    return LawKernels(history=<size_t> (forces_across if parts[-1].across else forces), describe=<size_t> describe,
                      n_records=FRICTION_RECORDS, parts=parts)


def friction_law(normal, parameters, meanings, **fields):
    """ContactLaw of a normal part with friction; parameters, meanings : its own, fields : as for `ContactLaw`."""
    own = {f"cohesion={word}": ("adhesion",) for word in ("jkr", "dmt") if "cohesion" in parameters}
    own |= {"plastic=luding": ("adhesive_stiffness",)} if "plastic" in parameters else {}
    return ContactLaw(
        kernels=lambda values: friction_kernels(normal, values), range=largest_gap, needs_velocity=True,
        has_history=True, dashpots=True, conservative=False, reads_of_pairs=("restitution", "friction"),
        reads_with=READS_WITH | own, parameters=FRICTION_PARAMETERS | parameters, meanings=MEANINGS | meanings,
        **fields)
