# distutils: extra_compile_args = -Og
"""Arrays of the time loop that only laws with records need, and contacts as arrays in the user's numbers.

The arrays are what checkpoints hold, and what another time loop takes over: after clumps were added or sorted, after a
restart, with another number of threads.
"""
import numpy as np

from minidem.state.layout import aligned

from minidem.contact.blocks cimport (
    Blocks, ContactBlock, block_of, clear_blocks, history_of, release_blocks, set_bodies, set_stride, take_lane,
)
from minidem.contact.contacts cimport GROUPS, SPHERES, WALLS, Contacts
from minidem.core.lanes cimport LANES, lane_of
from minidem.state.state cimport StateView, hole_of


def no_history(n_records):
    """The arrays of no contact: see export_history."""
    return {"spheres": np.zeros((0, 2), dtype=np.int32), "records": np.zeros((n_records, 0, 4)),
            "force": np.zeros((0, 3)), "couple": np.zeros((0, 3)), "mass": np.zeros(0), "rolling_inertia": np.zeros(0)}


cdef class HistoryMemory:
    """Of the clumps of one layout.

    Parameters
    ----------
    layout : Layout
    sphere_materials, element_materials : (n_spheres,), (n_elements,) those of the spheres and the elements of walls
    n_materials : by which pairs of materials are numbered
    history : dict of arrays, see export_history
    """

    def __cinit__(self, Layout layout, sphere_materials, element_materials, int n_materials, history):
        self.motions = aligned((layout.view.n_members * LANES + 2, 8))
        self.spins = aligned((layout.view.n_blocks + 1, 3, LANES))
        hole = hole_of(&layout.view)
        set_stride(&self.spheres, len(history["records"]), hole, hole + 1)
        set_stride(&self.walls, len(history["records"]), hole, -1)
        first, second = history["spheres"].T
        of_spheres = np.append(sphere_materials, 0)
        at_wall, slot = second < 0, np.append(layout.sphere_slot, 0)
        sphere, element = np.where(at_wall, 0, second), np.where(at_wall, -1 - second, 0)
        of_second = np.where(at_wall, np.append(element_materials, 0).take(element), of_spheres.take(sphere))
        slots = np.column_stack([slot.take(first), np.where(at_wall, second, slot.take(sphere))])
        self.add_contacts(history, np.ascontiguousarray(slots, dtype=np.int32),
                          np.ascontiguousarray(of_spheres.take(first) * n_materials + of_second, dtype=np.int32))

    def __dealloc__(self):
        release_blocks(&self.spheres)
        release_blocks(&self.walls)

    cdef object add_contacts(self, history, const int[:, ::1] slots, const int[::1] materials):
        """Contacts into the blocks. slots : (n, 2), or -1 - element;  materials : (n,) pairs."""
        cdef const double[:, :, ::1] records = history["records"]
        cdef const double[:, ::1] force = history["force"], couple = history["couple"]
        cdef const double[::1] mass = history["mass"], inertia = history["rolling_inertia"]
        cdef Blocks *blocks
        cdef ContactBlock *block
        cdef Py_ssize_t k, lane, r, m
        cdef int at
        for k in range(slots.shape[0]):
            blocks = &self.walls if slots[k, 1] < 0 else &self.spheres
            lane = take_lane(blocks)
            if lane < 0:
                raise MemoryError("no memory for the contacts of the time loop")
            block, at = block_of(blocks, lane), lane_of(lane)
            set_bodies(blocks, lane, slots[k, 0], slots[k, 1], -1, materials[k])
            block.mass[at], block.rolling_inertia[at] = mass[k], inertia[k]
            for m in range(3):
                block.force[m][at], block.couple[m][at] = force[k, m], couple[k, m]
            for r in range(records.shape[0]):
                for m in range(4):
                    history_of(block)[(4 * r + m) * LANES + at] = records[r, k, m]

    cdef void bind(self, Loop *loop) noexcept:
        """Pointers of the loop. At the first call the contacts of its last step are replaced by those of the arrays."""
        cdef Contacts *contacts
        cdef Blocks blocks
        cdef int t, group
        loop.state.motions, loop.state.spins = &self.motions[0, 0], &self.spins[0, 0, 0]
        if self.bound:
            return
        self.bound = True
        for t in range(loop.n_threads):
            contacts = loop.contacts + t
            for group in range(<int> GROUPS):
                clear_blocks(&contacts.groups[group])
        contacts = loop.contacts                        # the next rebuild gives them to their owners
        blocks = contacts.groups[SPHERES]
        contacts.groups[SPHERES], self.spheres = self.spheres, blocks
        blocks = contacts.groups[WALLS]
        contacts.groups[WALLS], self.walls = self.walls, blocks
        release_blocks(&self.spheres)
        release_blocks(&self.walls)


cdef object export_history(Loop *loop, Layout layout):
    """Contacts of the last step, by ascending user's numbers of their spheres.

    Returns a dict: spheres (n, 2) int32, the second one larger, or -1 - element of a wall; records (n_records, n, 4),
    force [N] and couple [N m] of the last step (n, 3), of the first sphere; mass [kg] and rolling_inertia [kg m2] (n,),
    effective (contact/mobility.pxd).
    """
    cdef const StateView *view = &loop.state
    cdef const Blocks *blocks
    cdef const ContactBlock *block
    cdef int at
    cdef Py_ssize_t lane, row, n = 0
    cdef int t, group, r, m, i, j
    for t in range(loop.n_threads):
        for group in range(<int> GROUPS):
            n += LANES * loop.contacts[t].groups[group].n_blocks
    cdef int[:, ::1] spheres = np.empty((n, 2), dtype=np.int32)
    cdef int[:, ::1] sources = np.empty((n, 3), dtype=np.int32)     # thread, group, lane
    n = 0
    for t in range(loop.n_threads):
        for group in range(<int> GROUPS):
            blocks = &loop.contacts[t].groups[group]
            for lane in range(LANES * blocks.n_blocks):
                i, j = block_of(blocks, lane).first[lane_of(lane)], block_of(blocks, lane).second[lane_of(lane)]
                if i == blocks.hole:
                    continue
                spheres[n, 0], spheres[n, 1] = view.sphere_number[i], view.sphere_number[j] if j >= 0 else j
                sources[n, 0], sources[n, 1], sources[n, 2] = t, group, <int> lane
                n += 1
    listed = np.asarray(spheres)[:n]
    order = np.lexsort((listed[:, 1], listed[:, 0]))
    cdef long long[::1] places = np.empty(n, dtype=np.int64)
    np.asarray(places)[order] = np.arange(n)
    cdef double[:, :, ::1] records = np.empty((loop.law.n_records, n, 4))
    cdef double[:, ::1] force = np.empty((n, 3)), couple = np.zeros((n, 3))
    cdef double[::1] mass = np.empty(n), inertia = np.empty(n)
    for row in range(n):                                                # as stored: reads in order are faster
        block = block_of(&loop.contacts[sources[row, 0]].groups[sources[row, 1]], sources[row, 2])
        at = lane_of(sources[row, 2])
        lane = places[row]
        mass[lane], inertia[lane] = block.mass[at], block.rolling_inertia[at]
        for m in range(3):              # + 0.0: never -0.0, which depends on the other contacts of a block
            force[lane, m], couple[lane, m] = block.force[m][at] + 0.0, block.couple[m][at] + 0.0
        for r in range(loop.law.n_records):
            for m in range(4):
                records[r, lane, m] = history_of(block)[(4 * r + m) * LANES + at] + 0.0
    return {"spheres": listed[order], "records": np.asarray(records), "force": np.asarray(force),
            "couple": np.asarray(couple), "mass": np.asarray(mass), "rolling_inertia": np.asarray(inertia)}
