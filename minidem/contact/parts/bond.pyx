"""Bonds: an elastic beam between two spheres, beside their contact, that breaks where its stress reaches its strength.

D. O. Potyondy & P. A. Cundall, Int. J. Rock Mech. Min. Sci. 41, 1329 (2004), doi 10.1016/j.ijrmms.2004.09.011: parallel
bonds, a disk of radius R between the spheres with the area A = pi R^2 and the moments I = pi R^4 / 4, J = 2 I.

    normal force    F_n = k_n (d - d_0)                      overlap d, of the bond that has just been made d_0
    shear force     dF_s = -k_s ds                           turned with the bond, like the springs of friction
    bending         dM_b = -k_n I/A d(theta), likewise
    torsion         dM_t = -k_s J/A d(theta_t)
    dashpots        2 beta sqrt(m k) beside each spring, with the effective mass, or the effective rolling inertia
    breaks where    |M_b| R/I - F_n/A >= tensile strength, |F_s|/A + |M_t| R/J >= shear strength, or -d beyond the range

A bond that breaks exerts no force at this pose. What its springs hold and half of the work of its force in the last
step are dissipated: with the force half a kick less is done.
"""
from libc.math cimport fabs, pi, sqrt

from minidem.contact.law cimport Part
from minidem.contact.part cimport BOND_RANGE, GivenRows, predicted, record, store_record
from minidem.contact.rows cimport (
    ANGULAR_VELOCITY, COUPLE, DISSIPATED, FORCE, GOES_ON, MASS, MIDDLE_NORMAL, NORMAL, NORMAL_ENERGY, OVERLAP, OwnRows,
    RADIUS, ROLLING_ENERGY, ROLLING_INERTIA, SPIN, STEP, TANGENTIAL_ENERGY, VELOCITY,
)
from minidem.contact.spring cimport turned
from minidem.core.lanes cimport LANES
from minidem.core.vec3 cimport Vec3, add, add_scaled, dot, scale
from minidem.state.rows cimport load, store

cpdef enum BondRecord:              # three numbers, and a fourth one
    SHEAR = 0                       # F_s on i [N]; d_0 [m]
    BENDING = 1                     # M_b on i [N m]; M_t about the normal [N m]
    DASHPOT = 2                     # force on i, of all directions [N]; tensile strength [Pa]
    DASHPOT_COUPLE = 3              # on i [N m]; shear strength [Pa]
    SLIP = 4                        # velocity at the contact point, half a step before the pose; beta
    RATE = 5                        # relative angular velocity, likewise; 1 if these two are known, else 0
    STIFFNESS = 6                   # k_n, k_s [N/m], R [m], of either sign; HOLDS
    RECORDS = 7

HOLDS = 1.0                         # 0: no bond

cdef struct Bonds:                  # of eight contacts, at the pose
    double holds[LANES]             # 1, or 0: all else is zero
    double k_n[LANES]               # 1 where there is no bond; likewise
    double k_s[LANES]
    double k_b[LANES]
    double k_t[LANES]
    double pull[LANES]              # k_n (d - d_0) [N]
    double torsion[LANES]
    double shear[3 * LANES]
    double bending[3 * LANES]
    double dashpot[3 * LANES]
    double dashpot_couple[3 * LANES]
    double dissipated[LANES]
    long long breaks[LANES]


cdef inline void read(GivenRows contact, OwnRows own, Bonds *bonds, int lane) noexcept nogil:
    """Stiffnesses and normal force; the springs of the last step."""
    cdef const double *constants = record(own, STIFFNESS) + lane
    cdef double square = constants[2 * LANES] * constants[2 * LANES], holds = constants[3 * LANES], none = 1.0 - holds
    cdef double k_n = fabs(constants[0]), k_s = fabs(constants[LANES])
    bonds.holds[lane] = holds
    bonds.k_n[lane], bonds.k_s[lane] = k_n + none, k_s + none
    bonds.k_b[lane], bonds.k_t[lane] = 0.25 * k_n * square + none, 0.5 * k_s * square + none
    bonds.pull[lane] = k_n * (contact[OVERLAP * LANES + lane] - own[(4 * SHEAR + 3) * LANES + lane])
    bonds.torsion[lane] = own[(4 * BENDING + 3) * LANES + lane]


cdef inline Vec3 anisotropic(Vec3 v, double across, double along, Vec3 normal) noexcept nogil:
    """-across v for directions across the normal, -along v for that of the normal."""
    return add_scaled(scale(-across, v), (across - along) * dot(v, normal), normal)


cdef inline void move(GivenRows contact, OwnRows own, Bonds *bonds, int lane) noexcept nogil:
    """Springs and dashpots after a step, and what the dashpots have dissipated."""
    cdef Vec3 normal = load(contact + NORMAL * LANES + lane), middle = load(contact + MIDDLE_NORMAL * LANES + lane)
    cdef Vec3 u = load(contact + VELOCITY * LANES + lane), w = load(contact + ANGULAR_VELOCITY * LANES + lane)
    cdef Vec3 dashpot, couple
    cdef double step = contact[STEP * LANES + lane], turn = step * contact[SPIN * LANES + lane]
    cdef double known = own[(4 * RATE + 3) * LANES + lane], mass = contact[MASS * LANES + lane]
    cdef double inertia = contact[ROLLING_INERTIA * LANES + lane], holds = bonds.holds[lane]
    cdef double part = -holds * step * (1.0 - 0.125 * turn * turn)
    cdef double beta = 2.0 * holds * own[(4 * SLIP + 3) * LANES + lane]
    store(bonds.shear + lane, turned(load(record(own, SHEAR) + lane), scale(bonds.k_s[lane] * part, u), normal, middle,
                                     turn))
    store(bonds.bending + lane, turned(load(record(own, BENDING) + lane), scale(bonds.k_b[lane] * part, w), normal,
                                       middle, turn))
    bonds.torsion[lane] -= holds * bonds.k_t[lane] * step * dot(w, middle)
    dashpot = anisotropic(predicted(u, load(record(own, SLIP) + lane), known), beta * sqrt(mass * bonds.k_s[lane]),
                          beta * sqrt(mass * bonds.k_n[lane]), normal)
    couple = anisotropic(predicted(w, load(record(own, RATE) + lane), known), beta * sqrt(inertia * bonds.k_b[lane]),
                         beta * sqrt(inertia * bonds.k_t[lane]), normal)
    store(bonds.dashpot + lane, dashpot)
    store(bonds.dashpot_couple + lane, couple)
    bonds.dissipated[lane] = -0.5 * step * (dot(add(load(record(own, DASHPOT) + lane), dashpot), u)
                                            + dot(add(load(record(own, DASHPOT_COUPLE) + lane), couple), w))


cdef inline long long reaches_strength(GivenRows contact, OwnRows own, Bonds *bonds, double bond_range,
                                       int lane) noexcept nogil:
    """1 if the bond breaks at this pose. Stresses times area are compared."""
    cdef Vec3 shear = load(bonds.shear + lane), bending = load(bonds.bending + lane)
    cdef double radius = fabs(own[(4 * STIFFNESS + 2) * LANES + lane]), area = pi * radius * radius
    cdef double tension = 4.0 * sqrt(dot(bending, bending)) - bonds.pull[lane] * radius
    cdef double twist = sqrt(dot(shear, shear)) * radius + 2.0 * fabs(bonds.torsion[lane])
    cdef bint strong = (tension < own[(4 * DASHPOT + 3) * LANES + lane] * area * radius) \
        & (twist < own[(4 * DASHPOT_COUPLE + 3) * LANES + lane] * area * radius) \
        & (-contact[OVERLAP * LANES + lane] < bond_range * contact[RADIUS * LANES + lane])
    bonds.breaks[lane] = <long long> ((bonds.holds[lane] > 0.0) & (contact[STEP * LANES + lane] > 0.0) & (not strong))
    return bonds.breaks[lane]


cdef inline double energy_of(const Bonds *bonds, Vec3 shear, Vec3 bending, double torsion, int lane) noexcept nogil:
    """Elastic energy but that of the normal force, twice [J]."""
    return dot(shear, shear) / bonds.k_s[lane] + dot(bending, bending) / bonds.k_b[lane] \
        + torsion * torsion / bonds.k_t[lane]


cdef void break_bond(GivenRows contact, OwnRows own, Bonds *bonds, int lane) noexcept nogil:
    """Its energy is dissipated, with the work that its springs would do in the half step before the pose."""
    cdef Vec3 normal = load(contact + NORMAL * LANES + lane), force, couple
    cdef Vec3 u = load(contact + VELOCITY * LANES + lane), w = load(contact + ANGULAR_VELOCITY * LANES + lane)
    cdef double half = 0.5 * contact[STEP * LANES + lane], torsion = bonds.torsion[lane]
    cdef int k
    force, couple = load(bonds.shear + lane), load(bonds.bending + lane)
    bonds.dissipated[lane] += 0.5 * (bonds.pull[lane] * bonds.pull[lane] / bonds.k_n[lane]
                                     + energy_of(bonds, force, couple, torsion, lane)) \
        + half * (dot(load(bonds.dashpot + lane), u) + dot(load(bonds.dashpot_couple + lane), w)
                  + dot(add_scaled(force, bonds.pull[lane], normal), u) + dot(add_scaled(couple, torsion, normal), w))
    for k in range(3):
        bonds.shear[k * LANES + lane] = bonds.bending[k * LANES + lane] = 0.0
        bonds.dashpot[k * LANES + lane] = bonds.dashpot_couple[k * LANES + lane] = 0.0
    bonds.pull[lane] = bonds.torsion[lane] = bonds.holds[lane] = 0.0
    for k in range(4 * <int> RECORDS):
        own[k * LANES + lane] = 0.0


cdef inline void store_bond(GivenRows contact, OwnRows own, OwnRows result, Bonds *bonds, int lane) noexcept nogil:
    cdef Vec3 normal = load(contact + NORMAL * LANES + lane), force, couple
    cdef double holds = bonds.holds[lane]
    force = add(load(bonds.shear + lane), load(bonds.dashpot + lane))
    couple = add(load(bonds.bending + lane), load(bonds.dashpot_couple + lane))
    store(record(own, SHEAR) + lane, load(bonds.shear + lane))
    store_record(own + lane, BENDING, load(bonds.bending + lane), bonds.torsion[lane])
    store(record(own, DASHPOT) + lane, load(bonds.dashpot + lane))
    store(record(own, DASHPOT_COUPLE) + lane, load(bonds.dashpot_couple + lane))
    store(record(own, SLIP) + lane, scale(holds, load(contact + VELOCITY * LANES + lane)))
    store_record(own + lane, RATE, scale(holds, load(contact + ANGULAR_VELOCITY * LANES + lane)), holds)
    store(result + FORCE * LANES + lane, add(load(result + FORCE * LANES + lane),
                                             add_scaled(force, bonds.pull[lane], normal)))
    store(result + COUPLE * LANES + lane, add(load(result + COUPLE * LANES + lane),
                                              add_scaled(couple, bonds.torsion[lane], normal)))
    result[DISSIPATED * LANES + lane] += bonds.dissipated[lane]
    result[GOES_ON * LANES + lane] = holds if holds > 0.0 else result[GOES_ON * LANES + lane]


cdef void forces(GivenRows contact, OwnRows history, OwnRows own, OwnRows normal, OwnRows result,
                 GivenRows parameters) noexcept nogil:
    cdef Bonds bonds
    cdef double bond_range = parameters[<int> BOND_RANGE]
    cdef long long any_breaks = 0
    cdef int lane
    for lane in range(LANES):
        read(contact, own, &bonds, lane)
    for lane in range(LANES):
        move(contact, own, &bonds, lane)
    for lane in range(LANES):
        any_breaks |= reaches_strength(contact, own, &bonds, bond_range, lane)
    for lane in range(LANES if any_breaks else 0):
        if bonds.breaks[lane]:
            break_bond(contact, own, &bonds, lane)
    for lane in range(LANES):
        store_bond(contact, own, result, &bonds, lane)


cdef void describe(GivenRows contact, OwnRows history, OwnRows own, OwnRows normal, OwnRows result,
                   GivenRows parameters) noexcept nogil:
    cdef Bonds bonds
    cdef Vec3 shear, bending, none
    cdef int lane
    none.x = none.y = none.z = 0.0
    for lane in range(LANES):
        read(contact, own, &bonds, lane)
        shear, bending = load(record(own, SHEAR) + lane), load(record(own, BENDING) + lane)
        result[NORMAL_ENERGY * LANES + lane] += 0.5 * bonds.pull[lane] * bonds.pull[lane] / bonds.k_n[lane]
        result[TANGENTIAL_ENERGY * LANES + lane] += 0.5 * energy_of(&bonds, shear, none, 0.0, lane)
        result[ROLLING_ENERGY * LANES + lane] += 0.5 * energy_of(&bonds, none, bending, bonds.torsion[lane], lane)


PART = Part(forces=<size_t> forces, describe=<size_t> describe, n_records=RECORDS, has_couples=True)
