"""Forces of walls on clumps, and work of moving walls by the trapezoidal rule over each step.

The power on a clump is the sum over its contacts with walls, in the order of its spheres and of the elements, which
does not depend on the run.
"""
from minidem.broadphase.ghosts cimport clump_of
from minidem.broadphase.neighbours cimport Neighbours
from minidem.contact.history cimport LEVER, MOMENT, History, couple_of, result_of
from minidem.contact.law cimport Contact
from minidem.contact.narrow_phase cimport Contacts
from minidem.core.lanes cimport LANES
from minidem.core.vec3 cimport Vec3, add_scaled, cross, dot, scale, sub, vec3
from minidem.engine.own_clumps cimport copy_own_pairs
from minidem.walls.surface cimport WallPose, Walls

cdef enum:
    WORK = 2                        # doubles of a clump: work since the start [J]; power at the last whole step [W]

# For a contact of an own sphere with a wall; the arguments after `element` as for `power`.
ctypedef void (*Visitor)(const Loop *loop, const Walls *walls, int slot, int element, Vec3 force, double height,
                         Vec3 moment, Vec3 couple, int wall, double *rows) noexcept nogil


cdef inline Vec3 vector(const double *v) noexcept nogil:
    return vec3(v[0], v[1], v[2])


cdef inline double power(const Walls *walls, int element, const double *sphere, Vec3 force, double height, Vec3 moment,
                         Vec3 couple) noexcept nogil:
    """Of a wall on a sphere. height : of its centre over the contact point;  moment : of the force along the normal."""
    cdef const WallPose *pose = walls.now + walls.wall_of[element]
    cdef Vec3 arm = sub(vector(sphere), vector(pose.position))
    return dot(force, vector(pose.velocity_now)) + dot(vector(pose.turning_now), add_scaled(
        add_scaled(cross(arm, force), -height, moment), 1.0, couple))


cdef void add_power(const Loop *loop, const Walls *walls, int slot, int element, Vec3 force, double height, Vec3 moment,
                    Vec3 couple, int wall, double *rows) noexcept nogil:
    """A Visitor: rows of wall_work."""
    if walls.moves[walls.wall_of[element]]:
        rows[WORK * <Py_ssize_t> loop.state.clump_number[clump_of(&loop.state, slot)] + 1] += power(
            walls, element, loop.state.spheres + 4 * <Py_ssize_t> slot, force, height, moment, couple)


cdef void add_force(const Loop *loop, const Walls *walls, int slot, int element, Vec3 force, double height, Vec3 moment,
                    Vec3 couple, int wall, double *rows) noexcept nogil:
    """A Visitor: rows (n_clumps, 3) of forces."""
    cdef double *total = rows + 3 * <Py_ssize_t> loop.state.clump_number[clump_of(&loop.state, slot)]
    if walls.wall_of[element] == wall:
        total[0] += force.x
        total[1] += force.y
        total[2] += force.z


cdef void visit_touching(const Loop *loop, const Contacts *contacts, const Neighbours *mine, Visitor visit, int wall,
                         double *rows) noexcept nogil:
    """Contacts of own clumps with walls, of a law with history."""
    cdef const History *history = &contacts.history
    cdef const double *result
    cdef Vec3 couple = vec3(0.0, 0.0, 0.0)
    cdef Py_ssize_t k
    cdef int contact, slot
    for k in range(mine.walls.size // 2):
        contact = history.contact_at.data[mine.n_own // 2 + k] - 1
        if contact >= 0:
            slot = mine.walls.data[2 * k]
            result = result_of(&history.contacts, contact)
            if history.has_couples:
                couple = vector(couple_of(&history.contacts, contact))
            visit(loop, &contacts.walls, slot, mine.walls.data[2 * k + 1], vector(result),
                  loop.state.spheres[4 * <Py_ssize_t> slot + 3] - result[LEVER], vector(result + MOMENT), couple, wall,
                  rows)


cdef void visit_contacts(const Loop *loop, int thread, Visitor visit, int wall, double *rows) noexcept nogil:
    """Contacts of own clumps with walls, in canonical order of each clump."""
    cdef const Contacts *contacts = loop.contacts + thread
    cdef const int *pair
    cdef Vec3 none = vec3(0.0, 0.0, 0.0)
    cdef Py_ssize_t k
    cdef Contact contact
    if loop.law.history != NULL:
        visit_touching(loop, contacts, loop.broad.threads + thread, visit, wall, rows)
        return
    for k in range(0, contacts.pairs.size, 2):
        pair = contacts.pairs.data + k
        if pair[1] < 0:
            contact = contacts.law.one(contacts.law, &loop.state, pair[0], pair[1])
            visit(loop, &contacts.walls, pair[0], -1 - pair[1], scale(contact.force, contact.normal), 0.0, none, none,
                  wall, rows)


cdef void add_wall_force(const Loop *loop, int thread, int wall, double *of_clumps) noexcept nogil:
    """Add forces of a wall on own clumps to (n_clumps, 3) [N]."""
    visit_contacts(loop, thread, add_force, wall, of_clumps)


cdef void add_half(Loop *loop, int thread, double half, bint forget) noexcept nogil:
    """Add the work of half a step with the present power of own clumps. forget : then set the power to zero."""
    cdef Py_ssize_t slot
    cdef double *work
    cdef int clump
    for slot in range(loop.broad.threads[thread].first_block * LANES, loop.broad.threads[thread].last_block * LANES):
        clump = loop.state.clump_number[slot]
        if clump >= 0:
            work = loop.wall_work + WORK * <Py_ssize_t> clump
            work[0] += half * work[1]
            work[1] = 0.0 if forget else work[1]


cdef void add_wall_work(Loop *loop, int thread, bint between) noexcept nogil:
    """At a whole step, when the contacts of own clumps are known. between : no step has led to this pose."""
    cdef double half = 0.0 if between else 0.5 * loop.step.dt
    add_half(loop, thread, half, True)
    visit_contacts(loop, thread, add_power, -1, loop.wall_work)
    add_half(loop, thread, half, False)


cdef void save_wall_work(Loop *loop, int thread) noexcept nogil:
    """Copy that of own clumps; it is restored if the step fails."""
    copy_own_pairs(loop, thread, loop.wall_work, WORK, loop.saved_wall_work)
