"""First rows of what a compiled contact law reads and writes, by name, for numba and ctypes: see contact.h."""
NORMAL, MIDDLE_NORMAL, VELOCITY, ANGULAR_VELOCITY = 0, 3, 6, 9          # of the contact
SPIN, OVERLAP, RADIUS, MASS, ROLLING_INERTIA, STEP = 12, 13, 14, 15, 16, 17
COEFFICIENTS, IDS, VALUES = 18, 82, 84

FORCE, COUPLE, DISSIPATED, GOES_ON, FRACTURE, RATES = 0, 3, 6, 10, 11, 12       # of the result

NORMAL_ENERGY, TANGENTIAL_ENERGY, ROLLING_ENERGY, SLIDING = 0, 1, 2, 3          # of the energies
