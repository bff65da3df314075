"""Topic of a `Simulation`: forces of the user."""
from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from contextlib import suppress

from numpy.typing import ArrayLike

from minidem.core.checks import check_call, finite_array, whole
from minidem.core.external import compiled_address
from minidem.core.guard import exclusive
from minidem.forces.user_forces import MOST_RANDOM
from minidem.simulation.topic import Accessor

SIGNATURE = "void (const double *time, const double *clumps, double *wrenches, const double *parameters)"
FLUX_SIGNATURE = "void (const double *contact, const double *result, double *rates, const double *parameters)"
MOST_CORRECTIONS = 10
KEYWORDS = ("fields", "random", "mass")         # that a force in Python may have besides


class Force:
    """A function given to `sim.forces.add`, or to `sim.fields.add_flux`, with its parameters.

    Attributes
    ----------
    function : callable, numba cfunc, ctypes function, scipy.LowLevelCallable or capsule
    parameters : (k,) array
    random, seed : int
        How many random numbers of each clump it gets, and their seed.
    corrections : int
        How often it is called again in each step.
    is_flux : bool
    address : int
        Of a compiled function; None: it is written in Python.
    keywords : set of str
        Keyword-only arguments of a force in Python out of KEYWORDS.
    """

    def __init__(self, function, parameters=(), random=0, seed=0, corrections=0, is_flux=False):
        self.function, self.is_flux = function, is_flux
        self.address = compiled_address("function", function, FLUX_SIGNATURE if is_flux else SIGNATURE)
        self.parameters = finite_array("parameters", parameters, (-1,))
        self.random, self.seed = whole("random", random, 0, MOST_RANDOM), whole("seed", seed, 0)
        self.corrections = whole("corrections", corrections, 0, MOST_CORRECTIONS)
        self.keywords = set()
        if not is_flux and self.address is None:
            with suppress(TypeError, ValueError):       # a function without a signature
                self.keywords = {name for name, one in inspect.signature(function).parameters.items()
                                 if name in KEYWORDS and one.kind is one.KEYWORD_ONLY}
        if self.address is None:
            if ("random" in self.keywords) != (self.random > 0):
                raise ValueError(f"random = {self.random}: give the number of random numbers of each clump, and the "
                                 "function a keyword-only argument `random`; or neither")
            check_call("function", function, *(("contacts",) if is_flux else ("t", "x", "v", "q", "w")),
                       *(f"p{k}" for k in range(len(self.parameters))), keywords=self.keywords)

    def __reduce__(self):
        return Force, (self.function, self.parameters, self.random, self.seed, self.corrections, self.is_flux)

    def __deepcopy__(self, memo):
        return self if self.address is not None else Force(*copy.deepcopy(self.__reduce__()[1], memo))


class Forces(Accessor):
    """`sim.forces`: forces and torques from functions of the user."""

    @exclusive
    def add(self, function: Callable | object, parameters: ArrayLike = (), *, random: int = 0, seed: int = 0,
            corrections: int = 0) -> None:
        """Add forces and torques computed by a function, in Python or compiled.

        Parameters
        ----------
        function : callable or compiled function
            In Python: ``function(t, x, v, q, w, *parameters)`` -> (force (n, 3) [N], torque (n, 3) [N m]), lab frame,
            for all clumps in one call. Arguments: time [s], position, velocity, orientation (template frame -> lab),
            angular velocity (lab). A keyword-only argument `mass` gets (n,) [kg]. Compiled: see Notes. Velocities are
            those predicted for the instant of the positions from the last forces, so that damping does not reduce the
            order of a scheme.
        parameters : (k,) array_like
            Numbers for the function.
        random, seed : int
            Number, 0 to 8, of random numbers for each clump in each step, uniform in [0, 1), which depend on seed, id
            and step alone: ``Generator(Philox(counter=[0, id, step, 0], key=[seed, 0])).random(n)`` of numpy.random.
            With noise beside drag at the rate c, the kinetic energy reads low by the factor 1 / (1 + c dt / 2).
        corrections : int
            How often in each step all functions are called again, with the velocities that follow from the forces just
            found. 2 for a force across the velocity, such as the Coriolis force: see Notes.

        Raises
        ------
        ValueError
            For a wrong signature, number of arguments or parameter. No force is added then.

        Notes
        -----
        A compiled function is
        ``void f(const double *time, const double *clumps, double *wrenches, const double *parameters)``, made anywhere:
        a numba cfunc, a ctypes function with restype and argtypes, a scipy.LowLevelCallable, or a capsule whose name is
        the signature. It is called for eight clumps at a time, by all threads without the GIL, and must keep nothing
        between calls. `time` points to one number, `parameters` to the k given ones, followed by 64 NaN: a function
        that reads beyond them is refused if its result shows it. In C, clumps and wrenches are the structs of
        forces/user_force.h (`minidem.get_include`), which says what they hold. Elsewhere they are rows of eight
        doubles, one per clump, with the names of `minidem.forces.columns`: the velocity along x of clump k of eight is
        ``clumps[8 * columns.VELOCITY + k]``. Wrenches are zero before the call.

        With n components of fields (`sim.fields.add`), clumps has their values in n rows from VALUES on, and the random
        numbers behind them; wrenches takes rates times capacity of the fields in n rows from RATES on. A function in
        Python with a keyword-only argument `fields` gets a dict of arrays (n,) or (n, components) and may return a
        third item, a dict of rates; one with `random` gets an array (n, random).

        The order is two. A force across the velocity, such as the magnetic or the Coriolis force, which turns it at the
        rate w, should do no work. Without corrections the kinetic energy grows by the share (w dt)^3 / 2 per radian.
        With one it falls by as much, with two by (w dt)^5 / 4. So 2000 turns at w dt = 0.017 add 3.1 %, or take 4e-6.
        Drag at the rate c is stable up to c dt = 1, and 2 and 1.47 with one and two corrections; runs warn above 1, or
        1.4 with corrections.

        Lanes behind the last clump repeat another one; their results are ignored. Several functions add up. Their work,
        the integral of the power by the trapezoidal rule, is in `energy().work`. Functions are called once in a step,
        and at times between steps: they must not count their calls. Checkpoints do not contain functions, copies share
        them, and pickle contains those that can be pickled.
        """
        sim = self._sim
        snapshot = sim.loop.snapshot()
        if sim.reader.user_forces.complete:            # else it belongs to a file
            snapshot = sim._with_new_forces(snapshot)
        sim.continue_from(snapshot.with_force(Force(function, parameters, random, seed, corrections)))
        sim.monitor.expect_rates(sim)

    @exclusive
    def renew(self) -> None:
        """Call the user forces again, after a change of something that they depend on, which counts from now on.

        A function is called at the end of a step, and its force acts from half a step before to half a step after. So a
        change between two runs would act half a step late without this call. Each call costs an evaluation of all
        forces.
        """
        sim = self._sim
        if sim.reader.user_forces.acts:
            sim.reader.user_forces.check()
            sim.continue_from(sim._with_new_forces(sim.loop.snapshot()))

    @property
    def functions(self) -> tuple:
        """What was given to `add`, in the order of the calls."""
        return tuple(force.function for force in self._sim.reader.user_forces.forces if not force.is_flux)
