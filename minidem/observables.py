"""What can be read of a simulation at any time, without changing it."""
import numpy as np

from minidem import energy as energies
from minidem.checks import finite_array
from minidem.geometry.quaternions import conjugate, multiply, rotate


class Observables:
    """Everything at the whole step: leapfrog velocities are completed by half a step on the way out.

    Arrays are copies, in the order in which clumps were added.
    """

    @property
    def n_clumps(self):
        return self._state.n_clumps

    @property
    def n_spheres(self):
        return self._state.n_spheres

    @property
    def templates(self):
        """The ClumpTemplates in use; `template_index` (n_clumps,) says which clump has which."""
        return list(self._state.templates)

    @property
    def template_index(self):
        return self._state.template_index.copy()

    @property
    def threads(self):
        """Threads that the time loop uses."""
        return self._loop.threads

    @property
    def statistics(self):
        """Skins, sizes and renewals of the Verlet lists, since clumps were last added; a dict."""
        return self._loop.statistics

    @property
    def step_count(self):
        return self._first_step + self._loop.steps_done

    @property
    def time(self):
        """[s]"""
        return self.step_count * self.dt

    @property
    def mass(self):
        """(n_clumps,) [kg]"""
        return self._state.column("mass")

    @property
    def position(self):
        """(n_clumps, 3) centres of mass, lab [m]"""
        return self._state.column("position")

    @property
    def orientation(self):
        """(n_clumps, 4) quaternions w x y z, template frame -> lab"""
        drawn = np.array([t.orientation for t in self._state.templates]).reshape(-1, 4)[self._state.template_index]
        return multiply(self._state.column("orientation"), conjugate(drawn))

    @property
    def velocity(self):
        """(n_clumps, 3) lab [m/s]"""
        return self._rates()[0]

    @property
    def angular_velocity(self):
        """(n_clumps, 3) lab [rad/s]"""
        return rotate(self._state.column("orientation"), self._rates()[1])

    @property
    def body_angular_velocity(self):
        """(n_clumps, 3) along the principal axes [rad/s]"""
        return self._rates()[1]

    @property
    def force(self):
        """(n_clumps, 3) lab, gravity included [N]"""
        if not self._forces_known:
            self._evaluate()
        return self._state.column("force")

    @property
    def torque(self):
        """(n_clumps, 3) about the centres of mass, lab [N m]"""
        if not self._forces_known:
            self._evaluate()
        return rotate(self._state.column("orientation"), self._state.column("torque"))

    @property
    def sphere_radii(self):
        """(n_spheres,) [m]"""
        return self._of_spheres(self._state.spheres)[:, 3]

    @property
    def sphere_clump(self):
        """(n_spheres,) the clump of each sphere"""
        counts = np.array([len(t.radii) for t in self._state.templates], dtype=int)[self._state.template_index] \
            if self.n_clumps else np.zeros(0, dtype=int)
        return np.repeat(np.arange(self.n_clumps), counts)

    def sphere_centers(self):
        """(n_spheres, 3) lab [m]"""
        self._loop.pose()
        return self._of_spheres(self._state.spheres)[:, :3]

    def contacts(self):
        """All contacts at this instant, a structured array with the fields

        clump_i, clump_j, sphere_i, sphere_j : the two; -1 - k in both j fields for wall k
        overlap [m], normal (3,) from j to i, force (3,) on i [N], point (3,) [m], energy [J]
        """
        if not self._loop.contacts_known:
            self._evaluate()
        return self._loop.contacts()

    def energy(self, contacts=None):
        """Translational, rotational, elastic and potential energy at the whole step: an `Energy` [J].

        contacts : those of this instant, if they are at hand, so that they are not looked up twice
        """
        velocity, rate = self._rates()
        elastic = (self.contacts() if contacts is None else contacts)["energy"]
        return energies.measure(self.mass, self._state.column("inertia"), self.position, velocity, rate, elastic,
                                self.gravity)

    def linear_momentum(self):
        """(3,) lab [kg m/s]"""
        return energies.linear_momentum(self.mass, self.velocity)

    def angular_momentum(self, about=(0.0, 0.0, 0.0)):
        """(3,) about a point of the lab [kg m2/s]"""
        velocity, rate = self._rates()
        spin = rotate(self._state.column("orientation"), self._state.column("inertia") * rate)
        return energies.angular_momentum(self.mass, self.position, velocity, spin, finite_array("about", about, (3,)))

    def _rates(self):
        """(velocity lab, angular velocity body) at the whole step."""
        if not self._forces_known and self._started.any():
            self._evaluate()
        return self._synchronised()

    def _synchronised(self):
        """The same with the forces as they stand; clumps not yet started: as given."""
        given = self._state.column("velocity"), self._state.column("angular_velocity")
        if not self._started.any():
            return given
        new = ~self._started[:, None]
        return tuple(np.where(new, g, s) for g, s in zip(given, self._loop.synchronise()))

    def _of_spheres(self, rows):
        return rows.reshape(-1, 4)[self._state.sphere_slot]
