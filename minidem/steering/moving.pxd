"""What the phases of steering have: walls and box that move, beside their poses."""
from minidem.contact.fixed_point cimport Wide
from minidem.steering.box cimport MovingBox
from minidem.steering.image_work cimport ImageWork
from minidem.steering.servo cimport Servos

cdef struct Moving:
    Servos servos
    MovingBox box
    int n_sums                      # 0: forces move none of this
    Wide *sums                      # (threads, n_sums): of servos, see add_loads; of the box, see add_stress
    ImageWork *images               # (threads,); NULL: no box moves
    bint corrected                  # onset corrections change forces after the evaluation of contacts
