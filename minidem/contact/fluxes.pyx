"""Bodies of contacts for laws and fluxes (BodyRow of rows.pxd), and sums of the rates of fields (fields.pxd)."""
from libc.math cimport isnan
from libc.string cimport memset

from minidem.broadphase.ghosts cimport clump_of, slot_of
from minidem.contact.exact_sum cimport SUM_PARTS, add_exactly
from minidem.contact.fixed_point cimport Wide
from minidem.contact.rows cimport ALL_RESULT_ROWS, GOES_ON, IDS, RATES, VALUES
from minidem.core.lanes cimport LANES, lane_of, row_of
from minidem.state.rows cimport FIELD_ROWS, VALUE


cdef inline bint is_hole_body(const StateView *state, int body) noexcept nogil:
    return body >= 2 * <int> state.n_members * LANES


cdef void describe_bodies(const Law *law, const StateView *state, const int *i, const int *j, bint walls,
                          double *contact) noexcept nogil:
    """Ids and values of the fields of both bodies. i, j : (LANES,), as of gather_contacts."""
    cdef int n = law.fields.n, lane, side, c, body, clump, wall
    cdef double *values
    cdef const double *rows
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
                rows = state.blocks + (row_of(clump) * state.n_rows + law.fields.first_row) * LANES + lane_of(clump)
                for c in range(n):
                    values[c * LANES] = rows[(FIELD_ROWS * c + VALUE) * LANES]


cdef void add_side_rates(const Stored *stored, const Law *law, const StateView *state, const int *bodies,
                         const double *goes_on, const double *rates) noexcept nogil:
    """To the sums of own clumps, but for contacts that have ended. goes_on : (LANES,).  rates : (n, LANES)."""
    cdef int n = law.fields.n, lane, c
    cdef Py_ssize_t clump
    for lane in range(LANES):
        if goes_on[lane] > 0.5 and <unsigned int> (bodies[lane] - stored.first_slot) < <unsigned int> stored.n_slots:
            clump = clump_of(state, bodies[lane])
            for c in range(n):
                add_exactly(rates[c * LANES + lane], law.fields.sums + (clump * n + c) * SUM_PARTS)


cdef void add_rates(const Stored *stored, const Law *law, const StateView *state, const int *i, const int *j,
                    const double *contact, double *result) noexcept nogil:
    """Add the rates that the law has written, and those of all fluxes. i, j : (LANES,); walls are no clumps."""
    cdef int n = law.fields.n, k
    cdef double *rates = result + RATES * LANES
    for k in range(0 if law.fields.law_writes else 1, law.fields.n_fluxes + 1):
        if k > 0:
            memset(rates, 0, (ALL_RESULT_ROWS - RATES) * LANES * sizeof(double))
            law.fields.fluxes[k - 1].function(contact, result, rates, law.fields.fluxes[k - 1].parameters)
        add_side_rates(stored, law, state, i, result + GOES_ON * LANES, rates)
        add_side_rates(stored, law, state, j, result + GOES_ON * LANES, rates + n * LANES)
    memset(rates, 0, (ALL_RESULT_ROWS - RATES) * LANES * sizeof(double))


cdef void clear_sums(const Law *law, Py_ssize_t first_block, Py_ssize_t last_block) noexcept nogil:
    """Of the clumps of these blocks."""
    memset(law.fields.sums + first_block * LANES * law.fields.n * SUM_PARTS, 0,
           (last_block - first_block) * LANES * law.fields.n * SUM_PARTS * sizeof(Wide))
