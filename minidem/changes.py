"""Methods of `Simulation` that change its clumps, user forces and the motion of its box, at the start or between steps.

Each prepares another `Driver`, and replaces the old one by one assignment.
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from minidem.analysis.diagnosis import DEEPEST_START, refuse_coincidence, refuse_deep_overlaps, warn_of_large_step
from minidem.analysis.energy import flow_energy, measure
from minidem.core.checks import as_array, short_repr
from minidem.engine.field_table import with_new, without_rates
from minidem.engine.user_forces import Force, UserForces
from minidem.material import Material
from minidem.state.clump_input import clump_columns
from minidem.templates.clump_template import ClumpTemplate

FEW = 64                # so few new clumps are compared with all others; for more the lists are faster


def add_clumps(sim, template: ClumpTemplate, position: ArrayLike, orientation: ArrayLike = (1.0, 0.0, 0.0, 0.0),
               velocity: ArrayLike = (0.0, 0.0, 0.0), angular_velocity: ArrayLike = (0.0, 0.0, 0.0),
               scale: ArrayLike = 1.0, material: Material | None = None) -> np.ndarray:
    """Add clumps of one template. Add many clumps in one call: each call evaluates all clumps.

    A call takes 3 to 6 us for each clump that is there, with three contacts each. So n clumps take about n^2 times
    2 us if they are added one by one: 2 s for 1000, minutes for 10 000.

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
        Factor of all lengths of a clump, about its centre of mass; mass scales with its cube, inertia with its fifth
        power.
    material : Material, optional
        Of these clumps; default: the simulation's.

    Returns
    -------
    (n,) int64
        Ids of the new clumps (`ids`). They are indices, too, unless clumps were removed before.

    Raises
    ------
    ValueError
        For a bad value, an overlap with another clump or a wall of more than a tenth of the smaller radius, a missing
        pair, a template of another density than the material, or a clump too large for the periodic box. Nothing is
        added then.
    """
    material = sim.material if material is None else material
    columns = clump_columns(template, position, orientation, velocity, angular_velocity, scale, material)
    old, n = sim.engine.loop, len(columns[0])
    if old.box is not None:
        old.box.refuse_large(template, columns[-1])
    pair_table, first = old.pair_table.with_material(material), old.state.n_clumps
    state = old.state.with_clumps(template, *columns, pair_table.index(material))
    with_new(old.population, state, first)
    if n > FEW:
        refuse_coincidence(template, columns[0], columns[1], columns[-1], first)
    new = sim.engine.make(state, pair_table, old.step_count, old.user_forces,
                          started=np.concatenate([old.started, np.zeros(n, dtype=bool)]), **old.past(n))
    if n > FEW or old.user_forces:
        new.evaluate()
        if new.extremes()[1] > DEEPEST_START * state.spheres[:, :, 3].take(state.sphere_slot).min():
            refuse_deep_overlaps(new.contacts(), state, first)      # a list that takes more memory than the state
    else:
        refuse_deep_overlaps(new.contacts_of_last(n), state, first)
    warn_of_large_step(sim, new, first)
    sim.monitor.check_materials(sim, [material])
    _exchange(sim, new)
    return new.population.ids[first:].copy()


def remove_clumps(sim, ids: ArrayLike, outlet: str | None = None) -> None:
    """Remove clumps, and their contacts.

    Parameters
    ----------
    ids : (n,) array_like of int
        Ids of the clumps (`sim.ids`), each once. The others keep their ids; indices close up.
    outlet : str, optional
        Name under which `sim.outflow` counts them. Default: they are not counted.

    Raises
    ------
    ValueError
        For an id that is not present, or given twice. Nothing is removed then.

    Notes
    -----
    Positions and velocities of the other clumps do not change. Forces on clumps that were in contact with removed ones
    are evaluated again at the same positions, as are all if there are user forces; the history of the other contacts
    continues. The next step begins with half a step back for these clumps, as for new ones. `sim.energy()` keeps what
    was dissipated at removed clumps and the work on them; the energy that leaves is in `exchanged`, so that `balance`
    is continuous. Remove many clumps in one call: each call takes 3 to 8 us for each clump that is there, as
    `add_clumps` does.
    """
    if not (outlet is None or isinstance(outlet, str)):
        raise ValueError(f"outlet = {short_repr(outlet)}: give a name, or None")
    gone = _marked(ids, sim.engine.loop.population.ids)
    if not gone.any():
        return
    sim.engine.user_forces.check()
    old, changed = sim.engine.loop, _with_changing_forces(sim, gone)
    state = old.state.without(gone)
    for name, rates in zip(("velocity", "angular_velocity"), old.rates()):
        state.set_column(name, np.where(changed[:, None], rates, old.state.column(name))[~gone])
    past = old.past_without(gone)
    if outlet is not None:
        past["population"] = past["population"].with_outflow(outlet, old.state.column("mass")[gone])
    _exchange(sim, sim.engine.make(
        state, old.pair_table, old.step_count, old.user_forces, started=(old.started & ~changed)[~gone],
        forces_known=not changed[~gone].any(), **past))


def _marked(ids, present):
    """(n_clumps,) bool, the clumps with these ids, out of those that are present."""
    given = as_array("ids", ids)
    if given.ndim != 1 or given.size and given.dtype.kind not in "iu":
        raise ValueError(f"ids = {short_repr(ids)}: give a list of whole numbers, as in sim.ids")
    wanted, counts = np.unique(given, return_counts=True)
    unknown = wanted[~np.isin(wanted, present)]
    if len(unknown):
        raise ValueError(f"ids: there is no clump with the id {unknown[0]}; sim.ids has those that are present")
    if (counts > 1).any():
        raise ValueError(f"ids: {wanted[np.argmax(counts > 1)]} is given {counts.max()} times; give each id once")
    return np.isin(present, wanted)


def _with_changing_forces(sim, gone):
    """(n_clumps,) bool, the clumps on which forces change if those marked in `gone` vanish.

    Forces are known at the present positions afterwards. An onset correction depends on the other forces on both
    clumps.
    """
    engine, contacts = sim.engine, sim.contacts()
    i, j = (contacts[name][contacts["clump_j"] >= 0] for name in ("clump_i", "clump_j"))
    changed = np.full(len(gone), engine.loop.user_forces is not None)
    for _ in range(2 if engine.law.corrects_onsets(engine.law_values) else 1):
        reached = gone | changed
        changed[np.concatenate([j[reached[i]], i[reached[j]]])] = True
    return changed


def _exchange(sim, new):
    """Replace the loop by one with other clumps. From the first step on the energy balance is continuous."""
    old = sim.engine.loop
    new.population = replace(new.population, work=new.population.work + flow_energy(old) - flow_energy(new))
    if old.step_count:
        before, after = (measure(loop, sim.gravity).balance for loop in (old, new))
        new.population = replace(new.population, exchanged=new.population.exchanged + (after - before))
    sim.engine.loop = new


def add_force(sim, function: Callable | object, parameters: ArrayLike = (), random: int = 0, seed: int = 0) -> None:
    """Add forces and torques computed by a function, in Python or compiled.

    Parameters
    ----------
    function : callable or compiled function
        In Python: ``function(t, x, v, q, w, *parameters)`` -> (force (n, 3) [N], torque (n, 3) [N m]), lab frame, for
        all clumps in one call. Arguments: time [s], position, velocity, orientation (template frame -> lab), angular
        velocity (lab). Compiled: see Notes. Either is called at the positions of every force evaluation, with
        velocities predicted for that instant, so that damping does not reduce the order of a scheme.
    parameters : (k,) array_like
        Numbers for the function.
    random, seed : int
        So many random numbers, 0 to 8, of each clump in each step, uniform in [0, 1), as functions of seed, id and step
        alone: ``Generator(Philox(counter=[0, id, step, 0], key=[seed, 0])).random(n)`` of numpy.random.

    Raises
    ------
    ValueError
        For a wrong signature, number of arguments or parameter. No force is added then.

    Notes
    -----
    A compiled function is
    ``void f(const double *time, const double *clumps, double *wrenches, const double *parameters)``, made anywhere: a
    numba cfunc, a ctypes function with restype and argtypes, a scipy.LowLevelCallable, or a capsule whose name is the
    signature. It is called for eight clumps at a time, by all threads without the GIL, and must not have a memory of
    its own. `time` points to one number, `parameters` to the k given ones, which are followed by 64 NaN; a function
    that reads beyond them is refused where its result for the present clumps shows it, by two calls here and whenever
    clumps are added or removed. The other arrays are rows of eight doubles, one per clump::

       clumps    0-2 position   3-5 velocity   6-9 orientation (w, x, y, z)   10-12 angular velocity   13 mass
                 14 id (`ids`)
       wrenches  0-2 force   3-5 torque, zero before the call

    With n components of fields (`add_field`), clumps has their values in rows 15, ..., 14 + n, and the random numbers
    behind them; wrenches takes rates times capacity of the fields in rows 6, ..., 5 + n. A function in Python with
    a keyword-only argument `fields` gets a dict of arrays (n,) or (n, components) and may return a third item, a dict
    of rates; one with `random` gets an array (n, random).

    These are in the lab frame, in SI units. Lanes behind the last clump repeat another one; their results are ignored.

    Several functions add up. Their work is in `energy().work`: with compiled ones the integral of the power by the
    trapezoidal rule. Checkpoints do not contain them: add them again after `load`, or drop them. A copy contains them;
    pickle contains those that can be pickled.
    """
    old, before = sim.engine.loop, sim.engine.user_forces
    forces = (*before.forces, Force(function, parameters, random, seed))
    again = len(forces) <= before.expected              # after load
    sim.engine.loop = sim.engine.make(
        old.state if again else without_rates(old.state, old.population.components), old.pair_table, old.step_count,
        UserForces(forces, before.expected), started=old.started, **old.past(),
        forces_known=old.forces_known and again)


def drop_forces(sim):
    """Go on without user forces, which act up to the present positions; the next step begins with half a step back."""
    old, past = sim.engine.loop, sim.engine.loop.past()
    work = sum(float(past.pop(name)[:, 0].sum()) for name in ("work", "force_work"))
    past["population"] = replace(past["population"], work=past["population"].work + work)
    for name, rates in zip(("velocity", "angular_velocity"), old.rates()):
        old.state.set_column(name, rates)
    sim.engine.loop = sim.engine.make(old.state, old.pair_table, old.step_count, **past)


def deform(sim, shear: Any = None, rates: Any = (0.0, 0.0, 0.0), affine: bool = True) -> None:
    """Change the motion of the periodic box: consolidate first, then shear; reverse a shear; stop.

    Parameters
    ----------
    shear, rates, affine
        As of `PeriodicBox`, from the next step on. Without them the box stays as it is now.

    Raises
    ------
    ValueError
        If the simulation has no periodic box, for an argument out of range, or for a shear along other axes than those
        of an earlier one. The motion does not change then.

    Notes
    -----
    Contacts keep their history; the result is that of rates which are functions of the time. With `affine` the
    velocities of the clumps change by those of the flow in the next step.
    """
    old = sim.engine.loop
    if old.state.box is None:
        raise ValueError("deform: the simulation has no periodic box; give periodic=md.PeriodicBox(...) to Simulation")
    box = old.state.box.with_motion(shear, rates, affine)
    box.refuse_walls(sim.walls)
    new = sim.engine.make(old.state.with_box(box), old.pair_table, old.step_count, old.user_forces,
                          started=old.started, **old.past(), forces_known=old.forces_known)
    for k, template in enumerate(old.state.templates):
        new.box.refuse_large(template, old.state.scale[old.state.template_index == k])
    if new.forces_known:                # the power of the box in the coming half step
        new.evaluate()
    sim.engine.loop = new
