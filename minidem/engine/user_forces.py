"""Forces and torques from the user's Python functions."""
import numpy as np

from minidem.core.checks import LARGEST, finite_array, short_repr
from minidem.core.quaternions import multiply, rotate, rotate_back
from minidem.state.bodies import frames_to_drawn


class UserForces:
    """Functions f(t, x, v, q, w) -> (force, torque), see `Simulation.add_force`; the time loop calls this object.

    functions : tuple of callables
    expected : how many there are to be; a checkpoint says how many it had, and holds none.
    """

    def __init__(self, functions=(), expected=0):
        self.functions, self.expected = tuple(functions), max(expected, len(functions))
        self._state, self._to_drawn = None, None

    def check(self):
        """ValueError unless all are there."""
        if len(self.functions) < self.expected:
            raise ValueError(f"this simulation was saved with {self.expected} user forces and has "
                             f"{len(self.functions)}: call add_force again after load, before run")

    def __call__(self, loop, steps):
        """Add them to the forces in the state of the `Driver`, at the pose `steps` after the loop was made."""
        self.check()
        state = loop.state
        if self._state is not state:
            self._state, self._to_drawn = state, frames_to_drawn(state)
        frame = state.column("orientation")
        force, torque = state.column("force"), state.column("torque")
        pose = (state.column("position"), state.column("predicted_velocity"), multiply(frame, self._to_drawn),
                rotate(frame, state.column("predicted")))
        for function in self.functions:
            # Copies: a function may use its arguments as scratch memory.
            f, m = _checked(function((loop.first_step + steps) * loop.dt, *(values.copy() for values in pose)),
                            state.n_clumps)
            force += f
            torque += rotate_back(frame, m)
        state.set_column("force", force)
        state.set_column("torque", torque)


def _checked(answer, n):
    if not (isinstance(answer, tuple) and len(answer) == 2):        # an array of two rows could be forces on two clumps
        kind = f"an array of shape {answer.shape}" if isinstance(answer, np.ndarray) else short_repr(answer)
        raise ValueError(f"a user force returned {kind}: return a tuple (force (n, 3), torque (n, 3))")
    return tuple(finite_array(f"{name} of a user force", value, (n, 3), repeat=True, limit=LARGEST)
                 for name, value in zip(("force", "torque"), answer))
