"""Forces that a user adds to a simulation."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from numpy.typing import ArrayLike

from minidem.clumps import Clumps
from minidem.core.guard import exclusive
from minidem.engine.user_forces import Force, UserForces


class Forces(Clumps):
    """Base class of `Simulation`: the methods for forces of a user's own."""

    @exclusive
    def add_force(self, function: Callable | object, parameters: ArrayLike = ()) -> None:
        """Add forces and torques computed by a function, in Python or compiled.

        Parameters
        ----------
        function : callable or compiled function
            In Python: function(t, x, v, q, w, *parameters) -> (force (n, 3) [N], torque (n, 3) [N m]), lab frame, for
            all clumps in one call. Arguments: time [s], position, velocity, orientation (template frame -> lab),
            angular velocity (lab). Compiled: see Notes. Either is called at the pose of every force evaluation, with
            velocities predicted for that instant, so that damping does not reduce the order of a scheme.
        parameters : (k,) array_like
            Numbers for the function.

        Raises
        ------
        ValueError
            For a wrong signature, number of arguments or parameter. No force is added then.

        Notes
        -----
        A compiled function is
        ``void f(const double *time, const double *clumps, double *wrenches, const double *parameters)``, made anywhere:
        a numba cfunc, a ctypes function with restype and argtypes, a scipy.LowLevelCallable, or a capsule whose name is
        the signature. It is called for eight clumps at a time, by all threads without the GIL, and must not have a
        memory of its own. `time` points to one number, `parameters` to the k given ones, which are followed by 64 NaN;
        a function that reads beyond them is refused where its result for the present clumps shows it, by two calls here
        and whenever clumps are added or removed. The other arrays are rows of eight doubles, one per clump:

            clumps    0-2 position   3-5 velocity   6-9 orientation (w, x, y, z)   10-12 angular velocity   13 mass
                      14 id (`ids`)
            wrenches  0-2 force   3-5 torque, zero before the call

        all in the lab frame, in SI units. Lanes behind the last clump repeat another one; their results are ignored.

        Several functions add up. Their work is in `energy().work`: with compiled ones the integral of the power by the
        trapezoidal rule. Checkpoints do not contain them: add them again after `load`, or drop them. A copy contains
        them; pickle contains those that can be pickled.
        """
        old, expected = self._loop, self._user_forces.expected
        forces = (*self._user_forces.forces, Force(function, parameters))
        self._loop = self._make_loop(old.state, old.pair_table, old.step_count, UserForces(forces, expected),
                                     started=old.started, **old.past(),
                                     forces_known=old.forces_known and len(forces) <= expected)

    @property
    def user_forces(self):
        """Functions given to `add_force`, a tuple, in the order of the calls."""
        return tuple(force.function for force in self._user_forces.forces)

    @property
    def _user_forces(self):
        return self._loop.user_forces or UserForces()

    def _without_forces(self):
        """Itself without user forces, which act up to the present pose; the next step begins with half a step back."""
        old, past = self._loop, self._loop.past()
        work = sum(float(past.pop(name)[:, 0].sum()) for name in ("work", "force_work"))
        past["population"] = replace(past["population"], work=past["population"].work + work)
        for name, rates in zip(("velocity", "angular_velocity"), old.rates()):
            old.state.set_column(name, rates)
        self._loop = self._make_loop(old.state, old.pair_table, old.step_count, **past)
        return self
