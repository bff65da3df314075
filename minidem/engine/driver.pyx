# distutils: extra_compile_args = -O1
"""Python's handle on the time loop: it starts, runs and reads it.

Each change of the state is made whole or not at all, whatever raises: an error of the user's function, Ctrl-C, want of
memory. Python answers signals between two of its own instructions, so compiled code is not interrupted unless it calls
Python. What calls Python works on copies, or keeps one to put back.
"""
import numpy as np

from minidem.broadphase.broadphase cimport IN_CALLBACK, NO_FAILURE, OUT_OF_MEMORY, SMALL_TEAM
from minidem.core.guard cimport Guard
from minidem.engine.half_steps cimport start_clumps, synchronised
from minidem.engine.loop_owner cimport LoopOwner
from minidem.rotation.scheme cimport Step
from minidem.state.state cimport State
from minidem.engine.time_loop cimport Ask, Loop, run_loop


class NotFinite(FloatingPointError):
    """The pose of a clump is not finite."""


cdef void ask_python(Loop *loop, double steps) noexcept with gil:
    """Forces and torques from the Python function of the Driver."""
    cdef Driver owner = <Driver> loop.owner
    try:
        owner.ask(owner, steps)
    except BaseException as error:
        owner.error = error
        loop.broad.reports[0].failure = IN_CALLBACK


cdef class Driver(LoopOwner):
    """A time loop over a fixed set of clumps.

    Parameters
    ----------
    state : State
    scheme : record of the rotation scheme;  parameters : list of floats
    first_step : number of the step at which it begins
    dt : step [s]
    modulus : effective modulus between clumps [Pa]; None: free bodies, no contacts, torques as they stand
    gravity : (3,) [m/s2]
    planes : (points (k, 3), unit normals (k, 3), effective moduli (k,))
    threads : int
    ask : optional function of this Driver and the number of steps since it was made, called at every pose when
        contacts are done and predicted velocities known; adds to forces and torques, or writes them
    started : (n_clumps,) bool, the clumps whose velocities stand half a step behind already; default: none
    forces_known : whether those in the state are those of its pose
    guard : Guard of the simulation that this belongs to, optional
    """
    cdef readonly object started
    cdef readonly bint all_started
    cdef readonly bint forces_known
    cdef readonly object ask
    cdef Guard guard
    cdef object step_began              # copies of blocks and loads, where a step calls Python
    cdef object error

    def __cinit__(self, State state, scheme, *others, ask=None, started=None, bint forces_known=False,
                  Guard guard=None, **settings):
        cdef double[:, :, ::1] kept_blocks, kept_loads
        self.started = np.zeros(state.n_clumps, dtype=bool) if started is None else np.array(started, dtype=bool)
        self.all_started = bool(self.started.all())
        self.forces_known = forces_known
        self.guard = Guard() if guard is None else guard
        if ask is not None:
            self.ask = ask
            self.loop.owner = <void *> self
            self.loop.ask = ask_python
        if (ask is not None or self.kernels.functions) and state.n_clumps:
            kept_blocks, kept_loads = self.step_began = state.blocks.copy(), state.loads.copy()
            self.loop.kept_blocks, self.loop.kept_loads = &kept_blocks[0, 0, 0], &kept_loads[0, 0, 0]

    def run(self, long long steps):
        """Advance by so many steps; returns how many were completed.

        Where a step calls Python and that fails, the state is the one at which the step began.
        """
        cdef long long before = self.loop.steps_done
        if steps <= 0:
            return 0
        self.order_if_due()
        self.contacts_known = False
        try:
            self.work(steps)
        except NotFinite:
            raise
        except BaseException:
            if self.broken is None and self.step_began is not None:
                self.put_back(self.step_began[0], self.step_began[1])
            elif self.broken is None:
                self.broken = f"in step {self.step_count + 1} memory was exhausted, and forces are missing"
            raise
        self.contacts_known = True
        return self.loop.steps_done - before

    cdef object work(self, long long steps):
        """The time loop for so many steps, -1: forces at the present pose."""
        self.guard.during_step = True
        with nogil:
            run_loop(&self.loop, steps)
        self.guard.during_step = False
        if self.loop.broad.reports[0].failure == SMALL_TEAM:            # nothing has been done
            self.loop.broad.reports[0].failure = NO_FAILURE
            self.use_one_thread()
            self.work(steps)
        else:
            self.raise_failure()

    cdef object put_back(self, blocks, loads):
        """The state as it was, without its contacts."""
        self.state.blocks[:] = blocks
        self.state.loads[:] = loads
        self.loop.broad.valid = self.contacts_known = False

    def evaluate(self):
        """Contacts at the present pose, whatever was there before; forces too, unless they are known.

        Known forces stay as they are: where they depend on velocities, those of the whole step are not, to the last
        bit, the ones that were predicted when the forces were found.
        """
        cdef bint asks = self.loop.ask != NULL and not self.forces_known
        cdef Ask asked = self.loop.ask
        blocks = self.state.blocks.copy() if asks else self.state.blocks
        loads = self.state.loads.copy() if asks or self.forces_known else self.state.loads
        self.contacts_known = self.loop.broad.valid = False
        try:
            if asks:
                for name, rate in zip(("predicted_velocity", "predicted"), self.rates()):
                    self.state.set_column(name, rate)
            if not asks:
                self.loop.ask = NULL
            self.work(-1)
        except BaseException:
            self.put_back(blocks, loads)
            raise
        finally:
            self.loop.ask = asked
        if self.forces_known:
            self.state.loads[:] = loads
        self.forces_known = self.contacts_known = True

    cdef object raise_failure(self):
        cdef int t, failure = NO_FAILURE, clump = -1
        for t in range(self.loop.n_threads):
            failure = max(failure, self.loop.broad.reports[t].failure, self.loop.broad.threads[t].failure)
            clump = max(clump, self.loop.broad.reports[t].lost - 1)
            self.loop.broad.reports[t].failure = self.loop.broad.threads[t].failure = NO_FAILURE
            self.loop.broad.reports[t].lost = 0
        error, self.error = self.error, None
        self.kernels.raise_error()
        if error is not None:
            raise error
        if failure == OUT_OF_MEMORY:
            self.loop.broad.valid = False
            raise MemoryError("no memory for the lists of candidates and contacts")
        if clump >= 0:
            raise NotFinite(f"the position or orientation of clump {clump} is not finite")

    def start(self, double dt):
        """Half a step back, and the scheme's own start, for the clumps not started; forces must be known.

        dt : the step, or 0 to leave out the half step.
        """
        cdef Step step = self.loop.step
        step.dt = dt
        if not self.all_started:
            started = np.ones_like(self.started)
            start_clumps(self.state, self.kernels, step, self.started.view(np.uint8))
            self.started, self.all_started = started, True

    def rates(self):
        """(velocity (n, 3) lab, angular velocity (n, 3) principal body frame) at the instant of the pose.

        With the forces as they stand; clumps not yet started: as given.
        """
        given = self.state.column("velocity"), self.state.column("angular_velocity")
        if not self.started.any():
            return given
        started = self.started[:, None]
        return tuple(np.where(started, s, g) for g, s in zip(given, self.synchronise()))

    def synchronise(self):
        """The same for clumps that are all started."""
        return synchronised(self.state, self.kernels, self.loop.step)
