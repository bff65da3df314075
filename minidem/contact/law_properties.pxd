"""What a compiled law reads of materials and pairs."""
from minidem.broadphase.neighbours cimport Planes
from minidem.contact.law cimport Law, LawKernels

cdef object set_properties(Law *law, Planes *planes, LawKernels kernels, record, values, pair_table, material_index)
