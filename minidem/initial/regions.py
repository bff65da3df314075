"""Regions in which clumps come and go between two steps, as callbacks of `Simulation.run`.

What regions do depends on their parameters, the step number and the simulation alone, which also has the totals of
outlets. A run that is continued from a checkpoint with regions of the same parameters therefore has the bits of an
undisturbed run. An inlet adds what is due in the `every` steps before each call. It counts from its first call on; the
simulation and its checkpoints know since when, by its parameters.
"""
from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from minidem.analysis.contacts import near_spheres
from minidem.core.checks import LARGEST, corners, finite_array, flag, positive, short_repr, whole
from minidem.initial.random_placement import Shape, accept, overlapping, propose, rounding, size_classes
from minidem.initial.sizes import Mixture
from minidem.material import Material, require_materials
from minidem.simulation import Simulation
from minidem.templates.clump_template import ClumpTemplate

ROUNDS = 10             # of proposals, before clumps without room are left out
PROPOSALS = 10          # in a round, per missing clump
ANY = ""                # parameters of inlets that a checkpoint of before 0.23 does not know


def _free(poses, centers, radii, sim):
    """(n,) bool, the poses without overlap with walls of `sim` and with spheres of centres (m, 3) and radii (m,)."""
    spheres, of_poses = poses.spheres.reshape(-1, 3), poses.radii.ravel()
    clump = np.repeat(np.arange(len(poses.scale)), len(poses.shape.radii))
    free = np.ones(len(poses.scale), dtype=bool)
    free[clump[sim.walls.overlap(np.column_stack([spheres, of_poses]))]] = False
    touching = near_spheres(spheres, of_poses, centers, radii, rounding(spheres, centers))
    free[clump[touching[:, 0]]] = False
    return free


@dataclass(frozen=True)
class Outlet:
    """A box that removes the clumps whose centres of mass are inside, or outside, when called with the simulation.

    In a periodic box of the simulation, `wrapped_position` counts.

    Parameters
    ----------
    low, high : (3,) array_like
        Corners, lab frame [m]; faces belong to the box.
    name : str
        Name of the outlet in `Simulation.outflow`; outlets of one name are counted together.
    outside : bool
        Remove the clumps that are outside of the box instead: those that have left it.

    Attributes
    ----------
    count, mass : int, float
        Number and mass [kg] of the clumps that have left from the start of the simulation to the last call. The
        simulation keeps them in `Simulation.outflow`, also over checkpoints.

    Raises
    ------
    ValueError
        For a box without volume.
    """

    low: ArrayLike
    high: ArrayLike
    _: KW_ONLY
    name: str = "outlet"
    outside: bool = False
    count: int = field(default=0, init=False, compare=False)
    mass: float = field(default=0.0, init=False, compare=False)

    def __post_init__(self):
        low, high = corners(self.low, self.high)
        vars(self).update(low=tuple(low.tolist()), high=tuple(high.tolist()))
        if not isinstance(self.name, str):
            raise ValueError(f"name = {short_repr(self.name)}: give a text")
        flag("outside", self.outside)

    def __call__(self, sim: Simulation) -> np.ndarray:
        """Remove clumps; returns their ids (n,)."""
        position = sim.wrapped_position
        inside = np.all((self.low <= position) & (position <= self.high), axis=1)
        ids = sim.ids[inside != self.outside].copy()
        sim.remove_clumps(ids, outlet=self.name)
        vars(self).update(zip(("count", "mass"), sim.outflow[self.name]))
        return ids


@dataclass(frozen=True)
class Inlet:
    """A box in which clumps appear at a constant rate, when it is called with the simulation every `every` steps.

    Each call adds what is due in the `every` steps before it, from the first call on, whenever it is. Where a function
    that `Simulation.run` calls leaves out some calls, or between two runs, the inlet pauses.

    The grains of a Mixture come in the order of `Mixture.stream`. Positions are uniform and orientations isotropic
    among those in which all spheres are inside the box, and overlap neither another sphere nor a wall. Along the axes
    on which low and high are on the faces of the periodic box of the simulation, clumps reach across these faces.
    Clumps for which no place is found in a hundred trials per clump are left out, so that the rate is an upper limit:
    new clumps must leave the box fast enough. The first time a UserWarning tells.

    Parameters
    ----------
    template : ClumpTemplate or Mixture
    low, high : (3,) array_like
        Corners, lab frame [m]; inside the periodic box of the simulation, if it has one.
    rate : float, optional
        Clumps per time [1/s]. Give this or `mass_rate`.
    velocity, angular_velocity : (3,) array_like
        Of new clumps, lab frame [m/s, rad/s].
    every : int
        Steps between two calls, as for `Simulation.run`.
    seed : int
        The random numbers depend on it and on the number of the step.
    number : int, optional
        The rate is 0 once so many clumps were due, of this inlet. Default: no limit.
    material : Material, optional
        As for `Simulation.add_clumps`.
    mass_rate : float, optional
        Mass per time [kg/s], of a Mixture over times in which many clumps come.

    Raises
    ------
    ValueError
        For an argument out of range.
    """

    template: ClumpTemplate | Mixture
    low: ArrayLike
    high: ArrayLike
    _: KW_ONLY
    rate: float | None = None
    velocity: ArrayLike = (0.0, 0.0, 0.0)
    angular_velocity: ArrayLike = (0.0, 0.0, 0.0)
    every: int = 1
    seed: int = 0
    number: int | None = None
    material: Material | None = None
    mass_rate: float | None = None
    _grains: Mixture = field(init=False, repr=False, compare=False)
    _clump_rate: float = field(init=False, repr=False, compare=False)       # [1/s]

    def __post_init__(self):
        if not isinstance(self.template, (ClumpTemplate, Mixture)):
            raise ValueError(f"template = {short_repr(self.template)}: give a minidem.ClumpTemplate or a Mixture")
        rates = {name: positive(name, value) for name, value in (("rate", self.rate), ("mass_rate", self.mass_rate))
                 if value is not None}
        if len(rates) != 1:
            raise ValueError(f"rate = {self.rate}, mass_rate = {self.mass_rate}: give one of them, clumps [1/s] or "
                             "mass per time [kg/s]")
        grains = self.template if isinstance(self.template, Mixture) else Mixture([self.template])
        vectors = dict(zip(("low", "high"), corners(self.low, self.high))) | {
            name: finite_array(name, getattr(self, name), (3,), limit=LARGEST)
            for name in ("velocity", "angular_velocity")}
        vars(self).update(
            {name: tuple(vector.tolist()) for name, vector in vectors.items()},
            **rates, every=whole("every", self.every, 1), seed=whole("seed", self.seed, 0),
            number=None if self.number is None else whole("number", self.number, 0), _grains=grains,
            _clump_rate=rates["rate"] if "rate" in rates else rates["mass_rate"] / grains.mean_mass)
        if self.material is not None:
            require_materials(material=self.material)

    def due(self, step: int, dt: float) -> int:
        """Number of clumps that the rate requires in the first `step` steps of the inlet, of length dt [s]."""
        required = int(self._clump_rate * (step * dt))
        return required if self.number is None else min(required, self.number)

    def __call__(self, sim: Simulation) -> np.ndarray:
        """Add clumps; returns their ids (n,).

        Raises
        ------
        ValueError
            At a step that is not a multiple of `every`; if the callback of a run is called at longer intervals, or it
            is called by hand more than `every` steps after the last call; or if the box is too small for the template.
        """
        step = sim.step_count
        if step % self.every:
            raise ValueError(f"every = {self.every}: the simulation is at step {step}, which is not a multiple of it; "
                             "give the same number to sim.run")
        done = step - self._begun(sim, step)
        first, last = self.due(max(0, done - self.every), sim.dt), self.due(done, sim.dt)
        found = self._find(sim, first, last) if last > first else []
        count = sum(len(poses.scale) for _, poses in found)
        if count < last - first and "_has_warned" not in vars(self):
            vars(self)["_has_warned"] = True
            rate = f"rate = {self.rate:g} 1/s" if self.mass_rate is None else f"mass_rate = {self.mass_rate:g} kg/s"
            warnings.warn(f"{rate} of an Inlet is not reached: at step {step} there was room for {count} of the "
                          f"{last - first} clumps that were due, and the others are left out; lower the rate, or "
                          "take a larger box or a higher velocity", UserWarning, stacklevel=2)
        ids = [sim.add_clumps(self._known(template, sim), poses.position, poses.orientation, velocity=self.velocity,
                              angular_velocity=self.angular_velocity, scale=poses.scale, material=self.material)
               for template, poses in found if len(poses.scale)]
        return np.concatenate([sim.ids[:0], *ids])

    def _begun(self, sim, step):
        """Step from which the inlet counts: `every` steps before its first call, and later by the steps of pauses.

        An inlet that the simulation has not met continues one of equal parameters in a checkpoint or a copy, unless
        this has paused.
        """
        called, met = sim.inlets_called, sim.inlets
        given = repr((self.low, self.high, self.rate, self.mass_rate, self.velocity, self.angular_velocity, self.every,
                      self.seed, self.number, self._grains.mean_mass))
        k = called.get(id(self), (self, None))[1]
        if k is None:
            others = [number for _, number in called.values()]
            k = next((k for k, (same, _, at) in enumerate(met) if same in (given, ANY) and k not in others
                      and step - at <= self.every), len(met))
        begun, at = met[k][1:] if k < len(met) else (max(0, step - self.every), step)
        apart = sim.calls_every or step - at
        if apart > self.every:
            raise ValueError(f"every = {self.every}: at step {step} the calls of this Inlet are {apart} steps apart: "
                             f"clumps which are due would not come. Call it every {self.every} steps, by sim.run("
                             "steps, every=inlet.every, callback=...), which may pause, or take an Inlet with every="
                             f"{apart}")
        begun += max(0, step - at - self.every)
        if k == len(met) or met[k][0] == ANY:
            k = len(met)
            met.append(())
        called[id(self)], met[k] = (self, k), (given, begun, step)
        return begun

    def _find(self, sim, first, last):
        """(template, poses) of the clumps first to last - 1, except those that find no room."""
        grains = self._grains
        which, scale = grains.stream(first, last, self.seed)
        volume = np.cumsum(np.array([template.volume for template in grains.templates])[which] * scale ** 3)
        most = np.searchsorted(volume, np.prod(np.subtract(self.high, self.low)), side="right")
        n = max(1, most)                                # more cannot fit; one, to find out
        scales = [scale[:n][which[:n] == k] for k in range(len(grains.templates))]
        low, high, rng = np.array(self.low), np.array(self.high), np.random.default_rng([self.seed, sim.step_count])
        centers, radii, box = sim.sphere_centers, np.asarray(sim.sphere_radii), None
        beyond = np.zeros(3)                            # how far new clumps reach out of the region [m]
        if sim.box is not None:
            box = sim.box.spanned(low, high)
            reach = max(t.bounding_radius * s.max(initial=0.0) for t, s in zip(grains.templates, scales))
            centers, index = sim.box.images(centers, reach + radii.max(initial=0.0))
            radii = radii[index]
            if box is not None:
                beyond = reach * box.axes
        near = np.all((centers + radii[:, None] > low - beyond) & (centers - radii[:, None] < high + beyond), axis=1)
        found = [propose(Shape(template), 0, low, high, rng, scale, box) for template in grains.templates]
        for k, of_class in size_classes(grains.templates, scales):
            missing, fits = scales[k][of_class], False
            largest = grains.templates[k].bounding_radius * missing.max()
            for _ in range(ROUNDS):
                new = propose(found[k].shape, PROPOSALS * len(missing), low, high, rng, missing, box)
                fits |= len(new.scale) > 0
                new = new[_free(new, centers[near], radii[near], sim)]
                for others in found:
                    new = new[np.setdiff1d(np.arange(len(new.scale)), overlapping(new, others, box)[:, 0])]
                accepted, missing = accept(new, missing, box)
                found[k] = found[k] + accepted
                if len(missing) == 0:
                    break
            if not fits:
                raise ValueError(f"low, high: the template, of bounding radius {largest:.6g} m, does not fit into the "
                                 f"box from {list(self.low)} to {list(self.high)} m; take a larger box")
        return list(zip(grains.templates, found))

    def _known(self, template, sim):
        """Return the simulation's own copy of `template`, which after a restart is not the same object."""
        mine = vars(template)
        return next((known for known in sim.templates
                     if all(np.array_equal(vars(known)[name], mine[name]) for name in mine)), template)
