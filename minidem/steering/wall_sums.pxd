"""Sums over contacts with walls that move: their work, and loads and resistances of those that forces move."""
from minidem.contact.contacts cimport Observer
from minidem.contact.fixed_point cimport Wide
from minidem.core.vectors cimport LINE_PAIR
from minidem.steering.servo cimport Servos

cdef struct WallSums:               # over own contacts of a thread, at a pose
    Wide work                       # in the half step that ends at the pose
    Wide given                      # in the half step that begins there, by motions which no force changes ...
    Wide steered                    # ... and by servos, of all threads in the first one
    const Servos *servos
    Wide *loads                     # (servos, SERVO_SUMS)
    char padding[LINE_PAIR]

cdef Observer wall_observer(WallSums *sums) noexcept nogil
