"""Bonds: an elastic beam between two spheres, beside their contact, that breaks where its stress reaches its strength.

D. O. Potyondy & P. A. Cundall, Int. J. Rock Mech. Min. Sci. 41, 1329 (2004), doi 10.1016/j.ijrmms.2004.09.011: parallel
bonds, a disk of radius R between the spheres with the area A = pi R^2 and the moments I = pi R^4 / 4, J = 2 I.

    normal force    F_n = k_n (d - d_0)                      overlap d, of the bond that has just been made d_0
    shear force     dF_s = -k_s ds                           turned with the bond, like the springs of friction
    bending         dM_b = -k_n I/A d(theta)                 turned with the bond
    torsion         dM_t = -k_s J/A d(theta_t)
    dashpots        2 beta sqrt(m k) beside each spring, with the effective mass, or the effective rolling inertia
    breaks where    |M_b| R/I - F_n/A >= tensile strength, |F_s|/A + |M_t| R/J >= shear strength, or -d beyond the range

A bond that breaks exerts no force at this pose. The energy of fracture is what its springs hold and half of the work of
their force in the last step: with the force half a kick less is done. The last four records, except their fourth
numbers, belong to the dashpots, and are zero without damping: a block without damped bonds leaves them alone.
"""
from libc.math cimport M_SQRT2, fabs, pi, sqrt

from minidem.contact.contact cimport Energies, GivenContact, OwnNumbers, OwnResult, Row, load3, store3
from minidem.contact.law cimport Part
from minidem.contact.part cimport (
    BOND_RANGE, LawParameters, OwnFriction, OwnNormal, most_across, positive, predicted, turned,
)
from minidem.core.lanes cimport LANES
from minidem.core.vec3 cimport Vec3, add, add_scaled, dot, scale, vec3

cpdef enum BondRecord:              # the records of BondHistory, for Python
    SHEAR, BENDING, STIFFNESS, RATE, SLIP, DASHPOT, DASHPOT_COUPLE, RECORDS

cdef struct BondHistory:            # all numbers are zero where there is no bond
    Row shear[3]                    # F_s on i [N]
    Row length                      # d_0 [m]
    Row bending[3]                  # M_b on i [N m]
    Row torsion                     # M_t about the normal [N m]
    Row k_n, k_s                    # [N/m]
    Row radius                      # R [m]
    Row shear_strength              # [Pa]
    Row rate[3]                     # relative angular velocity, half a step before the pose [rad/s]
    Row tensile_strength            # [Pa]
    Row slip[3]                     # velocity at the contact point, half a step before the pose [m/s]
    Row beta
    Row dashpot[3]                  # force on i, of all directions [N]
    Row known                       # 1 if slip, rate and dashpots are known, else 0
    Row dashpot_couple[3]           # on i [N m]
    Row unused

cdef extern from *:
    const double LEAST "1e-300"     # energy that a bond which breaks reports [J]

cdef struct Bonds:                  # of eight contacts, at the pose
    double pull[LANES]              # k_n (d - d_0) [N]
    long long breaks[LANES]


cdef inline long long stretch(GivenContact contact, BondHistory *own, double bond_range, Bonds *bonds,
                              int lane) noexcept nogil:
    """Springs after a step; 1 if the bond breaks. Stresses times A R are compared, lengths of vectors by their squares.
    """
    cdef Vec3 normal = load3(contact.normal, lane), middle = load3(contact.middle_normal, lane)
    cdef Vec3 w = load3(contact.angular_velocity, lane), shear, bending
    cdef double k_n = own.k_n[lane], k_s = own.k_s[lane], radius = own.radius[lane]
    cdef double step = contact.step[lane], turn = step * contact.spin[lane]
    cdef double part = -step * (1.0 - 0.125 * turn * turn), square = radius * radius, volume = pi * radius * square
    cdef double overlap = contact.overlap[lane], torsion, pull, most_bending, most_shear
    cdef bint strong
    shear = turned(load3(own.shear, lane), scale(k_s * part, load3(contact.velocity, lane)), normal, middle, turn)
    bending = turned(load3(own.bending, lane), scale(0.25 * k_n * square * part, w), normal, middle, turn)
    torsion = own.torsion[lane] - 0.5 * k_s * square * step * dot(w, middle)
    pull = k_n * (overlap - own.length[lane])
    most_bending = own.tensile_strength[lane] * volume + pull * radius
    most_shear = own.shear_strength[lane] * volume - 2.0 * fabs(torsion)
    strong = (most_bending > 0.0) & (most_shear > 0.0) & (16.0 * dot(bending, bending) < most_bending * most_bending) \
        & (dot(shear, shear) * square < most_shear * most_shear) & (-overlap < bond_range * contact.radius[lane])
    store3(own.shear, lane, shear)
    store3(own.bending, lane, bending)
    own.torsion[lane] = torsion
    bonds.pull[lane] = pull
    bonds.breaks[lane] = <long long> ((own.shear_strength[lane] > 0.0) & (step > 0.0) & (not strong))
    return bonds.breaks[lane]


cdef inline Vec3 anisotropic(Vec3 v, double across, double along, Vec3 normal) noexcept nogil:
    """-across v for directions across the normal, -along v along it."""
    return add_scaled(scale(-across, v), (across - along) * dot(v, normal), normal)


cdef inline void damp(bint heavy, GivenContact contact, BondHistory *own, OwnResult result, const Bonds *bonds,
                      int lane) noexcept nogil:
    """Add dashpots, zero of a bond that breaks, and what they have dissipated.

    heavy : a constant, whether the mass of those across the normal may be bounded
    """
    cdef Vec3 normal = load3(contact.normal, lane), dashpot, couple
    cdef Vec3 u = load3(contact.velocity, lane), w = load3(contact.angular_velocity, lane)
    cdef double beta = own.beta[lane], known = own.known[lane]
    cdef double damped = 1.0 if beta > 0.0 else 0.0, acts = 0.0 if bonds.breaks[lane] else 2.0 * beta
    cdef double k_n = sqrt(own.k_n[lane]), k_s = sqrt(own.k_s[lane])
    cdef double straight = acts * sqrt(contact.mass[lane]), across = straight, square
    cdef double turning = 0.5 * acts * own.radius[lane] * sqrt(contact.rolling_inertia[lane])
    if heavy:
        square = contact.radius[lane] * contact.radius[lane]
        across = acts * sqrt(min(contact.mass[lane], most_across(contact, lane) / positive(square, 1.0)))
    dashpot = anisotropic(predicted(u, load3(own.slip, lane), known), across * k_s, straight * k_n, normal)
    couple = anisotropic(predicted(w, load3(own.rate, lane), known), turning * k_n, turning * k_s * M_SQRT2, normal)
    result.dissipated[0][lane] += -0.5 * contact.step[lane] * (
        dot(add(load3(own.dashpot, lane), dashpot), u) + dot(add(load3(own.dashpot_couple, lane), couple), w))
    store3(result.force, lane, add(load3(result.force, lane), dashpot))
    store3(result.couple, lane, add(load3(result.couple, lane), couple))
    store3(own.slip, lane, scale(damped, u))
    store3(own.rate, lane, scale(damped, w))
    store3(own.dashpot, lane, dashpot)
    own.known[lane] = damped
    store3(own.dashpot_couple, lane, couple)


cdef inline Vec3 held_by(BondHistory *own, double pull, int lane) noexcept nogil:
    """Elastic energies of the normal force, of the shear force, and of the moments [J]; zero where there is no bond."""
    cdef double k_n = positive(own.k_n[lane], 1.0), k_s = positive(own.k_s[lane], 1.0)
    cdef double square = positive(own.radius[lane] * own.radius[lane], 1.0)
    cdef double torsion = own.torsion[lane]
    cdef Vec3 shear = load3(own.shear, lane), bending = load3(own.bending, lane)
    return vec3(0.5 * pull * pull / k_n, 0.5 * dot(shear, shear) / k_s,
                (2.0 * dot(bending, bending) / k_n + torsion * torsion / k_s) / square)


cdef void break_bond(GivenContact contact, BondHistory *own, OwnResult result, Bonds *bonds, int lane) noexcept nogil:
    """Springs exert no force, and their energy becomes energy of fracture, with the work that they would do in the half
    step before the pose. An energy that is not positive, of a bond that breaks as its springs change their sign, is
    dissipation."""
    cdef Vec3 normal = load3(contact.normal, lane)
    cdef Vec3 force = add_scaled(load3(own.shear, lane), bonds.pull[lane], normal)
    cdef Vec3 couple = add_scaled(load3(own.bending, lane), own.torsion[lane], normal)
    cdef Vec3 held = held_by(own, bonds.pull[lane], lane)
    cdef double energy = held.x + held.y + held.z + 0.5 * contact.step[lane] * (
        dot(force, load3(contact.velocity, lane)) + dot(couple, load3(contact.angular_velocity, lane)))
    result.fracture[lane] = energy if energy > LEAST else LEAST
    result.dissipated[0][lane] += 0.0 if energy > LEAST else energy
    bonds.pull[lane] = 0.0


cdef inline void add_springs(GivenContact contact, BondHistory *own, OwnResult result, const Bonds *bonds,
                             int lane) noexcept nogil:
    cdef Vec3 normal = load3(contact.normal, lane)
    cdef Vec3 force = add_scaled(load3(own.shear, lane), bonds.pull[lane], normal)
    cdef Vec3 couple = add_scaled(load3(own.bending, lane), own.torsion[lane], normal)
    store3(result.force, lane, add(load3(result.force, lane), force))
    store3(result.couple, lane, add(load3(result.couple, lane), couple))
    result.goes_on[lane] = 1.0 if own.shear_strength[lane] > 0.0 else result.goes_on[lane]


cdef void forces(GivenContact contact, OwnFriction history, OwnNumbers own, OwnNormal normal, OwnResult result,
                 const LawParameters *parameters) noexcept nogil:
    cdef BondHistory *bond = <BondHistory *> own
    cdef Bonds bonds
    cdef double bond_range = parameters.values[BOND_RANGE]
    cdef long long any_bonds = 0, any_breaks = 0, any_damped = 0, heavy = 0
    cdef int lane, k
    for lane in range(LANES):
        any_bonds |= <long long> (bond.shear_strength[lane] > 0.0)
        any_damped |= <long long> (bond.beta[lane] != 0.0)
    if not any_bonds:
        return
    for lane in range(LANES):
        any_breaks |= stretch(contact, bond, bond_range, &bonds, lane)
    for lane in range(LANES if any_breaks else 0):
        if bonds.breaks[lane]:
            break_bond(contact, bond, result, &bonds, lane)
    for lane in range(LANES if any_damped else 0):
        heavy |= <long long> (contact.mass[lane] * (contact.radius[lane] * contact.radius[lane])
                              > most_across(contact, lane))
    if any_damped and heavy:
        for lane in range(LANES):
            damp(True, contact, bond, result, &bonds, lane)
    elif any_damped:
        for lane in range(LANES):
            damp(False, contact, bond, result, &bonds, lane)
    for lane in range(LANES if any_breaks else 0):
        for k in range(4 * <int> RECORDS if bonds.breaks[lane] else 0):
            own[k * LANES + lane] = 0.0
    for lane in range(LANES):
        add_springs(contact, bond, result, &bonds, lane)


cdef void describe(GivenContact contact, OwnFriction history, OwnNumbers own, OwnNormal normal, Energies *energies,
                   const LawParameters *parameters) noexcept nogil:
    cdef BondHistory *bond = <BondHistory *> own
    cdef Vec3 held
    cdef int lane
    for lane in range(LANES):
        held = held_by(bond, bond.k_n[lane] * (contact.overlap[lane] - bond.length[lane]), lane)
        energies.normal_energy[lane] += held.x
        energies.tangential_energy[lane] += held.y
        energies.rolling_energy[lane] += held.z


PART = Part(forces=<size_t> forces, describe=<size_t> describe, n_records=RECORDS, rare_records=RECORDS - DASHPOT,
            has_couples=True, reads=("bond_range",), reach=lambda pair, values, radius: values["bond_range"] * radius)
