"""Forces and torques from functions of the user, and the work of the functions in Python."""
import math

import numpy as np

from minidem.core.checks import LARGEST, finite_array, short_repr
from minidem.core.quaternions import conjugate, multiply, rotate, rotate_back
from minidem.engine.compiled_forces import numbers_of
from minidem.engine.population import add_sources, field_values
from minidem.state.bodies import frames_to_drawn


class UserForces:
    """The forces of a simulation. The time loop calls this object for forces in Python, and compiled forces directly.

    forces : tuple of Force (simulation/forces.py)
    expected : how many there are to be; a checkpoint says how many it had, and holds none.
    """

    def __init__(self, forces=(), expected=0):
        self.forces, self.expected = tuple(forces), max(expected, len(forces))
        self.compiled = [(force.address, force.parameters, force.random, force.seed) for force in self.forces
                         if force.address is not None and not force.is_flux]
        self.fluxes = [force for force in self.forces if force.is_flux]
        self._state, self._to_drawn = None, None

    def __reduce__(self):
        return UserForces, (self.forces, self.expected)

    @property
    def in_python(self):
        """Whether the time loop must call this object."""
        return len(self.compiled) + len(self.fluxes) < self.expected

    @property
    def acts(self):
        """Whether there are forces besides fluxes."""
        return len(self.fluxes) < self.expected

    def check(self):
        """ValueError unless all are there."""
        if len(self.forces) < self.expected:
            raise ValueError(f"this simulation was saved with {self.expected} user forces and has "
                             f"{len(self.forces)}: call add_force again after load, before run, and "
                             "add_flux too, or load it with forces='drop'")

    def __call__(self, loop, steps):
        """Add them to the forces in the state of the `Driver`, at the pose `steps` after the loop was made."""
        self.check()
        state = loop.state
        if self._state is not state:
            self._state, self._to_drawn = state, frames_to_drawn(state)
        frame = state.column("orientation")
        force, torque = state.column("force"), state.column("torque")
        user_force, user_torque = np.zeros((2, state.n_clumps, 3))
        pose = (state.column("position"), state.column("predicted_velocity"), multiply(frame, self._to_drawn),
                rotate(frame, state.column("predicted")))
        at_step, components = steps == int(steps), loop.population.components       # else a pose within a step
        for force_of_user in (one for one in self.forces if one.address is None and not one.is_flux):
            # Copies: a function may use its arguments as scratch memory.
            further = {"fields": field_values(state, components)} if "fields" in force_of_user.keywords else {}
            if "random" in force_of_user.keywords:
                further["random"] = numbers_of(force_of_user.seed, loop.population.ids,
                                               math.ceil(loop.first_step + steps), force_of_user.random)
            time = (loop.first_step + steps) * loop.dt
            answer = force_of_user.function(time, *(values.copy() for values in pose), *force_of_user.parameters,
                                            **further)
            try:
                f, m, *rates = _checked(answer, state.n_clumps, "fields" in further)
                if rates and at_step:
                    add_sources(state, components, rates[0])
            except ValueError as error:
                name = getattr(force_of_user.function, "__qualname__", force_of_user.function)
                raise ValueError(f"step {math.ceil(loop.first_step + steps)} (time {time:.6g} s), {name}: {error}") \
                    from None
            force += f
            torque += rotate_back(frame, m)
            user_force += f
            user_torque += m
        state.set_column("force", force)
        state.set_column("torque", torque)
        if at_step:
            loop.user_work.record(loop.first_step + int(steps), pose[0], frame, np.hstack([user_force, user_torque]))


class UserWork:
    """Work of the user forces on each clump, by the trapezoidal rule over each step.

    now : tuple of the last step, positions and orientations at its pose, and (n, 7) work since the start [J], force and
        torque, lab
    """

    def __init__(self, *now):
        self.now = now

    def record(self, step, position, orientation, wrench):
        """Forces and torques (n, 6), lab, at the pose of a step."""
        last_step, old_position, old_orientation, rows = self.now
        work = rows[:, 0]
        if step > last_step:
            motion = np.hstack([position - old_position, _rotation_vector(old_orientation, orientation)])
            work = work + np.sum(0.5 * (rows[:, 1:] + wrench) * motion, axis=1)
        self.now = step, position, orientation, np.column_stack([work, wrench])


def _rotation_vector(old, new):
    """(n, 3) rotation from orientations `old` to `new` (n, 4), lab frame [rad]."""
    turn = multiply(new, conjugate(old))
    turn = np.where(turn[:, :1] < 0.0, -turn, turn)
    sine = np.sqrt(np.sum(turn[:, 1:] ** 2, axis=1))
    factor = np.where(sine > 0.0, 2.0 * np.arctan2(sine, turn[:, 0]) / np.where(sine > 0.0, sine, 1.0), 2.0)
    return factor[:, None] * turn[:, 1:]


def _checked(answer, n, has_fields):
    """(force, torque), and what else a function with the argument `fields` may return."""
    # an array of two rows could be forces on two clumps
    if not (isinstance(answer, tuple) and (len(answer) == 2 or has_fields and len(answer) == 3)):
        kind = f"an array of shape {answer.shape}" if isinstance(answer, np.ndarray) else short_repr(answer)
        raise ValueError(f"a user force returned {kind}: return a tuple (force (n, 3), torque (n, 3)"
                         f"{', or with a dict of rates by the names of fields' if has_fields else ''})")
    return *(finite_array(f"{name} of a user force", value, (n, 3), repeat=True, limit=LARGEST)
             for name, value in zip(("force", "torque"), answer)), *answer[2:]
