"""Topic of a `Simulation`: clumps that break into fragments, or change their size."""
from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from minidem.analysis.contacts import pair_keys
from minidem.analysis.diagnosis import (
    DEEPEST_START,
    ROUNDING,
    DeepOverlap,
    format_above,
    relative_overlap,
    warn_of_large_step,
)
from minidem.core.checks import LARGEST, finite_array, non_negative, short_repr, unit_quaternions
from minidem.core.guard import exclusive
from minidem.core.quaternions import cross, multiply, rotate, rotate_back
from minidem.engine.reader import Reader
from minidem.fields.field import set_capacities
from minidem.material import Material, require_materials
from minidem.simulation.clumps import Clumps, checked_density, marked
from minidem.state.bodies import FREE_HOLD, as_numbers
from minidem.templates.clump_template import template_scales
from minidem.templates.fragments import Fragments, same
from minidem.walls.wall import with_names

FURTHER = 1.1           # of the deepest overlap, to which one step of growth may lead


class Breakage(Clumps):
    """Clumps break: fragments replace them. And clumps grow or shrink."""

    @exclusive
    def replace(self, ids: ArrayLike, fragments: Fragments, *, orientation: ArrayLike | None = None,
                material: Material | None = None, overlap: float | None = None) -> np.ndarray:
        """Replace clumps of one template by fragments, many in one call, which costs as one `add_clumps`.

        The fragments move as one rigid body. Mass, momentum and angular momentum are conserved within rounding; from
        the first step on, what the energy changes is in `energy().breakage`: see the guide, breakage.

        Parameters
        ----------
        ids : (n,) array_like of int
            Ids of the clumps, each once.
        fragments : Fragments
            A pattern for clumps of this template, of any scale.
        orientation : (n, 4) or (4,) array_like, optional
            Quaternions (w, x, y, z) of the pattern, input frame of the parent -> lab. Default: of each clump.
        material : Material, optional
            Of the fragments. Default: of each clump.
        overlap : float, optional
            Largest overlap of a fragment, over the smaller radius, below 2. Default: none with a fragment of the same
            clump, and with others and walls no more [m] than the clump had.

        Returns
        -------
        (n, len(fragments)) int64
            Ids of the fragments.

        Raises
        ------
        ValueError
            For an unknown id, a clump that is held or of another template, fragments of another density than their
            material, or a larger overlap. Nothing changes then.

        Notes
        -----
        Contacts and bonds of the clumps end, and springs of friction at the fragments begin at zero. Fields with a
        capacity per mass keep their values, those of others are shared out by mass.
        """
        if not isinstance(fragments, Fragments):
            raise ValueError(f"fragments = {short_repr(fragments)}: give minidem.Fragments, such as "
                             "minidem.Fragments.packed(template, 10)")
        if overlap is not None and not non_negative("overlap", overlap) < 2.0:
            raise ValueError(f"overlap = {overlap}: give a number below 2, the overlap of spheres in one place")
        (gone, clumps), reader, n = marked(ids, self.reader.population.ids), self.reader, len(fragments)
        if not gone.any():
            return np.zeros((0, n), dtype=np.int64)
        other = np.setdiff1d(ids, fragments.parents(self))
        if len(other):
            raise ValueError(f"ids: clump {other[0]} is not of the template that the fragments are for; give ids of "
                             "fragments.parents(sim)")
        if reader.held:
            held = (as_numbers(self.loop.state.hold[clumps]) != as_numbers(FREE_HOLD)).any(axis=1)
            if held.any():
                raise ValueError(f"ids: clump {reader.population.ids[clumps[np.argmax(held)]]} is held; free it first "
                                 "by sim.set_motion(ids)")
        reader.user_forces.check()
        of_clump, snapshot = np.repeat(clumps, n), self._with_new_forces(self.loop.snapshot())
        table, index = snapshot.pair_table, reader.material_index[of_clump]
        if material is not None:
            require_materials(material=material)
            table = table.with_material(material)
            index = np.full_like(index, table.index(material))
        scale, columns = self._motion(clumps, fragments, orientation)
        for template in dict.fromkeys(fragments.templates):
            for one in np.unique(index):
                checked_density(table.materials[one], template)
        share = np.tile(fragments.masses / fragments.parent.mass, len(clumps))[:, None]
        values = {field.name: value[of_clump].reshape(len(of_clump), -1) * (1.0 if field.per_mass else share)
                  for field, value in zip(reader.population.fields, reader.fields().values())}
        snapshot = replace(snapshot, pair_table=table).without(gone)
        bodies, numbers, first = snapshot.state.bodies, [], snapshot.state.n_clumps
        for template in fragments.templates:
            bodies, number = bodies.including(next((one for one in bodies.templates if same(one, template)), template))
            numbers.append(number)
        state = snapshot.state.extended(bodies, np.tile(numbers, len(clumps)), scale.ravel(), index, **columns)
        if reader.box is not None:
            reader.box.refuse_large_clumps(state)
        new = self._loop_from(snapshot.extended(state, values))
        made = Reader(new)
        _refuse_deeper(reader, made, np.append(np.flatnonzero(~gone), of_clump), first, overlap)
        warn_of_large_step(self, made, first)
        self.monitor.check_landing(self, made, first)
        self.monitor.check_materials(self, [] if material is None else [material])
        self._exchange(new, "breakage")
        return new.population.ids[first:].reshape(len(clumps), n)

    @exclusive
    def set_scale(self, ids: ArrayLike, scale: ArrayLike) -> None:
        """Let clumps grow or shrink, about their centres of mass, between two runs or in a callback.

        Parameters
        ----------
        ids : (n,) array_like of int
            Ids of the clumps, each once.
        scale : (n,) array_like or float
            New factors of their lengths, as in `scale`: ``sim.set_scale(sim.ids, 1.001 * sim.scale)``.

        Raises
        ------
        ValueError
            For an unknown id, a clump at a pin, a scale out of range, or an overlap of more than a tenth of the smaller
            radius, if it is also a tenth above the deepest one of before. Nothing changes then.

        Notes
        -----
        Density and velocities remain. Contacts and bonds keep their springs and their effective mass, and fields their
        values. From the first step on, what the energy changes is in `energy().exchanged`: see the guide, breakage.
        """
        reader = self.reader
        (chosen, clumps), scales = marked(ids, reader.population.ids), reader.scale.copy()
        scales[clumps] = finite_array("scale", scale, (len(clumps),), repeat=True, limit=LARGEST)
        for k, template in enumerate(reader.templates):
            mine = scales[chosen & (reader.template_index == k)]
            template_scales(template, mine, len(mine))
        pinned = chosen & (self.loop.state.hold["arm"].any(axis=1) if reader.held else False)
        if pinned.any():
            raise ValueError(f"ids: clump {reader.population.ids[np.argmax(pinned)]} is held at a pin; free it first "
                             "by sim.set_motion(ids)")
        if not len(clumps):
            return
        reader.user_forces.check()
        snapshot = self._with_new_forces(self.loop.snapshot())
        state = snapshot.state.copy(scale=scales)
        if reader.box is not None:
            reader.box.refuse_large_clumps(state)
        set_capacities(snapshot.population, state)
        new = self._loop_from(replace(snapshot, state=state))
        new.evaluate(renews=True)
        made = Reader(new)
        before, after = (relative_overlap(one.deep_contacts(), one.sphere_radii()) for one in (reader, made))
        deepest, found = before.max(initial=0.0), after.max(initial=0.0)
        if found > max(DEEPEST_START, FURTHER * deepest):
            k = reader.population.ids[made.deep_contacts()["clump_i"][np.argmax(after)]]
            raise DeepOverlap(f"scale: clump {k} has then an overlap of {found:.3g} of the smaller radius; the deepest "
                              f"now is {deepest:.3g}. Grow in smaller steps, with runs between; a scale is a factor of "
                              "the template, as in sim.scale")
        if reader.rayleigh_step() >= self.dt:                   # else it was above before: one warning is enough
            warn_of_large_step(self, made, 0)
        self._exchange(new)

    def _motion(self, clumps, fragments, orientation):
        """Scales (k, n) of n fragments of each of the clumps (k,), and columns (k, n, ...) by name."""
        reader = self.reader
        frame, size = reader.column("orientation")[clumps], reader.scale[clumps, None]
        pattern = multiply(frame, reader.template_frames()[clumps]) if orientation is None else \
            unit_quaternions("orientation", orientation, len(clumps))
        velocity, rate = (values[clumps] for values in reader.rates())
        momentum = rotate_back(pattern, rotate(frame, reader.column("inertia")[clumps] * rate))
        a, b, c = np.asarray(fragments.inertia)
        inverse = np.stack([cross(b, c), cross(c, a), cross(a, b)], axis=1) / np.sum(a * cross(b, c))
        spin = rotate(pattern, np.sum(inverse * momentum[:, None], axis=2) / size ** 5)[:, None]
        arms = rotate(pattern[:, None], fragments.offsets * size[:, None])
        own = multiply(fragments.orientations, [template.orientation for template in fragments.templates])
        turned = multiply(pattern[:, None], own)
        return size * fragments.scales, {
            "position": reader.column("position")[clumps, None] + arms, "orientation": turned,
            "velocity": velocity[:, None] + cross(spin, arms), "angular_velocity": rotate_back(turned, spin)}


def _refuse_deeper(old, new, origin, first, limit):
    """Raise DeepOverlap for a fragment that overlaps something more than it may.

    old, new : Readers; origin : (n_clumps,) index in `old` of each clump of `new`, or of the clump that it was part of
    first : index of the first fragment in `new`;  limit : of the overlap over the smaller radius; None: as in `old`
    """
    contacts, before = (one.deep_contacts(0.0) for one in (new, old))
    contacts = contacts[np.maximum(contacts["clump_i"], contacts["clump_j"]) >= first]
    relative = relative_overlap(contacts, new.sphere_radii())
    allowed = np.full(len(contacts), limit)
    if limit is None:
        bodies = np.append(_bodies(contacts, origin), _bodies(before, np.arange(old.n_clumps)))
        _, pair = np.unique(bodies, return_inverse=True)
        deepest = np.zeros(len(bodies))
        np.maximum.at(deepest, pair[len(contacts):], before["overlap"])
        allowed = relative * (deepest[pair[:len(contacts)]] / contacts["overlap"])
    deep = relative > allowed + ROUNDING
    if not deep.any():
        return
    k, ids = int(np.argmax(np.where(deep, relative, 0.0))), old.population.ids
    j, i = sorted((contacts["clump_i"][k], contacts["clump_j"][k]))
    other = (with_names(f"wall {-1 - j}", new.walls) if j < 0 else f"clump {ids[origin[j]]}" if j < first else
             "another one of them" if origin[i] == origin[j] else f"a fragment of clump {ids[origin[j]]}")
    part = format_above(relative[k], allowed[k])
    raise DeepOverlap(f"fragments: a fragment of clump {ids[origin[i]]} would overlap {other} by "
                      f"{contacts['overlap'][k]:.6g} m, {part} of the smaller radius; the limit is {allowed[k]:.3g}, "
                      "by default what the clump had before. Give smaller fragments, or replace(..., overlap=...) "
                      f"above {part}, whose energy drives them apart")


def _bodies(contacts, clump):
    """One number for the two bodies of each contact; clump : what stands for each clump of the contacts."""
    ends = np.column_stack([contacts["clump_i"], contacts["clump_j"]])
    return pair_keys(np.sort(np.where(ends < 0, ends, clump.take(ends, mode="clip")), axis=1))
