"""Bonds: an elastic beam between two spheres, beside their contact, that breaks where its stress reaches its strength.

D. O. Potyondy & P. A. Cundall, Int. J. Rock Mech. Min. Sci. 41, 1329 (2004), doi 10.1016/j.ijrmms.2004.09.011: parallel
bonds, a disk of radius R between the spheres with the area A = pi R^2 and the moments I = pi R^4 / 4, J = 2 I.

    normal force    F_n = k_n (d - d_0)                      overlap d, of the bond that has just been made d_0
    shear force     dF_s = -k_s ds                           turned with the bond, like the springs of friction
    bending         dM_b = -k_n I/A d(theta), likewise
    torsion         dM_t = -k_s J/A d(theta_t)
    dashpots        2 beta sqrt(m k) beside each spring, with the effective mass, or the effective rolling inertia
    breaks where    |M_b| R/I - F_n/A >= tensile strength, |F_s|/A + |M_t| R/J >= shear strength, or -d beyond the range

A bond that breaks exerts no force at this pose. The energy of fracture is what its springs hold and half of the work of
their force in the last step: with the force half a kick less is done. The last four records, but for their fourth
numbers, are those of dashpots, and zero without damping: a block without damped bonds leaves them alone.
"""
from libc.math cimport M_SQRT2, fabs, pi, sqrt

from minidem.contact.law cimport Part
from minidem.contact.part cimport BOND_RANGE, GivenRows, predicted, record, store_record
from minidem.contact.rows cimport (
    ANGULAR_VELOCITY, COUPLE, DISSIPATED, FORCE, FRACTURE, GOES_ON, MASS, MIDDLE_NORMAL, NORMAL, NORMAL_ENERGY, OVERLAP,
    OwnRows, RADIUS, ROLLING_ENERGY, ROLLING_INERTIA, SPIN, STEP, TANGENTIAL_ENERGY, VELOCITY,
)
from minidem.contact.spring cimport positive, turned
from minidem.core.lanes cimport LANES
from minidem.core.vec3 cimport Vec3, add, add_scaled, dot, scale, vec3
from minidem.state.rows cimport load, store

cpdef enum BondRecord:              # three numbers, and a fourth one; all are zero where there is no bond
    SHEAR = 0                       # F_s on i [N]; d_0 [m]
    BENDING = 1                     # M_b on i [N m]; M_t about the normal [N m]
    STIFFNESS = 2                   # k_n, k_s [N/m], R [m]; shear strength [Pa]
    RATE = 3                        # relative angular velocity, half a step before the pose; tensile strength [Pa]
    SLIP = 4                        # velocity at the contact point, likewise; beta
    DASHPOT = 5                     # force on i, of all directions [N]; 1 if the last four are known, else 0
    DASHPOT_COUPLE = 6              # on i [N m]; -
    RECORDS = 7

cdef extern from *:
    """
    #define MINIDEM_LEAST_FRACTURE 1e-300
    """
    const double LEAST "MINIDEM_LEAST_FRACTURE"     # energy that a bond which breaks reports [J]

cdef struct Bonds:                  # of eight contacts, at the pose
    double pull[LANES]              # k_n (d - d_0) [N]
    long long breaks[LANES]


cdef inline long long stretch(GivenRows contact, OwnRows own, double bond_range, Bonds *bonds, int lane) noexcept nogil:
    """Springs after a step; 1 if the bond breaks. Stresses times A R are compared, lengths of vectors by their squares.
    """
    cdef const double *stiffness = record(own, STIFFNESS) + lane
    cdef Vec3 normal = load(contact + NORMAL * LANES + lane), middle = load(contact + MIDDLE_NORMAL * LANES + lane)
    cdef Vec3 w = load(contact + ANGULAR_VELOCITY * LANES + lane), shear, bending
    cdef double k_n = stiffness[0], k_s = stiffness[LANES], radius = stiffness[2 * LANES]
    cdef double step = contact[STEP * LANES + lane], turn = step * contact[SPIN * LANES + lane]
    cdef double part = -step * (1.0 - 0.125 * turn * turn), square = radius * radius, volume = pi * radius * square
    cdef double overlap = contact[OVERLAP * LANES + lane], torsion, pull, most_bending, most_shear
    cdef bint strong
    shear = turned(load(record(own, SHEAR) + lane), scale(k_s * part, load(contact + VELOCITY * LANES + lane)), normal,
                   middle, turn)
    bending = turned(load(record(own, BENDING) + lane), scale(0.25 * k_n * square * part, w), normal, middle, turn)
    torsion = own[(4 * BENDING + 3) * LANES + lane] - 0.5 * k_s * square * step * dot(w, middle)
    pull = k_n * (overlap - own[(4 * SHEAR + 3) * LANES + lane])
    most_bending = own[(4 * RATE + 3) * LANES + lane] * volume + pull * radius
    most_shear = stiffness[3 * LANES] * volume - 2.0 * fabs(torsion)
    strong = (most_bending > 0.0) & (most_shear > 0.0) & (16.0 * dot(bending, bending) < most_bending * most_bending) \
        & (dot(shear, shear) * square < most_shear * most_shear) \
        & (-overlap < bond_range * contact[RADIUS * LANES + lane])
    store(record(own, SHEAR) + lane, shear)
    store_record(own + lane, BENDING, bending, torsion)
    bonds.pull[lane] = pull
    bonds.breaks[lane] = <long long> ((stiffness[3 * LANES] > 0.0) & (step > 0.0) & (not strong))
    return bonds.breaks[lane]


cdef inline Vec3 anisotropic(Vec3 v, double across, double along, Vec3 normal) noexcept nogil:
    """-across v for directions across the normal, -along v for that of the normal."""
    return add_scaled(scale(-across, v), (across - along) * dot(v, normal), normal)


cdef inline void damp(GivenRows contact, OwnRows own, OwnRows result, const Bonds *bonds, int lane) noexcept nogil:
    """Add dashpots, zero of a bond that breaks, and what they have dissipated."""
    cdef const double *stiffness = record(own, STIFFNESS) + lane
    cdef Vec3 normal = load(contact + NORMAL * LANES + lane), dashpot, couple
    cdef Vec3 u = load(contact + VELOCITY * LANES + lane), w = load(contact + ANGULAR_VELOCITY * LANES + lane)
    cdef double beta = own[(4 * SLIP + 3) * LANES + lane], known = own[(4 * DASHPOT + 3) * LANES + lane]
    cdef double damped = 1.0 if beta > 0.0 else 0.0, acts = 0.0 if bonds.breaks[lane] else 2.0 * beta
    cdef double k_n = sqrt(stiffness[0]), k_s = sqrt(stiffness[LANES])
    cdef double straight = acts * sqrt(contact[MASS * LANES + lane])
    cdef double turning = 0.5 * acts * stiffness[2 * LANES] * sqrt(contact[ROLLING_INERTIA * LANES + lane])
    dashpot = anisotropic(predicted(u, load(record(own, SLIP) + lane), known), straight * k_s, straight * k_n, normal)
    couple = anisotropic(predicted(w, load(record(own, RATE) + lane), known), turning * k_n, turning * k_s * M_SQRT2,
                         normal)
    result[DISSIPATED * LANES + lane] += -0.5 * contact[STEP * LANES + lane] * (
        dot(add(load(record(own, DASHPOT) + lane), dashpot), u)
        + dot(add(load(record(own, DASHPOT_COUPLE) + lane), couple), w))
    store(result + FORCE * LANES + lane, add(load(result + FORCE * LANES + lane), dashpot))
    store(result + COUPLE * LANES + lane, add(load(result + COUPLE * LANES + lane), couple))
    store(record(own, SLIP) + lane, scale(damped, u))
    store(record(own, RATE) + lane, scale(damped, w))
    store_record(own + lane, DASHPOT, dashpot, damped)
    store(record(own, DASHPOT_COUPLE) + lane, couple)


cdef inline Vec3 energies(GivenRows own, double pull, int lane) noexcept nogil:
    """Elastic energies of the normal force, of the shear force, and of the moments [J]; zero where there is no bond."""
    cdef const double *stiffness = own + 4 * <int> STIFFNESS * LANES + lane
    cdef double k_n = positive(stiffness[0], 1.0), k_s = positive(stiffness[LANES], 1.0)
    cdef double square = positive(stiffness[2 * LANES] * stiffness[2 * LANES], 1.0)
    cdef double torsion = own[(4 * BENDING + 3) * LANES + lane]
    cdef Vec3 shear = load(own + 4 * <int> SHEAR * LANES + lane), bending = load(own + 4 * <int> BENDING * LANES + lane)
    return vec3(0.5 * pull * pull / k_n, 0.5 * dot(shear, shear) / k_s,
                (2.0 * dot(bending, bending) / k_n + torsion * torsion / k_s) / square)


cdef void break_bond(GivenRows contact, OwnRows own, OwnRows result, Bonds *bonds, int lane) noexcept nogil:
    """Springs exert no force, and their energy is that of fracture, with the work that they would do in the half step
    before the pose. An energy that is not positive, of a bond that breaks as its springs change their sign, is
    dissipation."""
    cdef Vec3 normal = load(contact + NORMAL * LANES + lane), none = vec3(0.0, 0.0, 0.0)
    cdef Vec3 force = add_scaled(load(record(own, SHEAR) + lane), bonds.pull[lane], normal)
    cdef Vec3 couple = add_scaled(load(record(own, BENDING) + lane), own[(4 * BENDING + 3) * LANES + lane], normal)
    cdef Vec3 held = energies(own, bonds.pull[lane], lane)
    cdef double energy = held.x + held.y + held.z + 0.5 * contact[STEP * LANES + lane] * (
        dot(force, load(contact + VELOCITY * LANES + lane))
        + dot(couple, load(contact + ANGULAR_VELOCITY * LANES + lane)))
    result[FRACTURE * LANES + lane] = energy if energy > LEAST else LEAST
    result[DISSIPATED * LANES + lane] += 0.0 if energy > LEAST else energy
    bonds.pull[lane] = 0.0
    store(record(own, SHEAR) + lane, none)
    store_record(own + lane, BENDING, none, 0.0)


cdef inline void add_springs(GivenRows contact, OwnRows own, OwnRows result, const Bonds *bonds,
                             int lane) noexcept nogil:
    cdef Vec3 normal = load(contact + NORMAL * LANES + lane)
    cdef Vec3 force = add_scaled(load(record(own, SHEAR) + lane), bonds.pull[lane], normal)
    cdef Vec3 couple = add_scaled(load(record(own, BENDING) + lane), own[(4 * BENDING + 3) * LANES + lane], normal)
    store(result + FORCE * LANES + lane, add(load(result + FORCE * LANES + lane), force))
    store(result + COUPLE * LANES + lane, add(load(result + COUPLE * LANES + lane), couple))
    result[GOES_ON * LANES + lane] = 1.0 if own[(4 * STIFFNESS + 3) * LANES + lane] > 0.0 \
        else result[GOES_ON * LANES + lane]


cdef void forces(GivenRows contact, OwnRows history, OwnRows own, OwnRows normal, OwnRows result,
                 GivenRows parameters) noexcept nogil:
    cdef Bonds bonds
    cdef double bond_range = parameters[<int> BOND_RANGE]
    cdef long long any_bonds = 0, any_breaks = 0, any_damped = 0
    cdef int lane, k
    for lane in range(LANES):
        any_bonds |= <long long> (own[(4 * STIFFNESS + 3) * LANES + lane] > 0.0)
        any_damped |= <long long> (own[(4 * SLIP + 3) * LANES + lane] != 0.0)
    if not any_bonds:
        return
    for lane in range(LANES):
        any_breaks |= stretch(contact, own, bond_range, &bonds, lane)
    for lane in range(LANES if any_breaks else 0):
        if bonds.breaks[lane]:
            break_bond(contact, own, result, &bonds, lane)
    if any_damped:
        for lane in range(LANES):
            damp(contact, own, result, &bonds, lane)
    for lane in range(LANES if any_breaks else 0):
        for k in range(4 * <int> RECORDS if bonds.breaks[lane] else 0):
            own[k * LANES + lane] = 0.0
    for lane in range(LANES):
        add_springs(contact, own, result, &bonds, lane)


cdef void describe(GivenRows contact, OwnRows history, OwnRows own, OwnRows normal, OwnRows result,
                   GivenRows parameters) noexcept nogil:
    cdef Vec3 held
    cdef int lane
    for lane in range(LANES):
        held = energies(own, own[4 * <int> STIFFNESS * LANES + lane] * (
            contact[OVERLAP * LANES + lane] - own[(4 * SHEAR + 3) * LANES + lane]), lane)
        result[NORMAL_ENERGY * LANES + lane] += held.x
        result[TANGENTIAL_ENERGY * LANES + lane] += held.y
        result[ROLLING_ENERGY * LANES + lane] += held.z


PART = Part(forces=<size_t> forces, describe=<size_t> describe, n_records=RECORDS, rare_records=RECORDS - DASHPOT,
            has_couples=True)
