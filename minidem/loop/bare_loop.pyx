# distutils: extra_compile_args = -O1
"""The struct Loop of clumps, walls and contacts, made from Settings and a Snapshot, and the memory that it points to.

What is optional comes to it: see engine/driver.pyx.
"""
import numpy as np

from minidem.core.threads import has_openmp
from minidem.state.state import CONSTANTS, WRENCH, WRENCH_ROWS, aligned

from libc.stdlib cimport free

from minidem.broadphase.broadphase cimport (
    REFERENCE_ROWS, Broadphase, Share, drop_lists, measure_spheres, prepare_broadphase,
)
from minidem.broadphase.cell_grid cimport free_levels
from minidem.broadphase.neighbours cimport Neighbours
from minidem.contact.blocks cimport set_stride
from minidem.contact.contacts cimport GROUPS, WALLS, Contacts, own_slots, release_contacts
from minidem.contact.evaluate cimport prepare_room
from minidem.contact.history cimport write_history
from minidem.contact.law cimport Law, set_properties, set_units
from minidem.core cimport openmp
from minidem.core.lanes cimport LANES
from minidem.core.vectors cimport LINE_PAIR, IntVector, require_memory, zeroed_memory
from minidem.loop.loop cimport full_team
from minidem.state.rows cimport WrenchBlock
from minidem.state.state cimport StateView, free_slot_of, pointer_to

SPHERES_PER_THREAD = 2000           # with fewer, another thread costs more than it gains
SLOTS_IN_CACHE = 200000             # with fewer, a step stays in cache, and slabs gain nothing
LOG_SLAB = 13                       # 2^13 slots: half a megabyte of spheres and clumps; 11 to 15 are equally good


cdef class BareLoop:
    """A loop with its memory, of the state of the snapshot, which it steps in place. Lists are empty."""

    def __cinit__(self, settings, snapshot):
        cdef State state = snapshot.state
        self.state, self.arrays = state, []
        self.loop.state, self.loop.first_step, self.loop.step.dt = state.view, snapshot.step, settings.dt
        self.set_body_force(snapshot.gravity)
        self.set_scheme(settings.scheme, settings.scheme_values)
        if settings.law is not None:
            self.set_law(settings.law, settings.law_values, snapshot.walls, snapshot.pair_table)
        useful = state.n_spheres // SPHERES_PER_THREAD if has_openmp() else 1
        self.make_lists(full_team(max(1, min(settings.threads, useful, state.view.n_blocks, openmp.thread_limit()))))
        if snapshot.history is not None:
            write_history(snapshot.history, state, self.loop.contacts)

    def __dealloc__(self):
        cdef void **before
        cdef int t
        for t in range(self.loop.n_threads):
            release_contacts(self.loop.contacts + t)
        drop_lists(&self.loop.broad)
        free_levels(&self.loop.broad.levels)
        while self.memory != NULL:
            before = <void **> self.memory[0]
            free(self.memory)
            self.memory = before

    cdef void *zeros(self, size_t size) except NULL:
        """Memory for the life of this object, which `__dealloc__` may read: the garbage collector frees arrays before.

        Allocations form a chain, in whose links the first bytes point to the one before.
        """
        cdef void **link
        link = <void **> zeroed_memory(LINE_PAIR + size)
        require_memory("the time loop")
        link[0], self.memory, self.size = self.memory, link, self.size + size
        return <char *> link + LINE_PAIR

    cdef void *own(self, array) except NULL:
        """Keep an array for the life of this object, and point to it."""
        self.arrays.append(array)
        return pointer_to(array)

    cdef object set_body_force(self, gravity):
        """WrenchBlocks of clumps without a contact, for each block type and one more."""
        constants, row = self.state.constants, WRENCH["force"][0]
        wrenches = aligned((len(constants) + 1, WRENCH_ROWS, LANES))
        for k in range(3):
            wrenches[:-1, row + k] = gravity[k] * constants[:, CONSTANTS["mass"][0]]
        self.loop.body_force = <const WrenchBlock *> self.own(wrenches)

    cdef object set_scheme(self, scheme, values):
        cdef Kernels kernels = scheme.kernels.own()
        cdef int k
        self.kernels = kernels
        kernels.set_parameters(&self.loop.step, values)
        self.loop.scheme, self.loop.roles = kernels.function, kernels.roles
        self.loop.keeps_norm = scheme.keeps_norm
        self.loop.checks_rotation = bool(kernels.keep)
        stored = scheme.orientation_scratch
        self.loop.stored_orientation = -1 if stored is None else <int> stored
        self.loop.n_stages = len(scheme.stages)
        for k in range(self.loop.n_stages):
            self.loop.fraction[k] = scheme.stages[k]
        self.loop.scheme_failed = self.loop.law_failed = &kernels.failed

    cdef object set_law(self, law, values, WallPrimitives walls, pair_table):
        """law, values : ContactLaw, and its parameters."""
        cdef LawKernels kernels = law.kernels_for(values).own()
        cdef StateView *state = &self.loop.state
        pair_table.require_pairs(law, values, self.state.material_index)
        self.law_kernels, self.loop.law_failed = kernels, &kernels.failed
        kernels.fill(&self.loop.law, values)
        self.walls, self.loop.walls, self.loop.has_contacts = walls.view, &self.walls, True
        self.arrays += set_properties(&self.loop.law, self.loop.walls, kernels, law, values, pair_table, self.state)
        self.own(set_units(&self.loop.law, law, values, pair_table, self.state))
        if self.loop.law.history != NULL:
            state.motions = <double *> self.zeros((state.n_members * LANES + 2) * 8 * sizeof(double))
            state.spins = <double *> self.zeros((state.n_blocks + 1) * 3 * LANES * sizeof(double))
        self.loop.law.power, self.loop.law.dt = law.power, self.loop.step.dt
        self.loop.law.energy_factor = 1.0 / (1.0 + law.power)

    cdef object set_exclusions(self, materials, fixed):
        """Which pairs never touch: of materials that do not, and of what no force can move, and walls.

        materials : (n, n) bool, pairs without contact; None: there are none
        fixed : (n_clumps,) bool, what no force can move; its material counts as another one
        """
        cdef int n = 1 << self.loop.law.log_materials
        if materials is None and not fixed.any():
            return
        of_slots = np.append(self.state.material_index + n * fixed.astype(np.int32), np.int32(0))
        excluded = np.zeros((2, n, 2, n), np.uint8)
        if materials is not None:
            k = len(materials)
            excluded[:, :k, :, :k] = materials[:, None]
        excluded[1, :, 1] = 1
        self.loop.broad.exclusions.pairs = <const unsigned char *> self.own(excluded)
        self.loop.broad.exclusions.materials = <const int *> self.own(of_slots.take(self.state.clump_number))
        self.loop.broad.exclusions.log_materials = self.loop.law.log_materials + 1

    cdef object make_lists(self, int n_threads):
        """Empty neighbor lists and contacts."""
        cdef const StateView *state = &self.loop.state
        cdef Broadphase *broad = &self.loop.broad
        cdef Contacts *contacts
        cdef const Law *law = &self.loop.law
        cdef int t, group, other, free_slot = free_slot_of(state)
        measure_spheres(broad, state)
        broad.shares = <Share *> self.zeros(n_threads * sizeof(Share))
        broad.threads = <Neighbours *> self.zeros(n_threads * sizeof(Neighbours))
        broad.marks = <unsigned char *> self.zeros(2 * state.n_members)
        row, width = CONSTANTS["turn_bound"]
        broad.reference_rows = REFERENCE_ROWS if self.state.constants[:, row:row + width].any() else 3
        broad.reference_poses = <double *> self.zeros(
            state.n_blocks * broad.reference_rows * LANES * sizeof(double))
        if broad.clumps_first:
            broad.bounds = <double *> self.zeros(state.n_blocks * LANES * 4 * sizeof(double))
        for t in range(n_threads):
            broad.threads[t].log_slab = LOG_SLAB if state.n_members * LANES > SLOTS_IN_CACHE else 0
            broad.threads[t].found = <IntVector *> self.zeros(n_threads * sizeof(IntVector) + LINE_PAIR)
        self.loop.contacts = <Contacts *> self.zeros(n_threads * sizeof(Contacts))
        self.loop.n_threads = broad.n_threads = n_threads
        prepare_broadphase(broad, state)
        require_memory("the lists of the time loop")
        broad.reach = self.loop.law.reach
        for t in range(n_threads):
            contacts = self.loop.contacts + t
            contacts.own_law, contacts.law = self.loop.law, &contacts.own_law       # which sees walls at own poses
            contacts.width = 4 if self.loop.law.history == NULL else 8
            if self.loop.walls != NULL:
                contacts.walls, contacts.own_law.walls = self.walls, &contacts.walls
                prepare_room(contacts)
            for group in range(<int> GROUPS):
                other = -1 if group == <int> WALLS else free_slot + 1
                set_stride(&contacts.groups[group], law.n_records, law.has_couples, free_slot, other)
                set_stride(&contacts.spare[group], law.n_records, law.has_couples, free_slot, other)
                set_stride(&contacts.saved[group], law.n_records, law.has_couples, free_slot, other)
            own_slots(contacts, broad.threads + t, state)
