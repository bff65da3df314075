"""The phases of a step."""
from minidem.fields.rates cimport FieldPass
from minidem.forces.user_forces cimport ForcePass
from minidem.loop.loop cimport Loop
from minidem.onset.onset_pass cimport OnsetPass
from minidem.steering.steer cimport Steered

cdef struct Options:                # optional physics of a simulation; NULL: it has none
    FieldPass *fields
    ForcePass *forces
    OnsetPass *onsets
    Steered *steered

cdef void list_phases(Loop *loop, const Options *has, bint between) noexcept nogil
