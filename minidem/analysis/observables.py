"""Properties and methods of `Simulation` that read the state without changing it."""
from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from minidem.analysis.contact_observables import ContactObservables
from minidem.analysis.energy import Energy, measure
from minidem.analysis.shadow import shadow_terms
from minidem.core.checks import finite_array
from minidem.core.guard import exclusive
from minidem.core.quaternions import multiply, rotate
from minidem.core.read_only import read_only
from minidem.state.bodies import frames_to_drawn
from minidem.walls.motion import at_rest


def observable(method):
    """A property that returns a new array, as a `ReadOnlyArray`."""
    name = method.__name__
    return property(exclusive(lambda self: read_only(name, method(self))), doc=method.__doc__)


class Observables(ContactObservables):
    """Observables of a simulation at the whole step, in the order in which clumps were added, which is that of `ids`.

    Arrays are float64 copies unless stated otherwise. Leapfrog velocities are advanced by half a step on output; the
    state is not changed.

    This is the base class of `Simulation`, and not of use alone: it reads the `Driver` in `_loop`, the `Guard` in
    `_guard` (by `exclusive`), `_law`, `walls`, `dt` and `gravity`, which `Simulation` sets. It is a class of its own so
    that all that reads the state is in one file, and what reads contacts in another (contact_observables.py).
    """

    @property
    def _state(self):
        return self._loop.state

    @observable
    def ids(self) -> np.ndarray:
        """(n_clumps,) int64, ids of the present clumps, ascending. The id of a removed clump is never used again.

        All arrays of clumps are in this order. Ids are equal to the indices 0, 1, ... unless clumps were removed.
        """
        return self._loop.population.ids.copy()

    @property
    def n_clumps(self) -> int:
        """Number of clumps."""
        return self._state.n_clumps

    @property
    def n_spheres(self) -> int:
        """Number of spheres of all clumps."""
        return self._state.n_spheres

    @property
    @exclusive
    def walls_at_rest(self) -> tuple:
        """The `walls` at their present places, without motion: each is itself if it does not move."""
        return tuple(at_rest(wall, self.step_count, self.dt, state)
                     for wall, state in zip(self.walls, self._loop.walls.servo_states))

    @exclusive
    def overlap_walls(self, spheres: ArrayLike) -> np.ndarray:
        """Which spheres overlap with walls at this instant, with a margin of rounding errors.

        Parameters
        ----------
        spheres : (n, 4) array_like
            Centres and radii, lab frame [m].

        Returns
        -------
        (n,) bool ndarray
        """
        return self._loop.overlap_walls(finite_array("spheres", spheres, (-1, 4)))

    @property
    def templates(self) -> tuple:
        """The ClumpTemplates in use; `template_index` refers to them."""
        return tuple(self._state.templates)

    @observable
    def template_index(self) -> np.ndarray:
        """(n_clumps,) int32, index of each clump's template in `templates`."""
        return self._state.template_index.copy()

    @observable
    def scale(self) -> np.ndarray:
        """(n_clumps,) ratio of the lengths of each clump to those of its template."""
        return self._state.scale.copy()

    @property
    def materials(self) -> tuple:
        """The Materials of the simulation, its walls and clumps; `material_index` refers to them."""
        return self._loop.pair_table.materials

    @observable
    def material_index(self) -> np.ndarray:
        """(n_clumps,) int32, index of each clump's material in `materials`."""
        return self._state.material_index.copy()

    @property
    def threads(self) -> int:
        """Number of threads of the time loop."""
        return self._loop.threads

    @property
    @exclusive
    def statistics(self) -> dict:
        """Skins, sizes and rebuilds of the Verlet lists since clumps were last added or removed."""
        return self._loop.statistics

    @property
    def step_count(self) -> int:
        """Number of steps done."""
        return self._loop.step_count

    @property
    def time(self) -> float:
        """step_count * dt [s]."""
        return self.step_count * self.dt

    @observable
    def mass(self) -> np.ndarray:
        """(n_clumps,) [kg]."""
        return self._state.column("mass")

    @observable
    def position(self) -> np.ndarray:
        """(n_clumps, 3) centres of mass, lab frame [m]; in a periodic box without jumps at its faces."""
        return self._state.column("position")

    @observable
    def wrapped_position(self) -> np.ndarray:
        """(n_clumps, 3) `position` moved by whole lengths of the periodic box into it, lab frame [m]."""
        position, box = self._state.column("position"), self._state.box
        return position if box is None else box.wrapped(position)

    @observable
    def image(self) -> np.ndarray:
        """(n_clumps, 3) int64, by how many lengths of the periodic box `position` is outside; 0 along open axes."""
        position, box = self._state.column("position"), self._state.box
        return np.zeros(position.shape, dtype=np.int64) if box is None else box.image(position)

    @observable
    def orientation(self) -> np.ndarray:
        """(n_clumps, 4) unit quaternions (w, x, y, z), template frame -> lab frame."""
        return multiply(self._state.column("orientation"), frames_to_drawn(self._state))

    @observable
    def velocity(self) -> np.ndarray:
        """(n_clumps, 3) of the centres of mass, lab frame [m/s]."""
        return self._rates()[0]

    @observable
    def angular_velocity(self) -> np.ndarray:
        """(n_clumps, 3) lab frame [rad/s]."""
        return rotate(self._state.column("orientation"), self._rates()[1])

    @observable
    def body_angular_velocity(self) -> np.ndarray:
        """(n_clumps, 3) principal frame [rad/s]."""
        return self._rates()[1]

    @observable
    def force(self) -> np.ndarray:
        """(n_clumps, 3) gravity included, lab frame [N]."""
        if not self._loop.forces_known:
            self._loop.evaluate()
        return self._state.column("force")

    @observable
    def torque(self) -> np.ndarray:
        """(n_clumps, 3) about the centres of mass, lab frame [N m]."""
        if not self._loop.forces_known:
            self._loop.evaluate()
        return rotate(self._state.column("orientation"), self._state.column("torque"))

    @observable
    def sphere_radii(self) -> np.ndarray:
        """(n_spheres,) [m]."""
        return self._of_spheres()[:, 3].copy()

    @observable
    def sphere_clump(self) -> np.ndarray:
        """(n_spheres,) int, index of the clump of each sphere."""
        return np.repeat(np.arange(self.n_clumps), self._state.bodies.sizes[self._state.template_index])

    @exclusive
    def sphere_centers(self) -> np.ndarray:
        """(n_spheres, 3) lab frame [m]; in a periodic box next to the `position` of their clump."""
        self._loop.pose()
        return self._of_spheres()[:, :3].copy()

    @exclusive
    def energy(self, contacts: np.ndarray | None = None, shadow: bool = False) -> Energy:
        """Energies at the whole step.

        Parameters
        ----------
        contacts : structured array (n,), optional
            The result of `contacts()` at this instant, if available, to avoid computing it again.
        shadow : bool
            Compute `Energy.shadow`, which `Energy.lasting` needs, as well.
        """
        contacts = self.contacts() if contacts is None else contacts
        velocity, rate = self._rates()
        terms = self._shadow_terms(contacts, velocity, rate) if shadow else None
        return measure(self._loop, self.gravity, contacts, (velocity, rate), terms)

    def _shadow_terms(self, contacts, velocity, rate):
        if not len(contacts):
            return 0.0
        if not self._loop.forces_known:
            self._loop.evaluate()
        return shadow_terms(contacts, self._state, velocity, rate, self.gravity, self.dt, self._law.power)

    @exclusive
    def linear_momentum(self) -> np.ndarray:
        """(3,) lab frame [kg m/s]."""
        return np.sum(self._state.column("mass")[:, None] * self._rates()[0], axis=0)

    @exclusive
    def angular_momentum(self, about: ArrayLike = (0.0, 0.0, 0.0)) -> np.ndarray:
        """(3,) angular momentum about the point `about` (3,) [m], lab frame [kg m2/s].

        Of `position` in unbounded space. A contact across the faces of a periodic box changes it: see `Simulation`.
        """
        velocity, rate = self._rates()
        spin = rotate(self._state.column("orientation"), self._state.column("inertia") * rate)
        arm = self._state.column("position") - finite_array("about", about, (3,))
        return np.sum(np.cross(arm, self._state.column("mass")[:, None] * velocity) + spin, axis=0)

    def _rates(self):
        """(velocity lab, angular velocity body) at the whole step."""
        if not self._loop.forces_known and self._loop.started.any():
            self._loop.evaluate()
        return self._loop.rates()

    def _of_spheres(self):
        """(n_spheres, 4) centres and radii, in the user's order; next to the positions of the clumps."""
        state = self._state
        spheres = state.spheres.reshape(-1, 4).take(state.sphere_slot, axis=0)
        if state.box is not None:
            sizes = state.bodies.sizes[state.template_index]
            spheres[:, :3] += np.repeat(state.shift * state.box.length, sizes, axis=0)
        return spheres
