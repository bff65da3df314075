"""What the phases of steering have: walls and box that move, beside their poses."""
from minidem.contact.fixed_point cimport Wide
from minidem.steering.box cimport MovingBox
from minidem.steering.box_sums cimport BoxSums
from minidem.steering.servo cimport Servos
from minidem.steering.wall_sums cimport WallSums

cdef struct Moving:
    Servos servos
    MovingBox box
    int n_sums                      # 0: forces move none of this
    Wide *sums                      # (threads, n_sums): SERVO_SUMS of each servo; of the box, see sum_stress
    BoxSums *box_sums               # (threads,); NULL: no box moves
    WallSums *wall_sums             # (threads,); NULL: no wall moves
    bint corrected                  # onset corrections or shared masses change contacts after their evaluation
