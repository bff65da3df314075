"""What can be read of a simulation at any time, without changing it."""
import numpy as np

from minidem.analysis import energy as energies
from minidem.contact.contact_table import columns
from minidem.core.checks import finite_array
from minidem.core.guard import exclusive
from minidem.core.quaternions import multiply, rotate
from minidem.core.read_only import read_only
from minidem.state.bodies import frames_to_drawn


def observable(method):
    """A property that hands out an array nobody else refers to, as a `ReadOnlyArray`."""
    name = method.__name__
    return property(exclusive(lambda self: read_only(name, method(self))), doc=method.__doc__)


class Observables:
    """Everything at the whole step: leapfrog velocities are completed by half a step on the way out.

    Arrays are copies, in the order in which clumps were added.
    """

    @property
    def _state(self):
        return self._loop.state

    @property
    def n_clumps(self):
        return self._state.n_clumps

    @property
    def n_spheres(self):
        return self._state.n_spheres

    @property
    def templates(self):
        """The ClumpTemplates in use, a tuple; `template_index` (n_clumps,) says which clump has which."""
        return tuple(self._state.templates)

    @observable
    def template_index(self):
        """(n_clumps,) number of each clump's template in `templates`"""
        return self._state.template_index.copy()

    @observable
    def scale(self):
        """(n_clumps,) of the lengths of each clump to those of its template"""
        return self._state.scale.copy()

    @property
    def threads(self):
        """Threads that the time loop uses."""
        return self._loop.threads

    @property
    @exclusive
    def statistics(self):
        """Skins, sizes and renewals of the Verlet lists, since clumps were last added; a dict."""
        return self._loop.statistics

    @property
    def step_count(self):
        return self._loop.step_count

    @property
    def time(self):
        """[s]"""
        return self.step_count * self.dt

    @observable
    def mass(self):
        """(n_clumps,) [kg]"""
        return self._state.column("mass")

    @observable
    def position(self):
        """(n_clumps, 3) centres of mass, lab [m]"""
        return self._state.column("position")

    @observable
    def orientation(self):
        """(n_clumps, 4) quaternions w x y z, template frame -> lab"""
        return multiply(self._state.column("orientation"), frames_to_drawn(self._state))

    @observable
    def velocity(self):
        """(n_clumps, 3) lab [m/s]"""
        return self._rates()[0]

    @observable
    def angular_velocity(self):
        """(n_clumps, 3) lab [rad/s]"""
        return rotate(self._state.column("orientation"), self._rates()[1])

    @observable
    def body_angular_velocity(self):
        """(n_clumps, 3) along the principal axes [rad/s]"""
        return self._rates()[1]

    @observable
    def force(self):
        """(n_clumps, 3) lab, gravity included [N]"""
        if not self._loop.forces_known:
            self._loop.evaluate()
        return self._state.column("force")

    @observable
    def torque(self):
        """(n_clumps, 3) about the centres of mass, lab [N m]"""
        if not self._loop.forces_known:
            self._loop.evaluate()
        return rotate(self._state.column("orientation"), self._state.column("torque"))

    @observable
    def sphere_radii(self):
        """(n_spheres,) [m]"""
        return self._of_spheres()[:, 3].copy()

    @observable
    def sphere_clump(self):
        """(n_spheres,) the clump of each sphere"""
        return np.repeat(np.arange(self.n_clumps), self._state.bodies.sizes[self._state.template_index])

    @exclusive
    def sphere_centers(self):
        """(n_spheres, 3) lab [m]"""
        self._loop.pose()
        return self._of_spheres()[:, :3].copy()

    @exclusive
    def contacts(self):
        """All contacts at this instant, a structured array with the fields

        clump_i, clump_j, sphere_i, sphere_j : the two; -1 - k in both j fields for wall k
        overlap [m], normal (3,) from j to i, force (3,) on i [N], point (3,) [m], energy [J]

        `contact_columns` has the same as columns of one number each.
        """
        if not self._loop.contacts_known:
            self._loop.evaluate()
        return self._loop.contacts()

    def contact_columns(self):
        """All contacts at this instant as a dict of arrays (n,), vectors as normal_x, normal_y, normal_z.

        What tables are made of: `pandas.DataFrame(sim.contact_columns())`.
        """
        return columns(self.contacts())

    @exclusive
    def energy(self, contacts=None):
        """Translational, rotational, elastic and potential energy at the whole step: an `Energy` [J].

        contacts : those of this instant, if they are at hand, so that they are not looked up twice
        """
        velocity, rate = self._rates()
        elastic = (self.contacts() if contacts is None else contacts)["energy"]
        return energies.measure(self._state.column("mass"), self._state.column("inertia"),
                                self._state.column("position"), velocity, rate, elastic, self.gravity)

    @exclusive
    def linear_momentum(self):
        """(3,) lab [kg m/s]"""
        return energies.linear_momentum(self._state.column("mass"), self._rates()[0])

    @exclusive
    def angular_momentum(self, about=(0.0, 0.0, 0.0)):
        """(3,) about a point of the lab [kg m2/s]"""
        velocity, rate = self._rates()
        spin = rotate(self._state.column("orientation"), self._state.column("inertia") * rate)
        return energies.angular_momentum(self._state.column("mass"), self._state.column("position"), velocity, spin,
                                         finite_array("about", about, (3,)))

    def _rates(self):
        """(velocity lab, angular velocity body) at the whole step."""
        if not self._loop.forces_known and self._loop.started.any():
            self._loop.evaluate()
        return self._loop.rates()

    def _of_spheres(self):
        """(n_spheres, 4) centres and radii, in the user's order."""
        return self._state.spheres.reshape(-1, 4).take(self._state.sphere_slot, axis=0)
