"""The effective mass of a contact, and its effective rolling inertia."""
from minidem.contact.law cimport Law
from minidem.core.vec3 cimport Vec3
from minidem.state.state cimport State, StateView
from minidem.walls.surface cimport Walls

cdef Vec3 normal_of(const Law *law, const StateView *state, int i, int j) noexcept nogil
cdef double own_mobility(const Law *law, const StateView *state, int i, int j, Vec3 normal) noexcept nogil
cdef void find_inertia(const Law *law, const StateView *state, int i, int j, Vec3 normal, double *mass,
                       double *rolling_inertia) noexcept nogil
cdef Vec3 turning_in(const Walls *walls, const StateView *state, int i, int body, Vec3 normal) noexcept nogil
cdef double response_in(const Walls *walls, const StateView *state, int body, Vec3 normal, Vec3 turning, Vec3 force,
                        Vec3 torque) noexcept nogil
cdef object effective_inertia(const Law *law, State state, pairs, const double[:, :] normals)
