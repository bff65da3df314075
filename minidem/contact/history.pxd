"""Contacts of a law with history as arrays."""
from minidem.contact.contacts cimport Contacts
from minidem.state.state cimport State


cdef object read_history(State state, const Contacts *contacts, int n_threads)
cdef object write_history(history, State state, Contacts *contacts)
cdef object copy_contacts(State state, Contacts *contacts, State old_state, const Contacts *old, int n_threads)
