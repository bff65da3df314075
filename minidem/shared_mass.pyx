"""Effective masses that the contacts of two bodies share, with `mass=shared`: see FRICTION.md.

The contacts of two clumps, or of a clump and a wall, are a group. Their masses change where one of them begins or ends,
somewhere between two poses. The force at a pose acts for a step. To be of second order, it needs the mean of the
dashpots before and after that instant, which are proportional to the root of the mass. A root that changes from a to b
is a + (1/2 + x) (b - a) at this pose, where x < 1 is the part of the step since the contact began or ended. A phase
before the evaluation of the contacts sets this mean, and one after it sets b; nothing else persists. Where a law acts
across gaps, it alone knows when a contact ends: the masses change a step later.
"""
from libc.math cimport fabs, sqrt
from libc.stdint cimport int64_t
from libc.stdlib cimport qsort
from libc.string cimport memset

from minidem.contact.blocks cimport ContactBlock, block_at, block_of
from minidem.contact.contact cimport Contact, load3
from minidem.contact.contacts cimport GROUPS, SPHERES, WALLS, Contacts
from minidem.contact.effective_mass cimport normal_of, own_mobility, response_in, turning_in
from minidem.contact.gather cimport gather_contacts
from minidem.contact.law cimport Law
from minidem.core.instant cimport BETWEEN
from minidem.core.lanes cimport LANES, lane_of
from minidem.core.vec3 cimport Vec3, add, dot, vec3
from minidem.core.vectors cimport IntVector, grow, release, reserve
from minidem.state.state cimport StateView, clump_of

cdef enum:
    MARKS = 4096                    # a power of two

cdef struct Member:                 # of a group: a contact, or a note that one begins or ends
    int64_t bodies, spheres         # the group, and the place of the contact in it; of a note 0
    double weight                   # 1/2 + x of a contact that begins or ends at this pose, else 0
    double mass                     # [kg]
    int lane
    bint walls
    bint begins

cdef struct Members:
    Member *data
    Py_ssize_t size
    Py_ssize_t capacity
    unsigned char marks[MARKS]      # of the groups that have a note, by a hash


cdef int in_order(const void *a, const void *b) noexcept nogil:
    """For qsort: groups, in each the notes by weight, then contacts in the user's order, so that sums have an order."""
    cdef const Member *x = <const Member *> a
    cdef const Member *y = <const Member *> b
    if x.bodies != y.bodies:
        return -1 if x.bodies < y.bodies else 1
    if x.spheres != y.spheres:
        return -1 if x.spheres < y.spheres else 1
    return (x.weight > y.weight) - (x.weight < y.weight)


cdef inline int64_t pair_of_numbers(int first, int second) noexcept nogil:
    """Positive, by ascending first, then second ones; first >= 0."""
    return (<int64_t> first + 1 << 32) + second


cdef int64_t bodies_of(const Law *law, const StateView *state, int i, int j) noexcept nogil:
    """A number of the group of a contact of the sphere i with the sphere or primitive j."""
    return pair_of_numbers(clump_of(state, i), clump_of(state, j) if j >= 0 else -1 - <int> law.walls.wall_of[-1 - j])


cdef const Contact *gathered(bint moves, Contacts *contacts, const StateView *state, bint walls,
                             const ContactBlock *block) noexcept nogil:
    """Geometry, with `moves` also motion, of the contacts of a block."""
    gather_contacts(moves, contacts.law, state, block.first, block.second, walls, LANES, &contacts.rooms[0].contact,
                    contacts.rooms[0].sides, contacts.rooms[0].images[0])
    return &contacts.rooms[0].contact


cdef inline int mark_of(int64_t bodies) noexcept nogil:
    return (bodies ^ bodies >> 32) & (MARKS - 1)


cdef inline void add_member(Members *members, const Member *member) noexcept nogil:
    if grow(members, members.size + 1, sizeof(Member)):
        members.data[members.size] = member[0]
        members.size += 1


cdef void add_note(Members *members, int64_t bodies) noexcept nogil:
    cdef Member note
    memset(&note, 0, sizeof(note))
    note.bodies = bodies
    members.marks[mark_of(bodies)] = 1
    add_member(members, &note)


cdef void note_ends(Contacts *contacts, const StateView *state, Members *members) noexcept nogil:
    """Note the contacts that have parted since the last pose."""
    cdef const ContactBlock *block
    cdef const Contact *contact
    cdef Py_ssize_t b
    cdef int group, k
    for group in range(<int> GROUPS):
        for b in range(contacts.groups[group].n_blocks):
            block = block_at(&contacts.groups[group], b)
            contact = gathered(False, contacts, state, group == <int> WALLS, block)
            for k in range(LANES):
                if block.first[k] != contacts.groups[group].free_slot and contact.overlap[k] <= 0.0:
                    add_note(members, bodies_of(contacts.law, state, block.first[k], block.second[k]))


cdef void weigh(Contacts *contacts, const StateView *state, Member *member) noexcept nogil:
    """Set the weight of a contact that begins, or has parted, and becomes a note."""
    cdef const ContactBlock *block = block_of(&contacts.groups[member.walls], member.lane)
    cdef const Contact *contact = gathered(True, contacts, state, member.walls, block)
    cdef int lane = lane_of(member.lane)
    cdef double gap = contact.overlap[lane]
    cdef double way = contact.step[lane] * dot(load3(contact.velocity, lane), load3(contact.normal, lane))
    if member.begins or gap <= 0.0 and contacts.law.reach == 0.0:
        member.weight = 0.5 + (fabs(gap / way) if fabs(gap) < fabs(way) else 1.0)
        member.spheres = member.spheres if member.begins else 0


cdef void find_members(Contacts *contacts, const StateView *state, bint weighs, Members *members) noexcept nogil:
    """Notes, and the contacts of their groups and some others, sorted."""
    cdef const int *change
    cdef const ContactBlock *block
    cdef IntVector begun                                # (lanes of both groups,): whether the contact begins
    cdef Member member
    cdef Py_ssize_t k, lane, n_lanes = LANES * contacts.groups[SPHERES].n_blocks, of_group = 0
    cdef int group, i, j
    memset(members, 0, sizeof(Members))
    memset(&begun, 0, sizeof(begun))
    if weighs and contacts.law.reach == 0.0:
        note_ends(contacts, state, members)
    k = n_lanes + LANES * contacts.groups[WALLS].n_blocks
    if contacts.changes.size + members.size == 0 or not reserve(&begun, k):
        return
    memset(begun.data, 0, k * sizeof(int))
    for k in range(0, contacts.changes.size, 3):
        change = contacts.changes.data + k
        add_note(members, bodies_of(contacts.law, state, change[0], change[1]))
        if change[2] > 0:
            begun.data[change[2] - 1 + (n_lanes if change[1] < 0 else 0)] = 1
    memset(&member, 0, sizeof(member))
    for group in range(<int> GROUPS):
        for lane in range(LANES * contacts.groups[group].n_blocks):
            block = block_of(&contacts.groups[group], lane)
            i, j = block.first[lane_of(lane)], block.second[lane_of(lane)]
            if i == contacts.groups[group].free_slot:
                continue
            member.bodies = bodies_of(contacts.law, state, i, j)
            if members.marks[mark_of(member.bodies)]:
                member.spheres = pair_of_numbers(state.sphere_number[i], state.sphere_number[j] if j >= 0 else j)
                member.lane, member.walls, member.weight = <int> lane, group == <int> WALLS, 0.0
                member.begins = begun.data[of_group + lane]
                if weighs:
                    weigh(contacts, state, &member)
                add_member(members, &member)
        of_group = n_lanes
    release(&begun)
    qsort(members.data, members.size, sizeof(Member), in_order)


cdef void find_masses(Contacts *contacts, const StateView *state, Member *members, Py_ssize_t n) noexcept nogil:
    """Effective masses of the n contacts of a group: the formula of FRICTION.md."""
    cdef const ContactBlock *block
    cdef Vec3 normal, turning, push = vec3(0.0, 0.0, 0.0)
    cdef Vec3[2] torques
    cdef double together, alone
    cdef bint summed
    cdef int side, lane, i, j, body
    cdef Py_ssize_t k
    torques[0] = torques[1] = push
    for summed in range(2):
        for k in range(n):
            block, lane = block_of(&contacts.groups[members[k].walls], members[k].lane), lane_of(members[k].lane)
            i, j = block.first[lane], block.second[lane]
            normal, together = normal_of(contacts.law, state, i, j), 0.0
            for side in range(2):
                body = j if side else i
                turning = turning_in(contacts.law.walls, state, i, body, normal)
                if summed:
                    together += response_in(contacts.law.walls, state, body, normal, turning, push, torques[side])
                else:
                    torques[side] = add(torques[side], turning)
            if not summed:
                push = add(push, normal)
                continue
            alone = own_mobility(contacts.law, state, i, j, normal)
            members[k].mass = 1.0 / (max(together, 0.5 * alone) if n > 1 else alone)


cdef void set_masses(Contacts *contacts, const StateView *state, bint weighs) noexcept nogil:
    """Set the masses of the contacts of groups in which one begins or ends at this pose.

    weighs : of contacts that go on, the mean over the step
    """
    cdef Members members
    cdef Member *first
    cdef double *mass
    cdef double weight, old, new
    cdef Py_ssize_t k = 0, n, m, weights
    find_members(contacts, state, weighs, &members)
    while k < members.size:
        first, n, weight, weights = members.data + k, 0, 0.0, 0
        while k < members.size and members.data[k].bodies == first.bodies:
            weight, weights = weight + members.data[k].weight, weights + (members.data[k].weight > 0.0)
            n += members.data[k].spheres > 0
            k += 1
        if first.spheres > 0:                           # no note
            continue
        weight = weight / weights if weights > 0 else 1.0
        find_masses(contacts, state, members.data + k - n, n)
        for m in range(k - n, k):
            mass = block_of(&contacts.groups[members.data[m].walls], members.data[m].lane).mass \
                + lane_of(members.data[m].lane)
            old, new = sqrt(mass[0]), sqrt(members.data[m].mass)
            old = max(old + weight * (new - old), 0.5 * new)
            mass[0] = old * old if weight != 1.0 and not members.data[m].begins else members.data[m].mass
    release(&members)


cdef bint find_mean_masses(Loop *loop, int thread, Instant *now, void *own) noexcept nogil:
    """Phase, before the evaluation: masses for this step."""
    if not loop.broad.threads[thread].refused[0]:
        set_masses(loop.contacts + thread, &loop.state, now.purpose != BETWEEN)
    return True


cdef bint find_shared_masses(Loop *loop, int thread, Instant *now, void *own) noexcept nogil:
    """Phase, after the evaluation: masses from now on."""
    if not loop.broad.threads[thread].refused[0]:
        set_masses(loop.contacts + thread, &loop.state, False)
    return True
