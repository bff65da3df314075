from minidem.contact.law cimport Law, LawKernels
from minidem.walls.wall_table cimport WallTable

cdef object set_units(Law *law, record, values, pair_table, state)
cdef object set_properties(Law *law, WallTable walls, LawKernels kernels, record, values, pair_table, material_index)
