# distutils: extra_compile_args = -Og
"""The struct of a time loop, and all memory that it points to: settings, lists, contacts.

Contacts of a law with a history are given and read as arrays in the user's numbers: that is what checkpoints hold, and
what another time loop takes over, after clumps were added or sorted, after a restart, with another number of threads.
"""
cimport cython

import numpy as np

from minidem.contact.external_law import FLUX, PythonFlux
from minidem.contact.onset_series import zeta_polynomials
from minidem.core.threads import has_openmp
from minidem.state.hold import immovable
from minidem.state.layout import aligned

from minidem.broadphase.broadphase cimport (
    FORCE_AFTER_END, NO_FAILURE, OUT_OF_MEMORY, REFERENCE_ROWS, SMALL_TEAM, Share, describe_spheres, drop_lists,
    prepare_broadphase, take_over,
)
from minidem.broadphase.cell_grid cimport free_levels
from minidem.broadphase.neighbours cimport Neighbours
from minidem.contact.blocks cimport (
    Blocks, ContactBlock, block_of, history_of, reserve_blocks, set_bodies, set_stride, take_lane,
)
from minidem.contact.contact cimport Fields, Flux, FluxFunction
from minidem.contact.contacts cimport GROUPS, SPHERES, WALLS, Contacts, own_slots, release_contacts
from minidem.contact.evaluate cimport prepare_room
from minidem.contact.fixed_point cimport SUM_PARTS, Wide
from minidem.contact.law cimport Law, pair_of, set_properties, set_units
from minidem.core cimport openmp
from minidem.core.lanes cimport LANES, lane_of
from minidem.core.vectors cimport APART, IntVector, require_memory
from minidem.engine.loop cimport full_team
from minidem.state.rows cimport WrenchBlock
from minidem.state.state cimport StateView, clump_of, free_slot_of, pointer_to

SPHERES_PER_THREAD = 2000           # with fewer, another thread costs more than it gains
MIN_SORTED_BLOCKS = 64              # with fewer, all clumps are in cache in any order
REBUILDS_PER_SORT = 50              # outer rebuilds after which the clumps have mixed enough to be sorted again
STEPS_PER_WRAP = 32768              # rounding errors of 32768 steps are a small part of those far from the origin
SLOTS_IN_CACHE = 200000             # with fewer, a step stays in cache, and slabs gain nothing
LOG_SLAB = 13                       # 2^13 slots: half a megabyte of spheres and clumps; 11 to 15 are equally good


class NotFinite(FloatingPointError):
    """The pose of a clump is not finite."""


cdef void prepare_contacts(Contacts *contacts, const Law *law, const StateView *state) noexcept:
    cdef int free_slot = free_slot_of(state), group
    contacts.own_law, contacts.law, contacts.width = law[0], &contacts.own_law, 4 if law.history == NULL else 8
    if law.walls != NULL:
        contacts.walls, contacts.own_law.walls = law.walls[0], &contacts.walls
        prepare_room(contacts)
    for group in range(<int> GROUPS):
        set_stride(&contacts.groups[group], law.n_records, free_slot, -1 if group == <int> WALLS else free_slot + 1)
        set_stride(&contacts.spare[group], law.n_records, free_slot, -1 if group == <int> WALLS else free_slot + 1)


@cython.no_gc_clear              # `arrays` are needed to the end
cdef class LoopMemory:
    """Settings and memory of one time loop.

    Parameters
    ----------
    settings : Settings
    snapshot : Snapshot
    like : LoopMemory, optional
        Of a loop of the same clumps, whose skins, shares and counters this one takes over.
    """

    def __cinit__(self, settings, snapshot, LoopMemory like=None):
        cdef State state = snapshot.state
        self.state, self.walls, self.arrays = state, snapshot.walls, []
        self.loop.state, self.loop.first_step, self.loop.step.dt = state.view, snapshot.step, settings.dt
        self.set_body_force(settings.gravity)
        self.set_scheme(settings.scheme, settings.scheme_values)
        self.loop.has_contacts = settings.law is not None
        if settings.law is not None:
            self.pair_table = snapshot.pair_table
            self.set_law(settings.law, settings.law_values)
            self.set_fields(snapshot.population, snapshot.user_forces.fluxes)
        useful = state.n_spheres // SPHERES_PER_THREAD if has_openmp() else 1
        self.make_lists(full_team(max(1, min(settings.threads, useful, state.view.n_blocks, openmp.thread_limit()))))
        if self.loop.law.history != NULL:
            self.set_history(snapshot.history)
        if like is not None:                            # the clumps have been sorted
            take_over(&self.loop.broad, &like.loop.broad)
            self.next_sort = self.loop.broad.n_outer + REBUILDS_PER_SORT
        if settings.law is None or state.view.n_blocks <= MIN_SORTED_BLOCKS:
            self.next_sort = 2 ** 62

    def __dealloc__(self):
        cdef int t
        for t in range(self.loop.n_threads):
            release_contacts(self.loop.contacts + t)
        drop_lists(&self.loop.broad)
        free_levels(&self.loop.broad.levels)

    cdef void *own(self, array) except NULL:
        """Keep an array for the life of this object, and point to it."""
        self.arrays.append(array)
        return pointer_to(array)

    cdef void *zeros(self, size_t size) except NULL:
        return self.own(aligned((size,), np.uint8))

    def make_lists(self, int n_threads):
        """Empty neighbor lists and contacts."""
        cdef const StateView *state = &self.loop.state
        cdef Broadphase *broad = &self.loop.broad
        cdef int t
        describe_spheres(broad, state)
        broad.shares = <Share *> self.zeros(n_threads * sizeof(Share))
        broad.threads = <Neighbours *> self.zeros(n_threads * sizeof(Neighbours))
        broad.marks = <unsigned char *> self.zeros(2 * state.n_members)
        broad.reference_poses = <double *> self.zeros(state.n_blocks * REFERENCE_ROWS * LANES * sizeof(double))
        if broad.clumps_first:
            broad.bounds = <double *> self.zeros(state.n_blocks * LANES * 4 * sizeof(double))
        for t in range(n_threads):
            broad.threads[t].log_slab = LOG_SLAB if state.n_members * LANES > SLOTS_IN_CACHE else 0
            broad.threads[t].found = <IntVector *> self.zeros(n_threads * sizeof(IntVector) + APART)
        self.loop.contacts = <Contacts *> self.zeros(n_threads * sizeof(Contacts))
        self.loop.n_threads = broad.n_threads = n_threads
        prepare_broadphase(broad, state)
        require_memory("the lists of the time loop")
        for t in range(n_threads):
            prepare_contacts(self.loop.contacts + t, &self.loop.law, state)
            own_slots(self.loop.contacts + t, self.loop.broad.threads + t, state)
        self.loop.broad.reach = self.loop.law.reach

    def set_scheme(self, scheme, parameters):
        cdef Kernels kernels = scheme.kernels.own()
        cdef int k
        self.kernels = kernels
        kernels.set_parameters(&self.loop.step, parameters)
        self.loop.scheme, self.loop.roles = kernels.function, kernels.roles
        self.loop.keeps_norm = scheme.keeps_norm
        self.loop.checks_rotation = bool(kernels.keep)
        stored = scheme.orientation_scratch
        self.loop.stored_orientation = -1 if stored is None else <int> stored
        self.loop.n_stages = len(scheme.stages)
        for k in range(self.loop.n_stages):
            self.loop.fraction[k] = scheme.stages[k]
        self.loop.scheme_failed = self.loop.law_failed = &kernels.failed

    def set_law(self, law, values):
        """law, values : ContactLaw, and its parameters."""
        cdef LawKernels kernels = law.kernels_for(values).own()
        self.law_kernels, self.loop.law_failed = kernels, &kernels.failed
        kernels.fill(&self.loop.law, values)
        self.own_walls, self.loop.walls = self.walls.view, &self.own_walls
        self.arrays += set_properties(&self.loop.law, self.loop.walls, kernels, law, values, self.pair_table,
                                      self.state)
        self.own(set_units(&self.loop.law, law, values, self.pair_table, self.state))
        self.set_apart(immovable(self.state))
        self.loop.law.dt = self.loop.step.dt
        self.loop.law.energy_factor = 1.0 / (1.0 + law.power)
        if law.corrects_onsets(values):
            kernels.correct_onsets(&self.loop.law, law.power, zeta_polynomials(law.power), self.loop.step.dt)
            self.loop.clump_motions = <double *> self.own(aligned((self.loop.state.n_blocks * LANES, 16)))
            self.loop.onset_blocks = <unsigned char *> self.own(np.zeros(self.loop.state.n_blocks, np.uint8))

    def set_apart(self, fixed):
        """Which pairs never touch: of materials that do not, and of what no force can move, `fixed` (n_clumps,) bool,
        and walls; the material of what is fixed counts as another one."""
        cdef int n = 1 << self.loop.law.log_materials
        if self.pair_table.apart is None and not fixed.any():
            return
        of_slots = np.append(self.state.material_index + n * fixed.astype(np.int32), np.int32(0))
        apart = np.zeros((2, n, 2, n), np.uint8)
        if self.pair_table.apart is not None:
            k = len(self.pair_table.apart)
            apart[:, :k, :, :k] = self.pair_table.apart[:, None]
        apart[1, :, 1] = 1
        self.loop.broad.apart.pairs = <const unsigned char *> self.own(apart)
        self.loop.broad.apart.materials = <const int *> self.own(of_slots.take(self.state.clump_number))
        self.loop.broad.apart.log_materials = self.loop.law.log_materials + 1

    def set_fields(self, population, fluxes):
        """Fields of clumps, which forces read in any loop, and what laws with history and fluxes need besides."""
        cdef Fields *fields = &self.loop.law.fields
        cdef Flux *flux
        cdef Py_ssize_t n_blocks = self.loop.state.n_blocks, slots = n_blocks * LANES + 1
        fields.n = sum(field.components for field in population.fields)
        if self.loop.law.history == NULL or not (len(fluxes) or self.law_kernels.sees_bodies):
            return
        self.law_kernels.fields, self.law_kernels.n_components = population.components, fields.n
        flux = <Flux *> self.own(np.zeros(len(fluxes) * sizeof(Flux), np.uint8))
        fields.n_fluxes, fields.fluxes, fields.law_writes = <int> len(fluxes), flux, self.law_kernels.sees_bodies
        fields.ids = <const double *> self.own(np.append(population.ids, 0).astype(float))
        if fields.n:
            fields.sums = <Wide *> self.own(aligned((slots, fields.n * 2 * SUM_PARTS)))
            fields.amounts = <Wide *> self.own(aligned((slots, fields.n * 2 * SUM_PARTS)))
            fields.of_walls = <const double *> self.own(np.hstack([field.walls for field in population.fields]))
            fields.transfers = <unsigned char *> self.own(np.zeros(n_blocks, np.uint8))
        for one in fluxes:
            if one.address is None:
                python_flux = PythonFlux(self.law_kernels, one.function, one.parameters)
                self.arrays.append(python_flux)
                self.calls_fluxes, flux.function = True, <FluxFunction> <size_t> FLUX
                flux.parameters = <const double *> self.own(np.array([id(python_flux)], dtype=np.uintp))
            else:                                       # not a number where it must not read
                flux.function = <FluxFunction> <size_t> one.address
                flux.parameters = <const double *> self.own(np.append(one.parameters, np.full(64, np.nan)))
            flux += 1

    def run_has_ended(self):
        """Whether a field or a rotation that is not sound has ended the last steps."""
        cdef bint found = False
        cdef int t
        for t in range(self.loop.n_threads):
            found |= self.loop.broad.threads[t].ends_run
            self.loop.broad.threads[t].ends_run = False
        return found

    def calls_python(self):
        """Whether the rotation scheme, the contact law or a flux is written in Python."""
        return bool(self.kernels.functions) or self.calls_fluxes \
            or self.law_kernels is not None and bool(self.law_kernels.functions)

    def set_body_force(self, gravity):
        """WrenchBlocks of clumps without a contact, for each block type and one more."""
        cdef Py_ssize_t n_types = len(self.state.layout.constants), m
        cdef WrenchBlock *wrenches = <WrenchBlock *> self.own(aligned((n_types + 1, sizeof(WrenchBlock)), np.uint8))
        cdef double[3] g = gravity
        cdef int k, lane
        for m in range(n_types):                        # in C: see layout.pyx
            for k in range(3):
                for lane in range(LANES):
                    wrenches[m].force[k * LANES + lane] = g[k] * self.loop.state.constants[m].mass[lane]
        self.loop.body_force = wrenches

    def set_history(self, history):
        """Memory that laws with a history need, and their contacts; history : see export_history, None: no contact."""
        self.loop.state.motions = <double *> self.own(aligned((self.loop.state.n_members * LANES + 2, 8)))
        self.loop.state.spins = <double *> self.own(aligned((self.loop.state.n_blocks + 1, 3, LANES)))
        if history is not None:
            # `take`: indexing with other than intp crashes in NumPy where there is no memory
            (first, second), slot = history["spheres"].T, np.append(self.state.sphere_slot, np.int32(0))
            self.add_contacts(history, slot.take(first), np.where(second < 0, second, slot.take(np.maximum(second, 0))))

    def add_contacts(self, history, const int[:] first, const int[:] second):
        """Contacts into the blocks of one thread; the first rebuild gives them to their owners.

        first, second : (n,) slots of their spheres, or -1 - primitive
        """
        cdef const double[:, :, ::1] records = history["records"]
        cdef const double[:, ::1] force = history["force"], couple = history["couple"]
        cdef const double[::1] mass = history["mass"], inertia = history["rolling_inertia"]
        cdef Blocks *blocks
        cdef ContactBlock *block
        cdef Py_ssize_t k, lane, r, m
        cdef int at, i, j
        reserve_blocks(&self.loop.contacts.groups[SPHERES], first.shape[0] // LANES + 1)    # growth would take twice
        for k in range(first.shape[0]):
            blocks = &self.loop.contacts.groups[<int> WALLS if second[k] < 0 else <int> SPHERES]
            i, j, lane = first[k], second[k], take_lane(blocks)
            require_memory("the contacts of the time loop")
            block, at = block_of(blocks, lane), lane_of(lane)
            set_bodies(blocks, lane, i, j, pair_of(&self.loop.law, &self.loop.state, i, j))
            block.mass[at], block.rolling_inertia[at] = mass[k], inertia[k]
            for m in range(3):
                block.force[m][at], block.couple[m][at] = force[k, m], couple[k, m]
            for r in range(records.shape[0]):
                for m in range(4):
                    history_of(block)[(4 * r + m) * LANES + at] = records[r, k, m]

    def wrap_if_due(self):
        """Wrap positions where the number of the step is a multiple of STEPS_PER_WRAP; returns the steps to the next.

        By the number of the step, so that bits depend on nothing else. The lists remain valid: nearest images do not
        change, and a displacement plus lengths of the box is a displacement to the same nearest images.
        """
        cdef long long past = (self.loop.first_step + self.loop.steps_done) % STEPS_PER_WRAP
        if past == 0:
            self.state.wrap()
        return STEPS_PER_WRAP - past

    def raise_failure(self, error):
        """Raise what has failed in the last steps, if anything; error : of a user force."""
        cdef int t, failure = NO_FAILURE, clump = -1
        for t in range(self.loop.n_threads):
            failure = max(failure, self.loop.broad.threads[t].failure)
            clump = max(clump, self.loop.broad.threads[t].lost - 1)
            self.loop.broad.threads[t].failure, self.loop.broad.threads[t].lost = NO_FAILURE, 0
        self.kernels.raise_error()
        if self.law_kernels is not None:
            self.law_kernels.raise_error()
        if error is not None:
            raise error
        self.loop.broad.valid &= failure == NO_FAILURE and clump < 0
        if failure == OUT_OF_MEMORY:
            raise MemoryError("no memory for the neighbor lists and contacts")
        if failure == FORCE_AFTER_END:
            self.raise_force_after_end()
        if failure == SMALL_TEAM:                       # no step was done
            raise RuntimeError(f"OpenMP gives this run fewer threads than the {self.loop.n_threads} of the simulation: "
                               "run it outside of other parallel regions, or with threads=1")
        if clump >= 0:
            raise NotFinite(f"the position or orientation of clump {clump} is not finite")

    def raise_force_after_end(self):
        cdef const StateView *view = &self.state.view
        cdef Contacts *contacts
        cdef int t, i = 0, j = 0
        force = (0.0, 0.0, 0.0)
        for t in range(self.loop.n_threads):
            contacts = self.loop.contacts + t
            if contacts.has_force_after_end:
                i, j, force = contacts.pair_after_end[0], contacts.pair_after_end[1], tuple(contacts.force_after_end)
            contacts.has_force_after_end = False
        other = f"wall {self.walls.wall_of[-1 - j]}" if j < 0 else \
            f"clump {view.clump_number[clump_of(view, j)]}"
        raise ValueError(f"the contact law left the force {force} N, or a couple, on clump "
                         f"{view.clump_number[clump_of(view, i)]} in its contact with {other}, which "
                         "has ended: the force must be zero where the overlap is not positive")


cdef object list_statistics(const Broadphase *broad):
    """Sizes of the neighbor lists and numbers of their rebuilds, a dict."""
    cdef int t, source
    pairs = outer = active = 0
    for t in range(broad.n_threads):
        pairs += broad.threads[t].pairs.size // 2
        active += broad.threads[t].active.size
        for source in range(broad.n_threads):
            outer += broad.threads[source].found[t].size // 2
    return {"outer_skin": broad.outer_skin, "inner_skin": broad.inner_skin, "outer_lists": broad.n_outer,
            "inner_lists": broad.n_inner, "outer_pairs": outer, "inner_pairs": pairs, "active_slots": active * LANES}


cdef object rows_of(blocks, lanes, Py_ssize_t first, Py_ssize_t count):
    """(n, count) rows `first` and following of contacts in `lanes` (n,) of all blocks, a list of arrays (m, stride)."""
    return np.concatenate([some[:, first * LANES:(first + count) * LANES].reshape(-1, count, LANES).swapaxes(1, 2)
                           .reshape(-1, count) for some in blocks]).take(lanes, axis=0)


cdef object export_history(Loop *loop, State state):
    """Contacts of the last step, by ascending user's numbers of their spheres.

    Returns a dict: spheres (n, 2) int32, the second one larger, or -1 - primitive of a wall; records (n_records, n, 4),
    force [N] and couple [N m] of the last step (n, 3), of the first sphere; mass [kg] and rolling_inertia [kg m2] (n,),
    effective (contact/contacts.pyx). No number is -0.0, which depends on the other contacts of a block.
    """
    cdef Blocks *stored
    cdef int t, group
    cdef Py_ssize_t head = sizeof(ContactBlock) // (LANES * sizeof(double)), k      # rows before the history
    blocks = [np.empty((0, loop.contacts.groups[0].stride))]
    for t in range(loop.n_threads):
        for group in range(<int> GROUPS):
            stored = &loop.contacts[t].groups[group]
            if stored.n_blocks > 0:
                blocks.append(np.asarray(<double[:stored.n_blocks, :stored.stride]> stored.data))
    n_lanes = LANES * sum(len(some) for some in blocks)
    bodies = rows_of([some.view(np.int32) for some in blocks], np.arange(n_lanes), 0, 2)
    lanes, number = np.flatnonzero(bodies[:, 0] != free_slot_of(&loop.state)), state.sphere_number.reshape(-1)
    first, second = bodies.take(lanes, axis=0).T
    spheres = np.column_stack([number.take(first), np.where(second < 0, second, number.take(np.maximum(second, 0)))])
    order = np.lexsort((spheres[:, 1], spheres[:, 0]))
    lanes = lanes.take(order)
    mass, inertia = rows_of(blocks, lanes, head - 8, 2).T + 0.0
    records = np.empty((loop.law.n_records, len(lanes), 4))
    for k in range(loop.law.n_records):
        records[k] = rows_of(blocks, lanes, head + 4 * k, 4) + 0.0
    return {"spheres": spheres.take(order, axis=0), "records": records,
            "force": rows_of(blocks, lanes, head - 6, 3) + 0.0, "couple": rows_of(blocks, lanes, head - 3, 3) + 0.0,
            "mass": np.ascontiguousarray(mass), "rolling_inertia": np.ascontiguousarray(inertia)}
