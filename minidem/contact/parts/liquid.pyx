"""Liquid bridges of `liquid=willett`, which form at touch and pull until they rupture at a gap, and `cohesion=dmt`.

C. D. Willett, M. J. Adams, S. A. Johnson & J. P. K. Seville, Langmuir 16, 9396 (2000), doi 10.1021/la000657y, equation
12, for small volumes V < R^3 / 1000; spheres of two radii, and a plane, by Derjaguin's R = 2 R*. Rupture: G. Lian,
C. Thornton & M. J. Adams, J. Colloid Interface Sci. 161, 138 (1993), doi 10.1006/jcis.1993.1452:

    pull     F = 2 pi R gamma cos(theta) / (1 + 1.05 x + 2.5 x^2),  x = S sqrt(R / V)       gap S; of an overlap F(0)
    rupture  S_c = (1 + theta / 2) V^(1/3)
    energy   U = -integral of F from S to S_c, so that it is zero at rupture

At touch -U(0) is dissipated. The pull jumps there and at rupture: in the step of a jump it is the mean over the path,
by the difference of the energies, as in jkr.pyx. Whether a bridge ruptures before the next pose is predicted.

The pull of B. V. Derjaguin, V. M. Muller & Y. P. Toporov, J. Colloid Interface Sci. 53, 314 (1975), doi
10.1016/0021-9797(75)90018-1, beside Hertz's repulsion is the limit S_c = 0, with F(0) = 2 pi w R*.
"""
import numpy as np

from minidem.contact.parts.jkr import EXCLUDES

from libc.math cimport sqrt

from minidem.contact.contact cimport Energies, GivenContact, OwnNumbers, OwnResult, Row, load3, store3
from minidem.contact.law cimport Part
from minidem.contact.part cimport (
    BRIDGE_END, BRIDGE_PULL, BRIDGE_SHORTNESS, LawParameters, OwnFriction, OwnNormal, positive,
)
from minidem.core.lanes cimport LANES
from minidem.core.vec3 cimport add_scaled, dot

cdef extern from *:
    const double ROOT "2.982867747654931"       # sqrt(4 * 2.5 - 1.05^2)
    const double REPLACED "-1e99"               # overlap of a triangle that another one has replaced

cdef struct BridgeHistory:          # one record
    Row wet                         # 1: there is a bridge; -1: the pull until rupture has acted; 0: none
    Row gap                         # S at the pose, negative for an overlap [m]
    Row unused[2]

cdef struct Bridge:
    double pull                     # F(0) [N]; 0: the pair is dry
    double per_gap                  # x / S [1/m]; 0 of DMT
    double end                      # S_c [m]


cdef inline Bridge bridge_in(GivenContact contact, int lane) noexcept nogil:
    cdef Bridge b
    b.pull = contact.coefficients[BRIDGE_PULL][lane] * contact.radius[lane]
    b.per_gap = contact.coefficients[BRIDGE_SHORTNESS][lane] * sqrt(contact.radius[lane])
    b.end = contact.coefficients[BRIDGE_END][lane]
    return b


cdef inline double pull_at(Bridge b, double gap) noexcept nogil:
    """F [N]."""
    cdef double x = b.per_gap * positive(gap, 0.0)
    return b.pull / (1.0 + x * (1.05 + 2.5 * x))


cdef inline double arc_tangent(double x) noexcept nogil:
    """Within 4e-16 for x >= 0, without a function of libm: four times half of the angle, then the series."""
    cdef double square
    cdef int _k
    for _k in range(4):
        x = x / (1.0 + sqrt(1.0 + x * x))
    square = x * x
    return 16.0 * x * (1.0 - square * (1.0 / 3.0 - square * (1.0 / 5.0 - square * (1.0 / 7.0 - square * (
        1.0 / 9.0 - square * (1.0 / 11.0 - square * (1.0 / 13.0 - square / 15.0)))))))


cdef inline double energy_at(Bridge b, double gap) noexcept nogil:
    """U [J] up to the rupture distance, of a pair that is not dry."""
    cdef double open = positive(gap, 0.0), deep = gap - open
    cdef double last = (5.0 * b.per_gap * b.end + 1.05) / ROOT, now = (5.0 * b.per_gap * open + 1.05) / ROOT
    return b.pull * (deep - 2.0 / (ROOT * positive(b.per_gap, 1.0)) * arc_tangent((last - now) / (1.0 + last * now)))


cdef inline void jump(GivenContact contact, BridgeHistory *own, OwnResult result, double *pull, double before,
                      double last, bint lasts, bint breaks, int lane) noexcept nogil:
    """Mean pull over the step in which a bridge forms or ruptures, and the energy that is dissipated.

    The pull at the pose acts from half a step before to half a step after it: the first one from touch on, the last one
    until rupture. If a bridge continues after its rupture was predicted, its pull acts from there.

    before, last : history of the last step.
    """
    cdef Bridge b = bridge_in(contact, lane)
    cdef double gap = -contact.overlap[lane], end
    cdef double half = 0.5 * contact.step[lane] * dot(load3(contact.velocity, lane), load3(contact.middle_normal, lane))
    cdef bint forms = before == 0.0 and last == 0.0 and half < 0.0 and gap > 3.0 * half
    cdef bint repeats = before < 0.0 and half > 0.0
    if lasts and half != 0.0 and (forms or breaks or repeats):
        end = b.end if breaks else gap + half
        pull[lane] = (energy_at(b, end) - energy_at(b, 0.0 if forms else b.end if repeats else gap - half)) \
            / (2.0 * half)
    if contact.step[lane] > 0.0 and lasts and before == 0.0:
        result.dissipated[0][lane] -= energy_at(b, last)
    if contact.step[lane] > 0.0 and b.pull > 0.0 and before != 0.0 and contact.overlap[lane] < REPLACED:
        result.dissipated[0][lane] += energy_at(b, positive(last, 0.0))


cdef void forces(GivenContact contact, OwnFriction history, OwnNumbers own, OwnNormal normal, OwnResult result,
                 const LawParameters *parameters) noexcept nogil:
    cdef BridgeHistory *bridge = <BridgeHistory *> own
    cdef Bridge b
    cdef double pull[LANES]
    cdef double before[LANES]
    cdef double last[LANES]
    cdef double gap, step, next_gap
    cdef long long lasts[LANES]
    cdef long long breaks[LANES]
    cdef long long jumps = 0
    cdef int lane
    for lane in range(LANES):
        b, gap, step = bridge_in(contact, lane), -contact.overlap[lane], contact.step[lane]
        before[lane], last[lane] = bridge.wet[lane], bridge.gap[lane]
        lasts[lane] = <long long> (((before[lane] != 0.0) | (gap < 0.0)) & (gap < b.end) & (b.pull > 0.0))
        pull[lane] = pull_at(b, gap) if lasts[lane] else 0.0
        next_gap = gap + step * dot(load3(contact.velocity, lane), load3(contact.middle_normal, lane)) \
            - step * step * pull[lane] / contact.mass[lane]
        breaks[lane] = lasts[lane] & <long long> ((next_gap >= b.end) & (step > 0.0))
        bridge.wet[lane] = (-1.0 if breaks[lane] else 1.0) if lasts[lane] else 0.0
        bridge.gap[lane] = gap if lasts[lane] | <long long> (gap < 0.0) else 0.0
        jumps |= breaks[lane] | <long long> ((before[lane] < 0.0) | ((before[lane] != 0.0) != (lasts[lane] != 0)))
    for lane in range(LANES if jumps else 0):
        jump(contact, bridge, result, pull, before[lane], last[lane], lasts[lane], breaks[lane], lane)
    for lane in range(LANES):
        store3(result.force, lane, add_scaled(load3(result.force, lane), -pull[lane], load3(contact.normal, lane)))
        result.goes_on[lane] = 1.0 if lasts[lane] else result.goes_on[lane]


cdef void describe(GivenContact contact, OwnFriction history, OwnNumbers own, OwnNormal normal, Energies *energies,
                   const LawParameters *parameters) noexcept nogil:
    cdef BridgeHistory *bridge = <BridgeHistory *> own
    cdef Bridge b
    cdef int lane
    for lane in range(LANES):
        b = bridge_in(contact, lane)
        if bridge.wet[lane] != 0.0 and -contact.overlap[lane] < b.end and b.pull > 0.0:
            energies.normal_energy[lane] += energy_at(b, -contact.overlap[lane])


def rupture_distance(volume, contact_angle):
    """S_c [m] of volumes [m3] and an angle [rad], arrays or numbers."""
    return (1.0 + 0.5 * contact_angle) * np.cbrt(volume)


def coefficients(pair, values):
    volume = pair["bridge_volume"]
    pull = 4.0 * np.pi * values["surface_tension"] * np.cos(values["contact_angle"])
    return {BRIDGE_PULL: pull * (volume > 0.0), BRIDGE_SHORTNESS: np.sqrt(2.0 / np.where(volume > 0.0, volume, np.inf)),
            BRIDGE_END: rupture_distance(volume, values["contact_angle"])}


PART = Part(
    forces=<size_t> forces, describe=<size_t> describe, n_records=1, needs=("bridge_volume",),
    reads=("surface_tension", "contact_angle"), coefficients=coefficients,
    reach=lambda pair, values, radius: rupture_distance(pair["bridge_volume"], values["contact_angle"]))
DMT = Part(forces=<size_t> forces, describe=<size_t> describe, n_records=1, needs=("adhesion",), excludes=EXCLUDES,
           coefficients=lambda pair, values: {BRIDGE_PULL: 2.0 * np.pi * pair["adhesion"]})
