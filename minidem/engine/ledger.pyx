"""The ledger of a time loop: energies dissipated in contacts, and work of walls and a box that move.

Each thread sums over its own contacts. The sums have no order (contact/fixed_point.pxd). The work of user forces is of
single clumps (forces/user_forces.pyx).
"""
import numpy as np

from libc.string cimport memset

from minidem.contact.contacts cimport ENERGIES, Ledger
from minidem.contact.fixed_point cimport Wide, join_wide, split_wide


cdef object read_ledger(const Loop *loop):
    """(ENERGIES, 2) energies of all threads, each the sum of two numbers [J]."""
    cdef double[:, ::1] entries = np.zeros((ENERGIES, 2))
    cdef Wide total
    cdef int t, k
    for k in range(<int> ENERGIES):
        total = 0
        for t in range(loop.n_threads):
            total += loop.contacts[t].ledger.energies[k]
        split_wide(total, loop.law.energy_unit, &entries[k, 0])
        for t in range(loop.n_threads):
            entries[k, 0] += loop.contacts[t].ledger.lost[k]
    return np.asarray(entries)


cdef object write_ledger(Loop *loop, dissipated, wall_work):
    """Replace the energies: the reverse of read_ledger. dissipated : (5, 2), wall_work : (2, 2); None: zeros"""
    cdef const double[:, ::1] entries = np.concatenate([
        np.zeros((n, 2)) if given is None else given for n, given in ((5, dissipated), (2, wall_work))])
    cdef int t, k
    for t in range(loop.n_threads):
        memset(&loop.contacts[t].ledger, 0, sizeof(Ledger))
    for k in range(<int> ENERGIES):
        loop.contacts[0].ledger.energies[k] = join_wide(&entries[k, 0], loop.law.energy_unit)
