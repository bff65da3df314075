"""A restart gives the same bits as no restart, for all combinations of scheme, forces, order, lists and threads.

By default a selection in which every two choices meet; all combinations:  python -m pytest -m slow -k every_combination
"""
from functools import lru_cache
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
import pytest
import scenes

import minidem as md
import minidem.engine.loop_memory

DT = 2e-4                       # [s]: a list lasts for a dozen steps, a contact for some ten
ADDED_EARLY, ADDED_LATE, END = 4, 30, 45        # steps; the run is saved between the first two
FACTORS = {
    "scheme": md.rotation.available(),
    "walls": [True, False],
    "gravity": [(0.0, 0.0, 0.0), (0.3, -0.2, -9.81)],
    "forces": [False, True],
    "contact": ["hertz", "hertz:onset=corrected", "hooke:stiffness=1e4,onset=corrected", "hertz-mindlin"],
    # Clumps stand in memory as they were added, or in the order of space, which is renewed at every second list.
    "memory": ["as added", "ordered", "ordered, then added to", "ordered, added to after the restart"],
    "lists": ["none yet", "before a renewal", "after a renewal", "between renewals"],
    "threads": [(1, 1), (1, 3), (3, 1), (4, 3)],        # before, after
}


class Case(NamedTuple):
    scheme: str
    walls: bool
    gravity: tuple
    forces: bool
    contact: str
    memory: str
    lists: str
    threads: tuple

    @property
    def physics(self):
        return self[:5]

    @property
    def added(self):
        return {"ordered, then added to": ADDED_EARLY,
                "ordered, added to after the restart": ADDED_LATE}.get(self.memory, END)


def pairwise(factors, seed=1):
    """Cases in which every two values of different factors meet: greedily those with most new pairs of a sample."""
    every, rng, chosen = [Case(*values) for values in product(*factors.values())], np.random.default_rng(seed), []
    values = list(enumerate(factors.values()))
    wanted = {(a, x, b, y) for (a, xs), (b, ys) in combinations(values, 2) for x, y in product(xs, ys)}

    def new_pairs(case):
        return wanted & {(a, x, b, y) for (a, x), (b, y) in combinations(enumerate(case), 2)}

    while wanted:
        a, x, b, y = min(wanted, key=repr)
        having = [case for case in every if case[a] == x and case[b] == y]
        chosen.append(max((having[k] for k in rng.integers(len(having), size=30)), key=lambda one: len(new_pairs(one))))
        wanted -= new_pairs(chosen[-1])
    return chosen


def stir(t, x, v, q, w):
    """A force and a torque that depend on time, place and motion."""
    return -2.0 * v + 30.0 * np.sin(200.0 * t) * x[:, ::-1], -0.01 * w


@lru_cache
def scene(walls):
    """Rods and small asymmetric clumps of soft material in a box: two layers of clumps, the room of one, and one
    layer that comes later."""
    full = scenes.packed_mixture(4, (4, 4, 4), walls=walls).changed(young=1e7)
    layer = np.unique(full.position[:, 0], return_inverse=True)[1]
    return [full.part(np.flatnonzero(these)) for these in (layer < 2, layer == 3)]


def start(physics, threads):
    scheme, walls, gravity, forces, contact = physics
    if len(md.rotation.info(scheme).stages) > 1:
        contact = contact.replace("corrected", "plain").replace("hertz-mindlin", "hertz")
    sim = scene(walls)[0].changed(gravity=gravity).simulation(DT, rotation=scheme, contact=contact, threads=threads)
    if forces:
        sim.add_force(stir)
    return sim


def add_late_ones(sim, walls):
    late = scene(walls)[1]
    for shape in {id(shape): shape for shape in late.shapes}.values():
        of_kind = [k for k, other in enumerate(late.shapes) if other is shape]
        sim.add_clumps(shape.template, *(state[of_kind] for state in late.state))


def order_in_memory(patch, case):
    if case.memory != "as added":
        patch.setattr(minidem.engine.loop_memory, "MIN_SORTED_BLOCKS", 0)
        patch.setattr(minidem.engine.loop_memory, "REBUILDS_PER_SORT", 2)


def run_by_steps(sim, steps, case, each=lambda step: None):
    """Up to step number `steps`, with the late ones when it is time; each(step) before each and at the end."""
    for step in range(steps):
        if step == case.added:
            add_late_ones(sim, case.walls)
        each(step)
        sim.run(1)
    each(steps)


def end_of(sim):
    return {name: getattr(sim, name) for name in (
        "position", "orientation", "velocity", "angular_velocity", "force", "torque", "time", "step_count")}


@lru_cache
def uninterrupted(physics, added):
    """The end of a run on one thread, in the order of adding, in one go but for the adding."""
    sim = start(physics, threads=1)
    sim.run(added)
    if added < END:
        add_late_ones(sim, physics[1])
    sim.run(END - added)
    contacts = sim.contacts()
    assert np.any(contacts["clump_j"] >= 0) and np.any(contacts["clump_j"] < 0) == physics[1]
    return end_of(sim), contacts


class Saved:
    """Checkpoints of a run, by the state of its lists; made once for all cases that differ in nothing else."""

    def __init__(self, folder):
        self.folder = folder
        self.make = lru_cache(maxsize=32)(self._make)

    def __call__(self, case):
        name = case._replace(lists="", threads=case.threads[:1])
        return self.make(name)[case.lists]

    def _make(self, case):
        threads, = case.threads
        begun = ADDED_EARLY + 1 if case.added == ADDED_EARLY else 1
        sim, renewals = start(case.physics, threads), []
        run_by_steps(sim, ADDED_LATE - 1, case, lambda step: renewals.append(sim.statistics["outer_lists"]))
        grows = [k for k in range(begun, len(renewals) - 1) if renewals[k + 1] > renewals[k]]
        calm = [k for k in range(begun + 3, len(renewals) - 2) if renewals[k - 3] == renewals[k + 2]]
        steps = {"none yet": 0, "before a renewal": grows[0], "after a renewal": grows[0] + 1,
                 "between renewals": calm[0]}
        paths = {name: self.folder / f"{name}.{len(list(self.folder.iterdir()))}.npz" for name in steps}
        sim = start(case.physics, threads)
        assert sim.threads == threads

        def save(step):
            assert step == 0 or sim.statistics["outer_lists"] == renewals[step]
            for name in steps:
                if steps[name] == step:
                    if step > 0:
                        in_order = np.all(np.diff(sim.loop.state.clump_number[:sim.n_clumps]) > 0)
                        assert in_order == (case.memory == "as added")
                    sim.save(paths[name])

        run_by_steps(sim, max(steps.values()), case, save)
        return paths


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    return Saved(tmp_path_factory.mktemp("matrix"))


def check(case, saved, patch):
    patch.setattr(minidem.engine.loop_memory, "SPHERES_PER_THREAD", 1)
    expected, contacts = uninterrupted(case.physics, case.added)
    order_in_memory(patch, case)
    sim = md.Simulation.load(saved(case), threads=case.threads[1])
    assert sim.threads == case.threads[1]
    if case.forces:
        sim.add_force(stir)
    if sim.step_count <= case.added < END:
        sim.run(case.added - sim.step_count)
        add_late_ones(sim, case.walls)
    sim.run(END - sim.step_count)
    for name, value in end_of(sim).items():
        assert np.array_equal(value, expected[name]), f"{case}: {name} differs"
    assert np.array_equal(sim.contacts(), contacts), f"{case}: contacts differ"


def name_of(case):
    return "-".join(str(value).replace(" ", "_") for value in case)


@pytest.mark.parametrize("case", pairwise(FACTORS), ids=name_of)
def test_pairwise_combinations(case, saved, monkeypatch):
    check(case, saved, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", FACTORS["scheme"])
def test_every_combination(scheme, saved):
    for values in product([scheme], *list(FACTORS.values())[1:]):
        with pytest.MonkeyPatch.context() as patch:
            check(Case(*values), saved, patch)
