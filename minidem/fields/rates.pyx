"""Fields in the time loop: what contacts, fluxes and forces give to them, and their values a step later.

The rate of a field at the pose of a whole step is the sum of the rates by contacts and forces, divided by its capacity.
Values advance by the two-step Adams-Bashforth formula, of second order as the leapfrog is, and by Euler's formula in
the first step of a clump. The amounts a_(n+1) that contacts transfer at the pose of step n + 1 are added after all
contacts have been evaluated. Evaluations between two steps transfer nothing.

    f_(n+1) = f_n + dt (3 r_n - r_(n-1)) / 2 + a_(n+1)

Sums over contacts are exact, so that they have no order and need no unit.
"""
import numpy as np

from minidem.contact.external_law import FLUX, PythonFlux

from libc.math cimport isnan
from libc.stdlib cimport free
from libc.string cimport memcpy, memset

from minidem.contact.blocks cimport ContactBlock, history_of
from minidem.contact.contact cimport MAX_COMPONENTS, MAX_RECORDS
from minidem.contact.contacts cimport Contacts, Observer, Room, add_observer
from minidem.contact.fixed_point cimport SUM_PARTS, add_exactly, exact_total
from minidem.contact.gather cimport load_known_results
from minidem.contact.law cimport LawKernels
from minidem.core.instant cimport BETWEEN, STAGE, ends_step
from minidem.core.lanes cimport LANES, lane_of, row_of
from minidem.core.vectors cimport release, require_memory, reserve, zeroed_memory
from minidem.loop.loop cimport since_last_pose
from minidem.state.state cimport clump_of, first_row, free_slot_of, pointer_to

cdef FieldBlock a_field
FIELD_ROWS = tuple(a_field)         # names


cdef void load_bodies(const Law *law, const StateView *state, const int *i, const int *j, bint walls,
                      Contact *contact) noexcept nogil:
    """Ids and values of the fields of both bodies, for the law and fluxes of a user. i, j : (LANES,) bodies."""
    cdef const FieldPass *fields = <const FieldPass *> law.fields
    cdef int n = fields.n, lane, side, c, body, clump, wall
    cdef double *values
    for lane in range(LANES):
        for side in range(2):
            body, values = (j if side else i)[lane], &contact.values[side * n][lane]
            if walls and side:
                wall = law.walls.wall_of[-1 - body]
                contact.ids[1][lane] = -1 - wall
                for c in range(n):                      # a wall without a value: no difference to the clump
                    values[c * LANES] = fields.of_walls[wall * n + c]
                    if isnan(values[c * LANES]):
                        values[c * LANES] = contact.values[c][lane]
            elif body >= free_slot_of(state):
                contact.ids[side][lane] = -1.0
                for c in range(n):
                    values[c * LANES] = 0.0
            else:
                clump = clump_of(state, body)
                contact.ids[side][lane] = fields.ids[state.clump_number[clump]]
                for c in range(n):
                    values[c * LANES] = field_of(fields, state, row_of(clump), c).value[lane_of(clump)]


cdef void add_to_clump(FieldPass *fields, Py_ssize_t clump, const double *rates) noexcept nogil:
    """Add rates (n,), and amounts (n,) behind them, to the sums of a clump."""
    cdef int n = fields.n, c
    for c in range(n):
        add_exactly(rates[c], fields.sums + (clump * n + c) * SUM_PARTS)
        if rates[n + c] != 0.0:
            fields.transfers[row_of(<int> clump)] = 1
            add_exactly(rates[n + c], fields.amounts + (clump * n + c) * SUM_PARTS)


cdef void add_side(ThreadRates *own, const Contacts *contacts, const StateView *state, const int *bodies,
                   const double *lasts, const Row *rates) noexcept nogil:
    """Add rates and amounts of one side of contacts to the sums of own clumps; write them down for clumps of others.

    lasts : (LANES,) contacts whose rates count, NULL: of all.  rates : n, amounts 2 n rows behind them.
    """
    cdef double one[2 * MAX_COMPONENTS]
    cdef double *noted
    cdef int n = own.of_all.n, lane, c
    for lane in range(LANES):
        if not 0 <= bodies[lane] < free_slot_of(state):      # a wall
            continue
        for c in range(n):
            one[c] = rates[c][lane] if lasts == NULL or lasts[lane] > 0.5 else 0.0
            one[n + c] = rates[2 * n + c][lane]
        if <unsigned int> (bodies[lane] - contacts.first_slot) < <unsigned int> contacts.n_slots:
            add_to_clump(own.of_all, clump_of(state, bodies[lane]), one)
            continue
        if not reserve(&own.foreign, own.foreign.size + 1 + 2 * n):
            return
        noted = own.foreign.data + own.foreign.size
        noted[0] = bodies[lane]
        memcpy(noted + 1, one, 2 * n * sizeof(double))
        own.foreign.size += 1 + 2 * n


cdef void call_flux(const FieldPass *fields, int k, const Contact *contact, Result *result) noexcept nogil:
    """Rates and amounts of flux k into the result; of flux -1, the law, they are there."""
    if k >= 0:
        memset(result.rates, 0, 4 * fields.n * sizeof(Row))
        fields.fluxes[k].function(contact, result, result.rates, fields.fluxes[k].parameters)


cdef void find_rates_of_law(const FieldPass *fields, const ContactBlock *block, const Contact *contact,
                            Result *result) noexcept nogil:
    """Results of contacts whose forces are stored. The law is called for its rates, with a copy of its history."""
    cdef double records[MAX_RECORDS * 4 * LANES]
    if fields.law_writes:
        memcpy(records, history_of(block), fields.law.n_records * 4 * LANES * sizeof(double))
        fields.law.history(contact, records, result, &fields.law.parameters)
    load_known_results(fields.law, block, result)


cdef void forget_transfers(const FieldPass *fields, ContactBlock *block, const Result *result) noexcept nogil:
    """Give new contacts for which the law has written an amount their history of zeros again.

    Where no step has led to the pose no amounts are transferred, and the next step must find a contact as it was.
    """
    cdef int n = fields.n, lane, k
    cdef bint transfers
    for lane in range(LANES):
        transfers = False
        for k in range(2 * n, 4 * n):
            transfers |= result.rates[k][lane] != 0.0
        for k in range(4 * fields.law.n_records if transfers else 0):
            history_of(block)[k * LANES + lane] = 0.0


cdef void see(Contacts *contacts, const StateView *state, ContactBlock *block, Room *room, const Instant *now,
              void *own) noexcept nogil:
    """Observer: add what the law and all fluxes have written.

    The law knows which of its contacts end, and its rates count in the last evaluation, too. A flux does not know it:
    its rates count in contacts that last. Amounts always count.
    """
    cdef ThreadRates *rates = <ThreadRates *> own
    cdef FieldPass *fields = rates.of_all
    cdef Result *result = &room.result
    cdef const double *lasts
    cdef int k
    if room.known:
        find_rates_of_law(fields, block, &room.contact, result)
    elif fields.law_writes and now.purpose == BETWEEN:
        forget_transfers(fields, block, result)
    for k in range(-1 if fields.law_writes else 0, fields.n_fluxes):
        call_flux(fields, k, &room.contact, result)
        lasts = NULL if k < 0 else &result.goes_on[0]
        add_side(rates, contacts, state, block.first, lasts, result.rates)
        add_side(rates, contacts, state, block.second, lasts, result.rates + fields.n)
    memset(result.rates, 0, 4 * fields.n * sizeof(Row))


cdef void clear(Contacts *contacts, void *own) noexcept nogil:
    """Observer: forget the rates and amounts of own clumps, and what other threads have taken."""
    cdef ThreadRates *rates = <ThreadRates *> own
    cdef FieldPass *fields = rates.of_all
    cdef Py_ssize_t size = LANES * fields.n * SUM_PARTS, b, first = rates.mine.first_block, last = rates.mine.last_block
    rates.foreign.size = 0
    memset(fields.sums + first * size, 0, (last - first) * size * sizeof(Wide))
    for b in range(first, last):
        if fields.transfers[b]:
            memset(fields.amounts + b * size, 0, size * sizeof(Wide))
            fields.transfers[b] = 0


cdef bint advance_fields(Loop *loop, int thread, Instant *now, void *own) noexcept nogil:
    """Phase: values of the fields of own clumps at the next pose. The run ends if one is not finite."""
    cdef const FieldPass *fields = <const FieldPass *> own
    cdef Neighbours *mine = loop.broad.threads + thread
    cdef double ahead = loop.step.dt * since_last_pose(loop, now), change, zeros[LANES]
    cdef FieldBlock *field
    cdef Py_ssize_t b
    cdef int c, lane
    memset(zeros, 0, sizeof(zeros))
    for b in range(mine.first_block, mine.last_block):
        for c in range(fields.n):
            field = field_of(fields, &loop.state, b, c)
            for lane in range(LANES):
                change = field.has_last[lane] * (field.rate[lane] - field.last_rate[lane])
                field.value[lane] += ahead * (field.rate[lane] + 0.5 * change)
                zeros[lane] += 0.0 * field.value[lane]
    for lane in range(LANES):
        if zeros[lane] != 0.0:                          # not a number
            mine.ends_run = True
    return True


cdef void take_from_others(Loop *loop, int thread, FieldPass *fields) noexcept nogil:
    """Add rates and amounts of own clumps that other threads have found."""
    cdef const Contacts *contacts = loop.contacts + thread
    cdef const DoubleVector *foreign
    cdef const double *noted
    cdef Py_ssize_t k, size = 1 + 2 * fields.n
    cdef int t
    for t in range(loop.n_threads):
        foreign = &fields.threads[t].foreign
        for k in range(foreign.size // size):
            noted = foreign.data + k * size
            if <unsigned int> (<int> noted[0] - contacts.first_slot) < <unsigned int> contacts.n_slots:
                add_to_clump(fields, clump_of(&loop.state, <int> noted[0]), noted + 1)


cdef bint take_amounts(Loop *loop, int thread, Instant *now, void *own) noexcept nogil:
    """Phase: add the amounts that contacts transfer at this pose to the values of own clumps."""
    cdef FieldPass *fields = <FieldPass *> own
    cdef Neighbours *mine = loop.broad.threads + thread
    cdef FieldBlock *field
    cdef int n = fields.n, c, lane
    cdef Py_ssize_t b
    memset(fields.sources + mine.first_block * n * LANES, 0, (mine.last_block - mine.first_block) * n * LANES
           * sizeof(double))
    if fields.threads == NULL:
        return True
    take_from_others(loop, thread, fields)
    for b in range(mine.first_block, mine.last_block if ends_step(now) else mine.first_block):
        for c in range(n if fields.transfers[b] else 0):
            field = field_of(fields, &loop.state, b, c)
            for lane in range(LANES):
                field.value[lane] += field.per_capacity[lane] * exact_total(
                    fields.amounts + ((b * LANES + lane) * n + c) * SUM_PARTS)
    return True


cdef bint set_rates(Loop *loop, int thread, Instant *now, void *own) noexcept nogil:
    """Phase, at whole steps: rates of the fields of own clumps."""
    cdef const FieldPass *fields = <const FieldPass *> own
    cdef Neighbours *mine = loop.broad.threads + thread
    cdef FieldBlock *field
    cdef double rate
    cdef int n = fields.n, c, lane
    cdef Py_ssize_t b
    for b in range(mine.first_block, mine.last_block if now.purpose != STAGE else mine.first_block):
        for c in range(n):
            field = field_of(fields, &loop.state, b, c)
            for lane in range(LANES):
                rate = fields.sources[(b * n + c) * LANES + lane]
                if fields.threads != NULL:
                    rate += exact_total(fields.sums + ((b * LANES + lane) * n + c) * SUM_PARTS)
                if ends_step(now):
                    field.last_rate[lane], field.has_last[lane] = field.rate[lane], 1.0
                field.rate[lane] = rate * field.per_capacity[lane]
    return True


cdef class FieldRates:
    """Fields of the clumps in one time loop.

    Attributes
    ----------
    sources : (n_blocks, components, LANES) rates by forces of the user, times capacity
    """

    cdef object attach(self, Loop *loop, population, fluxes, kernels):
        """Take part in a loop: fields that any force reads, and what laws and fluxes of the user need besides.

        fluxes : list of Force.  kernels : LawKernels of the law
        """
        cdef FieldPass *own = &self.own
        cdef Py_ssize_t n_blocks = loop.state.n_blocks, slots = n_blocks * LANES + 1
        cdef Contacts *contacts
        cdef int t
        self.loop, self.n_threads, self.arrays, own.law = loop, loop.n_threads, [], &loop.law
        own.n, own.first = sum(field.components for field in population.fields), first_row(&loop.state, "fields")
        self.sources = np.zeros((n_blocks, own.n, LANES))
        own.sources = <double *> pointer_to(self.sources)
        if loop.law.history == NULL or not (len(fluxes) or kernels.sees_bodies):
            return
        self.set_fluxes(population, fluxes, kernels)
        own.law_writes = kernels.sees_bodies
        own.ids = <const double *> self.keep(np.append(population.ids, 0).astype(float))
        for t in range(loop.n_threads):
            loop.contacts[t].own_law.load_bodies, loop.contacts[t].own_law.fields = load_bodies, own
        if own.n == 0:
            return
        own.sums = <Wide *> self.keep(np.zeros(slots * own.n * SUM_PARTS * sizeof(Wide), np.uint8))
        own.amounts = <Wide *> self.keep(np.zeros(slots * own.n * SUM_PARTS * sizeof(Wide), np.uint8))
        own.transfers = <unsigned char *> self.keep(np.zeros(n_blocks, np.uint8))
        own.of_walls = <const double *> self.keep(np.hstack([field.walls for field in population.fields]))
        own.threads = <ThreadRates *> zeroed_memory(loop.n_threads * sizeof(ThreadRates))
        require_memory("the rates of fields")
        for t in range(loop.n_threads):
            self.own.threads[t].of_all, self.own.threads[t].mine = own, loop.broad.threads + t
            contacts = loop.contacts + t
            add_observer(contacts, Observer(clear, see, self.own.threads + t))

    cdef void *keep(self, array) except NULL:
        """Keep an array for the life of this object, and point to it."""
        self.arrays.append(array)
        return pointer_to(array)

    cdef object set_fluxes(self, population, fluxes, LawKernels kernels):
        """Functions and parameters of the fluxes."""
        cdef Flux *flux = <Flux *> self.keep(np.zeros(len(fluxes) * sizeof(Flux) + 1, np.uint8))
        kernels.fields, kernels.n_components = population.components, self.own.n
        self.own.n_fluxes, self.own.fluxes = <int> len(fluxes), flux
        for one in fluxes:
            if one.address is None:
                python_flux = PythonFlux(kernels, one.function, one.parameters)
                self.arrays.append(python_flux)
                flux.function = <FluxFunction> <size_t> FLUX
                flux.parameters = <const double *> self.keep(np.array([id(python_flux)], dtype=np.uintp))
            else:                                       # not a number where it must not read
                flux.function = <FluxFunction> <size_t> one.address
                flux.parameters = <const double *> self.keep(np.append(one.parameters, np.full(64, np.nan)))
            flux += 1

    def __dealloc__(self):
        cdef int t
        for t in range(self.n_threads if self.own.threads != NULL else 0):
            release(&self.own.threads[t].foreign)
        free(self.own.threads)
