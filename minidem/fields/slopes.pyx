# distutils: extra_compile_args = -O1
"""How the rates of fields in contacts depend on the values of the fields, for checks of the step."""
import numpy as np

from libc.math cimport isnan

from minidem.contact.blocks cimport ContactBlock, block_at
from minidem.contact.contacts cimport WALLS, Room
from minidem.contact.law cimport Law, LawKernels
from minidem.contact.listing cimport all_blocks, load_room
from minidem.core.lanes cimport LANES
from minidem.fields.rates cimport FieldPass, FieldRates, call_flux, find_rates_of_law
from minidem.state.state cimport StateView, clump_of, free_slot_of


cdef void write_rates(const FieldPass *fields, const Law *law, const StateView *view, const ContactBlock *block,
                      bint walls, int k, double change, double[:, ::1] rates) noexcept nogil:
    """Add the rates of the law and all fluxes to rates (LANES, 2 n), n components; value k is changed unless k < 0."""
    cdef Room room
    cdef int n = fields.n, flux, m, lane
    load_room(law, view, block, walls, &room)
    for lane in range(LANES if k >= 0 else 0):
        room.contact.values[k][lane] += change
        if walls and k < n and isnan(fields.of_walls[law.walls.wall_of[-1 - block.second[lane]] * n + k]):
            room.contact.values[n + k][lane] += change          # a wall without a value has the clump's
    find_rates_of_law(fields, block, &room.contact, &room.result)
    for flux in range(-1, fields.n_fluxes):
        call_flux(fields, flux, &room.contact, &room.result)
        for m in range(2 * n):
            for lane in range(LANES):
                rates[lane, m] += room.result.rates[m][lane]


def rate_slopes(FieldRates fields, const double[::1] changes):
    """Derivatives of the rates in contacts, by differences of the values; None: contacts change no field.

    changes : (components,) of the values. Nothing else is changed.
    Returns clumps (n, 2), -1 for a wall, and slopes (n, 2 components, 2 components): of each rate of i and j, by
    the values of i and j.
    """
    if fields.own.threads == NULL:
        return None
    cdef const StateView *view = &fields.loop.state
    cdef const Py_ssize_t[:, ::1] blocks = all_blocks(fields.loop.contacts, fields.n_threads)
    cdef long long[:, ::1] clumps = np.full((LANES * len(blocks), 2), -1, dtype=np.int64)
    cdef double[:, :, ::1] rates = np.zeros((2 * len(changes) + 1, len(clumps), 2 * len(changes)))
    cdef const ContactBlock *block
    cdef Py_ssize_t b, first
    cdef int k, lane, n = <int> len(changes)
    cdef bint walls
    for b in range(len(blocks)):
        block = block_at(&fields.loop.contacts[blocks[b, 0]].groups[blocks[b, 1]], blocks[b, 2])
        first, walls = LANES * b, blocks[b, 1] == <int> WALLS
        for k in range(2 * n + 1):                  # first with all values as they are; walls keep theirs
            write_rates(&fields.own, fields.loop.contacts[blocks[b, 0]].law, view, block, walls,
                        -1 if walls and k > n else k - 1, changes[(k + n - 1) % n], rates[k, first:first + LANES])
        for lane in range(LANES):
            if block.first[lane] != free_slot_of(view):
                clumps[first + lane, 0] = view.clump_number[clump_of(view, block.first[lane])]
                if block.second[lane] >= 0:
                    clumps[first + lane, 1] = view.clump_number[clump_of(view, block.second[lane])]
    (<LawKernels> fields.loop.law.parameters.context).raise_error()
    present, found = np.asarray(clumps)[:, 0] >= 0, np.asarray(rates)
    slopes = (found[1:] - found[0]) / np.tile(changes, 2)[:, None, None]
    return np.asarray(clumps)[present], np.moveaxis(slopes, 0, -1)[present]
