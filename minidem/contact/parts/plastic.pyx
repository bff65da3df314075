"""Normal part of plastic contacts: a spring that is stiffer when it unloads, in place of spring and dashpot.

`plastic=walton-braun`: O. R. Walton & R. L. Braun, J. Rheol. 30, 949 (1986), doi 10.1122/1.549893:

    F_n = max(k_2 d - (k_2 - k) d_max, 0)       largest overlap d_max of this contact so far
    k_2 = k / e^2                               so that e is the restitution at any speed, of any number of contacts

`plastic=luding`: S. Luding, Granul. Matter 10, 235 (2008), doi 10.1007/s10035-008-0099-x, eq. 4, with constant k_2: it
attracts down to -k_c d instead of 0, and along this line d_max falls, so that a contact that is pressed again follows
k_2 from there.

The elastic energy is F_n^2 / (2 k_2). As d_max grows, k (1 - e^2) (d_max^2 - d_before^2) / 2 is dissipated, and as it
falls, k_c (1 - e^2)^2 (d_before^2 - d_max^2) / (2 + 2 k_c / k_2). No dashpot acts along the normal; the one of friction
has the coefficient that the dashpot of the same e would have.
"""
from libc.math cimport sqrt

from minidem.contact.contact cimport Energies, GivenContact, OwnNumbers, OwnResult, load3, store3
from minidem.contact.law cimport Part
from minidem.contact.part cimport (
    ADHESIVE_STIFFNESS, DAMPING, FRICTION_LIMIT, LOADING, STIFFNESS, LawParameters, NormalForces, OwnFriction,
    OwnNormal, load_of, positive, predicted, store_normal,
)
from minidem.core.lanes cimport LANES
from minidem.core.vec3 cimport dot


cdef inline double force_at(GivenContact contact, double largest, bint attracts, int lane) noexcept nogil:
    """F_n [N]; with a largest overlap of zero, which no contact has, that of the stiffer spring."""
    cdef double unloading = contact.coefficients[STIFFNESS][lane], overlap = contact.overlap[lane]
    cdef double spring = unloading * (overlap - (1.0 - contact.coefficients[LOADING][lane]) * largest)
    cdef double pull = contact.coefficients[ADHESIVE_STIFFNESS][lane] * positive(overlap, 0.0) if attracts else 0.0
    return positive(spring + pull, 0.0) - pull


cdef inline void press(bint attracts, GivenContact contact, OwnFriction history, OwnNumbers own, OwnNormal normal,
                       OwnResult result, const LawParameters *parameters) noexcept nogil:
    """A `PartFunction`; attracts : constant at compile time;  own : d_max, in the first of four rows."""
    cdef NormalForces found
    cdef double lost[LANES]
    cdef double overlap, largest, part, rest, approach, adhesive, ratio, least, after
    cdef int lane
    for lane in range(LANES):
        overlap, part = contact.overlap[lane], contact.coefficients[LOADING][lane]
        largest, rest = overlap if overlap > own[lane] else own[lane], 1.0 - part
        lost[lane] = 0.5 * contact.coefficients[STIFFNESS][lane] * part * rest \
            * (largest * largest - own[lane] * own[lane]) if contact.step[lane] > 0.0 else 0.0
        if attracts:                                    # d_max falls where it attracts as much as it can
            adhesive = contact.coefficients[ADHESIVE_STIFFNESS][lane]
            ratio = adhesive / contact.coefficients[STIFFNESS][lane]
            least = (1.0 + ratio) * positive(overlap, 0.0)
            after = least / rest if rest * largest > least else largest
            lost[lane] += 0.5 * adhesive * rest * rest * (largest * largest - after * after) / (1.0 + ratio) \
                if contact.step[lane] > 0.0 else 0.0
            largest = after
        own[lane] = largest
        found.force[lane], found.damping[lane] = force_at(contact, largest, attracts, lane), 0.0
        found.kept[lane] = normal.contact_radius[lane] = 1.0 if overlap > 0.0 else 0.0
        normal.old_radius[lane] = normal.keeps[lane] = 1.0
        normal.old[lane] = 1.0 if history.radius[lane] != 0.0 else 0.0
        approach = -contact.step[lane] * dot(load3(contact.velocity, lane), load3(contact.middle_normal, lane))
        normal.stretched[lane] = overlap / approach if normal.old[lane] == 0.0 and 0.0 < overlap < approach else 1.0
        normal.dashpot[lane] = contact.coefficients[DAMPING][lane] * sqrt(contact.mass[lane])
        normal.load[lane] = load_of(found.force[lane], parameters.values[FRICTION_LIMIT])
        store3(normal.pose_velocity, lane, predicted(load3(contact.velocity, lane), load3(history.slip, lane),
                                                     normal.old[lane]))
    store_normal(contact, history, result, &found)
    for lane in range(LANES):
        result.dissipated[0][lane] = lost[lane]


cdef void forces(GivenContact contact, OwnFriction history, OwnNumbers own, OwnNormal normal, OwnResult result,
                 const LawParameters *parameters) noexcept nogil:
    if parameters.attracts:
        press(True, contact, history, own, normal, result, parameters)
    else:
        press(False, contact, history, own, normal, result, parameters)


cdef void describe(GivenContact contact, OwnFriction history, OwnNumbers own, OwnNormal normal, Energies *energies,
                   const LawParameters *parameters) noexcept nogil:
    cdef double force
    cdef int lane
    for lane in range(LANES):
        force = force_at(contact, own[lane], parameters.attracts, lane)
        energies.normal_energy[lane] = 0.5 * force * force / contact.coefficients[STIFFNESS][lane]
        normal.contact_radius[lane] = normal.old_radius[lane] = 1.0 if contact.overlap[lane] > 0.0 else 0.0
        normal.load[lane] = load_of(history.normal_force[lane], parameters.values[FRICTION_LIMIT])


def coefficients(pair, values):
    part = pair["restitution"] ** 2
    return {STIFFNESS: values["stiffness"] / part, LOADING: part}


def coefficients_luding(pair, values):
    return coefficients(pair, values) | {ADHESIVE_STIFFNESS: values["adhesive_stiffness"] * values["stiffness"]}


EXCLUDES = {"limit_damping": "plastic contacts have no dashpot that attracts"}
WALTON_BRAUN = Part(
    forces=<size_t> forces, describe=<size_t> describe, n_records=1, is_normal=True, linear=True,
    needs=("restitution",), excludes=EXCLUDES, coefficients=coefficients)
LUDING = Part(
    forces=<size_t> forces, describe=<size_t> describe, n_records=1, is_normal=True, linear=True, attracts=True,
    needs=("restitution", "adhesive_stiffness"), coefficients=coefficients_luding,
    excludes=EXCLUDES | {"liquid": "it is not defined beside plastic contacts that attract"})
