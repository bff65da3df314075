"""Fixtures. pytest puts tests/, scenarios/ and tools/ on the import path (pyproject.toml)."""
import os
import signal
import subprocess
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import scenes

import minidem as md
from minidem.contact import registry as contact
from minidem.engine import driver as owner
from minidem.rotation import registry as rotation
from minidem.scenario import plot, run as scenario_run
from minidem.templates import fit_mesh


@pytest.fixture
def dimers_on_floor():
    dimer = md.ClumpTemplate(centers=[(-0.3, 0, 0), (0.3, 0, 0)], radii=[0.5, 0.5], density=1000.0)
    sim = md.Simulation(md.Material(1e7, 0.2, restitution=0.5, friction=0.3), walls=md.box_walls((0, 0, 0), (9, 9, 9)),
                        dt=1e-4, gravity=(0, 0, -9.81), contact="hertz-mindlin")
    sim.add_clumps(dimer, [(3, 3, 0.499), (3.1, 3, 1.48)], velocity=[(0.1, 0, 0), (0, 0, -0.1)])
    sim.run(20)
    return sim


@pytest.fixture
def sim():
    """Six clumps of three templates and two sizes that fly and spin in a large box, without contacts."""
    rng = np.random.default_rng(3)
    sim = md.Simulation(md.Material(1e9, 0.1), walls=md.box_walls((0, 0, 0), (9, 8, 7)), dt=5e-5)
    sphere = md.ClumpTemplate(centers=[(0, 0, 0)], radii=[0.2], density=1000.0)
    for k, template in enumerate((scenes.rod().template, sphere, scenes.lumpy().template)):
        sim.add_clumps(template, [(2.0 + 2 * k, 2.0, 2.0), (2.0 + 2 * k, 5.0, 4.0)], scenes.unit_vectors(rng, 2, 4),
                       velocity=rng.standard_normal((2, 3)), angular_velocity=5.0 * rng.standard_normal((2, 3)),
                       scale=[1.0, 0.5])
    return sim


@pytest.fixture
def bonded():
    """Pair, ball, pair and ball in a row through a face of a periodic box; the last ball is pulled off."""
    pair, ball = (md.ClumpTemplate(centers, [0.01] * len(centers), density=1000.0)
                  for centers in ([(0, 0, 0), (0, 0.02, 0)], [(0, 0, 0)]))
    sim = md.Simulation(md.Material(young=1e6, poisson=0.3, restitution=0.5, friction=0.5), dt=1e-6,
                        contact="hertz-mindlin:bonds=parallel", periodic=((0, 0, 0), (0.2,) * 3, (True, True, True)))
    for k, template in enumerate((pair, ball, pair, ball)):
        sim.add_clumps(template, [(0.17 + 0.019 * k, 0.1, 0.1)], velocity=(5.0 * (k == 3), 0, 0),
                       angular_velocity=(30.0 * k, 0, 0))
    sim.bonds.add([(0, 2), (2, 4)], young=1e7, tensile=2e5)
    sim.bonds.add([(4, 5), (3, 5)], young=1e7, tensile=1e5)
    return sim


@pytest.fixture(scope="session", autouse=True)
def surroundings():
    """Child processes import this project's modules, also those of another Python (ParaView, Yade). Ctrl-C, which a
    shell lets its background jobs ignore, and a timer raise KeyboardInterrupt. Pictures are coarse."""
    root = Path(__file__).parents[1]
    own = [entry for entry in sys.path if Path(entry).is_relative_to(root) and "site-packages" not in entry]
    before = {number: signal.signal(number, signal.default_int_handler) for number in (signal.SIGINT, signal.SIGALRM)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join([*own, *filter(None, [os.environ.get("PYTHONPATH")])]))
        patch.setitem(plot.LOOK, "savefig.dpi", 20)
        yield
    for number, handler in before.items():
        signal.signal(number, handler)


def in_a_module(target, name, value):
    """A fixture: an attribute that has another value in a module of tests."""
    @pytest.fixture(scope="module")
    def changed():
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(target, name, value)
            yield
    return changed


# Pictures, and looks at a simulation for a thousand rows, would take most of the time of short runs of scenarios.
without_pictures = in_a_module(plot, "save", lambda *_: False)
few_rows = in_a_module(scenario_run, "ROWS", 100)


@pytest.fixture
def coarse_fits(monkeypatch):
    """Fits to meshes with fewer cells, which take most of the time."""
    monkeypatch.setattr(fit_mesh, "CELLS", 10_000)
    monkeypatch.setattr(fit_mesh, "MOST_CELLS", 60_000)


def registering(module, registry):
    """A fixture: the function `register` of a module. What is not built in is gone after the test."""
    @pytest.fixture
    def register():
        yield module.register
        registry._registry.remove_own()
    return register


own, own_law = registering(md.rotation, rotation), registering(md.contact, contact)


@pytest.fixture
def many_threads_and_sorts(monkeypatch):
    """So many threads as a test sets, a spatial sort at every second list, and frequent wraps of periodic positions."""
    monkeypatch.setattr("minidem.loop.bare_loop.SPHERES_PER_THREAD", 1)
    monkeypatch.setattr(owner, "MIN_SORTED_BLOCKS", 0)
    monkeypatch.setattr(owner, "REBUILDS_PER_SORT", 2)
    monkeypatch.setattr(owner, "STEPS_PER_WRAP", 64)


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty working folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run_tool(capsys):
    """run_tool(name, *arguments): tools/NAME.py in this process, and what subprocess.run would give back."""
    def run(name, *arguments):
        capsys.readouterr()
        try:
            status = import_module(name).main([str(argument) for argument in arguments])
        except SystemExit as end:
            status = end.code
        return subprocess.CompletedProcess([name, *arguments], status, *capsys.readouterr())
    return run

# Of these tests every n-th case is in the default run, beginning with the first; the others are slow.
THINNED = {
    "test_forces_of_every_step": 2, "test_lasting_energy_has_no_oscillation_of_second_order": 2,
    "test_nearest_points": 2, "test_no_energy_is_created": 4,
    "test_order_of_oblique_collisions": 3, "test_orders_of_other_forms": 2,
    "test_spheres_are_spread_over_thin_bodies": 3, "test_work_is_the_power_of_wall_forces": 2}
# And of these, which take long, the cases of one rotation scheme of each order and family.
OF_SCHEMES = {"test_energy_of_heavy_bodies_does_not_drift", "test_order_through_collisions",
              "test_orders_under_varying_torque"}
ROLES = {
    "spiral": "default, a leapfrog", "euler": "explicit, first order", "pcdm": "first order under torques that vary",
    "improved-pcdm": "predicted half a step ahead", "fincham": "normalised", "omelyan": "implicit, by iteration",
    "lie-newmark": "implicit, by a Newton iteration", "no-squish": "symplectic splitting, with `finish`",
    "dmv": "symplectic, discrete", "exact": "exact without torque", "rk4": "several stages", "cf4": "Lie group, stages"}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    seen = Counter()
    for item in items:
        name = getattr(item, "originalname", None)
        role = name in OF_SCHEMES and not ROLES.keys() & set(item.callspec.params.values())
        if role or name in THINNED and seen[name] % THINNED[name]:
            item.add_marker(pytest.mark.slow)
        seen[name] += 1
