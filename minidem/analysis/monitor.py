"""Checks of a running simulation; the guide (measurements) has a table of their warnings, and says when they look.

Most looks cost less than a step. Contacts are listed only where the largest overlap is above a bound up to which no
check can fail, and each time that the number of steps or the largest overlap has doubled (`_check_motion`).
"""
import math
import sys
import warnings

import numpy as np

from minidem import rotation
from minidem.analysis.damping import (
    alternating_rate,
    damped_bonds,
    damping_rate,
    exchange_rate,
    force_rate,
    spring_rate,
)
from minidem.analysis.diagnosis import format_above, relative_overlap
from minidem.analysis.energy import measure
from minidem.analysis.landing import flat_rate, sphere_mobility
from minidem.contact.registry import own_names, readers
from minidem.core.checks import Assumed
from minidem.core.quaternions import cross, rotate
from minidem.material import PAIR_PROPERTIES, Material, label_of
from minidem.meshes.mesh_repair import bodies, open_edges, oriented, surrounded
from minidem.walls.motion import Driven, placed
from minidem.walls.wall import with_names

DEEP = 0.1      # overlap over the smaller radius above which a contact law for small overlaps is doubtful
FIRST, SPACING = 128, 16384             # steps: scheduled looks are after 1, FIRST, 2 FIRST ... SPACING, 2 SPACING ...
MOST_LISTED = 300_000                   # spheres; of more all contacts are not listed, which would take memory
GROWTH = 0.25   # of the energy balance over the energy there was: what it oscillates by within a contact at sqrt(m/k)
ROUNDING = 1e-9                         # of energies in unbounded space, whose differences are compared
SLOW, MISPLACED = 0.05, 0.1             # angle per step [rad] from which rotations are checked; error over the size
MOST_TURNED, MOST_PARTS = 64, 1000      # clumps in this check; steps of its reference for one
FAR = 5.0       # extents of all walls below them at which a clump that falls freely is lost
LEVEL = 1e-9    # sine of an angle at which a wall counts as parallel to gravity
GAS = 25.0                              # density below which units are doubtful [kg/m3]
BOULDER, SMALL = 0.5, 1e-3              # radius [m] and part of the Rayleigh step for which they are, together
LARGE = 1000.0                          # extent of a mesh over the diameter of a clump, above which units are doubtful
CORRECTED = 1.4                         # rate times dt up to which drag is stable with corrections of user forces
FEWEST, SIGNIFICANT = 10, 5.0           # clumps of which a velocity gradient is found; standard errors of a difference


class Monitor:
    """Checks of one simulation, which calls `look` where a run ends, and at scheduled steps.

    issued : dict kind -> text of the warnings issued so far;  report : function called with the text of each new one
    due, ready : step of the next scheduled look, at which a run is divided; from which on the end of a run is looked at
    in_rows : runs end at any step, and the caller checks at rows of its own: `ready` is `due`
    """

    def __init__(self, issued=()):
        self.issued, self.report, self.in_rows = dict(issued), warn, False
        self.due = self.ready = 1
        self._rates_due, self._rates_overlap = 0, 0.0   # step and overlap of the next `_check_motion`
        self._population = self._walls = None           # for which the rest was found
        self._balance = None                            # see `_energy`

    def serve(self, issued, report):
        """Report to `report` what is not among the warnings `issued`, and add it there; see `in_rows`."""
        before, self.issued, self.report, self.in_rows = self.issued, issued, report, True
        for kind, text in before.items():
            self._warn(kind, text)

    def expect_rates(self, sim):
        """Check dashpots, fields and user forces after the next step: bonds, fields, fluxes or forces are new."""
        self._rates_due, self.due = 0, sim.step_count + 1
        self.ready = min(self.ready, self.due)

    def forget_energy(self):
        """Begin a new balance of energies: a change was made that is no part of it."""
        self._balance = None

    def look(self, sim):
        """Check the present instant, the end of a step, whose contacts are known."""
        self._check(sim, self._look, sim)

    def check(self, sim, contacts):
        """Check the present contacts."""
        self._check(sim, self._check_contacts, sim, contacts)

    def _check(self, sim, check, *arguments):
        """Call a check, and report what it has found; one that fails does not end the run."""
        self._found = {}
        try:
            with np.errstate(all="ignore"):             # just before a state is not finite
                check(*arguments)
        except MemoryError:
            raise
        except Exception as error:
            self._found["check"] = (f"{_now(sim)}: a check of the run has failed, by {type(error).__name__}: {error}. "
                                    "Results do not depend on checks. Please report it, unless a function of yours "
                                    "has raised it")
        for kind, text in self._found.items():
            self._warn(kind, with_names(text, sim.walls))

    def _look(self, sim):
        step, reader, first = sim.step_count, sim.reader, self.due == 1
        # A multiple of SPACING at least as far away: what ends of runs have shown needs no division
        self.due = max(FIRST, 1 << step.bit_length()) if step < SPACING else -(-step // SPACING - 1) * SPACING
        self.ready = self.due if self.in_rows else min(self.due, step + min(step, SPACING) // 4 + 1)
        if not sim.n_clumps:
            return
        if first:
            self._find("flow", _flow, sim)
        if step == 1:                                   # later a property may be zero on purpose
            self._find("needs", _needs, sim)
        if self._population is not reader.population:           # clumps came or went
            self._measure_spheres(sim)
            self._find("density", _density, sim)
            self._find("units", _units, sim)
            self._find("mesh", _mesh, sim)
        self._find("speed", _speed, sim)
        overlap = reader.deepest_overlap()
        least = min((limit for kind, limit in self._limits.items() if kind not in self.issued), default=math.inf)
        if overlap > least:
            self._check_contacts(sim, reader.deep_contacts(least))
        if sim.n_spheres <= MOST_LISTED and (step >= self._rates_due or overlap > self._rates_overlap):
            self._rates_due, self._rates_overlap = 2 * step, 2.0 * overlap
            self._check_motion(sim, overlap)
        for enclosure in self._enclosures:
            self._find("lost", enclosure.lost, sim)
        self._find("fallen", _fallen, sim)
        self._find("departed", _departed, sim)

    def _check_motion(self, sim, overlap):
        """Check what takes a list of all contacts, or integrates some rotations. overlap : the largest [m]."""
        law, has_fields, has_forces = sim.settings.law, bool(sim.fields), sim.reader.user_forces.acts
        is_known = law.kernels_for(sim.settings.law_values).keep is None        # a user's own may report no energies
        contacts = sim.reader.deep_contacts() if is_known else None
        if is_known:
            self._find("energy", self._energy, sim, contacts)
        self._find("rotation", _rotation, sim)
        if overlap > 0.0 or law.range or has_fields or has_forces:
            if is_known:
                self._find("step", _step, sim, contacts)
            if law.dashpots:
                self._find("damping", _damping, sim)
            if overlap > 0.0 and law.name in own_names() and not has_fields:
                self._find("no force", _no_force, sim)
            self._find("driven", _driven, sim)
            if has_fields:
                self._find("fields", _fields, sim)
            if has_forces:
                self._find("forces", _forces, sim)

    def _check_contacts(self, sim, contacts):
        if self._population is not sim.reader.population:
            self._measure_spheres(sim)
        for kind, find in ("overlap", _overlap), ("wall", _wall), ("step", _step):
            deep = contacts[contacts["overlap"] > self._limits[kind]]
            if len(deep):
                self._find(kind, find, sim, deep)

    def check_materials(self, sim, owners):
        """Check that the law reads what each of `owners`, materials and pairs, gives for contacts."""
        read = sim.settings.law.pair_properties(sim.settings.law_values)
        for owner in owners:
            names = [name for name in PAIR_PROPERTIES
                     if name not in read and getattr(owner, name) not in (None, getattr(Material, name))]
            new = [name for name in names if f"unread {name}" not in self.issued]
            if new:
                them = "it" if len(new) == 1 else "them"
                text = (f"contact law {sim.contact!r} does not read {', '.join(new)} of {label_of(owner)}, which "
                        f"{'has' if len(new) == 1 else 'have'} no effect then; "
                        f"{' and '.join(readers(new, sim.contact))} would read {them}; else leave {them} out")
                self.report(text)
                self.issued |= {f"unread {name}": text for name in new}

    def check_parameters(self, sim):
        """Check that the law reads the parameters that it was given."""
        for name, given in sim.settings.law.unread_parameters(sim.settings.law_values).items():
            self._warn(f"unread {name}", f"contact law {sim.contact!r} reads {name} with {given} only; give that as "
                                         f"well, or leave {name} out")

    def check_landing(self, sim, reader, first):
        """Check the step for clumps from number `first` on of the Reader that the simulation will have."""
        if sim.walls or reader.n_clumps > 1:
            self._check(sim, self._find, "flat", _flat, sim, reader, first if sim.walls or first > 1 else 0)

    def _find(self, kind, find, *arguments):
        """Take the text that find(*arguments) returns, unless one of this kind was issued."""
        text = None if kind in self.issued else find(*arguments)
        if text is not None:
            self._found[kind] = text

    def _warn(self, kind, text):
        """Issue the text, unless one of this kind was issued."""
        if kind not in self.issued:
            self.report(text)
            self.issued[kind] = text

    def _energy(self, sim, contacts):
        """The growth of the energy balance since the last look, over the energy that there was.

        _balance : step, balance, energies of motion and springs, potential energy and work of the last look
        """
        last, energy = self._balance, measure(sim.reader, contacts)
        stored = energy.kinetic + energy.elastic + energy.elastic_tangential + energy.elastic_rolling
        given = energy.work + energy.exchanged + energy.breakage
        self._balance = sim.step_count, energy.balance, stored, energy.potential, given
        if last is None:
            return None
        step, balance, stored, potential, supplied = last
        rounding = ROUNDING * (np.sum(sim.mass[:, None] * sim.reader.column("velocity") ** 2) + abs(potential))
        put_in = stored + abs(energy.potential - potential) + abs(given - supplied) + rounding
        growth = (energy.balance - balance) / put_in if put_in > 0.0 else 0.0
        if not growth > GROWTH:
            return None
        return (f"{_now(sim)}: the energy balance has grown by {energy.balance - balance:.3g} J since step {step}, "
                f"{growth:.3g} times the energy that there was or came in. The step {sim.dt:g} s is too long for "
                "contacts, or for the rotation. Lower dt")

    def _measure_spheres(self, sim):
        """Overlaps of the present spheres up to which no check of a kind fails [m], and new clumps in closed meshes."""
        least = sim.reader.smallest_radii().min(initial=math.inf)
        self._limits = {"overlap": DEEP * least, "wall": least, "step": _safe_overlap(sim)}
        if self._walls is not sim.reader.walls:
            self._enclosures = enclosures(sim)
            self._walls = sim.reader.walls              # last: a signal may come in between
        for enclosure in self._enclosures:
            enclosure.add_new(sim)
        self._population = sim.reader.population


def warn(text):
    """Issue a UserWarning at the line of the caller outside of this package."""
    level, frame = 1, sys._getframe()
    while frame is not None and frame.f_globals.get("__name__", "").startswith("minidem."):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, UserWarning, stacklevel=level)


def _safe_overlap(sim):
    """An overlap [m] up to which `_step` fails for no contact; infinite for laws in Python.

    k d^p is stiffest for the largest sphere; the mobility of a pair is at most twice the largest.
    """
    reader, law = sim.reader, sim.settings.law
    if law.kernels_for(sim.settings.law_values).functions:
        return math.inf
    of_template = np.array([sphere_mobility(template).max() for template in reader.templates])
    mobility = (of_template.take(reader.template_index) / reader.scale ** 3).max(initial=0.0) if sim.n_clumps else 0.0
    largest = reader.largest_radii().max(initial=0.0)
    forces = law.normal_force(1.0, largest, reader.pair_properties(), sim.settings.law_values)
    unit = law.power * np.nanmax(forces[np.unique(reader.material_index)], initial=0.0)     # stiffness at d = 1 m
    allowed = 1.0 / (2.0 * mobility * sim.dt ** 2 * unit) if mobility * unit > 0.0 else math.inf
    return allowed ** (1.0 / (law.power - 1.0)) if law.power > 1.0 else math.inf if allowed > 1.0 else 0.0


def _density(sim):
    """A template without a density, of clumps whose material has none either."""
    unknown = np.array([isinstance(template.density, Assumed) for template in sim.templates], dtype=bool)
    unknown = unknown.take(sim.template_index) \
        & np.array([m.density is None for m in sim.materials]).take(sim.material_index)
    if not unknown.any():
        return None
    k = int(np.argmax(unknown))
    return (f"density: the template of clump {k} was made without one, and {sim.reader.densities()[k]:g} kg/m3 are "
            "taken. Give it to ClumpTemplate, or to the function of md.shapes")


def _needs(sim):
    """Options of the law that do not find a property or parameter that they need."""
    law, pair = sim.settings.law, sim.reader.pair_properties()
    texts = []
    for given, name in law.unmet_needs(pair, sim.settings.law_values):
        found = pair.get(name, np.zeros(1))
        values = ", ".join(f"{value:g}" for value in np.unique(found[np.isfinite(found)]))
        texts.append(f"{given} needs another {name} than {values} "
                     f"({'of md.Material or md.Pair' if name in pair else 'a parameter of the law'})")
    return f"contact law {sim.contact!r}: {', '.join(texts)}; give it, or leave the option out" if texts else None


def _units(sim):
    """A density in g/cm3, or lengths in mm: then in SI units a gas, or boulders and a step far below what they need."""
    density = sim.reader.densities()
    k = int(np.argmin(density))
    if density[k] < GAS:
        return (f"density: that of clump {k} is {density[k]:.3g} kg/m3, as of a gas or foam; 2.5 g/cm3 are 2500 kg/m3. "
                "Give all quantities in SI units")
    radius, limit = sim.reader.smallest_radii().min(), sim.reader.rayleigh_step()
    if "young" in sim.settings.law.reads and radius > BOULDER and sim.dt < SMALL * limit:
        return (f"dt = {sim.dt:g} s is {sim.dt / limit:.2g} times the Rayleigh step {limit:.3g} s of the smallest "
                f"sphere, whose radius is {radius:.3g} m; 10 mm are 0.01 m. Give all quantities in SI units, or raise "
                "dt")
    return None


def _no_force(sim):
    """A law of the user that leaves the forces of all contacts at zero, as one that returns its result.

    One with a history may do so where grains leave a dent, and has then stored something.
    """
    found = sim.reader.history()
    if found["force"].any() or found["records"].any():
        return None
    return (f"{_now(sim)}: the contact law {sim.contact!r} exerts no force in any of {len(found['force'])} contacts. "
            "A law in Python must assign contacts.force, a compiled one write it to its result")


def _flow(sim):
    """Fit the velocity gradient of the clumps: twice the box's if the user added the flow that an affine box adds."""
    box = sim.box
    if box is None or not box.moves or not sim.periodic.affine or sim.n_clumps < FEWEST:
        return None
    for i, j in zip(*np.nonzero(box.gradient)):
        x, v = (values - values.mean() for values in (sim.position[:, j], sim.velocity[:, i]))
        square = np.sum(x * x)
        slope = np.sum(x * v) / square if square > 0.0 else math.nan
        error = math.sqrt(np.sum((v - slope * x) ** 2) / (sim.n_clumps - 2) / square) if square > 0.0 else math.nan
        of_box = box.gradient[i, j]
        if abs(slope - 2.0 * of_box) < 0.5 * abs(of_box) and abs(slope - of_box) > SIGNIFICANT * error:
            return (f"{_now(sim)}: the velocity gradient dv_{'xyz'[i]}/d{'xyz'[j]} of the clumps is {slope:.3g} +- "
                    f"{error:.1g} 1/s, twice the {of_box:.3g} 1/s of the periodic box: their velocities had its flow "
                    "at the start, and affine=True has added it. Give velocities without the flow, or affine=False")
    return None


def _mesh(sim):
    """A mesh in another unit of length than the clumps."""
    sizes = [0.0 if wall.surface is None else float(np.ptp(wall.surface[0], axis=0).max()) for wall in sim.walls]
    diameter, wall = 2.0 * sim.reader.bounding_radii().max(), int(np.argmax([*sizes, 0.0]))
    if not max(sizes, default=0.0) > LARGE * diameter:
        return None
    return (f"wall {wall}, a mesh, is {sizes[wall]:.3g} m long, {sizes[wall] / diameter:.0f} times the diameter of the "
            f"largest clump, {diameter:.3g} m. A file in mm needs MeshWall(..., scale=1e-3)")


def _speed(sim):
    """The distance of a step against the smallest radius of the clump, unless there is nothing else."""
    if not sim.walls and sim.n_clumps < 2:
        return None
    distance = sim.dt * np.linalg.norm(sim.reader.column("velocity"), axis=1)
    relative = distance / sim.reader.smallest_radii()
    k = np.argmax(relative)
    if not relative[k] > 1.0:
        return None
    return (f"{_now(sim)}: clump {k} moves by {distance[k]:.3g} m in a step, {format_above(relative[k], 1.0)} times "
            "the radius of its smallest sphere, and may pass through walls and clumps without a contact. Lower dt, or "
            "its speed")


def _overlap(sim, contacts):
    relative = relative_overlap(contacts, sim.sphere_radii)
    k = np.argmax(relative)
    if not relative[k] > DEEP:
        return None
    return (f"{_now(sim)}: {_names(contacts[k])} overlap by {contacts['overlap'][k]:.3g} m, "
            f"{format_above(relative[k], DEEP)} of the smaller radius (contact laws hold for small overlaps, up to "
            f"{DEEP:g}). Take a stiffer material or slower clumps")


def _wall(sim, contacts):
    """A clump's centre behind a plane, or outside a cylinder around it, where an overlap exceeds a radius.

    With less, the mirror image of what is behind the wall lies inside the same spheres and outweighs it.
    """
    walls, position = sim.walls.at_rest, sim.position
    deepest, found = 0.0, None
    for k, wall in enumerate(walls):
        clumps = contacts["clump_i"][contacts["clump_j"] == -1 - k]
        height = wall.distance(position[clumps])
        if height is None or not len(clumps):
            continue
        if height.min() < deepest:
            deepest, found = height.min(), (clumps[np.argmin(height)], k)
    if found is None:
        return None
    return (f"{_now(sim)}: the centre of clump {found[0]} has passed through wall {found[1]} and is {-deepest:.3g} m "
            "behind it. The wall is too soft for its speed, or dt too large")


def _step(sim, contacts):
    """dt against sqrt(m/k) of the stiffest motion, with all contacts at once; leapfrog is unstable above twice that."""
    rate, clump = spring_rate(sim, contacts, 1.0 / sim.dt)
    if not sim.dt * rate > 1.0:
        return None
    return (f"{_now(sim)}: the step {sim.dt:g} s is {sim.dt * rate:.3g} times sqrt(m/k) = {1.0 / rate:.3g} s of clump "
            f"{clump} on all its contacts (unstable from 2 on). Lower dt")


def _flat(sim, reader, first):
    """dt against sqrt(m/k) of a clump that lies flat."""
    rate, clump = flat_rate(sim, reader, first)
    if not sim.dt * rate > 1.0:
        return None
    return (f"dt = {sim.dt:g} s is above {1.0 / rate:.3g} s, sqrt(m/k) of clump {clump} when it lies flat, with all "
            "spheres of a face on a plane: contacts may not be resolved; watch the energy, or lower dt")


def _rotation(sim):
    """The rotation scheme against the exact one in a free revolution, of the fastest clump of each template."""
    reader, w = sim.reader, np.asarray(sim.body_angular_velocity)
    angle = np.where(reader.turns_freely(), sim.dt * np.linalg.norm(w, axis=1), 0.0)
    order = np.argsort(-angle, kind="stable")
    chosen = np.sort(np.unique(reader.template_index[order], return_index=True)[1])[:MOST_TURNED]
    chosen = order[chosen[angle[order[chosen]] > SLOW]]
    if not len(chosen):
        return None
    steps = math.ceil(2.0 * math.pi / angle[chosen[0]])
    parts = min(math.ceil(angle[chosen[0]]), MOST_PARTS)        # so that the reference turns by a radian in a step
    bodies = reader.column("inertia")[chosen], reader.column("orientation")[chosen], w[chosen], (0.0, 0.0, 0.0)
    try:
        exact = rotation.integrate("exact", *bodies, sim.dt / parts, steps * parts).orientation
        found = rotation.integrate(sim.rotation, *bodies, sim.dt, steps).orientation
    except (FloatingPointError, ValueError):            # the scheme has become unstable, here or before
        exact = found = np.full((len(chosen), 4), np.nan)
    for k, q, right in zip(chosen, found, exact):
        offsets = reader.templates[reader.template_index[k]].offsets
        size = np.linalg.norm(offsets, axis=1).max()
        error = np.linalg.norm(rotate(q, offsets) - rotate(right, offsets), axis=1).max()
        if not error <= MISPLACED * size:
            remedy = "" if sim.rotation.startswith("exact") else ", or take rotation='exact'"
            return (f"{_now(sim)}: clump {k} turns by {angle[k]:.3g} rad in a step, too much for the rotation scheme "
                    f"{sim.rotation!r}: after a revolution its spheres are out of place by "
                    f"{np.nan_to_num(error / size, nan=2.0):.2g} of its size. Lower dt{remedy}")
    return None


def _damping(sim):
    rate, clump = damping_rate(sim, 1.0 / sim.dt)
    if not sim.dt * rate > 1.0:
        return None
    where, then, remedy = ("", "", "") if damped_bonds(sim) is None else (
        " and bonds", ", and bonds gain energy", ", or less damping of the bonds")
    return (f"{_now(sim)}: dashpots of contacts{where} slow the motion of clump {clump} down at a rate of {rate:.3g} "
            f"1/s, {format_above(sim.dt * rate, 1.0)} times 1 / dt. Above 1 they alternate from step to step, and "
            f"friction is too weak{then}. Lower dt below {1.0 / rate:.3g} s, or take a higher restitution{remedy}")


def _driven(sim):
    """dt against sqrt(mass / stiffness) of a wall that clumps drive, by all of its contacts; see `_step`."""
    driven = {k: wall.motion for k, wall in enumerate(sim.walls) if isinstance(wall.motion, Driven)}
    if not driven:
        return None
    contacts, still, power = sim.contacts(), sim.walls.at_rest, sim.settings.law.power
    for k, motion in driven.items():
        found = contacts[(contacts["clump_j"] == -1 - k) & (contacts["overlap"] > 0.0)]
        lever = cross(found["point"] - still[k].center, found["normal"]) if motion.turns else found["normal"]
        stiffness = power * (power + 1.0) * found["energy"] / found["overlap"] ** 2 * (lever @ motion.axis) ** 2
        rate = math.sqrt(max(stiffness.sum(), 0.0) / (motion.inertia or motion.mass))
        if sim.dt * rate > 1.0:
            return (f"{_now(sim)}: the step {sim.dt:g} s is {sim.dt * rate:.3g} times sqrt(m/k) of wall {k} with "
                    f"{motion} on all its contacts (unstable from 2 on). Lower dt, or take a heavier wall")
    return None


def _forces(sim):
    rate, clump = force_rate(sim)
    most = CORRECTED if sim.reader.user_forces.corrections else 1.0
    if not sim.dt * rate > most:
        return None
    return (f"{_now(sim)}: user forces change the velocity of clump {clump} at a rate of {rate:.3g} 1/s, "
            f"{format_above(sim.dt * rate, most)} times 1 / dt. Above {most:g} drag alternates from step to step, and "
            f"grows without limit. Lower dt below {most / rate:.3g} s, or weaken the force")


def _fields(sim):
    rate, clump, name = max(exchange_rate(sim), alternating_rate(sim))
    if not sim.dt * rate > 1.0:
        return None
    return (f"{_now(sim)}: the field {name!r} of clump {clump} changes at a rate of {rate:.3g} 1/s, "
            f"{format_above(sim.dt * rate, 1.0)} times 1 / dt. Above 1 it alternates from step to step and grows "
            f"without limit. Lower dt below {1.0 / rate:.3g} s, or take a larger capacity")


def _now(sim):
    return f"step {sim.step_count} (time {sim.time:.6g} s)"


def _names(contact):
    i, j = contact["clump_i"], contact["clump_j"]
    return f"clump {i} and " + (f"clump {j}" if j >= 0 else f"wall {-1 - j}")


def enclosures(sim):
    """An Enclosure of each connected closed surface of a mesh; none in a periodic box, whose clumps come back."""
    found = []
    for number, wall in enumerate(() if sim.periodic else sim.walls):
        if wall.surface is not None:
            points, triangles = wall.surface[0], oriented(wall.surface[1])
            body = bodies(triangles)
            found += [Enclosure(number, points[triangles[body == k]]) for k in range(body.max() + 1)
                      if not open_edges(triangles[body == k])[0].any()]
    return found


class Enclosure:
    """A closed surface, corners (m, 3, 3), of the wall with this number, and the clumps that may have left it.

    Of each clump the centre of one sphere is kept, as first seen in the bounding box. Whether the surface was around it
    is found out once the clump is outside.
    """

    def __init__(self, number, corners):
        self.number, self.corners = number, corners
        self.low, self.high = corners.min(axis=(0, 1)), corners.max(axis=(0, 1))
        self.ids, self.points, self.next_id = np.zeros(0, dtype=np.int64), np.zeros((0, 3)), 0

    def add_new(self, sim):
        """Keep the places of the clumps that came since the last call."""
        reader, population = sim.reader, sim.reader.population
        ids, sizes = population.ids, reader.sphere_counts()
        new = np.flatnonzero(ids >= self.next_id)
        self.next_id = population.next_id
        if len(new):
            points = self._in_wall(sim, sim.sphere_centers[(np.cumsum(sizes) - sizes)[new]])
            within = ((self.low <= points) & (points <= self.high)).all(axis=1)
            if reader.exclusions is not None:
                within &= ~reader.exclusions[reader.material_index[new], reader.wall_materials[self.number]]
            self.ids = np.append(self.ids, ids[new[within]])
            self.points = np.append(self.points, points[within], axis=0)

    def lost(self, sim):
        """Text about a clump that was surrounded and is outside; None without any."""
        _, clump, present = np.intersect1d(sim.ids, self.ids, assume_unique=True, return_indices=True)
        points, x = self.points[present], self._in_wall(sim, np.asarray(sim.position)[clump])
        beyond = np.maximum(self.low - x, x - self.high).max(axis=1) - sim.reader.bounding_radii()[clump]
        for k in np.flatnonzero(beyond > 0.0):
            if any(surrounded(points[k:k + 1], corners)[0] for corners in (self.corners, self.corners[:, ::-1])):
                return (f"{_now(sim)}: clump {clump[k]} was within the closed mesh of "
                        f"wall {self.number} and is {beyond[k]:.3g} m outside its bounding box: it has passed through "
                        "the mesh. Lower dt, or its speed, or take a stiffer material")
        kept = present[beyond <= 0.0]
        self.ids, self.points = self.ids[kept], self.points[kept]
        return None

    def _in_wall(self, sim, x):
        """Points (n, 3) of the lab, in the frame of the wall, which is the lab at time zero."""
        wall, servo_state = sim.walls[self.number], sim.reader.servo_states()[self.number]
        if not wall.moves:
            return x
        position, matrix = placed(wall, sim.step_count, sim.dt, servo_state)
        return wall.center + (x - position) @ matrix


def _fallen(sim):
    """Clumps that fall for ever in the open space below all walls.

    A clump is lost if it is below all finite walls and the periodic box, by FAR times their extent, and still
    accelerates downwards by half of gravity at least, along its part across the periodic axes. An infinite wall may end
    every fall: a plane that faces upwards, or a cylinder that is not upright.
    """
    box, column, extents = sim.box, sim.reader.column, [wall.limits().extent for wall in sim.walls]
    if box is None and not any(extents):
        return None
    gravity = np.array(sim.gravity) * (1.0 if box is None else ~box.axes)
    size = np.linalg.norm(gravity)
    down = gravity / (size or 1.0)
    if not size or any(down @ wall.half_space[1] < -LEVEL if wall.half_space else
                       np.linalg.norm(np.cross(down, wall.axis)) > LEVEL
                       for wall, extent in zip(sim.walls, extents) if not extent):
        return None
    corners = [np.array(wall.center) + sign * extent for wall, extent in zip(sim.walls.at_rest, extents) if extent
               for sign in (-1.0, 1.0)] + ([] if box is None else [box.low, box.high])
    low, high = np.min(corners, axis=0), np.max(corners, axis=0)
    below = column("position") @ down - np.maximum(down * low, down * high).sum() - FAR * (high - low).max()
    lost = np.flatnonzero((below > 0.0) & (column("force") @ down > 0.5 * size * column("mass"))
                          & (column("velocity") @ down > 0.0))
    if not len(lost):
        return None
    k = lost[np.argmax(below[lost])]
    return (f"{_now(sim)}: {len(lost)} of {sim.n_clumps} clumps fall freely, far below all walls and the periodic "
            f"box, with nothing to land on; clump {k} is at {np.round(sim.position[k], 3).tolist()} m. Close the "
            "walls, add an md.Plane as a floor, or remove what leaves by a minidem.initial.Outlet")


def _departed(sim):
    """A finite wall that a velocity has carried away from all clumps, as one carries a conveyor belt.

    Walls that are lifted or lowered are meant to leave, and are left out.
    """
    for k, wall in enumerate(sim.walls if sim.box is None else ()):
        extent = wall.limits().extent
        if wall.motion is not None or not extent or not any(wall.velocity) or abs(np.dot(
                wall.velocity, sim.gravity)) > 0.7 * np.linalg.norm(sim.gravity) * np.linalg.norm(wall.velocity):
            continue
        position = np.asarray(sim.position)
        low, high = position.min(axis=0), position.max(axis=0)
        moved = np.multiply(wall.velocity, sim.time - wall.since)
        center, distance, reach = wall.center + moved, np.linalg.norm(moved), sim.reader.bounding_radii().max()
        gap = np.linalg.norm(np.maximum(np.maximum(low - center, center - high), 0.0)) - reach
        if extent < min(distance, gap) and moved @ (center - 0.5 * (low + high)) > 0.0:
            return (f"{_now(sim)}: wall {k}, a {type(wall).__name__}, has moved by {distance:.3g} m and has left all "
                    f"clumps, since velocity = {list(wall.velocity)} m/s carries it away. For a conveyor belt, whose "
                    "surface moves in place, give md.Plane a velocity within the plane; for a drum or a roller give "
                    "angular_velocity; for a stroke that ends give motion")
    return None
