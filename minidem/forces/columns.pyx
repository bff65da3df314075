# distutils: extra_compile_args = -O1
"""First rows of what a compiled user force reads and writes, by name, for numba and ctypes: see user_force.h.

VELOCITY is the first of the three rows of `velocity` of the clumps, RATES the first one of the rates of fields.
"""
from minidem.state.state import rows_of

from minidem.forces.user_forces cimport Clumps, Wrenches
from minidem.state.rows cimport number_rows

cdef Clumps clumps
cdef Wrenches wrenches
number_rows(&clumps, sizeof(clumps))
number_rows(&wrenches, sizeof(wrenches))
CLUMPS, WRENCHES = rows_of(clumps), rows_of(wrenches)       # (first row, width) by name
globals().update({name.upper(): first for name, (first, _) in (CLUMPS | WRENCHES).items()})
