"""Rotation of free bodies: the time loop of the many-body runs with another source of torques."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from minidem.core.checks import (
    LARGEST,
    as_array,
    check_call,
    finite_array,
    flag,
    positive,
    refuse,
    unit_quaternions,
    whole,
)
from minidem.engine.driver import Driver
from minidem.engine.snapshot import Settings, Snapshot
from minidem.rotation import registry
from minidem.simulation.pace import Pacer
from minidem.state.bodies import BodyTable
from minidem.state.state import State

STEPS_PER_CHECK = 1000  # they take a hundred times as long as the check for non-finite states


@dataclass(frozen=True)
class Rotation:
    """Result of `integrate`: the last step, or with record_every one row per recorded step.

    Attributes
    ----------
    time : float or (rows,) array
        [s]
    orientation : (..., 4) array
        Quaternion (w, x, y, z), principal body frame to lab.
    angular_velocity : (..., 3) array
        In the principal body frame [rad/s].
    orientation_time, angular_velocity_time : float or (rows,) array
        Instants to which the two belong [s].
    """

    time: float | np.ndarray
    orientation: np.ndarray
    angular_velocity: np.ndarray
    orientation_time: float | np.ndarray
    angular_velocity_time: float | np.ndarray


def integrate(name: str, inertia: ArrayLike, orientation: ArrayLike, angular_velocity: ArrayLike,
              torque: ArrayLike | Callable, dt: float, steps: int, start: bool = True, sync: bool = True,
              record_every: int | None = None) -> Rotation:
    """Integrate the rotation of one free body, or of n at once, with a rotation scheme.

    Parameters
    ----------
    name : str
        "name" or "name:parameter=value".
    inertia : (3,) or (n, 3) array_like
        Principal moments, in the order of the frame's axes [kg m2].
    orientation : (4,) or (n, 4) array_like
        Quaternion (w, x, y, z), principal body frame to lab.
    angular_velocity : (3,) or (n, 3) array_like
        In the principal body frame [rad/s].
    torque : (3,) or (n, 3) array_like, or function
        In the principal body frame [N m]: constant, or f(t, q, w) of the time [s], the orientation and
        the angular velocity (body frame) at the pose, with the shapes given; one call for all bodies.
    dt : float
        Time step [s].
    steps : int
    start : bool
        False leaves out the half step back of a leapfrog scheme: the given angular velocity then belongs to
        half a step before the pose.
    sync : bool
        True: orientation and angular velocity at the whole step. False: as the scheme stores them, with the
        instants they belong to.
    record_every : int, optional
        Return arrays over the steps record_every, 2 record_every, ... instead of the last step.

    Returns
    -------
    Rotation

    Raises
    ------
    ValueError
        For wrong arguments.
    FloatingPointError
        If the state of a body becomes non-finite.
    """
    scheme, parameters = registry.select(name)
    given: dict[str, Any] = {"inertia": inertia, "orientation": orientation, "angular_velocity": angular_velocity}
    ranks = {name: as_array(name, value).ndim for name, value in given.items()}
    single = all(rank == 1 for rank in ranks.values())
    many = [len(given[name]) for name, rank in ranks.items() if rank == 2]
    n = many[0] if many else 1
    inertia = finite_array("inertia", inertia, (n, 3), repeat=True, limit=LARGEST)
    refuse("inertia", inertia, inertia < np.finfo(float).tiny, "give moments of inertia greater than 0")
    orientation = unit_quaternions("orientation", orientation, n)
    angular_velocity = finite_array("angular_velocity", angular_velocity, (n, 3), repeat=True, limit=LARGEST)
    dt, steps = positive("dt", dt), whole("steps", steps, 0)
    start, sync = flag("start", start), flag("sync", sync)
    if record_every is not None:
        record_every = whole("record_every", record_every, 1)
    if callable(torque):
        check_call("torque", torque, "t", "q", "w")
    else:
        torque = finite_array("torque", torque, (n, 3), repeat=True, limit=LARGEST)
    bodies = State().extended(BodyTable.of_moments(inertia), np.arange(n), 1.0, 0, orientation=orientation,
                              angular_velocity=angular_velocity)

    def shaped(array):
        return array[0] if single else array

    def set_torque(t, rate):
        """Call the torque function with the angular velocity in the column `rate`."""
        answer = torque(t, shaped(state.column("orientation")), shaped(state.column(rate)))
        shape = (3,) if single else (n, 3)
        state.set_column("torque", finite_array("torque(t, q, w)", answer, shape, limit=LARGEST).reshape(-1, 3))

    def stored(name, width):
        first = getattr(scheme, name + "_scratch")
        return state.column(name) if first is None else state.scratch(first, width)

    def read():
        """The values of a `Rotation` at the present step."""
        step = loop.step_count
        if sync:
            pose, rate, offsets = state.column("orientation"), loop.last_rates()[1], (0.0, 0.0)
        else:
            pose, rate = stored("orientation", 4), stored("angular_velocity", 3)
            offsets = scheme.orientation_offset, scheme.angular_velocity_offset
        lost = ~(np.isfinite(pose).all(axis=1) & np.isfinite(rate).all(axis=1))
        if lost.any():
            raise FloatingPointError(f"body {np.argmax(lost)} is no longer finite at step {step}: lower dt "
                                     f"({dt:g} s) or use another rotation scheme than {name!r}")
        return step * dt, shaped(pose), shaped(rate), (step + offsets[0]) * dt, (step + offsets[1]) * dt

    def advance(steps):
        """Advance by `steps`; FloatingPointError soon after a body becomes non-finite."""
        loop.run(steps)
        if steps >= STEPS_PER_CHECK and not np.isfinite(state.in_slot_order("orientation")).all():
            read()

    loads = (lambda loop, steps: set_torque(steps * dt, "predicted")) if callable(torque) else None
    loop, pacer = Driver(Settings(scheme, parameters, dt, loads=loads), Snapshot(bodies)), Pacer()
    state = loop.state
    if callable(torque):
        set_torque(0.0, "angular_velocity")
    else:
        state.set_column("torque", torque)
    loop.start(dt if start else 0.0)
    if record_every is None:
        pacer.run(advance, steps)
        return Rotation(*read())
    rows = []
    for _ in range(steps // record_every):
        pacer.run(advance, record_every)
        rows.append(read())
    pacer.run(advance, steps % record_every)
    return Rotation(*(np.array(column) for column in zip(*rows))) if rows else Rotation(*np.empty((5, 0)))
