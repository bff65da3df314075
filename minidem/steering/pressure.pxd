"""The pressure of a periodic box: the stress in it, and what it does to its lengths."""
from minidem.contact.fixed_point cimport Wide
from minidem.loop.loop cimport Loop
from minidem.state.periodic_box cimport BoxPose
from minidem.steering.box cimport BoxSpec, BoxState
from minidem.steering.box_sums cimport BOX_SUMS, BoxSums

cdef enum:
    STEERING_SUMS = BOX_SUMS + 3    # see sum_stress

cdef void sum_stress(const Loop *loop, int thread, BoxSums *own, Wide *sums) noexcept nogil
cdef void virial_of(const Loop *loop, const Wide *sums, double *virial) noexcept nogil
cdef void accelerate_box(const BoxSpec *spec, const BoxState *state, const double *virial, bint begins,
                         double *rates) noexcept nogil
cdef Wide work_of_images(const Loop *loop, const Wide *sums, const BoxPose *box) noexcept nogil
