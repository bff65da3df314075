# distutils: extra_compile_args = -O1
"""Arrays of the time loop that only laws with history need, and contacts with history as arrays in the user's numbers.

The arrays are what checkpoints hold, and what another time loop takes over: after clumps were added or sorted, after a
restart, with another number of threads.
"""
import numpy as np

from minidem.state.layout import aligned

from minidem.broadphase.ghosts cimport slot_of
from minidem.contact.history cimport RESULT, Touching, couple_of, record_of, result_of
from minidem.core.int_vector cimport IntVector
from minidem.core.lanes cimport LANES
from minidem.engine.time_loop cimport Loop
from minidem.state.block_rows cimport write_rows
from minidem.state.state cimport Layout, StateView


def no_history(n_records):
    """The arrays of no contact: see export_history."""
    return {"spheres": np.zeros((0, 2), dtype=np.int32), "records": np.zeros((n_records, 0, 4)),
            "results": np.zeros((0, RESULT)), "couples": np.zeros((0, 4))}


def history_without(history, gone):
    """The arrays without the contacts of spheres of which `gone` (n_spheres,) is true; the others are renumbered."""
    absent, number = np.append(gone, False), np.append(np.cumsum(~gone) - 1, 0)       # the last one for walls
    spheres = history["spheres"]
    sphere = np.maximum(spheres, -1)
    keep = ~absent[sphere].any(axis=1)
    return {"spheres": np.where(spheres < 0, spheres, number[sphere])[keep].astype(np.int32),
            "records": np.ascontiguousarray(history["records"][:, keep]),
            "results": history["results"][keep], "couples": history["couples"][keep]}


cdef IntVector view_of(array):
    """An array of doubles or ints as a vector, which does not own it."""
    cdef IntVector vector
    cdef size_t address = array.ctypes.data
    vector.data, vector.size, vector.capacity = <int *> address, 0, 0
    return vector


cdef class HistoryMemory:
    """Of the clumps of one layout.

    Parameters
    ----------
    layout : Layout
    material_index : (n_clumps,) numbers of the clumps' materials
    history : dict of arrays, see export_history
    dissipated : (n_clumps, 4) energies so far [J]
    """

    def __init__(self, Layout layout, material_index, history, dissipated):
        cdef Py_ssize_t n_blocks = layout.view.n_blocks
        self.history, self.dissipated = history, dissipated
        self.motions = aligned((2 * layout.view.n_members * LANES + 1, 8))
        spins, energies = aligned((n_blocks + 1, 4, LANES)), aligned((n_blocks + 1, 4, LANES))
        write_rows(spins, 3, layout.clump_slot, np.reshape(material_index, (-1, 1)).astype(float))
        write_rows(energies, 0, layout.clump_slot, dissipated)
        self.spins, self.energies = spins, energies
        self.make_table(layout)

    def make_table(self, Layout layout):
        """The table of the contacts for the slots of the layout (history_carry.pyx)."""
        spheres, records = self.history["spheres"], self.history["records"]
        n_slots, n = layout.sphere_number.size, len(spheres)
        wall = spheres[:, 1] < 0
        slots = np.empty((n, 2), dtype=np.int32)
        slots[:, 0] = layout.sphere_slot[spheres[:, 0]]
        slots[:, 1] = np.where(wall, spheres[:, 1], layout.sphere_slot[np.where(wall, 0, spheres[:, 1])] if n else 0)
        key = np.where(wall, slots[:, 0], slots.min(axis=1, initial=n_slots))
        partner = np.where(wall, slots[:, 1], slots.max(axis=1, initial=-1))
        order = np.argsort(key, kind="stable")
        start = np.searchsorted(key[order], np.arange(n_slots + 1)).astype(np.int32)
        entries = np.column_stack([partner[order], order]).astype(np.int32)
        results, couples = self.history["results"], self.history["couples"]
        parities, energies = np.zeros(n, dtype=np.int32), np.zeros((n, 4), dtype=np.float32)
        self.keep = slots, start, entries, records, results, couples, parities, energies
        self.contacts.n, self.contacts.pairs, self.contacts.parities = n, view_of(slots), view_of(parities)
        self.contacts.results, self.contacts.couples = view_of(results), view_of(couples)
        self.contacts.energies = view_of(energies)
        for r in range(len(records)):
            self.contacts.records[r] = view_of(records[r])
        self.table.first_slot, self.table.n_slots, self.table.contacts = 0, n_slots, &self.contacts
        self.table.start, self.table.entries = view_of(start).data, view_of(entries).data

    cdef void bind(self, Loop *loop) noexcept:
        """Pointers of the loop. Contacts of its last step are replaced by those of the table."""
        cdef int t
        loop.state.motions, loop.state.spins = &self.motions[0, 0], &self.spins[0, 0, 0]
        loop.dissipated, loop.imported = &self.energies[0, 0, 0], &self.table
        for t in range(loop.n_threads):
            loop.contacts[t].history.contacts.n = 0


cdef object export_history(Loop *loop, Layout layout):
    """Contacts of the last step, by ascending user's numbers of their spheres.

    Returns a dict: spheres (n, 2) int32, the second one larger, or -1 - element of a wall; records (n_records, n, 4),
    results (n, RESULT), couples (n, 4), of the first sphere (history.pxd).
    """
    cdef const StateView *view = &loop.state
    cdef const Touching *touching
    cdef Py_ssize_t k, row, place, n = 0
    cdef int t, r, m, i, j
    cdef double sign
    for t in range(loop.n_threads):
        n += loop.contacts[t].history.contacts.n
    cdef int[:, ::1] spheres = np.empty((n, 2), dtype=np.int32)
    cdef int[:, ::1] sources = np.empty((n, 3), dtype=np.int32)         # thread, contact, whether i and j are exchanged
    n = 0
    for t in range(loop.n_threads):
        touching = &loop.contacts[t].history.contacts
        for k in range(touching.n):
            i, j = touching.pairs.data[2 * k], touching.pairs.data[2 * k + 1]
            i = view.sphere_number[slot_of(view, i)]
            j = view.sphere_number[slot_of(view, j)] if j >= 0 else j
            spheres[n, 0], spheres[n, 1] = (j, i) if 0 <= j < i else (i, j)
            sources[n, 0], sources[n, 1], sources[n, 2] = t, <int> k, 0 <= j < i
            n += 1
    listed = np.asarray(spheres)
    # Two threads list a contact of both, with equal values. Which of them own its spheres may have changed since.
    order = np.unique((listed[:, 0].astype(np.int64) << 32) + listed[:, 1], return_index=True)[1]
    cdef double[:, :, ::1] records = np.empty((loop.law.n_records, len(order), 4))
    cdef double[:, ::1] results = np.empty((len(order), RESULT))
    cdef double[:, ::1] couples = np.zeros((len(order), 4))
    cdef long long[::1] places = np.full(n, -1, dtype=np.int64)
    np.asarray(places)[order] = np.arange(len(order))
    for row in range(n):                                                # as stored: reads in order are faster
        if places[row] < 0:
            continue
        touching, k = &loop.contacts[sources[row, 0]].history.contacts, sources[row, 1]
        place, sign = places[row], -1.0 if sources[row, 2] else 1.0
        for r in range(loop.law.n_records):
            for m in range(4):
                records[r, place, m] = (sign if m < 3 else 1.0) * record_of(touching, r, k)[m] + 0.0    # never -0.0
        for m in range(RESULT):
            results[place, m] = (sign if m < 3 else 1.0) * result_of(touching, k)[m] + 0.0
        for m in range(3 if loop.law.has_couples else 0):
            couples[place, m] = sign * couple_of(touching, k)[m] + 0.0
    return {"spheres": listed[order], "records": np.asarray(records), "results": np.asarray(results),
            "couples": np.asarray(couples)}
