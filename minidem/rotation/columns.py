"""First rows of what a compiled rotation scheme reads and writes, by name, for numba and ctypes: see scheme.h."""
from minidem.state.state import CLUMP_ROWS, COLUMNS, CONSTANTS, WRENCH

ORIENTATION, ANGULAR_VELOCITY, PREDICTED = (COLUMNS[name][0] for name in (
    "orientation", "angular_velocity", "predicted"))            # of the bodies
SCRATCH = CLUMP_ROWS                                            # of the bodies: what the scheme stores
TORQUE = WRENCH["torque"][0]                                    # of the wrench
INERTIA, INVERSE_INERTIA = CONSTANTS["inertia"][0], CONSTANTS["inverse_inertia"][0]     # of the constants
