"""Bodies of contacts for laws and fluxes, and sums of what these do to fields (contact.h)."""
from libc.math cimport isnan
from libc.string cimport memcpy, memset

from minidem.contact.fixed_point cimport SUM_PARTS, Wide, add_exactly
from minidem.contact.contact cimport MAX_COMPONENTS
from minidem.core.lanes cimport LANES, lane_of, row_of
from minidem.core.vectors cimport reserve
from minidem.state.state cimport clump_of, field_of, free_slot_of


cdef void describe_bodies(const Law *law, const StateView *state, const int *i, const int *j, bint walls,
                          Contact *contact) noexcept nogil:
    """Ids and values of the fields of both bodies. i, j : (LANES,), as of gather_contacts."""
    cdef int n = law.fields.n, lane, side, c, body, clump, wall
    cdef double *values
    for lane in range(LANES):
        for side in range(2):
            body, values = (j if side else i)[lane], &contact.values[side * n][lane]
            if walls and side:
                wall = law.walls.wall_of[-1 - body]
                contact.ids[1][lane] = -1 - wall
                for c in range(n):                      # a wall without a value: no difference to the clump
                    values[c * LANES] = law.fields.of_walls[wall * n + c]
                    if isnan(values[c * LANES]):
                        values[c * LANES] = contact.values[c][lane]
            elif body >= free_slot_of(state):
                contact.ids[side][lane] = -1.0
                for c in range(n):
                    values[c * LANES] = 0.0
            else:
                clump = clump_of(state, body)
                contact.ids[side][lane] = law.fields.ids[state.clump_number[clump]]
                for c in range(n):
                    values[c * LANES] = field_of(state, row_of(clump), c, n).value[lane_of(clump)]


cdef void add_to_clump(const Law *law, Py_ssize_t clump, const double *rates) noexcept nogil:
    """Add rates (n,), and amounts (n,) behind them, to the sums of a clump."""
    cdef int n = law.fields.n, c
    for c in range(n):
        add_exactly(rates[c], law.fields.sums + (clump * n + c) * SUM_PARTS)
        if rates[n + c] != 0.0:
            law.fields.transfers[row_of(<int> clump)] = 1
            add_exactly(rates[n + c], law.fields.amounts + (clump * n + c) * SUM_PARTS)


cdef void add_side(Contacts *contacts, const Law *law, const StateView *state, const int *bodies, const double *lasts,
                   const Row *rates) noexcept nogil:
    """Add rates and amounts of one side of contacts to the sums of own clumps; write down those of other threads.

    lasts : (LANES,) contacts whose rates count, NULL: of all.  rates : n, amounts 2 n rows behind them.
    """
    cdef double one[2 * MAX_COMPONENTS]
    cdef double *sent
    cdef int n = law.fields.n, lane, c
    for lane in range(LANES):
        if not 0 <= bodies[lane] < free_slot_of(state):      # a wall
            continue
        for c in range(n):
            one[c] = rates[c][lane] if lasts == NULL or lasts[lane] > 0.5 else 0.0
            one[n + c] = rates[2 * n + c][lane]
        if <unsigned int> (bodies[lane] - contacts.first_slot) < <unsigned int> contacts.n_slots:
            add_to_clump(law, clump_of(state, bodies[lane]), one)
            continue
        if not reserve(&contacts.sent_rates, contacts.sent_rates.size + 1 + 2 * n):
            return
        sent = contacts.sent_rates.data + contacts.sent_rates.size
        sent[0] = bodies[lane]
        memcpy(sent + 1, one, 2 * n * sizeof(double))
        contacts.sent_rates.size += 1 + 2 * n


cdef void take_rates(const Law *law, const DoubleVector *sent, const Contacts *contacts,
                     const StateView *state) noexcept nogil:
    """Add the rates and amounts of own clumps that another thread has written down."""
    cdef const double *one
    cdef Py_ssize_t k, size = 1 + 2 * law.fields.n
    for k in range(sent.size // size):
        one = sent.data + k * size
        if <unsigned int> (<int> one[0] - contacts.first_slot) < <unsigned int> contacts.n_slots:
            add_to_clump(law, clump_of(state, <int> one[0]), one + 1)


cdef inline void call_flux(const Law *law, int k, const Contact *contact, Result *result) noexcept nogil:
    """Rates and amounts of flux k into the result; of flux -1, the law, they are there."""
    if k >= 0:
        memset(result.rates, 0, 4 * law.fields.n * sizeof(Row))
        law.fields.fluxes[k].function(contact, result, result.rates, law.fields.fluxes[k].parameters)


cdef void add_rates(Contacts *contacts, const Law *law, const StateView *state, const int *i, const int *j,
                    const Contact *contact, Result *result) noexcept nogil:
    """Add what the law and all fluxes have written. i, j : (LANES,).

    The law knows which of its contacts end, and its rates count in the last evaluation, too. A flux that is driven by a
    difference alone does not: its rates count in contacts that last.
    """
    cdef int n = law.fields.n, k
    cdef const double *lasts
    for k in range(-1 if law.fields.law_writes else 0, law.fields.n_fluxes):
        call_flux(law, k, contact, result)
        lasts = NULL if k < 0 else &result.goes_on[0]
        add_side(contacts, law, state, i, lasts, result.rates)
        add_side(contacts, law, state, j, lasts, result.rates + n)
    memset(result.rates, 0, 4 * n * sizeof(Row))


cdef void total_rates(const Law *law, const Contact *contact, Result *result, Row *total) noexcept nogil:
    """Sum (2 n,) of the rates of the law, which are in the result, and of all fluxes."""
    cdef int k, m, lane, count = 2 * law.fields.n
    memcpy(total, result.rates, count * sizeof(Row))
    for k in range(law.fields.n_fluxes):
        call_flux(law, k, contact, result)
        for m in range(count):
            for lane in range(LANES):
                total[m][lane] += result.rates[m][lane]
    memset(result.rates, 0, 2 * count * sizeof(Row))


cdef void clear_rates(const Law *law, Py_ssize_t first_block, Py_ssize_t last_block) noexcept nogil:
    """Of the clumps of these blocks."""
    cdef Py_ssize_t size = LANES * law.fields.n * SUM_PARTS, b
    memset(law.fields.sums + first_block * size, 0, (last_block - first_block) * size * sizeof(Wide))
    for b in range(first_block, last_block):
        if law.fields.transfers[b]:
            memset(law.fields.amounts + b * size, 0, size * sizeof(Wide))
            law.fields.transfers[b] = 0
