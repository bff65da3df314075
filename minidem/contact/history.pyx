"""Contacts with a history: how a step begins, is undone or completed."""
from libc.string cimport memcpy

from minidem.core.int_vector cimport release


cdef bint save_contacts(History *history) noexcept nogil:
    """Copy the contacts to `saved`. False: memory exhausted."""
    cdef const Touching *contacts = &history.contacts
    cdef Py_ssize_t k
    if not reserve_contacts(&history.saved, history.n_records, history.has_couples, contacts.n):
        return False
    for k in range(contacts.n):
        copy_contact(&history.saved, k, contacts, k, history.n_records, history.has_couples, 1.0)
        memcpy(history.saved.pairs.data + 2 * k, contacts.pairs.data + 2 * k, 2 * sizeof(int))
        history.saved.positions.data[k] = contacts.positions.data[k]
    history.saved.n = contacts.n
    return True


cdef void restore_contacts(History *history) noexcept nogil:
    """Undo a step that is not complete, if there is a copy. The lists must be rebuilt before the next one."""
    if history.saved.n >= 0:
        history.contacts, history.saved = history.saved, history.contacts
        history.saved.n = -1
        history.parity ^= 1


cdef bint begin_step(History *history, bint replay, bint undoable) noexcept nogil:
    """Prepare for a new pose.

    replay : forces of known contacts do not change.  undoable : `restore_contacts` may follow.
    False: memory exhausted.
    """
    history.parity ^= 1
    history.resumed, history.replay = False, replay
    history.list_cursor = history.pending.size = history.ended.size = 0
    history.saved.n = -1
    return not undoable or save_contacts(history)


cdef void resume_step(History *history) noexcept nogil:
    """Begin again with new lists: the contacts that are evaluated already stay so."""
    history.resumed = True
    history.list_cursor = history.pending.size = 0


cdef void commit(History *history) noexcept nogil:
    """A step is complete: contacts that ended in it are removed. The last contact takes the number of each."""
    cdef Touching *contacts = &history.contacts
    cdef int *pairs = contacts.pairs.data
    cdef Py_ssize_t e, k
    for e in range(history.ended.size - 1, -1, -1):     # from the last one, so that none of them is moved
        k = history.ended.data[e]
        contacts.n -= 1
        list_again(history, pairs + 2 * k)
        list_again(history, pairs + 2 * contacts.n)
        history.contact_at.data[contacts.positions.data[k]] = 0
        if k < contacts.n:
            copy_contact(contacts, k, contacts, contacts.n, history.n_records, history.has_couples, 1.0)
            memcpy(pairs + 2 * k, pairs + 2 * contacts.n, 2 * sizeof(int))
            contacts.positions.data[k] = contacts.positions.data[contacts.n]
            history.contact_at.data[contacts.positions.data[k]] = <int> k + 1
    history.ended.size = 0
    history.saved.n = -1


cdef void release_touching(Touching *touching) noexcept nogil:
    cdef int r
    touching.n = 0
    release(&touching.pairs)
    release(&touching.positions)
    release(&touching.parities)
    release(&touching.results)
    release(&touching.energies)
    release(&touching.couples)
    for r in range(MAX_RECORDS):
        release(&touching.records[r])


cdef void release_history(History *history) noexcept nogil:
    """Free all memory; the number of records stays."""
    release_touching(&history.contacts)
    release_touching(&history.spare)
    release_touching(&history.saved)
    release(&history.pending)
    release(&history.ended)
    release(&history.contact_at)
    release(&history.first_entry)
    release(&history.entries)
    release(&history.contacts_of)
    release(&history.n_contacts_of)
    release(&history.found_pairs)
    release(&history.found_numbers)
    release(&history.facets)
    release(&history.slot_rows)
    release(&history.table.room)
