"""What analysis, output and scripts read of a time loop, by names: clumps, contacts, walls, fields, energies."""
from __future__ import annotations

from typing import Any

import numpy as np

from minidem.contact.friction import COEFFICIENT_INDEX
from minidem.contact.law import largest_sums
from minidem.contact.listing import with_history
from minidem.contact.pair_table import PROPERTIES
from minidem.engine.columns import COLUMNS
from minidem.fields.field import field_rows, field_values
from minidem.fields.slopes import rate_slopes
from minidem.holds.hold import carriers, immovable, motion_factors, pin_arms
from minidem.state.bodies import template_frames


class Reader:
    """Reads a `Driver` between two steps.

    Arrays are copies in the user's order of clumps and spheres, in SI units and the lab frame unless noted otherwise.

    Attributes
    ----------
    n_clumps, n_spheres : int
    templates : list of ClumpTemplate
    template_index, material_index : (n_clumps,) int32, in `templates` and `materials`; not to be changed
    scale : (n_clumps,) of the lengths of each clump to those of its template; not to be changed
    materials : tuple of Material
    walls : tuple of Wall
    wall_materials : (n_walls,) int32 indices in `materials`; not to be changed
    periodic : PeriodicBox, or None
    gravity : (3,) [m/s2]
    user_forces : UserForces
    held : whether a clump is held
    moves : whether a wall or the periodic box moves, or a clump is held, and may do work
    """

    def __init__(self, loop: Any):
        state = loop.state
        self._loop, self._state, self._pairs = loop, state, loop.pair_table
        self.n_clumps, self.n_spheres = state.n_clumps, state.n_spheres
        self.templates, self.template_index, self.scale = state.templates, state.template_index, state.scale
        self.material_index, self.materials, self.wall_materials = (
            state.material_index, loop.pair_table.materials, loop.pair_table.wall_index)
        self.walls, self.periodic, self.user_forces = loop.walls.walls, state.box, loop.user_forces
        self.gravity = loop.gravity
        self.held, self.moves = state.hold is not None, loop.moves

    @property
    def population(self) -> Any:
        """The Population: ids, fields, energies of removed clumps. Another object if any of these has changed."""
        return self._loop.population

    @property
    def box(self) -> Any:
        """The Box at this instant, or None."""
        return self._loop.box

    def snapshot(self) -> Any:
        """The Snapshot of this instant; the next step changes its state."""
        return self._loop.snapshot()

    # clumps

    def column(self, name: str) -> np.ndarray:
        """A quantity as the loop has it, (n_clumps,) or (n_clumps, width).

        mass [kg]; inertia (3,) principal moments [kg m2]; position (3,) in unbounded space [m]; orientation (4,)
        principal frame -> lab; velocity (3,) half a step before [m/s]; predicted_velocity (3,) [m/s] and predicted (3,)
        angular velocity, principal frame [rad/s], as user forces had them; force (3,) [N] of the last evaluation; the
        optional columns that the simulation has (engine/columns.py).
        """
        return self._state.column(name)

    def rates(self) -> tuple[np.ndarray, np.ndarray]:
        """Velocities (n_clumps, 3) [m/s], and angular velocities (n_clumps, 3) in the principal frame [rad/s], now."""
        return self._loop.rates()

    def template_frames(self) -> np.ndarray:
        """(n_clumps, 4) rotations, template frame -> principal frame."""
        return template_frames(self._state)

    def smallest_radii(self) -> np.ndarray:
        """(n_clumps,) of the smallest sphere of each clump [m]."""
        return self.scale * self._state.bodies.smallest.take(self.template_index)

    def largest_radii(self) -> np.ndarray:
        """(n_clumps,) of the largest sphere of each clump [m]."""
        return self.scale * self._state.bodies.largest.take(self.template_index)

    def bounding_radii(self) -> np.ndarray:
        """(n_clumps,) of the smallest spheres about the centres of mass that contain the clumps [m]."""
        of_template = np.array([template.bounding_radius for template in self.templates])
        return of_template.take(self.template_index) * self.scale

    def densities(self) -> np.ndarray:
        """(n_clumps,) [kg/m3]."""
        return self._state.bodies.density.take(self.template_index)

    def rayleigh_step(self, first: int = 0, end: int | None = None) -> float:
        """The smallest Rayleigh step of the spheres of the clumps first <= k < end [s]; infinite without any."""
        radius, density, index = (of_clumps[first:end] for of_clumps in (
            self.smallest_radii(), self.densities(), self.material_index))
        order = np.lexsort((radius * np.sqrt(density), index))
        smallest = order[np.unique(index[order], return_index=True)[1]]         # of each material
        return min((self.materials[index[k]].rayleigh_step(float(radius[k]), float(density[k])) for k in smallest),
                   default=np.inf)

    def immovable(self) -> np.ndarray:
        """(n_clumps,) bool, which clumps no force can move."""
        return immovable(self._state)

    def turns_freely(self) -> np.ndarray:
        """(n_clumps,) bool, which clumps are neither held by an axis or a pin nor kept from turning."""
        hold = self._state.hold
        return np.ones(self.n_clumps, dtype=bool) if hold is None else ~(
            (hold["turns"] == 0.0) | hold["axis"].any(axis=1) | hold["arm"].any(axis=1))

    def carriers(self) -> np.ndarray:
        """(n_clumps,) numbers of the walls that carry the clumps; -1: none."""
        return carriers(self._state)

    def motion_factors(self) -> tuple[Any, Any, Any]:
        """Factors by which energies and momenta count translation, rotation and weight of clumps: 0 where held."""
        return motion_factors(self._state)

    def pin_arms(self) -> np.ndarray | float:
        """(n_clumps, 3) vectors from the pins of held clumps to their centres of mass [m]; 0 of others."""
        return pin_arms(self._state)

    # spheres

    def sphere_counts(self) -> np.ndarray:
        """(n_clumps,) numbers of the spheres of the clumps."""
        return self._state.bodies.sizes[self.template_index]

    def sphere_radii(self) -> np.ndarray:
        """(n_spheres,) [m]."""
        return self._state.spheres[:, :, 3].take(self._state.sphere_slot)

    def spheres(self) -> np.ndarray:
        """(n_spheres, 4) centres and radii [m], next to the position of their clump, one clump after the other."""
        self._loop.pose()
        state = self._state
        spheres = state.spheres.reshape(-1, 4).take(state.sphere_slot, axis=0)
        if state.box is not None:
            spheres[:, :3] += np.repeat(state.shift * state.box.start.length, self.sphere_counts(), axis=0)
        return spheres

    def largest_force_sums(self) -> np.ndarray:
        """(n_spheres,) up to which the magnitudes of the forces of contacts on each sphere may sum up [N]."""
        settings = self._loop.settings
        return largest_sums(settings.law, settings.law_values, self._pairs, self.sphere_radii(),
                            np.repeat(self.material_index, self.sphere_counts()))

    # contacts and walls

    def contacts(self) -> np.ndarray:
        """Structured array (n,), as of `Simulation.contacts`."""
        settings = self._loop.settings
        with_records = settings.law.kernels_for(settings.law_values).sees_bodies         # of a user-defined law
        return with_history(*self.contacts_and_history()) if with_records else self.deep_contacts()

    def deep_contacts(self, above: float = -np.inf) -> np.ndarray:
        """The contacts with an overlap above a limit [m], without the history that laws of users have."""
        return self._loop.contacts(above)

    def deepest_overlap(self) -> float:
        """The largest overlap [m] at the end of a step."""
        return self._loop.deepest_overlap()

    def history(self) -> Any:
        """What the law keeps of contacts, see `read_history` (contact/history.pyx); None: it keeps nothing."""
        return self._loop.history()

    def contacts_and_history(self) -> tuple[np.ndarray, Any]:
        """`deep_contacts`, and `history` of the same contacts in the same order."""
        return self.deep_contacts(), self.history()

    def pair_properties(self) -> dict[str, np.ndarray]:
        """Properties of contacts between each two materials by name, (n, n) each: see `PairTable.properties`."""
        return self._pairs.properties(PROPERTIES)

    @property
    def exclusions(self) -> np.ndarray | None:
        """(n, n) bool, which two materials have a pair without contact; None: no two."""
        return self._pairs.exclusions

    def _coefficients(self, contacts, *names):
        """Coefficients (n,) of contacts of a law with dashpots, and contact radii (n,) [m], 1 of linear springs."""
        settings, pairs, radii = self._loop.settings, contacts["clump_j"] >= 0, self.sphere_radii()
        other = np.where(pairs, self.material_index.take(contacts["clump_j"], mode="clip"),
                         np.append(self.wall_materials, 0).take(-1 - contacts["clump_j"], mode="clip"))
        first, rows = self.material_index.take(contacts["clump_i"]), settings.law.coefficient_rows(
            self.pair_properties(), settings.law_values)
        inverse = 1.0 / radii[contacts["sphere_i"]] + pairs / radii[np.maximum(contacts["sphere_j"], 0)]
        radius = np.sqrt(np.maximum(contacts["overlap"], 0.0) / inverse) if settings.law.power > 1.0 else 1.0
        return *(rows[COEFFICIENT_INDEX[name]][first, other] for name in names), radius

    def dashpots(self, contacts: np.ndarray, mass: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Dashpots of contacts along and across the normals, (n,) each [N s/m].

        contacts : some of `deep_contacts`, of a law with dashpots;  mass : (n,) effective [kg], as of `history`
        """
        damping, tangential, friction, radius = self._coefficients(
            contacts, "damping", "tangential_damping", "friction")
        along = damping * np.sqrt(radius * mass)
        return along, np.where(friction > 0.0, tangential, 0.0) * along         # without friction none acts

    def stiffnesses(self, contacts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Stiffnesses of contacts along and across the normals, (n,) each [N/m], without those of bonds.

        contacts : some of `deep_contacts`; those that slide have none across
        """
        law = self._loop.settings.law
        if not law.dashpots:
            along = law.power * (law.power + 1.0) * contacts["energy"] / contacts["overlap"] ** 2
            return np.maximum(along, 0.0), np.zeros_like(along)
        stiffness, tangential, friction, radius = self._coefficients(
            contacts, "stiffness", "tangential_stiffness", "friction")
        sticks = (friction > 0.0) & ~contacts["sliding"]
        return law.power * stiffness * radius, np.where(sticks, tangential * radius, 0.0)

    def deepest_in_walls(self, spheres: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Largest overlaps of spheres (n, 4) with walls, (n,) [m], and the numbers of these walls (n,)."""
        return self._loop.deepest_in_walls(spheres)

    def servo_states(self) -> np.ndarray:
        """(n_walls, 2) displacements [m] and velocities [m/s] of walls that a force moves; 0 of others."""
        return self._loop.steering.servo_state(self._loop.step_count)

    # fields, user forces, energies

    def fields(self) -> dict[str, np.ndarray]:
        """Values of the fields by name, (n_clumps,), or (n_clumps, components) with more than one."""
        return field_values(self._state, self.population.components)

    def drawn(self) -> dict[str, np.ndarray]:
        """What frames show besides the arrays of all simulations: fields, and optional columns that are drawn."""
        return self.fields() | {one.name: self.column(one.name) for one in COLUMNS
                                if one.drawn and self.has_column(one.name)}

    def has_column(self, name: str) -> bool:
        """Whether the simulation has an optional column."""
        return name in self._state.optional

    def field_rows(self) -> np.ndarray:
        """(n_clumps, components of all fields, rows of a FieldBlock, see fields/rates.pxd)."""
        return field_rows(self._state)

    def rate_slopes(self, changes: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """Derivatives of rates of fields in contacts, by differences (components,), see slopes.pyx; None: none."""
        rates = self._loop.field_rates
        return None if rates is None else rate_slopes(rates, changes)

    def user_wrenches(self) -> tuple[np.ndarray, np.ndarray]:
        """The last user forces [N], and their torques in the principal frame [N m], (n_clumps, 3) each."""
        return self._loop.force_calls.last_wrenches(self._state)

    def user_forces_at(self, motion: np.ndarray) -> np.ndarray:
        """(n_clumps, 6) user forces and torques [N, N m], for velocities and angular velocities (n_clumps, 6)."""
        loop = self._loop
        wrench = loop.force_calls.wrenches_at(self._state, loop.step_count, motion)
        answers = self.user_forces.answers(loop, loop.step_count - loop.first_step, *np.split(motion, 2, axis=1))
        for force, torque, _ in answers:
            wrench += np.hstack([force, torque])
        return wrench

    def ledger(self) -> dict[str, np.ndarray]:
        """What `Snapshot` has of the energies since the start by name, `dissipated`, `fractures`, `wall_work`: those
        that may differ from zero."""
        return self._loop.ledger()
