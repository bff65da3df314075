"""What the phases of steering have: walls and box that move, beside their poses."""
from minidem.contact.fixed_point cimport Wide
from minidem.steering.box cimport MovingBox
from minidem.steering.box_sums cimport BoxSums
from minidem.steering.servo cimport Servos

cdef struct Moving:
    Servos servos
    MovingBox box
    int n_sums                      # 0: forces move none of this
    Wide *sums                      # (threads, n_sums): of servos, see add_loads; of the box, see sum_stress
    BoxSums *box_sums               # (threads,); NULL: no box moves
    bint corrected                  # onset corrections or shared masses change contacts after their evaluation
