"""Bodies of contacts for laws and fluxes (BodyRow of rows.pxd), and sums of what these do to fields (rows.pxd)."""
from libc.math cimport isnan
from libc.string cimport memcpy, memset

from minidem.broadphase.ghosts cimport clump_of, slot_of
from minidem.contact.fixed_point cimport SUM_PARTS, Wide, add_exactly
from minidem.contact.rows cimport GOES_ON, IDS, RATES, VALUES
from minidem.core.lanes cimport LANES, lane_of, row_of
from minidem.state.state cimport field_of


cdef inline bint is_hole_body(const StateView *state, int body) noexcept nogil:
    return body >= 2 * <int> state.n_members * LANES


cdef void describe_bodies(const Law *law, const StateView *state, const int *i, const int *j, bint walls,
                          double *contact) noexcept nogil:
    """Ids and values of the fields of both bodies. i, j : (LANES,), as of gather_contacts."""
    cdef int n = law.fields.n, lane, side, c, body, clump, wall
    cdef double *values
    for lane in range(LANES):
        for side in range(2):
            body, values = (j if side else i)[lane], contact + (VALUES + side * n) * LANES + lane
            if walls and side:
                wall = law.walls.wall_of[-1 - body]
                contact[(IDS + 1) * LANES + lane] = -1 - wall
                for c in range(n):                      # a wall without a value: no difference to the clump
                    values[c * LANES] = law.fields.of_walls[wall * n + c]
                    if isnan(values[c * LANES]):
                        values[c * LANES] = values[(c - n) * LANES]
            elif is_hole_body(state, body):
                contact[(IDS + side) * LANES + lane] = -1.0
                for c in range(n):
                    values[c * LANES] = 0.0
            else:
                clump = clump_of(state, slot_of(state, body))
                contact[(IDS + side) * LANES + lane] = law.fields.ids[state.clump_number[clump]]
                for c in range(n):
                    values[c * LANES] = field_of(state, row_of(clump), c, n).value[lane_of(clump)]


cdef void add_side(const Stored *stored, const Law *law, const StateView *state, const int *bodies,
                   const double *lasts, const double *rates) noexcept nogil:
    """Add rates and amounts of one side of contacts to the sums of own clumps.

    lasts : (LANES,) contacts whose rates count, NULL: of all.  rates : (n, LANES), amounts 2 n rows behind them.
    """
    cdef int n = law.fields.n, lane, c
    cdef Py_ssize_t clump
    for lane in range(LANES):
        if <unsigned int> (bodies[lane] - stored.first_slot) >= <unsigned int> stored.n_slots:
            continue
        clump = clump_of(state, bodies[lane])
        for c in range(n):
            if lasts == NULL or lasts[lane] > 0.5:
                add_exactly(rates[c * LANES + lane], law.fields.sums + (clump * n + c) * SUM_PARTS)
            if rates[(2 * n + c) * LANES + lane] != 0.0:
                law.fields.transfers[row_of(clump)] = 1
                add_exactly(rates[(2 * n + c) * LANES + lane], law.fields.amounts + (clump * n + c) * SUM_PARTS)


cdef inline void call_flux(const Law *law, int k, const double *contact, double *result) noexcept nogil:
    """Rates and amounts of flux k into the result; of flux -1, the law, they are there."""
    cdef double *rates = result + RATES * LANES
    if k >= 0:
        memset(rates, 0, 4 * law.fields.n * LANES * sizeof(double))
        law.fields.fluxes[k].function(contact, result, rates, law.fields.fluxes[k].parameters)


cdef void add_rates(const Stored *stored, const Law *law, const StateView *state, const int *i, const int *j,
                    const double *contact, double *result) noexcept nogil:
    """Add what the law and all fluxes have written. i, j : (LANES,); walls are no clumps.

    The law knows which of its contacts end, and its rates count in the last evaluation, too. A flux that is driven by a
    difference alone does not: its rates count in contacts that last.
    """
    cdef int n = law.fields.n, k
    cdef double *rates = result + RATES * LANES
    cdef const double *lasts
    for k in range(-1 if law.fields.law_writes else 0, law.fields.n_fluxes):
        call_flux(law, k, contact, result)
        lasts = NULL if k < 0 else result + GOES_ON * LANES
        add_side(stored, law, state, i, lasts, rates)
        add_side(stored, law, state, j, lasts, rates + n * LANES)
    memset(rates, 0, 4 * n * LANES * sizeof(double))


cdef void total_rates(const Law *law, const double *contact, double *result, double *total) noexcept nogil:
    """Sum (2 n, LANES) of the rates of the law, which are in the result, and of all fluxes."""
    cdef int k, m, count = 2 * law.fields.n * LANES
    memcpy(total, result + RATES * LANES, count * sizeof(double))
    for k in range(law.fields.n_fluxes):
        call_flux(law, k, contact, result)
        for m in range(count):
            total[m] += result[RATES * LANES + m]
    memset(result + RATES * LANES, 0, 2 * count * sizeof(double))


cdef void clear_sums(const Law *law, Py_ssize_t first_block, Py_ssize_t last_block) noexcept nogil:
    """Of the clumps of these blocks."""
    cdef Py_ssize_t size = LANES * law.fields.n * SUM_PARTS, b
    memset(law.fields.sums + first_block * size, 0, (last_block - first_block) * size * sizeof(Wide))
    for b in range(first_block, last_block):
        if law.fields.transfers[b]:
            memset(law.fields.amounts + b * size, 0, size * sizeof(Wide))
            law.fields.transfers[b] = 0
