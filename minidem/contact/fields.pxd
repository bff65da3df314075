"""Fields of clumps, such as a temperature, as contact laws and fluxes see and change them.

The values of all fields of a clump are `n` components in its block (state/rows.pxd). A law or flux gets the ids and
values of both bodies of a contact behind all other rows (BodyRow of rows.pxd), and writes the rates at which it changes
the fields of both, and the amounts that it transfers at this pose. Rates and amounts of a clump are summed without an
order (exact_sum.h).
"""
from minidem.contact.exact_sum cimport SUM_PARTS
from minidem.contact.fixed_point cimport Wide
from minidem.contact.rows cimport FluxFunction

cdef struct Flux:
    FluxFunction function
    const double *parameters

cdef struct Fields:
    int n                           # components; 0: there are no fields
    Py_ssize_t first_row            # of their rows in a block of the state
    const double *ids               # (n_clumps,) by the user's number; NULL: neither law nor fluxes see the bodies
    const double *of_walls          # (n_walls, n), not a number: as the clump
    bint law_writes                 # the law is a user's own and may write rates
    int n_fluxes
    const Flux *fluxes
    Wide *sums                      # (n_blocks * LANES, n, SUM_PARTS): of the rates; NULL: contacts change no field
    Wide *amounts                   # (n_blocks * LANES, n, SUM_PARTS): of the amounts ...
    unsigned char *transfers        # ... (n_blocks,): whether those of a block may differ from zero
