"""Observer of contacts with walls that move: the work of the walls, and what moves those with a Servo or Driven."""
from libc.math cimport fmax
from libc.string cimport memset

from minidem.contact.blocks cimport ContactBlock
from minidem.contact.contact cimport load3
from minidem.contact.contacts cimport SPHERES, Contacts, Room
from minidem.contact.fixed_point cimport rounded_wide
from minidem.contact.law cimport Law
from minidem.core.eight cimport Eight, load_eight, load_eight3, store_eight
from minidem.core.instant cimport Instant
from minidem.core.lanes cimport LANES
from minidem.core.vec3 cimport Vec3, add, cross, dot, vec3
from minidem.state.mobility cimport carrier_of
from minidem.state.rows cimport load
from minidem.state.state cimport StateView, free_slot_of
from minidem.steering.arm cimport arm_of
from minidem.steering.resistance cimport RESISTANCE_UNIT, find_resistances
from minidem.steering.servo cimport FORCE, MOMENT, RESISTS, SERVO_SUMS, add_vector, servo_of
from minidem.walls.surface cimport Sliding, WallPose, sliding_at, vector


cdef void clear(Contacts *contacts, void *own) noexcept nogil:
    """Observer: forget the contacts of the last pose."""
    cdef WallSums *sums = <WallSums *> own
    sums.work = sums.given = sums.steered = 0
    memset(sums.loads, 0, sums.servos.n * <int> SERVO_SUMS * sizeof(Wide))


cdef inline void add_contact(const Law *law, int primitive, const Room *room, int lane, WallSums *sums) noexcept nogil:
    """Add the work of a contact with a wall that moves, and its load."""
    cdef int wall = law.walls.wall_of[primitive], m = servo_of(sums.servos, wall)
    cdef const WallPose *pose = law.walls.now + wall
    cdef Vec3 force = load(room.result.force[0] + lane)
    cdef Vec3 couple = load(room.result.couple[0] + lane) if law.has_couples else vec3(0.0, 0.0, 0.0)
    cdef Vec3 arm = arm_of(law.walls, primitive, &room.contact, room.sides, lane)
    cdef Vec3 moment = add(cross(arm, force), couple)
    cdef double power = dot(force, vector(pose.velocity_now)) + dot(vector(pose.turning_now), moment), given = 0.0
    cdef Sliding sliding
    if law.walls.any_slides:
        sliding = sliding_at(law.walls, wall, arm, load3(room.contact.normal, lane), 0.0)
        given = dot(force, sliding.velocity) + dot(couple, sliding.turning)
    power += given
    sums.work += rounded_wide(0.5 * law.dt * power * law.per_energy)
    sums.given += rounded_wide(0.5 * law.dt * (given if m >= 0 else power) * law.per_energy)
    if m >= 0:
        add_vector(force, law.force_unit, sums.loads + m * <int> SERVO_SUMS + <int> FORCE)
        add_vector(moment, law.energy_unit, sums.loads + m * <int> SERVO_SUMS + <int> MOMENT)


cdef void add_resistances(const Law *law, const StateView *state, const ContactBlock *block, const Room *room,
                          int lanes, WallSums *sums) noexcept nogil:
    """Add the resistances of contacts that have a bit in `lanes`, with walls of servos and clumps that these carry."""
    cdef Eight along, across
    cdef double resistance[2 * LANES]
    cdef int lane, side, body, m
    find_resistances(law, block, load_eight3(room.result.force[0]), load_eight(room.contact.overlap), &along, &across)
    store_eight(resistance, along)
    store_eight(resistance + LANES, across)
    for lane in range(LANES):
        for side in range(2 if lanes >> lane & 1 else 0):
            body = block.second[lane] if side else block.first[lane]
            m = servo_of(sums.servos, law.walls.wall_of[-1 - body] if body < 0 else carrier_of(state, body))
            if m >= 0:
                sums.loads[m * <int> SERVO_SUMS + <int> RESISTS] += rounded_wide(
                    fmax(resistance[lane], resistance[LANES + lane]) * (law.per_energy / RESISTANCE_UNIT))


cdef void see(Contacts *contacts, const StateView *state, ContactBlock *block, Room *room, const Instant *now,
              void *own) noexcept nogil:
    """Observer: add the contacts of a block that do not end. Those of two spheres resist walls that carry clumps."""
    cdef const Law *law = contacts.law
    cdef WallSums *sums = <WallSums *> own
    cdef int lane, primitive, lanes = 0
    if room.group == <int> SPHERES and (sums.servos.n == 0 or state.holds == NULL):
        return
    for lane in range(LANES):
        if block.first[lane] == free_slot_of(state) or law.history != NULL and room.result.goes_on[lane] < 0.5:
            continue
        primitive = -1 - block.second[lane]
        if room.group == <int> SPHERES:
            lanes |= 1 << lane
        elif law.walls.moves[law.walls.wall_of[primitive]]:
            lanes |= 1 << lane
            add_contact(law, primitive, room, lane, sums)
    if sums.servos.n > 0 and lanes:
        add_resistances(law, state, block, room, lanes, sums)


cdef Observer wall_observer(WallSums *sums) noexcept nogil:
    """It sums over the contacts of a thread."""
    return Observer(clear, see, sums)
