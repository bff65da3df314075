# distutils: extra_compile_args = -O1
"""One way back: copies of the arrays and contacts that steps change. `Driver.keep` adds the rest.

A loop that calls Python in its steps makes copies before each step, so that a step that fails is undone. Other loops
make copies now and then, and return to an earlier step if memory is refused.
"""
from time import perf_counter

from minidem.broadphase.broadphase cimport drop_lists
from minidem.contact.contacts cimport release_copy, restore_contacts, save_contacts
from minidem.core.vectors cimport require_memory

BETWEEN_COPIES = 200    # durations of a copy between two of a run, which cost 0.5 % of its time
MOST_COPIED = 300_000   # spheres of a loop that makes such copies, 0.7 kB each in a bed with friction


cdef class Undo:
    """Copies for one time loop. arrays : those that steps change, besides the contacts."""

    def __cinit__(self, list arrays, n_spheres):
        self.arrays, self.copies, self.is_small = arrays, [], n_spheres <= MOST_COPIED

    cdef bint is_due(self):
        """Whether a run that does not call Python makes copies now."""
        return self.is_small and (self.values is None or perf_counter() >= self.due)

    cdef object keep(self, Loop *loop, tuple values, bint rebuilds):
        """Copy arrays and contacts, and keep what else `go_back` returns; rebuilds : as of save_contacts."""
        cdef int t
        cdef double began = perf_counter()
        self.values = None
        if not self.copies:
            self.copies = [array.copy() for array in self.arrays]
        for copy, array in zip(self.copies, self.arrays):
            copy[...] = array
        for t in range(loop.n_threads):
            save_contacts(loop.contacts + t, loop.law.history != NULL, rebuilds)
        require_memory("a copy of the contacts")
        self.values = values
        self.due = perf_counter() + BETWEEN_COPIES * (perf_counter() - began)

    cdef tuple go_back(self, Loop *loop):
        """Restore arrays and contacts, and return the values of `keep`. Lists are rebuilt before they are used."""
        cdef int t
        values = self.values
        for copy, array in zip(self.copies, self.arrays):
            array[...] = copy
        for t in range(loop.n_threads):
            restore_contacts(loop.contacts + t, loop.law.history != NULL)
        drop_lists(&loop.broad)
        self.values = None
        return values

    cdef object forget(self, Loop *loop):
        """Free the copies."""
        cdef int t
        self.values, self.copies = None, []
        for t in range(loop.n_threads):
            release_copy(loop.contacts + t)
