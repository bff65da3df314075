"""The periodic box: what a user gives, and its geometry at one instant."""
from __future__ import annotations

import copy
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from minidem.core.checks import (
    LARGEST,
    check_call,
    corners,
    finite_array,
    flag,
    non_negative,
    number,
    positive,
    refuse,
    short_repr,
)

AXES, FUNCTION = "xyz", "function"
LATER = "stretched", "since", "begins"                  # of the record of a box, see `continued`


def periodic_box(periodic):
    """The PeriodicBox of the argument `periodic` of a simulation; None for None."""
    if periodic is None or isinstance(periodic, PeriodicBox):
        return periodic
    if isinstance(periodic, dict):                      # of a checkpoint
        held = [Pressure(**rate) if isinstance(rate, dict) else rate for rate in periodic["rates"]]
        given = {name: value for name, value in periodic.items() if name not in LATER}
        return PeriodicBox(**given | {"rates": held}).continued(**later_of(periodic))
    if not isinstance(periodic, (list, tuple)) or len(periodic) != 3:
        raise ValueError(f"periodic = {short_repr(periodic)}: give (low (3,), high (3,), (True, False, True)), a "
                         "minidem.PeriodicBox, or None")
    low, high, axes = periodic
    return PeriodicBox(low, high, axes=axes)


def later_of(record):
    """Arguments of `continued`, of the record of a box."""
    return {name: record[name] for name in LATER if name in record}


@dataclass(frozen=True)
class Pressure:
    """A normal stress of a periodic box that is held by changes of its length along an axis (`PeriodicBox`).

    The strain rate e of the axis follows de/dt = (stress / pressure - 1) / time^2 - 2 damping e / time, integrated by
    leapfrog; stress is the normal component of the stress tensor along the axis, kinetic part included. So the box
    answers to twice the pressure within `time`; if it is empty, its length shrinks at the rate 1 / (2 damping time). A
    `time` that is too short for the step and the contacts is replaced by a longer one (Notes).

    Parameters
    ----------
    pressure : float
        Compression is positive [Pa].
    time : float
        [s]. At least ten steps. The box oscillates against a sample of bulk modulus K with the period
        2 pi time sqrt(pressure / K).
    damping : float
        1 is critical for a sample whose bulk modulus is the pressure, such as a gas. Stiffer samples are damped by
        their contacts.

    Raises
    ------
    ValueError
        For an argument out of range.

    Notes
    -----
    The box is stable for any `time`. The contacts resist the strain rate with dashpots, of viscosity eta [Pa s], and
    the strain with springs, of modulus K [Pa]. A dashpot has the strain rate extrapolated from the last two half steps,
    so with the inertia W = pressure time^2, B = dt eta / W and C = dt^2 K / W one step is
    e' = e - B (3 e - e_before) / 2 - C strain / dt. The roots z of its characteristic polynomial,
    z (z - 1)^2 + C z^2 + B (3 z - 1) (z - 1) / 2 = 0, leave the unit circle at z = -1: it is stable for B + C / 4 < 1.
    Above, strain rate and stress alternate from step to step. Each step therefore finds a bound of the resistance
    r = eta / dt + K / 4: the sum of (c / dt + k / 4) over all contacts, along and across their normals, times the
    products of the components of their branch vectors. For time^2 it takes time^2 + 2 dt^2 r / pressure, so that
    B + C / 4 <= 1 / 2. With a `time` of d sqrt(density / pressure) / 2 and grains of diameter d the second term is a
    few per cent. The dashpots of bonds, and of laws of the user, are unknown: the largest c and k that the step
    resolves are taken, and the box may answer more slowly than it must.
    """

    pressure: float
    time: float
    _: KW_ONLY
    damping: float = 1.0

    def __post_init__(self):
        vars(self).update(pressure=positive("pressure", self.pressure), time=positive("time", self.time),
                          damping=non_negative("damping", self.damping))


def _rate_values(rate, times):
    """A rate that is a function of the time, at times (n,)."""
    found = [rate(t) for t in times.tolist()]
    try:
        found = np.array(found, dtype=float).reshape(-1)
    except (TypeError, ValueError):                     # no numbers
        found = np.zeros(0)
    if len(found) != len(times) or not (np.abs(found) <= LARGEST).all():
        raise ValueError("periodic: the function of a rate returned something else than a finite number at a time "
                         f"between {times[0]:g} and {times[-1]:g} s; return one number [1/s]")
    return found


def _rate(name, rate):
    """Return a rate [1/s], a number or a function of the time, checked."""
    if not callable(rate):
        return number(name, rate)
    check_call(name, rate, "t")
    return rate


class PeriodicBox:
    """A box whose opposite faces are connected along some axes; it may be sheared, and its lengths may change.

    Parameters
    ----------
    low, high : (3,) array_like
        Corners before the first step [m]. The centre of the box stays where it is.
    axes : (3,) of bool
        Which axes are periodic.
    shear : (flow, gradient, rate), optional
        Simple shear with Lees-Edwards boundaries. flow, gradient : two of "x", "y", "z", both periodic.  rate : the
        velocity gradient dv_flow / dx_gradient [1/s], a number or a function of the time [s].
    rates : (3,), optional
        For each axis the rate of its logarithmic strain, positive for extension [1/s]: a number, a function of the
        time, or a `Pressure` to hold. Default: 0.
    affine : bool
        Clumps take part in each change of the rates, the start before the first step included, as if they were points
        of the box: each change of the rates adds the flow at their centres to their velocities. So give initial
        velocities without the flow; `Simulation.run` warns if they have it. False: they feel the box by contacts
        across its faces alone, and clumps that start outside of the box keep the velocities that they were given.
    tilt : float
        Displacement along the flow axis of the image along the gradient axis, before the first step [m].

    Raises
    ------
    ValueError
        For an argument out of range, or a deformation of an axis that is not periodic.

    Attributes
    ----------
    start : Box
        Before the first step.
    servos : list of int
        Axes along which a pressure is held.
    functions : list of callable
        Functions of the time among the rates.
    stretched : (3,) bool
        Axes whose length changes, or has changed.
    since, begins
        See `continued`.

    Notes
    -----
    The image of a clump along the gradient is displaced along the flow, and has another velocity. A. W. Lees & S. F.
    Edwards, J. Phys. C 5, 1921 (1972), doi 10.1088/0022-3719/5/15/006.
    """

    def __init__(self, low: ArrayLike, high: ArrayLike, *, axes: Any, shear: Any = None, rates: Any = (0.0, 0.0, 0.0),
                 affine: bool = True, tilt: float = 0.0):
        low, high = corners(low, high, "periodic: ")
        if np.shape(axes) != (3,) or not np.array_equal(axes, np.array(axes, dtype=bool)):
            raise ValueError(f"periodic: axes = {short_repr(axes)}: give three times True or False")
        if not any(axes):
            raise ValueError(f"periodic: axes = {short_repr(axes)}: no axis is periodic; leave periodic out")
        self._axes = np.array(axes, dtype=bool)
        self.shear, self.rates = self._checked_shear(shear), self._checked_rates(rates)
        self.affine, self.tilt = flag("affine", affine), number("periodic: tilt", tilt)
        if self.tilt and self.shear is None:
            raise ValueError(f"periodic: tilt = {tilt}: give the axes of the tilt too, such as shear=('x', 'y', 0.0)")
        self.start = Box(low, high, self._axes, across=self.shear and self.shear[1])
        self.servos = [axis for axis, rate in enumerate(self.rates) if isinstance(rate, Pressure)]
        self.functions = [rate for rate in (*self.rates, *(self.shear or ())[2:]) if callable(rate)]
        self.stretched = np.array([rate != 0.0 for rate in self.rates])
        self.since, self.begins = 0.0, (0.0, 0.0, 0.0)

    def continued(self, stretched=False, since=0.0, begins=(0.0, 0.0, 0.0)):
        """The same box later.

        stretched : (3,) bool, axes that may have another length than at the start
        since, begins : time [s] at which a `Pressure` begins, and strain rates (3,) with which it does [1/s]
        """
        other = copy.copy(self)
        other.stretched = self.stretched | np.asarray(stretched)
        other.since, other.begins = non_negative("since", since), tuple(
            finite_array("begins", begins, (3,), limit=LARGEST).tolist())
        return other

    def rates_at(self, times):
        """(n, 4) strain rates of the three axes, 0 under a Pressure, and of the shear, at times (n,) [1/s]."""
        values = np.zeros((len(times), 4))
        for column, rate in enumerate((*self.rates, *(self.shear or ())[2:])):
            if not isinstance(rate, Pressure):
                values[:, column] = _rate_values(rate, times) if callable(rate) else rate
        return values

    def with_motion(self, shear, rates, affine):
        """The same box with another motion; arguments as in PeriodicBox. ValueError for shear along other axes."""
        if shear is None and self.shear is not None:
            shear = (AXES[self.shear[0]], AXES[self.shear[1]], 0.0)
        low, high, axes = self.corners
        other = PeriodicBox(low, high, axes=axes, shear=shear, rates=rates, affine=affine).continued(self.stretched)
        if self.shear is not None and other.shear[:2] != self.shear[:2]:
            flow, gradient = (AXES[axis] for axis in self.shear[:2])
            raise ValueError(f"shear = {short_repr(shear)}: the box was sheared along {flow} with the gradient along "
                             f"{gradient}; give the same axes, or start from the positions in a box without shear")
        return other

    def _checked_shear(self, shear):
        """(number of the flow axis, of the gradient axis, rate), or None."""
        if shear is None:
            return None
        if not isinstance(shear, (list, tuple)) or len(shear) != 3 or shear[0] not in [*AXES] \
                or shear[1] not in [*AXES] or shear[0] == shear[1]:
            raise ValueError(f"periodic: shear = {short_repr(shear)}: give (flow, gradient, rate), such as ('x', 'y', "
                             "10.0), with two different axes")
        flow, gradient = (AXES.index(axis) for axis in shear[:2])
        for axis in (flow, gradient):
            if not self._axes[axis]:
                raise ValueError(f"periodic: shear = {short_repr(shear)}: the axis {AXES[axis]} is not periodic; shear "
                                 "needs flow and gradient periodic")
        return flow, gradient, _rate("periodic: rate of shear", shear[2])

    def _checked_rates(self, rates):
        if not isinstance(rates, (list, tuple, np.ndarray)) or len(rates) != 3:
            raise ValueError(f"periodic: rates = {short_repr(rates)}: give one for each axis, (0, 0, -0.1)")
        found = tuple(rate if isinstance(rate, Pressure) else _rate(f"periodic: rates[{axis}]", rate)
                      for axis, rate in enumerate(rates))
        for axis, rate in enumerate(found):
            if rate != 0.0 and not self._axes[axis]:
                raise ValueError(f"periodic: rates = {short_repr(rates)}: the axis {AXES[axis]} is not periodic, and "
                                 "keeps its length; give 0 for it")
        return found

    def __repr__(self):
        low, high, axes = self.corners
        more = "" if self.shear is None else \
            f", shear={(AXES[self.shear[0]], AXES[self.shear[1]], self.shear[2])!r}"
        more += f", rates={self.rates!r}" if any(rate != 0.0 for rate in self.rates) else ""
        more += ("" if self.affine else ", affine=False") + (f", tilt={self.tilt!r}" if self.tilt else "")
        return f"PeriodicBox({low}, {high}, {axes}{more})"

    @property
    def corners(self):
        """(low, high, axes) as tuples of Python's numbers."""
        return tuple(tuple(values.tolist()) for values in (self.start.low, self.start.high, self.start.axes))

    @property
    def setting(self):
        """What `Simulation.periodic` is: `corners`, or the box itself if it moves."""
        return self if self.moves else self.corners

    @property
    def record(self):
        """The arguments in types of JSON; FUNCTION instead of a function of the time."""
        if not self.moves:
            return self.corners
        low, high, axes = self.corners
        rates = [dict(vars(rate)) if isinstance(rate, Pressure) else FUNCTION if callable(rate) else rate
                 for rate in self.rates]
        shear = None if self.shear is None else [
            AXES[self.shear[0]], AXES[self.shear[1]], FUNCTION if callable(self.shear[2]) else self.shear[2]]
        return {"low": low, "high": high, "axes": axes, "shear": shear, "rates": rates, "affine": self.affine,
                "stretched": self.stretched.tolist()} | (
                    {"since": self.since, "begins": self.begins} if self.servos and self.since > 0.0 else {})

    @property
    def at_rest(self):
        """Rows of lengths, inverses and low corner (3, 3) for compiled code; zero along axes that move."""
        still = self.start.axes & ~self.moving
        length = np.where(still, self.start.length, 0.0)
        return np.stack([length, np.divide(1.0, length, where=still, out=np.zeros(3)), self.start.low])

    @property
    def moving(self):
        """(3,) bool, axes along which velocities of images differ, or lengths have changed."""
        moving = self.stretched.copy()
        if self.shear is not None:
            moving[self.shear[1]] = True
        return moving

    @property
    def moves(self) -> bool:
        return bool(self.moving.any())

    def refuse_walls(self, walls):
        """ValueError for a wall that is not the same along an axis that moves, or that cannot have images."""
        moving, length = self.moving, np.where(self._axes, self.start.length, 0.0)
        if self.shear is not None:
            moving[self.shear[0]] = True
        for k, wall in enumerate(walls):
            uneven, remedy = wall.uneven(self._axes)
            reason = wall.without_images(length)
            if (uneven & moving).any():
                reason = f"it is not the same along the axis {AXES[np.argmax(uneven & moving)]}, which moves; {remedy}"
            if reason is not None:
                raise ValueError(f"walls[{k}] = {short_repr(wall)}: {reason}")


class Box:
    """The geometry of a periodic box at one instant.

    Parameters
    ----------
    low, high : (3,) arrays
        Corners, without the tilt [m].
    axes : (3,) array of bool
    tilt : (3, 3) array, optional
        Displacement of the image along each axis beside that axis [m], rows. The image along the gradient axis has one
        along the flow axis, at most half a length; all others are 0.
    gradient : (3, 3) array, optional
        Velocity gradient, H[i, j] = dv_i / dx_j [1/s].
    strain : (4,) array, optional
        Logarithmic strains of the three axes, and the shear strain, since the first step.
    across : int, optional
        The gradient axis of a box that is sheared.

    Attributes
    ----------
    low, high, axes, gradient, strain : as given
    length : (3,) [m], zero along open axes
    lattice : (3, 3) displacement of the image along each axis, rows [m]
    """

    def __init__(self, low, high, axes, tilt=None, gradient=None, strain=None, across=None):
        self.low, self.high, self.axes = low, high, axes
        self.length = np.where(axes, high - low, 0.0)
        self.lattice = np.diag(self.length) + (0.0 if tilt is None else tilt)
        self.gradient = np.zeros((3, 3)) if gradient is None else gradient
        self.strain = np.zeros(4) if strain is None else strain
        self._inverse = np.divide(1.0, self.length, where=axes, out=np.zeros(3))
        self.across = across
        if across is not None:
            self._tilt = self.lattice[across] * (np.arange(3) != across)

    def __repr__(self):
        return f"Box({self.low.tolist()}, {self.high.tolist()}, {self.axes.tolist()}, lattice={self.lattice.tolist()})"

    @property
    def center(self) -> np.ndarray:
        """(3,) [m]."""
        return 0.5 * (self.low + self.high)

    @property
    def volume(self) -> float:
        """Volume of the box between its corners [m3]."""
        return float(np.prod(self.high - self.low))

    @property
    def moves(self) -> bool:
        return bool(self.gradient.any())

    def flow(self, position: ArrayLike) -> np.ndarray:
        """(n, 3) velocities of points (n, 3) of unbounded space that move with the box [m/s]; its centre is at rest."""
        return (np.asarray(position) - self.center) @ self.gradient.T

    def refuse_large(self, template, scale):
        """ValueError for clumps of a template, scaled by (n,), that are too large for the box.

        Only the nearest images of two spheres may touch, and no clump its own image. The skins of the lists may reach
        farther, but not along the gradient axis of a sheared box.
        """
        for needed, what in self._limits(template, float(np.max(scale, initial=0.0))):
            short = self.axes & (self.length <= needed)
            if short.any():
                axis = int(np.argmax(short))
                raise ValueError(f"template: the periodic box is {self.length[axis]:.6g} m long along {AXES[axis]}, "
                                 f"which is not more than {what}, {needed[axis]:.6g} m; take a longer box")

    def refuse_large_clumps(self, state):
        """The same for all clumps of a State."""
        for k, template in enumerate(state.templates):
            self.refuse_large(template, state.scale[state.template_index == k])

    def _limits(self, template, scale):
        """Lengths (3,) above which the box is long enough for a clump, and what they are."""
        radius, across = scale * template.radii.max(), np.arange(3) == (-1 if self.across is None else self.across)
        return ((np.full(3, 4.0 * radius), "four radii of the largest sphere of the template"),
                (np.full(3, 2.0 * scale * template.bounding_radius), "the diameter of the template"),
                (6.0 * radius * across, "six radii of the largest sphere, which a sheared box needs"))

    def least_length(self, state):
        """(3,) lengths above which the box is long enough for all clumps of a State [m]."""
        limits = [np.zeros(3)] + [needed for k, template in enumerate(state.templates) for needed, _ in self._limits(
            template, state.scale[state.template_index == k].max(initial=0.0))]
        return np.max(limits, axis=0)

    def refuse_outside(self, low, high):
        """ValueError for a region with corners low, high (3,) that extends beyond the box along a periodic axis."""
        for name, corner, beyond in (("low", low, low < self.low), ("high", high, high > self.high)):
            refuse(name, corner, self.axes & beyond, f"stay within the periodic box, from {self.low.tolist()} to "
                   f"{self.high.tolist()} m")

    def spanned(self, low, high):
        """A region with corners low, high (3,) as a Box, periodic along the axes on which it reaches from face to face.

        None without such an axis. In a tilted box it is periodic along the gradient only if it is along the flow, too.
        ValueError for a region that extends beyond the box.
        """
        self.refuse_outside(low, high)
        axes, across = self.axes & (low <= self.low) & (high >= self.high), self.across
        if across is not None and self.lattice[across, ~axes].any():
            axes[across], across = False, None
        tilt = np.where(axes[:, None], self.lattice - np.diag(self.length), 0.0)
        return Box(low, high, axes, tilt, across=across) if axes.any() else None

    def _counts(self, d, whole):
        """(n, 3) whole lengths in displacements d (n, 3); whole : np.rint or np.floor."""
        counts = np.zeros_like(d)
        if self.across is not None:
            g = self.across
            counts[:, g] = whole(d[:, g] * self._inverse[g])
            d = d - counts[:, g, None] * self.lattice[g]
        return counts + whole(d * self._inverse)

    def displacement(self, counts):
        """(n, 3) displacements [m] of images that are `counts` (n, 3) lengths of the box away."""
        if self.across is None:
            return counts * self.length
        return counts * self.length + counts[:, self.across, None] * self._tilt

    def lengths_in(self, d):
        """(n, 3) whole lengths of the box in differences, to the nearest image."""
        return self._counts(d, np.rint)

    def image(self, position):
        """(n, 3) int64, the box lengths by which positions (n, 3) are outside of the box; 0 along open axes."""
        with np.errstate(invalid="ignore"):             # of a pose that is not finite
            return self._counts(position - self.low, np.floor).astype(np.int64)

    def wrapped(self, position):
        """Positions (n, 3) within the box, low <= x <= high along periodic axes."""
        inside = position - self.displacement(self.image(position))
        return np.where(self.axes, np.clip(inside, self.low, self.high), position)

    @property
    def tilts(self):
        """(3,) displacements xy, xz, yz of the images along y and z [m], as in files of LAMMPS and OVITO.

        ValueError for a flow axis behind the gradient axis, which these files cannot have.
        """
        if np.triu(self.lattice, 1).any():
            raise ValueError("the shear of the periodic box has its flow axis behind its gradient axis, which files of "
                             "LAMMPS and OVITO cannot have; give shear=('x', 'y', rate), ('x', 'z', ...) or "
                             "('y', 'z', ...)")
        return np.array([self.lattice[1, 0], self.lattice[2, 0], self.lattice[2, 1]])

    def in_cell(self, position, origin):
        """Positions (n, 3) in the tilted cell from `origin` (3,) on, and by how many lengths they were moved (n, 3)."""
        d = position - origin
        if self.across is not None:
            d = d - d[:, self.across, None] * self._inverse[self.across] * self._tilt
        counts = np.floor(d * self._inverse)
        return position - self.displacement(counts), counts.astype(np.int64)

    def shifts(self):
        """(m, 3) displacements by -1, 0, 1 lengths along periodic axes [m]; of a tilted box those that may touch it."""
        wide = self.lattice[self.across] != 0.0 if self.across is not None else np.zeros(3, dtype=bool)
        counts = np.meshgrid(*((range(-2, 3) if further and axis != self.across else (-1, 0, 1)) if periodic else [0]
                               for axis, (periodic, further) in enumerate(zip(self.axes, wide))), indexing="ij")
        return self.displacement(np.stack(counts, axis=-1).reshape(-1, 3))

    def images(self, position, reach):
        """Images (m, 3) of positions (n, 3), in the box and around it up to a distance `reach`, and their indices (m,).

        reach : at most the shortest length of the box [m]
        """
        found, inside = [], self.wrapped(position)
        for shift in self.shifts():
            image = inside + shift
            near = np.all(~self.axes | ((image >= self.low - reach) & (image <= self.high + reach)), axis=1)
            found.append((image[near], np.flatnonzero(near)))
        images, index = (np.concatenate(parts) for parts in zip(*found))
        return images, index
