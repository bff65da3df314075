"""The contact phase of one thread: with the narrow phase of the contact law, with or without history."""
from minidem.broadphase.broadphase cimport FORCE_AFTER_END, NO_FAILURE
from minidem.broadphase.neighbours cimport Neighbours
from minidem.broadphase.rebuild cimport rebuild
from minidem.contact.history cimport begin_step, resume_step, save_contacts
from minidem.contact.history_carry cimport carry_over, tabulate, take_carried
from minidem.contact.history_phase cimport find_remaining_touching, find_touching
from minidem.contact.history_sum cimport prepare_order, sum_in_order
from minidem.contact.narrow_phase cimport (
    Contacts, begin_contacts, find_contacts, find_remaining_contacts, reset_contacts, set_owned_slots,
)
from minidem.contact.reduce cimport resum_in_order
from minidem.core.openmp cimport barrier_wait
from minidem.engine.time_loop cimport Loop


cdef bint begin(Loop *loop, int thread, bint replay) noexcept nogil:
    """Prepare the narrow phase for a new pose. replay : see History. False: memory exhausted."""
    cdef Neighbours *mine = loop.broad.threads + thread
    if loop.law.history != NULL:
        return begin_step(&loop.contacts[thread].history, replay, replay or loop.saved_blocks != NULL)
    begin_contacts(loop.contacts + thread, mine)
    return True


cdef bint find_in_slab(Loop *loop, int thread, Py_ssize_t end) noexcept nogil:
    """Contacts of own spheres up to `end` of the inner list. False: memory exhausted."""
    cdef Contacts *contacts = loop.contacts + thread
    if loop.law.history != NULL:
        return find_touching(&contacts.history, contacts.law, loop.broad.threads + thread, &loop.state, end)
    return find_contacts(contacts, loop.broad.threads + thread, &loop.state, end)


cdef bint find_remaining(Loop *loop, int thread) noexcept nogil:
    """The rest of the contacts, and the forces on own spheres. False: memory exhausted."""
    cdef Contacts *contacts = loop.contacts + thread
    cdef Neighbours *mine = loop.broad.threads + thread
    if loop.law.history == NULL:
        return find_remaining_contacts(contacts, mine, &loop.state) and resum_in_order(contacts, &loop.state)
    if not find_remaining_touching(&contacts.history, contacts.law, mine, &loop.state):
        return False
    if contacts.history.has_force_after_end:
        mine.failure = FORCE_AFTER_END
    sum_in_order(contacts, mine, &loop.state, loop.dissipated)
    return True


cdef bint rebuild_lists(Loop *loop, int thread) noexcept nogil:
    """Rebuild the lists, and find known contacts again. Called by all threads together. False: memory exhausted."""
    cdef Contacts *contacts = loop.contacts + thread
    cdef Neighbours *mine = loop.broad.threads + thread
    cdef bint fine = True, undoable = contacts.history.saved.n >= 0 and loop.imported != NULL
    if loop.law.history == NULL:
        reset_contacts(contacts, &loop.state)
        rebuild(&loop.broad, thread, &loop.state, contacts.law.walls)
        set_owned_slots(contacts, mine, &loop.state)
        return True
    if loop.imported == NULL:
        fine = tabulate(contacts, &loop.state)
    rebuild(&loop.broad, thread, &loop.state, contacts.law.walls)
    set_owned_slots(contacts, mine, &loop.state)
    if mine.failure == NO_FAILURE:                      # its lists are complete
        fine = fine and carry_over(loop.contacts, thread, loop.n_threads, loop.imported, mine, &loop.state) \
            and prepare_order(&contacts.history, mine, &loop.state)
    barrier_wait(&loop.broad.barrier, loop.n_threads)   # all have read the tables
    if thread == 0:
        loop.imported = NULL
    take_carried(&contacts.history)
    resume_step(&contacts.history)
    return fine and (not undoable or save_contacts(&contacts.history))       # before the step: those of the table
