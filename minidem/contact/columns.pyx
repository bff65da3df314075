# distutils: extra_compile_args = -O1
"""First rows of what a compiled contact law reads and writes, by name, for numba and ctypes: see contact.h.

OVERLAP is the row of `overlap` in a contact, FORCE the first of the three rows of `force` in a result, and so on.
"""
from minidem.state.state import rows_of

from minidem.contact.contact cimport Contact, Energies, Result
from minidem.state.rows cimport number_rows

cdef Contact contact
cdef Result result
cdef Energies energies
number_rows(&contact, sizeof(contact))
number_rows(&result, sizeof(result))
number_rows(&energies, sizeof(energies))
CONTACT, RESULT, ENERGIES = rows_of(contact), rows_of(result), rows_of(energies)       # (first row, width) by name
globals().update({name.upper(): first for name, (first, _) in (CONTACT | RESULT | ENERGIES).items()})
