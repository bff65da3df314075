"""Invalid input of Simulation leaves the state unchanged; what can be read, and cannot be set."""
import copy
import pickle
import re
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
import scenes
from scipy.spatial.transform import Rotation

import minidem as md
from minidem.state.state import COLUMNS

ROOT = Path(__file__).parents[2]
STEEL = md.Material(young=2e11, poisson=0.3)
BALL = md.ClumpTemplate([(0.0, 0.0, 0.0)], [0.01], density=7800.0)


def simulation(**how):
    return md.Simulation(**({"material": STEEL, "walls": md.box((0, 0, 0), (1, 1, 1)), "dt": 1e-6} | how))


@pytest.mark.parametrize("how, words", [
    ({"position": [(0.3, 0.3, 0.3185)]}, ["clump 1", "clump 0", "0.0015", "apart"]),      # 0.15 of the radius
    ({"position": [(0.3, 0.3, 0.31899999)]}, ["0.00100001 m", "0.100001 of the smaller radius", "limit is 0.1"]),
    ({"position": [(0.3, 0.3, 0.3)]}, ["clump 1", "clump 0"]),
    ({"position": [(0.5, 0.5, 0.005)]}, ["clump 1", "wall 4"]), ({"position": [(7, 0.5, 0.5)]}, ["clump 1", "wall 1"]),
])
def test_clumps(how, words):
    sim = simulation()
    sim.add_clumps(BALL, [(0.3, 0.3, 0.3)], velocity=(1, 0, 0))
    sim.run(3)
    before = sim.position, sim.velocity, sim.energy().total
    with pytest.raises(ValueError) as error:
        sim.add_clumps(**({"template": BALL, "position": [(0.5, 0.5, 0.5)]} | how))
    assert all(word in str(error.value).replace("clump 0: it overlaps clump 1", "clump 1 clump 0") for word in words), \
        error.value
    assert sim.n_clumps == 1
    assert all(np.array_equal(a, b) for a, b in zip(before, (sim.position, sim.velocity, sim.energy().total)))


@pytest.mark.parametrize("answer, words", [
    (None, ["None", "force (n, 3)"]), (np.zeros((3, 3)), ["returned", "torque (n, 3)"]),
    (([0, 0], [0, 0, 0]), ["force", "(2,)"]),
    (([0, 0, np.nan], [0, 0, 0]), ["force", "nan"]), (([0, 0, 0], [0, 0, 1e80]), ["torque", "units"])])
def test_what_a_user_force_returns(answer, words):
    sim = simulation()
    sim.add_clumps(BALL, [(0.3, 0.3, 0.3)])
    sim.add_force(lambda t, x, v, q, w: answer)
    with pytest.raises(ValueError) as error:
        sim.run(1)
    assert all(word in str(error.value) for word in ["user force", *words]), error.value
    assert sim.step_count == 0


def test_contacts_up_to_a_tenth_of_the_smaller_radius_may_be_there_at_the_start():
    sim = simulation()
    sim.add_clumps(BALL, [(0.3, 0.3, 0.3), (0.3, 0.3, 0.3191), (0.5, 0.5, 0.0091)])
    assert len(sim.contacts()) == 2


def test_warnings():
    with pytest.warns(UserWarning, match="Rayleigh step"):
        simulation(dt=1e-4).add_clumps(BALL, [(0.5, 0.5, 0.5)])
    with pytest.warns(UserWarning, match="normalised"):
        simulation().add_clumps(BALL, [(0.5, 0.5, 0.5)], orientation=(1, 1, 0, 0))


def test_a_step_above_the_rayleigh_step_warns_once_and_again_for_a_smaller_sphere():
    sim = simulation(dt=1e-4)
    for place, radius, warns in (0.2, 0.02, 1), (0.4, 0.02, 0), (0.6, 0.03, 0), (0.8, 0.01, 1), (0.9, 0.01, 0):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            sim.add_clumps(md.ClumpTemplate([(0, 0, 0)], [radius]), [(place, 0.5, 0.5)])
        assert len(caught) == warns
        limit = sim.material.rayleigh_step(radius, 2500.0)
        assert all(f"{limit:g} s" in str(warning.message) for warning in caught)


def test_force_that_fails_leaves_the_clumps_as_they_were():
    sim = simulation()
    sim.add_clumps(BALL, [(0.3, 0.3, 0.3)])
    sim.add_force(lambda t, x, v, q, w: (np.zeros((1, 3)), np.zeros((1, 3))))
    sim.run(2)
    with pytest.raises(ValueError, match="user force"):
        sim.add_clumps(BALL, [(0.5, 0.5, 0.5)])                    # the function answers for one clump only
    assert sim.n_clumps == 1
    sim.run(2)


def test_empty_lanes_of_a_block_stay_where_they_are():
    """Three clumps fill three of eight lanes; gravity must not move the others, which would cost renewals."""
    sim = simulation(gravity=(0, 0, -10), walls=None)
    sim.add_clumps(BALL, [(0.3, 0.3, 0.3), (0.5, 0.5, 0.5), (0.7, 0.7, 0.7)])
    names = "orientation", "angular_velocity", "position", "velocity"
    rows = [row + k for row, width in map(COLUMNS.get, names) for k in range(width)]
    start = sim.loop.state.blocks[0, rows, 3:].copy()
    sim.run(1000)
    assert np.array_equal(sim.loop.state.blocks[0, rows, 3:], start)


def test_warnings_name_the_line_of_the_user():
    sim = md.Simulation(md.Material(young=1e9, poisson=0.1), dt=1e-2)
    with pytest.warns(UserWarning) as caught:
        sim.add_clumps(BALL, (0, 0, 0), orientation=(1.1, 0, 0, 0))
    assert len(caught) == 2 and {Path(warning.filename) for warning in caught} == {Path(__file__)}


@pytest.mark.parametrize("n", [65, 3000, 10000])
@pytest.mark.parametrize("width", [0.0, 0.1])
def test_clumps_in_one_place_are_found_before_all_contacts_are_listed(n, width):
    """Each touches each other one: 3000 rods would take a minute and gigabytes."""
    rng = np.random.default_rng(1)
    orientation = rng.standard_normal((n, 4))
    orientation /= np.linalg.norm(orientation, axis=1, keepdims=True)
    sim = md.Simulation(md.Material(young=1e7, poisson=0.2), dt=1e-6)
    start = time.perf_counter()
    with pytest.raises(ValueError, match=r"position of clump (\d+): it overlaps clump (?!\1 )\d+ by .* m at the start"):
        sim.add_clumps(scenes.rod().template, width * rng.random((n, 3)), orientation)
    assert time.perf_counter() - start < 2.0 and sim.n_clumps == 0


def test_concentric_clumps_without_contacts_are_accepted():
    """Their centres of mass coincide, their spheres do not."""
    angle = 2.0 * np.pi * np.arange(70) / 70
    turned = np.column_stack([np.cos(angle / 4), *np.zeros((2, 70)), np.sin(angle / 4)])        # a quarter about z
    pair = md.ClumpTemplate([(-1, 0, 0), (1, 0, 0)], [0.02, 0.02])
    sim = md.Simulation(md.Material(young=1e7, poisson=0.2), dt=1e-6)
    sim.add_clumps(pair, np.zeros((70, 3)), turned)
    assert len(sim.contacts()) == 0
    sim.add_clumps(pair, [(0, 0, 1)] * 70, turned, scale=np.linspace(0.5, 0.6, 70))
    assert len(sim.contacts()) == 0


# --- Array attributes are copies that cannot be assigned to; settings and lists are read-only.


@pytest.fixture(scope="module")
def sim():
    return scenes.rods_in_box(seed=1, n=5).simulation()


@pytest.mark.parametrize("write", [
    lambda x: x.__setitem__(0, 1), lambda x: x[0:1].__setitem__(0, 1), lambda x: x.T.__setitem__(0, 1),
    lambda x: x.__setitem__(x > 0, 1), lambda x: x.reshape(-1).__setitem__(3, 1)])
@pytest.mark.parametrize("name", ["position", "orientation", "velocity", "angular_velocity", "mass", "force", "torque",
                                  "sphere_radii", "template_index"])
def test_items_cannot_be_assigned(name, write, sim):
    with pytest.raises(ValueError, match=rf"{name} is a copy.*take {name}\.copy\(\)"):
        write(getattr(sim, name))


def test_derived_arrays_are_writable(sim):
    x = sim.position
    for own in (x.copy(), np.array(x), x + 1.0, x[[0, 1]], x[x[:, 0] > 0.0], np.zeros_like(x), copy.deepcopy(x),
                pickle.loads(pickle.dumps(x)), np.cross(x, x), np.concatenate([x, x])):
        own[0] = 1.0
    x -= x.mean(axis=0)
    x[0] = 1.0
    assert type(np.sum(x)) is np.float64 and type(sim.position.max()) is np.float64
    assert np.array_equal(sim.position, sim.position.copy()) and repr(sim.position).startswith("array(")


def test_compiled_code_accepts_the_memory(sim):
    """SciPy requires writable buffers."""
    turned = Rotation.from_quat(sim.orientation[:, [1, 2, 3, 0]]).apply(sim.position)
    assert np.allclose(np.linalg.norm(turned, axis=1), np.linalg.norm(sim.position, axis=1))


@pytest.mark.parametrize("write", [lambda s: s.walls.append(1), lambda s: s.walls.__setitem__(0, None),
                                   lambda s: s.templates.append(1)])
def test_lists_cannot_be_changed(write, sim):
    with pytest.raises((AttributeError, TypeError)):
        write(sim)
    assert len(sim.walls) == 6 and len(sim.templates) == 1


@pytest.mark.parametrize("name, like", [("gravty", "gravity"), ("velocities", "velocity"), ("zzz", None)])
def test_misspelt_attributes(name, like, sim):
    with pytest.raises(AttributeError, match=f"no attribute '{name}'.*{like or ''}"):
        setattr(sim, name, 1.0)


@pytest.mark.parametrize("name", ["dt", "gravity", "material", "walls", "rotation", "position", "velocity", "time",
                                  "threads", "periodic", "image", "wrapped_position"])
def test_settings_cannot_be_set(name, sim):
    with pytest.raises(AttributeError, match=f"{name} cannot be set"):
        setattr(sim, name, 1.0)


def test_no_private_member_of_a_simulation_is_read():
    """Outside of the class: `sim.settings`, `sim.loop` and `sim.monitor` are what other modules read."""
    found = [f"{path.name}: {line.strip()}" for folder in ("minidem", "scenarios", "tools", "tests")
             for path in (ROOT / folder).rglob("*.py") for line in path.read_text().splitlines()
             if re.search(r"\b(sim|sims\[\w+\]|simulation)\._[a-z]", line)]
    assert not found, "\n".join(found)
