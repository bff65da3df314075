# distutils: extra_compile_args = -O1
"""The records of the periodic box of one time loop: one that does not move, or a table over half steps."""
import numpy as np

from minidem.state.box_motion import BOX_SIZE, INVERSE, LENGTH, LOW, RATE, STATE_SIZE, BoxMotion

from minidem.core.guard cimport Guard

MOST_STEPS, AHEAD = 1000, 16        # in one table; its length / that of a piece of a run


cdef class BoxTable:
    """The motion of a periodic box from a step on.

    Parameters
    ----------
    box : PeriodicBox
    dt : step [s]
    step : int, the present one
    state : (STATE_SIZE,), see box_motion.py; default: that before the first step
    guard : Guard of the simulation, which functions of rates must not use
    """

    def __cinit__(self, box, double dt, long long step, state=None, Guard guard=None):
        self.box, self._dt, self._first, self._guard = box, dt, step, Guard() if guard is None else guard
        self.stride, self._held = BOX_SIZE if box.moves else 0, False
        self._states = np.zeros((1, STATE_SIZE)) if state is None else np.array(state, dtype=float).reshape(1, -1)
        if box.moves:
            self._motion = BoxMotion(box, dt)
            self._compute(step, 0, np.zeros(3))
        else:
            row = np.zeros((1, BOX_SIZE))
            row[0, LENGTH:INVERSE] = box.start.length
            row[0, INVERSE:INVERSE + 3] = np.divide(1.0, box.start.length, where=box.start.axes, out=np.zeros(3))
            row[0, LOW:LOW + 3] = box.start.low
            self._rows = row

    @property
    def most_steps(self):
        """The most steps of one table; None: any number."""
        return (1 if self.box.servos else MOST_STEPS) if self.stride else None

    def prepare(self, long long step, long long steps, rates=None):
        """Compute the records of the given step and every half step of the next `steps` ones, at least.

        rates : (3,) strain rates of the next step of the axes under a pressure [1/s]; None: those of the last step.
        """
        cdef long long offset = step - self._first
        if not self.stride or rates is None and not self._held and 0 <= offset and offset + steps < len(self._states):
            return
        try:
            if rates is not None or self.box.servos:
                self._compute(step, steps, self.state_at(step)[RATE:RATE + 3] if rates is None else rates)
            else:
                try:
                    self._compute(step, max(steps, min(AHEAD * steps, MOST_STEPS)), np.zeros(3))
                except Exception:                       # a function may end with the run
                    self._compute(step, steps, np.zeros(3))
        finally:
            self._guard.during_step = False

    def _compute(self, step, steps, rates):
        """The step behind the last one is computed as well, for the rate with which it begins, and left away."""
        self._guard.during_step = True
        servos = bool(self.box.servos)
        states = self._motion.states(self.state_at(step), step, steps + (not servos), rates)
        rows = self._motion.records(states)
        if not servos:
            states, rows = states[:-1], np.ascontiguousarray(rows[:-2])
        self._first, self._states, self._rows, self._held = step, states, rows, servos
        self._guard.during_step = False

    def accelerated(self, long long step, virial):
        """(3,) strain rates of the next step [1/s]; of axes under a pressure, by the virial (3,) of the contacts [J]."""
        rates, volume = self.state_at(step)[RATE:RATE + 3].copy(), self.box_at(step).volume
        for axis in self.box.servos:
            rates[axis] = self.box.rates[axis].accelerated(rates[axis], virial[axis] / volume, self._dt)
        return rates

    def state_at(self, long long step):
        """(STATE_SIZE,) at a step of the table."""
        return self._states[step - self._first if self.stride else 0]

    def box_at(self, long long step):
        """The Box at a step of the table."""
        return self._motion.box_at(self.state_at(step)) if self.stride else self.box.start

    cdef const double *record_at(self, long long step) noexcept:
        return &self._rows[2 * (step - self._first) if self.stride else 0, 0]
