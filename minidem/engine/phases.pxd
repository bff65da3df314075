"""The phases of a step."""
from minidem.fields.rates cimport FieldPass
from minidem.forces.user_forces cimport ForcePass
from minidem.loop.loop cimport Loop
from minidem.onset.onset_pass cimport OnsetPass
from minidem.steering.moving cimport Moving

cdef struct Options:                # optional physics of a simulation; NULL: it has none
    FieldPass *fields
    ForcePass *forces
    OnsetPass *onsets
    Moving *moving                  # walls and box; always given

cdef void list_phases(Loop *loop, const Options *has, bint between) noexcept nogil
