# distutils: extra_compile_args = -O1
"""First rows of what a compiled rotation scheme reads and writes, by name, for numba and ctypes: see scheme.h.

ANGULAR_VELOCITY is the first of the three rows of `angular_velocity` of the bodies, SCRATCH of what a scheme stores.
"""
from minidem.state.state import COLUMNS, CONSTANTS, WRENCH, rows_of

from minidem.core.lanes cimport LANES
from minidem.rotation.scheme cimport MAX_PARAMETERS
from minidem.state.rows cimport ClumpBlock, number_rows

cdef extern from "rotation/scheme.h":
    ctypedef struct Bodies "minidem_bodies":
        double orientation[4 * LANES]
        double angular_velocity[3 * LANES]
        double predicted[3 * LANES]
    ctypedef struct Wrench "minidem_wrench":
        double torque[3 * LANES]
    ctypedef struct Constants "minidem_constants":
        double inertia[3 * LANES]
        double inverse_inertia[3 * LANES]
    ctypedef struct GivenStep "minidem_step":
        pass

cdef Bodies bodies
cdef Wrench wrench
cdef Constants constants
number_rows(&bodies, sizeof(bodies))
number_rows(&wrench, sizeof(wrench))
number_rows(&constants, sizeof(constants))
ROWS = rows_of(bodies) | rows_of(wrench) | rows_of(constants)           # (first row, width) by name
globals().update({name.upper(): first for name, (first, _) in ROWS.items()})
SCRATCH = sizeof(bodies) // (LANES * sizeof(double))

if ROWS.items() - (COLUMNS | WRENCH | CONSTANTS).items() or sizeof(Bodies) != sizeof(ClumpBlock) \
        or sizeof(GivenStep) != (2 + <int> MAX_PARAMETERS) * sizeof(double):
    raise ImportError("scheme.h has other rows or another step than the time loop")
