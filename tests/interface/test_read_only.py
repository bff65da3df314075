"""Array attributes of a simulation are copies that cannot be assigned to; settings and lists are read-only."""
import copy
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
import scenes
from scipy.spatial.transform import Rotation

ROOT = Path(__file__).parents[2]


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


@pytest.mark.parametrize("name", ["dt", "walls", "position", "time"])
def test_settings_cannot_be_set(name, sim):
    with pytest.raises(AttributeError, match=f"{name} cannot be set"):
        setattr(sim, name, 1.0)


def test_no_private_member_of_a_simulation_is_read():
    """Outside of the class: `sim.settings`, `sim.loop` and `sim.monitor` are what other modules read."""
    found = [f"{path.name}: {line.strip()}" for folder in ("minidem", "scenarios", "tools", "tests")
             for path in (ROOT / folder).rglob("*.py") for line in path.read_text().splitlines()
             if re.search(r"\b(sim|sims\[\w+\]|simulation)\._[a-z]", line)]
    assert not found, "\n".join(found)
