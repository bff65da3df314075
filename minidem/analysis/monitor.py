"""Checks of a running simulation at every row of its tables: energy error, overlaps, walls, time step.

The checks use the contacts that were evaluated for the row's energy. If no overlap exceeds a bound below which no
check can fail, the cost of a row is microseconds. Each kind of warning is issued once per run, continued runs included.
"""

import math
import warnings
from contextlib import contextmanager

import numpy as np

from minidem.analysis.diagnosis import format_above, relative_overlap
from minidem.analysis.energy import energy_input, energy_scale
from minidem.contact.pair_table import PROPERTIES
from minidem.core.quaternions import cross
from minidem.walls import Plane

DEEP = 0.1      # overlap over the smaller radius above which a contact law for small overlaps is doubtful


class Monitor:
    """Checks of one run.

    Parameters
    ----------
    sim : Simulation
    energies : Table
        Its energies, a row for each check.
    issued : dict
        Warnings issued so far, kind -> text; new ones are added.
    report : callable
        Called with the text of each new warning.
    energy_limit : float, optional
        Relative error of the energy that ends the run; with dissipation in contacts, of the energy balance.
    """

    def __init__(self, sim, energies, issued, report, energy_limit=None):
        self.sim, self.energies, self.issued, self.report = sim, energies, issued, report
        self.energy_limit = math.inf if energy_limit is None else energy_limit
        self._measure_spheres()

    def _measure_spheres(self):
        """Radii and mobilities of the present spheres."""
        sim = self.sim
        self._ids, self.radii = sim.ids, sim.sphere_radii
        mobilities = [sphere_mobility(template) for template in sim.templates]
        self._mobility = np.concatenate([mobilities[k] / scale ** 3 for k, scale in zip(sim.template_index, sim.scale)]
                                        or [np.zeros(0)])       # of each sphere
        self._safe_overlap = self._largest_safe_overlap()

    def check(self, contacts):
        """Issue warnings for `contacts`, those at the last row of the table."""
        if not np.array_equal(self._ids, self.sim.ids):         # clumps came or went
            self._measure_spheres()
        contacts = contacts[contacts["overlap"] > self._safe_overlap]
        if len(contacts):
            for kind, find in (("overlap", self._overlap), ("wall", self._wall), ("step", self._step)):
                text = None if kind in self.issued else find(contacts)
                if text is not None:
                    self.issued[kind] = text
                    self.report(text)

    def exceeded_limit(self):
        """The reason to end the run if the last row exceeds the energy limit; else None."""
        if self.energy_limit == math.inf:
            return None
        conservative = self.sim._law.conservative and not any(wall.moves for wall in self.sim.walls)
        scale = energy_scale(self.energies)[0] if conservative else energy_input(self.energies) or None
        column = self.energies.columns.index("total" if conservative else "balance")
        change = self.energies.rows[-1][column] - self.energies.rows[0][column]
        if scale is None or abs(change) <= self.energy_limit * scale:
            return None
        return (f"{self._now()}: the relative energy error {change / scale:+.3g} is beyond --energy-limit "
                f"{self.energy_limit:g}. Lower --dt, take another --integrator, or go on with --resume and a higher "
                "limit")

    def _largest_safe_overlap(self):
        """An overlap [m] up to which no check of any contact can fail.

        The stiffness p k d^(p - 1) of a force k d^p is largest for the largest sphere at the stiffest wall; the
        mobility of a pair is at most twice the largest mobility. A clump's centre behind a wall requires a sphere's
        centre behind it, an overlap of a radius: while all centres of spheres are in front, the mirror image of
        what is behind the wall lies inside the same spheres and outweighs it.
        """
        sim, mobility = self.sim, self._mobility.max(initial=0.0)
        law, pair = sim._law, sim._loop.pair_table.properties(PROPERTIES)
        forces = law.normal_force(1.0, self.radii.max(initial=0.0), pair, sim._law_parameters)
        unit = law.power * np.nanmax(forces[np.unique(sim.material_index)], initial=0.0)     # stiffness at d = 1 m
        allowed = 1.0 / (2.0 * mobility * sim.dt ** 2 * unit) if mobility * unit > 0.0 else math.inf
        safe = allowed ** (1.0 / (law.power - 1.0)) if law.power > 1.0 else math.inf if allowed > 1.0 else 0.0
        return min(DEEP * self.radii.min(initial=math.inf), safe)

    def _overlap(self, contacts):
        relative = relative_overlap(contacts, self.radii)
        k = np.argmax(relative)
        if relative[k] <= DEEP:
            return None
        return (f"{self._now()}: {_names(contacts[k])} overlap by {contacts['overlap'][k]:.3g} m, "
                f"{format_above(relative[k], DEEP)} of the smaller radius (contact laws hold for small overlaps, up to "
                f"{DEEP:g}). Take a stiffer material or slower clumps")

    def _wall(self, contacts):
        walls = self.sim.walls_at_rest
        planes = [-1 - k for k, wall in enumerate(walls) if isinstance(wall, Plane)]
        at_wall = contacts[np.isin(contacts["clump_j"], planes)]
        if not len(at_wall):
            return None
        clump, wall = at_wall["clump_i"], -1 - at_wall["clump_j"]
        normal, point = (np.array([getattr(w, name, (0.0, 0.0, 0.0)) for w in walls]) for name in ("normal", "point"))
        height = np.sum((self.sim.position[clump] - point[wall]) * normal[wall], axis=1)
        k = np.argmin(height)
        if height[k] >= 0.0:
            return None
        return (f"{self._now()}: the centre of clump {clump[k]} has passed through wall {wall[k]} and is "
                f"{-height[k]:.3g} m behind it. The wall is too soft for its speed, or --dt too large")

    def _step(self, contacts):
        """dt against sqrt(m/k), k = dF/d(overlap), of the stiffest contact; leapfrog is unstable above twice that."""
        power = self.sim._law.power
        stiffness = power * (power + 1.0) * contacts["energy"] / contacts["overlap"] ** 2
        pair = contacts["sphere_j"] >= 0
        mobility = self._mobility[contacts["sphere_i"]]
        mobility[pair] += self._mobility[contacts["sphere_j"][pair]]
        rate_squared = stiffness * mobility
        k = np.argmax(rate_squared)
        if self.sim.dt ** 2 * rate_squared[k] <= 1.0:
            return None
        limit = 1.0 / math.sqrt(rate_squared[k])
        return (f"{self._now()}: the step {self.sim.dt:g} s is {self.sim.dt / limit:.3g} times sqrt(m/k) = "
                f"{limit:.3g} s of the contact of {_names(contacts[k])} (k = {stiffness[k]:.3g} N/m; unstable from 2 "
                "on). Lower --dt")

    def _now(self):
        return f"step {self.sim.step_count} (time {self.sim.time:.6g} s)"


def sphere_mobility(template):
    """(k,) largest acceleration along the force of a sphere's centre, per force on the sphere [1/kg].

    1/m + (c x n) I^-1 (c x n), with the centre c from the clump's centre of mass, for the worst direction n.
    """
    arms = cross(template.offsets[:, None], np.eye(3)[None])        # rows: c x e_k
    return 1.0 / template.mass + np.linalg.eigvalsh(arms / template.inertia @ arms.transpose(0, 2, 1))[:, -1]


def _names(contact):
    i, j = contact["clump_i"], contact["clump_j"]
    return f"clump {i} and " + (f"clump {j}" if j >= 0 else f"wall {-1 - j}")


@contextmanager
def capture_warnings(texts):
    """Append the UserWarnings of the block to the list `texts` instead of showing them; other warnings are shown."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield
    for warning in caught:
        if warning.category is UserWarning:
            texts.append(str(warning.message))
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
