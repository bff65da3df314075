"""The contact phase of one thread: with the narrow phase of the contact law, with or without records."""
from minidem.broadphase.broadphase cimport FORCE_AFTER_END, NO_FAILURE
from minidem.broadphase.neighbours cimport Neighbours
from minidem.broadphase.rebuild cimport rebuild
from minidem.contact.carry cimport collect_stored, take_collected
from minidem.contact.narrow_phase cimport (
    Contacts, begin_contacts, find_remaining_contacts, reset_contacts, set_owned_slots,
)
from minidem.contact.stored cimport GROUPS, save_stored
from minidem.contact.stored_find cimport find_new
from minidem.contact.stored_forces cimport evaluate_stored
from minidem.core.openmp cimport barrier_wait
from minidem.engine.time_loop cimport Loop


cdef bint begin(Loop *loop, int thread, bint between) noexcept nogil:
    """Prepare the narrow phase for a new pose. between : no step has led to it. False: memory exhausted."""
    if loop.law.history == NULL:
        begin_contacts(loop.contacts + thread, loop.broad.threads + thread)
        return True
    return not (between or loop.saved_blocks != NULL) or save_stored(&loop.contacts[thread].stored)


cdef bint find_remaining(Loop *loop, int thread, bint between) noexcept nogil:
    """The contacts that are not found yet, and the forces on own spheres. False: memory exhausted."""
    cdef Contacts *contacts = loop.contacts + thread
    cdef Neighbours *mine = loop.broad.threads + thread
    cdef int group
    if loop.law.history == NULL:
        return find_remaining_contacts(contacts, mine, &loop.state)
    for group in range(<int> GROUPS):                   # nothing is dissipated between two steps
        contacts.stored.n_kept[group] = contacts.stored.groups[group].n_blocks if between else 0
        if between:
            contacts.stored.groups[group].holes.size = 0        # new contacts get new blocks
    if not (find_new(&contacts.stored, contacts.law, mine, &loop.state)
            and evaluate_stored(&contacts.stored, contacts.law, mine, &loop.state)):
        return False
    if contacts.stored.has_force_after_end:
        mine.failure = FORCE_AFTER_END
    return True


cdef bint rebuild_lists(Loop *loop, int thread) noexcept nogil:
    """Rebuild the lists; contacts that are stored go on. Called by all threads together. False: memory exhausted."""
    cdef Contacts *contacts = loop.contacts + thread
    cdef Neighbours *mine = loop.broad.threads + thread
    cdef bint fine
    if loop.law.history == NULL:
        reset_contacts(contacts, &loop.state)
        rebuild(&loop.broad, thread, &loop.state, contacts.law.walls)
        set_owned_slots(contacts, mine, &loop.state)
        return True
    rebuild(&loop.broad, thread, &loop.state, contacts.law.walls)
    set_owned_slots(contacts, mine, &loop.state)
    # of a thread whose lists are incomplete as well: the others wait for it
    fine = collect_stored(loop.contacts, thread, loop.n_threads, mine, &loop.state)
    barrier_wait(&loop.broad.barrier, loop.n_threads)   # all have read the contacts of all
    return fine and (mine.failure != NO_FAILURE or take_collected(contacts, mine, &loop.state))
