"""Which clumps a simulation has: added at the start or between two steps, and removed.

Each change prepares another `Driver`, and replaces the old one by one assignment.
"""
from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from minidem.analysis.diagnosis import DEEPEST_START, refuse_coincidence, refuse_deep_overlaps, warn_of_large_step
from minidem.analysis.energy import measure
from minidem.analysis.observables import Observables
from minidem.core.checks import short_repr
from minidem.core.guard import exclusive
from minidem.material import Material
from minidem.state.clump_input import clump_columns
from minidem.templates.clump_template import ClumpTemplate

FEW = 64                # so few new clumps are compared with all others; for more the lists are faster


class Clumps(Observables):
    """Base class of `Simulation`: the methods that change which clumps it has."""

    @exclusive
    def add_clumps(self, template: ClumpTemplate, position: ArrayLike, orientation: ArrayLike = (1.0, 0.0, 0.0, 0.0),
                   velocity: ArrayLike = (0.0, 0.0, 0.0), angular_velocity: ArrayLike = (0.0, 0.0, 0.0),
                   scale: ArrayLike = 1.0, material: Material | None = None) -> np.ndarray:
        """Add clumps of one template. Many clumps are added fastest in one call.

        Parameters
        ----------
        template : ClumpTemplate
        position : (n, 3)
            Centres of mass, lab frame [m].
        orientation : (n, 4) or (4,)
            Quaternions (w, x, y, z), template frame -> lab.
        velocity : (n, 3) or (3,)
            Lab frame [m/s].
        angular_velocity : (n, 3) or (3,)
            Lab frame [rad/s].
        scale : (n,) or float
            Factor of all lengths of a clump, about its centre of mass; mass scales with its cube, inertia with its
            fifth power.
        material : Material, optional
            Of these clumps; default: the simulation's.

        Returns
        -------
        (n,) int64
            Ids of the new clumps (`ids`). They are indices, too, unless clumps were removed before.

        Raises
        ------
        ValueError
            For a bad value, an overlap with another clump or a wall of more than a tenth of the smaller radius, a
            missing pair, a template of another density than the material, or a clump too large for the periodic box.
            Nothing is added then.
        """
        material = self.material if material is None else material
        columns = clump_columns(template, position, orientation, velocity, angular_velocity, scale, material)
        if self._state.box is not None:
            self._state.box.refuse_large(template, columns[-1])
        self._add(template, columns, material)
        return self._loop.population.ids[self.n_clumps - len(columns[0]):].copy()

    def _add(self, template, columns, material):
        old = self._loop
        pair_table, first = old.pair_table.with_material(material), old.state.n_clumps
        state = old.state.with_clumps(template, *columns, pair_table.index(material))
        n = state.n_clumps - first
        if n > FEW:
            refuse_coincidence(template, *columns[:2], columns[-1], first)
        new = self._make_loop(state, pair_table, old.step_count, old.user_forces,
                              started=np.concatenate([old.started, np.zeros(n, dtype=bool)]), **old.past(n))
        if n > FEW or old.user_forces:
            new.evaluate()
            if new.extremes()[1] > DEEPEST_START * state.spheres[:, :, 3].take(state.sphere_slot).min():
                refuse_deep_overlaps(new.contacts(), state, first)      # a list that takes more memory than the state
        else:
            refuse_deep_overlaps(new.contacts_of_last(n), state, first)
        warn_of_large_step(self, new, first)
        self._monitor.check_materials(self, [material])
        self._exchange(new)

    @exclusive
    def remove_clumps(self, ids: ArrayLike) -> None:
        """Remove clumps, and their contacts.

        Parameters
        ----------
        ids : (n,) array_like of int
            Ids of the clumps (`sim.ids`), each once. The others keep their ids; indices close up.

        Raises
        ------
        ValueError
            For an id that is not present, or given twice. Nothing is removed then.

        Notes
        -----
        Positions and velocities of the other clumps do not change. Forces on clumps that were in contact with removed
        ones are evaluated again at the same pose, as are all if there are user forces; the history of the other
        contacts continues. The next step begins with half a step back for these clumps, as for new ones.
        `sim.energy()` keeps what was dissipated at removed clumps and the work on them; the energy that leaves is in
        `exchanged`, so that `balance` is continuous. Many clumps are removed fastest in one call.
        """
        gone = self._marked(ids)
        if not gone.any():
            return
        self._user_forces.check()
        old, changed = self._loop, self._with_changing_forces(gone)
        state = old.state.without(gone)
        for name, rates in zip(("velocity", "angular_velocity"), old.rates()):
            rates = np.where(changed[:, None], rates, old.state.column(name))
            state.set_column(name, rates[~gone])
        self._exchange(self._make_loop(
            state, old.pair_table, old.step_count, old.user_forces, started=(old.started & ~changed)[~gone],
            forces_known=not changed[~gone].any(), **old.past_without(gone)))

    def _marked(self, ids):
        """(n_clumps,) bool, the clumps with these ids."""
        given, present = np.asarray(ids), self._loop.population.ids
        if given.ndim != 1 or given.size and given.dtype.kind not in "iu":
            raise ValueError(f"ids = {short_repr(ids)}: give a list of whole numbers, as in sim.ids")
        wanted, counts = np.unique(given, return_counts=True)
        unknown = wanted[~np.isin(wanted, present)]
        if len(unknown):
            raise ValueError(f"ids: there is no clump with the id {unknown[0]}; sim.ids has those that are present")
        if (counts > 1).any():
            raise ValueError(f"ids: {wanted[np.argmax(counts > 1)]} is given {counts.max()} times; give each id once")
        return np.isin(present, wanted)

    def _with_changing_forces(self, gone):
        """(n_clumps,) bool, the clumps on which forces change if those marked in `gone` vanish.

        Forces are known at the present pose afterwards. An onset correction depends on the other forces on both clumps.
        """
        contacts = self.contacts()
        i, j = (contacts[name][contacts["clump_j"] >= 0] for name in ("clump_i", "clump_j"))
        changed = np.full(len(gone), self._loop.user_forces is not None)
        for _ in range(2 if self._law.corrects_onsets(self._law_parameters) else 1):
            reached = gone | changed
            changed[np.concatenate([j[reached[i]], i[reached[j]]])] = True
        return changed

    def _exchange(self, new):
        """Replace the loop by one with other clumps. From the first step on the energy balance is continuous."""
        old = self._loop
        if old.step_count:
            before, after = (measure(loop, self.gravity).balance for loop in (old, new))
            new.population = replace(new.population, exchanged=new.population.exchanged + (after - before))
        self._loop = new
