"""Topic of a `Simulation`: its materials and gravity, which may change between two steps."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from minidem.analysis.energy import measure
from minidem.core.checks import LARGEST, check_call, finite_array, short_repr
from minidem.core.guard import exclusive
from minidem.engine.reader import Reader
from minidem.material import Material, Pair, label_of, require_materials
from minidem.simulation.forces import Force
from minidem.simulation.topic import Topic
from minidem.walls.wall_table import WallPrimitives


class Weight:
    """The weight of all clumps in a gravity that changes, as a user force; gravity : function of the time."""

    def __init__(self, gravity):
        self.gravity = gravity

    def __call__(self, t, x, v, q, w, *, mass):
        return mass[:, None] * np.array(checked_gravity(self.gravity(t))), np.zeros_like(x)


class Conditions(Topic):
    """Materials and gravity."""

    @exclusive
    def set_material(self, old: Material, new: Material) -> None:
        """Give all clumps and walls of one material another one, such as one with less friction.

        Parameters
        ----------
        old : Material
            One of `materials`.
        new : Material
            With the same density, or without one. Pairs of `old` become pairs of `new`, with the values that they
            have; `set_pair` changes them.

        Raises
        ------
        ValueError
            If `old` is not in use, or `new` is a material of others already, or has another density. Nothing changes
            then.

        Warns
        -----
        UserWarning
            For a property that the contact law does not read.

        Notes
        -----
        It may be called between two runs and in a callback. Contacts keep their springs with the forces that they have.
        Springs beyond a new limit slide at this instant; what they lose is in `energy().dissipated_sliding` and
        `dissipated_rolling`. What the springs gain or lose with a new stiffness is in `energy().work`. An `Inlet` keeps
        the material that it was given.
        """
        require_materials(old=old, new=new)
        if old not in self.reader.materials:
            known = ", ".join(map(label_of, self.reader.materials))
            raise ValueError(f"old = {label_of(old)}: the simulation has {known}")
        if new in self.reader.materials and new != old:
            raise ValueError(f"new = {label_of(new)}: other clumps or walls have this material; give this one a name "
                             "of its own, dataclasses.replace(new, name='...')")
        if new.density is not None:
            other = self.reader.densities()[self.reader.material_index == self.reader.materials.index(old)]
            if (other != new.density).any():
                raise ValueError(f"new has the density {new.density}, and clumps of this material have "
                                 f"{other[other != new.density][0]:g}; masses do not change, leave the density out")
        snapshot = self.loop.snapshot()
        if any(wall.material == old for wall in self.reader.walls):
            walls = tuple(replace(wall, material=new) if wall.material == old else wall for wall in self.reader.walls)
            snapshot = replace(snapshot, walls=WallPrimitives(walls, snapshot.walls.periodic))
        self._continue_under(snapshot.with_materials(snapshot.pair_table.with_material_replaced(old, new)))
        self.monitor.check_materials(self, (new,))

    @exclusive
    def set_pair(self, pair: Pair) -> None:
        """Give contacts between two materials other properties; as `set_material` does.

        Parameters
        ----------
        pair : Pair
            It replaces the one of the same materials, if there is one.

        Raises
        ------
        ValueError
            For properties that the contact law reads and the pair does not give. Nothing changes then.

        Warns
        -----
        UserWarning
            For a property that the contact law does not read.
        """
        if not isinstance(pair, Pair):
            raise ValueError(f"pair = {short_repr(pair)}: give a minidem.Pair(a, b, ...)")
        snapshot = self.loop.snapshot()
        self._continue_under(snapshot.with_materials(snapshot.pair_table.with_pair(pair)))
        self.monitor.check_materials(self, (pair,))

    @exclusive
    def set_gravity(self, gravity: ArrayLike | Callable) -> None:
        """Change gravity from now on.

        Parameters
        ----------
        gravity : (3,) array_like, or function
            Acceleration, lab frame [m/s2]; or a function of the time [s] that returns it, in Python, which is called in
            each step.

        Raises
        ------
        ValueError
            For what is not finite, or not three numbers.

        Notes
        -----
        What clumps gain in `energy().potential` is in `energy().work`. A gravity that is a function is a user force,
        the last of `sim.forces.functions`: its work is in `energy().work`, and `gravity` is zero. A checkpoint does
        not contain it; call `set_gravity` again after `load`.
        """
        weight = ()
        if callable(gravity):
            check_call("gravity", gravity, "t")
            checked_gravity(gravity(self.loop.step_count * self.dt))
            weight, gravity = (Force(Weight(gravity)),), (0.0, 0.0, 0.0)
        snapshot, forces = self.loop.snapshot(), self.reader.user_forces
        if weight and not forces.complete:              # of a file
            self.continue_from(snapshot.with_force(*weight))
            return
        kept = tuple(force for force in forces.forces if not isinstance(force.function, Weight))
        if len(kept) < len(forces.forces):
            snapshot = snapshot.without_forces(*self.reader.rates(), kept)
        for force in weight:
            snapshot = snapshot.with_force(force)
        self._continue_under(replace(snapshot, gravity=checked_gravity(gravity)))

    def _continue_under(self, snapshot):
        """Continue from a snapshot under other conditions; what the energy changes at this instant is work."""
        self.reader.user_forces.check()
        new = self._loop_from(self._with_new_forces(snapshot))
        new.evaluate(renews=snapshot.pair_table is not self.loop.pair_table)
        work = measure(Reader(new)).balance - measure(self.reader).balance
        new.population = replace(new.population, work=new.population.work + work)
        self.monitor.forget_energy()
        self._use(new)


def checked_gravity(gravity):
    """(3,) floats [m/s2], a tuple; ValueError unless they are finite."""
    return tuple((finite_array("gravity", gravity, (3,), limit=LARGEST) + 0.0).tolist())
