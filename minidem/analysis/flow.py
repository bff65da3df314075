"""Order, temperature and rotation of clumps that flow, of all and in slabs.

In a periodic box that moves, the flow is `Box.flow`; in any other box it is the mean velocity of the clumps.
"""
from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from minidem.analysis.contacts import averaging_volume, enclosed_box
from minidem.core.checks import flag, whole
from minidem.core.quaternions import rotate

ROUND = 1e-9                # relative difference of two principal moments that counts as none


def peculiar_velocity(sim) -> np.ndarray:
    """(n, 3) velocities of the centres relative to the flow, lab frame [m/s]. They do not depend on the image."""
    velocity, box = np.asarray(sim.velocity), sim.box
    if box is not None and box.moves:
        return velocity - box.flow(sim.position)
    return velocity - _mean(velocity, sim.mass) if len(velocity) else velocity


def granular_temperature(sim, *, low: ArrayLike | None = None, high: ArrayLike | None = None,
                         gradient: bool = False) -> float:
    """Mean square of the velocities relative to the flow per direction, by mass [m2/s2]: sum m V^2 / (3 sum m).

    Parameters
    ----------
    low, high : (3,) array_like, optional
        Corners of a box, inside a periodic one, whose clumps count, by their centres [m]. Default: all clumps.
    gradient : bool
        Take as flow the linear function of the position that fits the velocities best, as where walls shear. Default:
        the flow of `peculiar_velocity`, relative to the mean velocity of the region where the box does not move.

    Returns
    -------
    float
        nan without clumps. Of n independent clumps it is too small by the part 1 / n on average, with a gradient by
        4 / n, since the flow comes from the same velocities.
    """
    if low is None and high is None and not flag("gradient", gradient):
        return float(np.trace(velocity_covariance(sim)) / 3.0)
    place, velocity, mass, inside = sim.wrapped_position, peculiar_velocity(sim), np.asarray(sim.mass), slice(None)
    if low is not None or high is not None:
        low, high, _ = averaging_volume(sim, None, low, high)
        inside = ((low <= place) & (place <= high)).all(axis=1)
    place, velocity, mass = place[inside], velocity[inside], mass[inside]
    if gradient:
        terms, weight = np.column_stack([np.ones(len(mass)), place - _mean(place)]), np.sqrt(mass)[:, None]
        velocity = velocity - terms @ np.linalg.lstsq(weight * terms, weight * velocity, rcond=None)[0]
    elif sim.box is None or not sim.box.moves:
        velocity = velocity - _mean(velocity, mass)
    return float(np.sum(_mean(velocity ** 2, mass)) / 3.0)


def velocity_covariance(sim) -> np.ndarray:
    """(3, 3) mean of V V over the clumps, weighted by mass [m2/s2]; V : `peculiar_velocity`."""
    velocity = peculiar_velocity(sim)
    return _mean(np.einsum("ni,nj->nij", velocity, velocity), sim.mass)


def clump_volumes(sim) -> np.ndarray:
    """(n,) [m3]."""
    return np.array([template.volume for template in sim.templates] or [0.0])[sim.template_index] * sim.scale ** 3


def clump_axes(sim) -> np.ndarray:
    """(n, 3) unit vectors along the axes of the clumps, lab frame; nan for clumps without an axis.

    The axis of a template is the principal axis whose moment of inertia differs most from the other two: along a rod,
    normal to a disc. A sphere has none.
    """
    axes = np.full((max(1, len(sim.templates)), 3), np.nan)
    for axis, template in zip(axes, sim.templates):
        low, middle, high = template.inertia
        if high - low > ROUND * high:
            axis[:] = template.axes[:, 0 if middle - low > high - middle else 2]
    return rotate(np.asarray(sim.orientation), axes[sim.template_index])


def nematic_tensor(sim) -> np.ndarray:
    """(3, 3) order tensor Q, the mean of (3 n n - 1) / 2 over `clump_axes` n, lab frame; nan without an axis."""
    return _tensor(clump_axes(sim))


def nematic_order(sim) -> float:
    """S2, the largest eigenvalue of `nematic_tensor`: 0 isotropic, 1 parallel; nan if no clump has an axis.

    Of n isotropic clumps it is about 1 / sqrt(n).
    """
    return _director(nematic_tensor(sim))[0]


def director(sim) -> np.ndarray:
    """(3,) unit vector of the eigenvalue S2 of `nematic_tensor`, lab frame, of either sign; nan where that is nan."""
    return _director(nematic_tensor(sim))[1]


def director_angle(sim) -> float:
    """Angle from the flow axis to the director in the plane of flow and gradient, -pi / 2 to pi / 2 [rad].

    Positive towards the gradient axis. nan if no clump has an axis.

    Raises
    ------
    ValueError
        If the periodic box is not sheared.
    """
    flow, gradient, _ = shear_axes(sim)
    along = director(sim)
    along = along * np.copysign(1.0, along[flow])
    return float(np.arctan2(along[gradient], along[flow]))


def shear_axes(sim) -> tuple[int, int, int]:
    """Numbers of the axes of flow, gradient and vorticity; ValueError if the periodic box is not sheared."""
    shear = getattr(sim.periodic, "shear", None)
    if shear is None:
        raise ValueError(f"periodic = {sim.periodic!r}: without shear there is no axis of flow and gradient; give "
                         "md.PeriodicBox(..., shear=(flow, gradient, rate))")
    return shear[0], shear[1], 3 - shear[0] - shear[1]


def mean_rotation(sim) -> np.ndarray:
    """(3,) mean angular velocity of the clumps, lab frame [rad/s]."""
    return _mean(np.asarray(sim.angular_velocity))


def relative_rotation(sim, tumbling: bool = False) -> float:
    """Mean angular velocity about the vorticity axis, over half the vorticity of the flow; nan without flow.

    tumbling : leave out the rotation of each clump about its axis, see `clump_axes`; nan if a clump has none.
    """
    along, across, _ = shear_axes(sim)
    vorticity = shear_rate(sim) * np.cross(np.eye(3)[across], np.eye(3)[along])
    rotation, squared = np.asarray(sim.angular_velocity), vorticity @ vorticity
    if tumbling:
        axes = clump_axes(sim)
        rotation = rotation - np.sum(rotation * axes, axis=1, keepdims=True) * axes
    return float(2.0 * _mean(rotation) @ vorticity / squared) if squared else np.nan


def shear_rate(sim) -> float:
    """dv_flow / dx_gradient of a sheared periodic box at this instant [1/s]."""
    return sim.box.gradient[shear_axes(sim)[:2]]


def solid_fraction(sim) -> float:
    """Volume of the clumps over the volume of the periodic box."""
    return float(np.sum(clump_volumes(sim)) / sim.box.volume)


def stress(sim) -> np.ndarray:
    """(3, 3) stress with its kinetic part, along flow, gradient and vorticity [Pa]."""
    axes = shear_axes(sim)
    return sim.stress(kinetic=True)[np.ix_(axes, axes)]


def profile(sim, slabs: int = 10, axis: int | None = None) -> dict[str, np.ndarray]:
    """Means over slabs normal to an axis.

    Parameters
    ----------
    slabs : int
        Their number, of equal thickness.
    axis : {0, 1, 2}, optional
        Default: the gradient axis of a sheared periodic box.

    Returns
    -------
    dict of (slabs,) ndarray
        For `pandas.DataFrame`: `position` of the middle [m]; `clumps`, their number; `solid_fraction`;
        `velocity_x`, `velocity_y`, `velocity_z` [m/s]; `temperature` of the velocities relative to these [m2/s2];
        `rotation_x`, `rotation_y`, `rotation_z`, the mean angular velocity [rad/s]; `order` of the axes, see
        `nematic_order`. Lab frame; clumps count with their centres, means are weighted by mass except for rotation and
        order; nan where there is none.

    Raises
    ------
    ValueError
        For arguments out of range, or where walls and periodic axes do not enclose a box.
    """
    slabs = whole("slabs", slabs, 1)
    axis = shear_axes(sim)[1] if axis is None else axis
    if axis not in (0, 1, 2):
        raise ValueError(f"axis = {axis!r}: give 0, 1 or 2")
    low, high = enclosed_box(sim.walls.at_rest, sim.box)
    if not np.isfinite([low, high]).all():
        raise ValueError("walls and periodic axes do not enclose a box, so slabs have no volume; give a simulation "
                         "with planes or periodic axes on all sides")
    position, velocity, box = sim.wrapped_position, peculiar_velocity(sim), sim.box
    moves = box is not None and box.moves
    velocity = velocity + (box.flow(position) if moves else _mean(np.asarray(sim.velocity), sim.mass))
    edges = np.linspace(low[axis], high[axis], slabs + 1)
    slab = np.clip(np.searchsorted(edges, position[:, axis], side="right") - 1, 0, slabs - 1)
    volumes, axes, rate = clump_volumes(sim), clump_axes(sim), np.asarray(sim.angular_velocity)
    rows = []
    for k in range(slabs):
        inside = slab == k
        mass, speed = sim.mass[inside], velocity[inside]
        mean = _mean(speed, mass)
        rows.append((0.5 * (edges[k + 1] + edges[k]), np.count_nonzero(inside),
                     volumes[inside].sum() * slabs / np.prod(high - low), *mean,
                     np.sum(_mean((speed - mean) ** 2, mass)) / 3.0, *_mean(rate[inside]),
                     _director(_tensor(axes[inside]))[0]))
    return {name: np.array(column) for name, column in zip((
        "position", "clumps", "solid_fraction", "velocity_x", "velocity_y", "velocity_z", "temperature", "rotation_x",
        "rotation_y", "rotation_z", "order"), zip(*rows))}


def _mean(values, mass=None):
    """Mean of values (n, ...) over clumps, nan of none."""
    if not len(values):
        return np.full(values.shape[1:], np.nan)
    return np.mean(values, axis=0) if mass is None else np.tensordot(mass, values, 1) / np.sum(mass)


def _tensor(axes):
    """Order tensor (3, 3) of unit vectors (n, 3), without those that are nan."""
    axes = axes[~np.isnan(axes[:, 0])]
    return 1.5 * _mean(np.einsum("ni,nj->nij", axes, axes)) - 0.5 * np.eye(3)


def _director(tensor):
    """Largest eigenvalue of a tensor (3, 3), and its unit vector."""
    if np.isnan(tensor).any():
        return np.nan, np.full(3, np.nan)
    values, vectors = np.linalg.eigh(tensor)
    return float(values[2]), vectors[:, 2]
