"""Contacts of a law with records: memory, and the copy from which a step is undone."""
from libc.stdint cimport int64_t
from libc.stdlib cimport free
from libc.string cimport memset

from minidem.contact.blocks cimport CACHE_LINE, Blocks, copy_blocks, posix_memalign, release_blocks
from minidem.contact.fixed_point cimport LINE
from minidem.core.vectors cimport release


cdef bint save_stored(Stored *stored) noexcept nogil:
    """Copy the contacts. False: memory exhausted."""
    cdef int group
    for group in range(<int> GROUPS):
        if not copy_blocks(&stored.saved[group], &stored.groups[group]):
            return False
    stored.saved_ledger, stored.has_saved = stored.ledger, True
    return True


cdef void restore_stored(Stored *stored) noexcept nogil:
    """Undo a step that is not complete, if there is a copy. The lists must be rebuilt before the next one."""
    cdef Blocks blocks
    cdef int group
    if stored.has_saved:
        for group in range(<int> GROUPS):
            blocks = stored.groups[group]
            stored.groups[group], stored.saved[group] = stored.saved[group], blocks
        stored.ledger, stored.has_saved = stored.saved_ledger, False


cdef bint reserve_lines(Stored *stored, int first_slot, int n_slots) noexcept nogil:
    """Lines of zeros for the own spheres. False: memory exhausted."""
    cdef void *data = NULL
    cdef Py_ssize_t n = n_slots + 1
    stored.first_slot, stored.n_slots = first_slot, n_slots
    if n > stored.lines.capacity:
        free(stored.lines.fine)
        free(stored.lines.coarse)
        stored.lines.fine, stored.lines.coarse, stored.lines.capacity = NULL, NULL, 0
        if posix_memalign(&data, CACHE_LINE, n * <int> LINE * sizeof(int64_t)) != 0:
            return False
        stored.lines.fine, stored.lines.capacity = <int64_t *> data, n
    stored.lines.has_large = False
    memset(stored.lines.fine, 0, n * <int> LINE * sizeof(int64_t))
    if stored.lines.coarse != NULL:
        memset(stored.lines.coarse, 0, n * <int> LINE * sizeof(int64_t))
    return True


cdef void release_stored(Stored *stored) noexcept nogil:
    """Free all memory, also of fractures not taken; the number of records, energies and the size of a block stay."""
    cdef int group
    for group in range(<int> GROUPS):
        release_blocks(&stored.groups[group])
        release_blocks(&stored.spare[group])
        release_blocks(&stored.saved[group])
    free(stored.lines.fine)
    free(stored.lines.coarse)
    stored.lines.fine, stored.lines.coarse, stored.lines.capacity = NULL, NULL, 0
    stored.has_saved = stored.ready = False
    stored.ledger.n_fractures = 0
    release(&stored.fractures)
    release(&stored.row_contacts)
    release(&stored.row_ghosts)
    release(&stored.start)
    release(&stored.entries)
    release(&stored.order)
    release(&stored.contact_at)
    release(&stored.seen)
    release(&stored.found_pairs)
    release(&stored.found_numbers)
    release(&stored.facets)
