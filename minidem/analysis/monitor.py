"""What is wrong with a run that goes on: energy, overlaps, walls, the step, looked at with every row of the tables.

It sees the contacts that the row's energy was made of. While the deepest is harmless, that is all it looks at,
and a row costs it microseconds. What it finds is said once in a run, with numbers, a continued run included.
"""

import math
import warnings
from contextlib import contextmanager

import numpy as np

from minidem.analysis.diagnosis import beyond, relative_overlap
from minidem.analysis.energy_errors import scale_of, scale_parts
from minidem.core.quaternions import cross
from minidem.material import effective_modulus

DEEP = 0.1      # overlap over the smaller radius from which on Hertz's law, one of small overlaps, is doubtful


class Watch:
    """Over the run of `sim`.

    energies : its table of energies (recorder.py)
    said : the warnings given so far, kind -> text, to which new ones are added
    say : function of a text, called for each new warning
    energy_limit : relative energy error that ends the run, or None
    """

    def __init__(self, sim, energies, said, say, energy_limit=None):
        self.sim, self.energies, self.said, self.say = sim, energies, said, say
        self.energy_limit = math.inf if energy_limit is None else energy_limit
        self.radii = sim.sphere_radii
        self.parts = scale_parts(energies) if energies.rows and energy_limit is not None else (False, 0.0)
        eases = [ease_of_spheres(template) for template in sim.templates]
        self._ease = np.concatenate([eases[k] / scale ** 3 for k, scale in zip(sim.template_index, sim.scale)]
                                    or [np.zeros(0)])           # of each sphere
        self._harmless = self._harmless_overlap()

    def look(self, contacts):
        """At a new row of the table, and the contacts at that instant."""
        contacts = contacts[contacts["overlap"] > self._harmless]
        if len(contacts):
            for kind, find in (("overlap", self._overlap), ("wall", self._wall), ("step", self._step)):
                if kind not in self.said:
                    self.warn(kind, find(contacts))

    def warn(self, kind, text):
        """Say `text`, unless it is None or something of this kind was said before."""
        if text is not None and kind not in self.said:
            self.said[kind] = text
            self.say(text)

    def beyond_limit(self):
        """What is to be said when the last row of energies is beyond the limit; else None."""
        if self.energy_limit == math.inf:
            return None
        _, translational, rotational, _, potential, total = self.energies.rows[-1]
        first = self.energies.rows[0][-1]
        self.parts = self.parts[0] or potential != 0.0, max(self.parts[1], translational + rotational)
        scale, _ = scale_of(first, *self.parts)
        if scale is None or abs(total - first) <= self.energy_limit * scale:
            return None
        return (f"{self._now()}: the relative energy error {(total - first) / scale:+.3g} is beyond --energy-limit "
                f"{self.energy_limit:g}. Lower --dt, take another --integrator, or go on with --resume and a higher "
                "limit")

    def _harmless_overlap(self):
        """An overlap [m] up to which nothing here can be wrong with any contact.

        The stiffness 2 E* sqrt(R* d) of Hertz's law is the largest for the largest sphere at the stiffest wall,
        the ease of motion twice that of the most easily moved sphere at most. A centre behind a wall needs a
        sphere's centre behind it, an overlap of a radius: while all those are in front, the mirror image of
        what reaches behind the wall is inside the same spheres, and outweighs it.
        """
        sim, ease = self.sim, self._ease.max(initial=0.0)
        partners = [sim.material, *(wall.material or sim.material for wall in sim.walls)]
        modulus = max(effective_modulus(sim.material, partner) for partner in partners)
        stiffness = 1.0 / (2.0 * ease * sim.dt ** 2)
        return min(DEEP * self.radii.min(), (stiffness / (2.0 * modulus)) ** 2 / self.radii.max())

    def _overlap(self, contacts):
        relative = relative_overlap(contacts, self.radii)
        k = np.argmax(relative)
        if relative[k] <= DEEP:
            return None
        return (f"{self._now()}: {_names(contacts[k])} overlap by {contacts['overlap'][k]:.3g} m, "
                f"{beyond(relative[k], DEEP)} of the smaller radius (Hertz's law is one of small overlaps, up to "
                f"{DEEP:g}). Take a stiffer material or slower clumps")

    def _wall(self, contacts):
        at_wall = contacts[contacts["clump_j"] < 0]
        if not len(at_wall):
            return None
        clump, wall = at_wall["clump_i"], -1 - at_wall["clump_j"]
        normal, point = (np.array([getattr(w, name) for w in self.sim.walls]) for name in ("normal", "point"))
        height = np.sum((self.sim.position[clump] - point[wall]) * normal[wall], axis=1)
        k = np.argmin(height)
        if height[k] >= 0.0:
            return None
        return (f"{self._now()}: the centre of clump {clump[k]} has passed through wall {wall[k]} and is "
                f"{-height[k]:.3g} m behind it. The wall is too soft for its speed, or --dt too large")

    def _step(self, contacts):
        """sqrt(m/k) of a contact of stiffness k = dF/d(overlap); leapfrog becomes unstable at twice that."""
        force = np.sqrt(np.sum(contacts["force"] ** 2, axis=1))
        stiffness = 1.5 * force / contacts["overlap"]
        pair = contacts["sphere_j"] >= 0
        ease = self._ease[contacts["sphere_i"]]
        ease[pair] += self._ease[contacts["sphere_j"][pair]]
        rate_squared = stiffness * ease
        k = np.argmax(rate_squared)
        if self.sim.dt ** 2 * rate_squared[k] <= 1.0:
            return None
        limit = 1.0 / math.sqrt(rate_squared[k])
        return (f"{self._now()}: the step {self.sim.dt:g} s is {self.sim.dt / limit:.3g} times sqrt(m/k) = "
                f"{limit:.3g} s of the contact of {_names(contacts[k])} (k = {stiffness[k]:.3g} N/m; unstable from 2 "
                "on). Lower --dt")

    def _now(self):
        return f"step {self.sim.step_count} (time {self.sim.time:.6g} s)"


def ease_of_spheres(template):
    """(k,) largest acceleration of a sphere's centre, along the force, that a force of 1 N on it can give [1/kg].

    1/m + (c x n) I^-1 (c x n), with the centre c from the clump's centre of mass, for the worst direction n.
    """
    turns = cross(template.offsets[:, None], np.eye(3)[None])       # rows: c x e_k
    return 1.0 / template.mass + np.linalg.eigvalsh(turns / template.inertia @ turns.transpose(0, 2, 1))[:, -1]


def _names(contact):
    i, j = contact["clump_i"], contact["clump_j"]
    return f"clump {i} and " + (f"clump {j}" if j >= 0 else f"wall {-1 - j}")


@contextmanager
def overheard(texts):
    """Append the UserWarnings of the block to the list `texts` instead of showing them; others pass."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield
    for warning in caught:
        if warning.category is UserWarning:
            texts.append(str(warning.message))
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
