"""Effective masses that the contacts of two bodies share, with `mass=shared`: see FRICTION.md.

The contacts of two clumps, or of a clump and a wall, are a group. Their masses change where one of them begins or ends,
somewhere between two poses. The force at a pose acts for a step. To be of second order, it needs the mean of the
dashpots before and after that instant, which are proportional to the root of the mass. A root that changes from a to b
is a + (1/2 + x) (b - a) at this pose, where x < 1 is the part of the step since the contact began or ended. A phase
before the evaluation of the contacts sets this mean, and one after it sets b; nothing else persists. Where a law acts
across gaps, it alone knows when a contact ends: the masses change a step later.

The contacts of a clump are linked in a chain, in which those of a group are found. A link is GROUPS * (1 + lane), plus
SPHERES or WALLS; 0 ends a chain. Only of contacts that share their mass it matters at once whether they have parted: a
list has them, as pairs of bodies. Chains and lists are made anew with the neighbor lists.
"""
from libc.math cimport fabs, sqrt
from libc.stdint cimport int64_t
from libc.stdlib cimport qsort
from libc.string cimport memcpy, memset

from minidem.broadphase.neighbours cimport Neighbours
from minidem.contact.blocks cimport ContactBlock, block_of
from minidem.contact.contact cimport load3
from minidem.contact.contacts cimport GROUPS, SPHERES, WALLS, Contacts, Room
from minidem.contact.effective_mass cimport normal_of, own_mobility, response_in, turning_in
from minidem.contact.gather cimport gather_contacts
from minidem.contact.law cimport Law
from minidem.core.eight cimport bits_below
from minidem.core.instant cimport BETWEEN
from minidem.core.lanes cimport LANES, lane_of, row_of
from minidem.core.vec3 cimport Vec3, add, dot, vec3
from minidem.core.vectors cimport IntVector, grow, push_pair, release, reserve
from minidem.state.state cimport StateView, clump_of, free_slot_of
from minidem.walls.surface cimport Walls

cdef extern from *:
    const double LEAST_OVERLAP "5e-324"     # [m]
    const double WEIGHT "0x1p40"            # 1 in a sum of weights

cdef struct Member:                 # a contact of a group in which one begins, has parted or has ended
    int64_t bodies, spheres         # the group, and the place of the contact in it; negative if it has parted
    double weight                   # 1/2 + x of a contact that begins or has parted at this pose, else 0
    double mass                     # [kg]
    int link

cdef struct Members:
    Member *data
    Py_ssize_t size
    Py_ssize_t capacity


cdef int in_order(const void *a, const void *b) noexcept nogil:
    """For qsort: groups, in each first what has parted, by places in the clumps, so that sums have an order."""
    cdef const Member *x = <const Member *> a
    cdef const Member *y = <const Member *> b
    if x.bodies != y.bodies:
        return -1 if x.bodies < y.bodies else 1
    if x.spheres != y.spheres:
        return -1 if x.spheres < y.spheres else 1
    return (x.weight < y.weight) - (x.weight > y.weight)


cdef inline int64_t pair_of_numbers(int first, int second) noexcept nogil:
    """Positive, by ascending first, then second ones; first >= 0."""
    return (<int64_t> first + 1 << 32) + second


cdef inline int64_t bodies_of(const Law *law, const StateView *state, int i, int j) noexcept nogil:
    """A number of the group of a contact of the sphere i with the sphere or primitive j."""
    return pair_of_numbers(clump_of(state, i), clump_of(state, j) if j >= 0 else -1 - <int> law.walls.wall_of[-1 - j])


cdef inline int64_t spheres_of(const StateView *state, int i, int j) noexcept nogil:
    """A number of a contact in its group, the same if its bodies were exchanged, except for the last bit."""
    cdef int p = row_of(i) - <int> state.first_member[row_of(clump_of(state, i))], q
    if j < 0:
        return pair_of_numbers(p, 2 * j)
    q = row_of(j) - <int> state.first_member[row_of(clump_of(state, j))]
    return pair_of_numbers(min(p, q), 2 * max(p, q) + (p > q))


cdef inline ContactBlock *linked_block(const Contacts *contacts, int link) noexcept nogil:
    return block_of(&contacts.groups[link % <int> GROUPS], link // <int> GROUPS - 1)


cdef inline int linked_lane(int link) noexcept nogil:
    return lane_of(link // <int> GROUPS - 1)


cdef inline (int, int) linked_pair(const Contacts *contacts, int link) noexcept nogil:
    """Bodies of a contact."""
    cdef const ContactBlock *block = linked_block(contacts, link)
    return block.first[linked_lane(link)], block.second[linked_lane(link)]


cdef inline int *chain_of(const Contacts *contacts, const StateView *state, int i) noexcept nogil:
    """The chain of contacts whose first sphere is of the clump of i; those of foreign clumps are in own chains."""
    return contacts.chains.data + clump_of(state, i) % contacts.chains.size


cdef int next_of_group(const Contacts *contacts, const StateView *state, int64_t bodies, int **chain) noexcept nogil:
    """Link to the next contact of a group in a chain, which then begins behind it; 0: none. Free lanes are removed."""
    cdef int link, i, j
    while chain[0][0] > 0:
        link = chain[0][0]
        i, j = linked_pair(contacts, link)
        if i == free_slot_of(state):
            chain[0][0] = contacts.links.data[link]
            continue
        chain[0] = contacts.links.data + link
        if bodies_of(contacts.law, state, i, j) == bodies:
            return link
    return 0


cdef void add_link(Contacts *contacts, const StateView *state, int link) noexcept nogil:
    """Add a contact to its chain and, if its group has others, to the list; the only other one, too."""
    cdef IntVector *sharing = &contacts.sharing[link % <int> GROUPS]
    cdef int i, j, other
    cdef int64_t bodies
    cdef int *begin
    cdef int *chain
    i, j = linked_pair(contacts, link)
    bodies, begin = bodies_of(contacts.law, state, i, j), chain_of(contacts, state, i)
    chain = begin
    other = next_of_group(contacts, state, bodies, &chain)
    if other > 0:
        push_pair(sharing, i, j)
    if other > 0 and next_of_group(contacts, state, bodies, &chain) == 0:
        i, j = linked_pair(contacts, other)
        push_pair(sharing, i, j)
    contacts.links.data[link], begin[0] = begin[0], link


cdef void add_links(Contacts *contacts, const Neighbours *mine, const StateView *state) noexcept nogil:
    """Add the contacts that begin at this pose; all, where the neighbor lists are new."""
    cdef const int *change
    cdef Py_ssize_t n_blocks = max(contacts.groups[SPHERES].n_blocks, contacts.groups[WALLS].n_blocks)
    cdef Py_ssize_t n_clumps = (mine.last_block - mine.first_block) * LANES, k
    cdef int group
    if not reserve(&contacts.links, GROUPS * LANES * (n_blocks + 1)):
        return
    for k in range(0, contacts.changes.size if mine.steps > 0 else 0, 3):
        change = contacts.changes.data + k
        add_link(contacts, state, <int> GROUPS * change[2] + (<int> WALLS if change[1] < 0 else <int> SPHERES))
    if mine.steps > 0 or not reserve(&contacts.chains, n_clumps):
        return
    contacts.chains.size = n_clumps
    memset(contacts.chains.data, 0, n_clumps * sizeof(int))
    for group in range(<int> GROUPS):
        contacts.sharing[group].size = 0
        for k in range(LANES * contacts.groups[group].n_blocks):
            if block_of(&contacts.groups[group], k).first[lane_of(k)] != free_slot_of(state):
                add_link(contacts, state, <int> (GROUPS * (k + 1)) + group)


cdef void weigh(Contacts *contacts, const StateView *state, Member *member) noexcept nogil:
    """Set the weight of a contact that has parted, or begins and has one of 1."""
    cdef const ContactBlock *block = linked_block(contacts, member.link)
    cdef Room *room = contacts.rooms
    cdef int lane = linked_lane(member.link)
    cdef double gap, way
    gather_contacts(True, contacts.law, state, block.first, block.second, block.second[lane] < 0, LANES, &room.contact,
                    room.sides, room.images[0])
    gap = room.contact.overlap[lane]
    way = room.contact.step[lane] * dot(load3(room.contact.velocity, lane), load3(room.contact.normal, lane))
    if member.weight == 0.0 and (gap > 0.0 or contacts.law.reach > 0.0):
        return
    member.spheres = member.spheres if member.weight > 0.0 else -member.spheres
    member.weight = 0.5 + (fabs(gap / way) if fabs(gap) < fabs(way) else 1.0)


cdef void add_group(Contacts *contacts, const StateView *state, int i, int j, bint changes, bint weighs,
                    Members *members) noexcept nogil:
    """Add the contacts of a group, unless that of i and j is the only one.

    changes : it begins or has ended; else it has parted, or ended before, and nothing is added
    """
    cdef Member member
    cdef Py_ssize_t k, size = members.size
    cdef int *chain = chain_of(contacts, state, i)
    cdef int a, b
    cdef bint found = False
    memset(&member, 0, sizeof(member))
    member.bodies = bodies_of(contacts.law, state, i, j)
    member.link = next_of_group(contacts, state, member.bodies, &chain)
    while member.link > 0:
        a, b = linked_pair(contacts, member.link)
        found |= a == i and b == j
        member.spheres = spheres_of(state, a, b)
        member.weight = changes and a == i and b == j
        if grow(members, members.size + 1, sizeof(Member)):
            members.data[members.size] = member
            members.size += 1
        member.link = next_of_group(contacts, state, member.bodies, &chain)
    if members.size == size + found or not (found or changes):
        members.size = size
    for k in range(size, members.size if weighs else size):
        weigh(contacts, state, members.data + k)


cdef void add_parted(Contacts *contacts, const StateView *state, Members *members) noexcept nogil:
    """Add the groups of contacts that have parted since the last pose, and take these off the list.

    Backwards: what takes the place of a contact has been tested.
    """
    cdef IntVector *pairs
    cdef int[LANES] first, second
    cdef Room *room = contacts.rooms + 1                # `weigh` has the other
    cdef Py_ssize_t eight, k
    cdef int group, lane, parted
    for group in range(<int> GROUPS):
        pairs = &contacts.sharing[group]
        if not reserve(pairs, pairs.size + 2 * LANES):
            return
        for k in range(pairs.size, pairs.size + 2 * LANES, 2):      # to fill up the last eight
            pairs.data[k], pairs.data[k + 1] = contacts.groups[group].free_slot, contacts.groups[group].free_second
        for eight in range((pairs.size + 2 * LANES - 1) // (2 * LANES) - 1, -1, -1):
            for lane in range(LANES):
                k = 2 * (LANES * eight + lane)
                first[lane], second[lane] = pairs.data[k], pairs.data[k + 1]
            gather_contacts(False, contacts.law, state, first, second, group == <int> WALLS, LANES, &room.contact,
                            room.sides, room.images[0])
            parted = bits_below(room.contact.overlap, LEAST_OVERLAP)
            for lane in range(LANES - 1 if parted else -1, -1, -1):
                k = 2 * (LANES * eight + lane)
                if parted >> lane & 1 and k < pairs.size:
                    add_group(contacts, state, first[lane], second[lane], False, True, members)
                    pairs.size -= 2
                    memcpy(pairs.data + k, pairs.data + pairs.size, 2 * sizeof(int))


cdef void find_members(Contacts *contacts, const StateView *state, bint weighs, Members *members) noexcept nogil:
    """The contacts of groups in which one begins or has ended and, with `weighs`, has parted: once each, sorted."""
    cdef const int *change
    cdef const Member *member
    cdef Py_ssize_t k, kept = 0
    memset(members, 0, sizeof(Members))
    for k in range(0, contacts.changes.size, 3):
        change = contacts.changes.data + k
        add_group(contacts, state, change[0], change[1], True, weighs, members)
    if weighs and contacts.law.reach == 0.0:
        add_parted(contacts, state, members)
    if members.size > 0:
        qsort(members.data, members.size, sizeof(Member), in_order)
    for k in range(members.size):
        member = members.data + k
        if k == 0 or member.bodies != member[-1].bodies or member.spheres != member[-1].spheres:
            members.data[kept] = member[0]
            kept += 1
    members.size = kept


cdef void find_masses(Contacts *contacts, const StateView *state, Member *members, Py_ssize_t n) noexcept nogil:
    """Effective masses of the n contacts of a group: the formula of FRICTION.md.

    Sums add two contacts that would change places if their bodies were exchanged to each other first.
    """
    cdef const Walls *walls = contacts.law.walls
    cdef Vec3 normal
    cdef Vec3[3] terms, total, part                     # turning of the bodies i and j, normal
    cdef double together, alone
    cdef int side, i, j
    cdef Py_ssize_t k
    for side in range(3):
        total[side] = part[side] = vec3(0.0, 0.0, 0.0)
    for k in range(n + 1):
        if k < n:
            i, j = linked_pair(contacts, members[k].link)
            terms[2] = normal = normal_of(contacts.law, state, i, j)
            terms[0], terms[1] = turning_in(walls, state, i, i, normal), turning_in(walls, state, i, j, normal)
        for side in range(3):
            if k > 0 and (k == n or members[k].spheres >> 1 != members[k - 1].spheres >> 1):
                total[side], part[side] = add(total[side], part[side]), vec3(0.0, 0.0, 0.0)
            part[side] = add(part[side], terms[side])
    for k in range(n):
        i, j = linked_pair(contacts, members[k].link)
        normal = normal_of(contacts.law, state, i, j)
        alone = own_mobility(contacts.law, state, i, j, normal)
        together = response_in(walls, state, i, normal, turning_in(walls, state, i, i, normal), total[2], total[0]) \
            + response_in(walls, state, j, normal, turning_in(walls, state, i, j, normal), total[2], total[1])
        members[k].mass = 1.0 / (max(together, 0.5 * alone) if n > 1 else alone)


cdef void set_masses(Contacts *contacts, const StateView *state, bint weighs) noexcept nogil:
    """Set the masses of the contacts of groups in which one begins or ends at this pose.

    weighs : of contacts that go on, the mean over the step
    """
    cdef Members members
    cdef Member *first
    cdef double *mass
    cdef double weight, old, new
    cdef int64_t sum_of_weights                         # a multiple of 2^-40, so that it has no order
    cdef Py_ssize_t k = 0, n, m, weights
    find_members(contacts, state, weighs, &members)
    contacts.masses_changed = False
    while k < members.size:
        first, n, sum_of_weights, weights = members.data + k, 0, 0, 0
        while k < members.size and members.data[k].bodies == first.bodies:
            sum_of_weights += <int64_t> (members.data[k].weight * WEIGHT)
            weights += members.data[k].weight > 0.0
            n += members.data[k].spheres > 0
            k += 1
        weight = sum_of_weights / (WEIGHT * weights) if weights > 0 else 1.0
        find_masses(contacts, state, members.data + k - n, n)
        for m in range(k - n, k):
            mass = linked_block(contacts, members.data[m].link).mass + linked_lane(members.data[m].link)
            old, new = sqrt(mass[0]), sqrt(members.data[m].mass)
            old = max(old + weight * (new - old), 0.5 * new)
            new = old * old if weight != 1.0 and members.data[m].weight == 0.0 else members.data[m].mass
            contacts.masses_changed |= new != mass[0]
            mass[0] = new
    release(&members)


cdef bint find_mean_masses(Loop *loop, int thread, Instant *now, void *own) noexcept nogil:
    """Phase, before the evaluation: masses for this step."""
    if not loop.broad.threads[thread].refused[0]:
        add_links(loop.contacts + thread, loop.broad.threads + thread, &loop.state)
    if not loop.broad.threads[thread].refused[0]:
        set_masses(loop.contacts + thread, &loop.state, now.purpose != BETWEEN)
    return True


cdef bint find_shared_masses(Loop *loop, int thread, Instant *now, void *own) noexcept nogil:
    """Phase, after the evaluation: masses from now on."""
    if not loop.broad.threads[thread].refused[0]:
        set_masses(loop.contacts + thread, &loop.state, False)
    return True
