# distutils: extra_compile_args = -O1
"""What has failed in steps, raised as an exception that names the cause and a remedy."""
import numpy as np

from minidem.core.quaternions import NORM_ERROR
from minidem.fields.field import field_values
from minidem.walls.wall import with_names

from minidem.broadphase.broadphase cimport FORCE_AFTER_END, NO_FAILURE, OUT_OF_MEMORY, SMALL_TEAM
from minidem.contact.contacts cimport Contacts
from minidem.state.state cimport clump_of


class NotFinite(FloatingPointError):
    """The pose of a clump is not finite."""


cdef object raise_failure(Loop *loop, Kernels kernels, LawKernels law_kernels, error, walls):
    """Raise what has failed in the last steps, if anything.

    law_kernels, walls : None for free bodies.  error : raised by a user force, or None
    """
    cdef int t, failure = NO_FAILURE, clump = -1
    for t in range(loop.n_threads):
        failure = max(failure, loop.broad.threads[t].failure)
        clump = max(clump, loop.broad.threads[t].lost - 1)
        loop.broad.threads[t].failure, loop.broad.threads[t].lost = NO_FAILURE, 0
    kernels.raise_error()
    if law_kernels is not None:
        law_kernels.raise_error()
    if error is not None:
        raise error
    loop.broad.valid &= failure == NO_FAILURE and clump < 0
    if failure == OUT_OF_MEMORY:
        raise MemoryError("no memory for the neighbor lists and contacts")
    if failure == FORCE_AFTER_END:
        raise_force_after_end(loop, walls)
    if failure == SMALL_TEAM:                           # no step was done
        raise RuntimeError(f"OpenMP gives this run fewer threads than the {loop.n_threads} of the simulation: "
                           "run it outside of other parallel regions, or with threads=1")
    if clump >= 0:
        raise NotFinite(f"the position or orientation of clump {clump} is not finite")


cdef object raise_force_after_end(Loop *loop, walls):
    cdef const int *number = loop.state.clump_number
    cdef Contacts *contacts
    cdef int t, i = 0, j = 0
    force = (0.0, 0.0, 0.0)
    for t in range(loop.n_threads):
        contacts = loop.contacts + t
        if contacts.has_force_after_end:
            i, j, force = contacts.pair_after_end[0], contacts.pair_after_end[1], tuple(contacts.force_after_end)
        contacts.has_force_after_end = False
    other = with_names(f"wall {walls.wall_of[-1 - j]}", walls.walls) if j < 0 else \
        f"clump {number[clump_of(&loop.state, j)]}"
    raise ValueError(f"the contact law left the force {force} N, or a couple, on clump "
                     f"{number[clump_of(&loop.state, i)]} in its contact with {other}, which "
                     "has ended: the force must be zero where the overlap is not positive")


def require_sound(state, components, step):
    """FloatingPointError for a field or angular velocity that is not finite, or a quaternion that is far from its norm.
    """
    for name, values in field_values(state, components).items():
        bad = np.argwhere(~np.isfinite(values))
        if len(bad):
            raise FloatingPointError(f"step {step}: the field {name!r} of clump {bad[0, 0]} is not finite; look at the "
                                     f"rates that fluxes, laws and forces gave it at step {step - 1}, or lower dt")
    bad = np.flatnonzero(~np.isfinite(state.column("angular_velocity")).all(axis=1))
    if len(bad):
        raise FloatingPointError(f"step {step}: the angular velocity of clump {bad[0]} is not finite; look at the "
                                 "rotation scheme, or lower dt")
    squares = np.sum(state.column("orientation") ** 2, axis=1)
    bad = np.flatnonzero(np.abs(squares - 1.0) > NORM_ERROR)
    if len(bad):
        raise FloatingPointError(f"step {step}: the orientation of clump {bad[0]} has the norm "
                                 f"{np.sqrt(squares[bad[0]]):.3g}, and its spheres are out of place: divide q by its "
                                 "norm in the rotation scheme, or lower dt")
