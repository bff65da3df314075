"""Spellings of before 0.25: each works, and a DeprecationWarning names the new one at the line of the user."""
import warnings

import numpy as np
import pytest

import minidem as md
from minidem.initial import Inlet, Outlet
from minidem.simulation import OLD

STEEL, BALL = md.Material(young=1e7, poisson=0.3), md.ClumpTemplate([(0, 0, 0)], [0.1], 2500.0)


def deprecated(call):
    """What DeprecationWarnings of a function say, all at lines of this file, and its result."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = call()
    found = [one for one in caught if one.category is DeprecationWarning]
    assert all(one.filename == __file__ for one in found)
    return [str(one.message) for one in found], result


def simulation():
    """Three balls in touch on a plane, with bonds, a field and a force."""
    sim = md.Simulation(STEEL, [md.Plane((0, 0, -0.1), (0, 0, 1), name="floor")], dt=1e-6,
                        contact="hertz-mindlin:bonds=parallel")
    sim.add_clumps(BALL, [(0.2 * k, 0, 0) for k in range(3)])
    sim.fields.add("heat", 1.0)
    return sim


def force(t, x, v, q, w):
    return 0.0 * v, 0.0 * w


CALLS = {           # old name of a method -> its arguments
    "add_bonds": ([(0, 1)], 1e7), "broken_bonds": (), "add_field": ("charge", 0.0), "field": ("heat",),
    "set_field": ("heat", 2.0), "add_flux": (lambda contacts: None,), "add_force": (force,), "renew_forces": (),
    "add_wall": (md.Plane((0, 0, 9), (0, 0, -1)),), "move_wall": (0,), "remove_wall": ("floor",), "wall_force": (0,),
    "wall_torque": (0,), "wall_velocity": (0,), "overlap_walls": ([(0, 0, 0, 0.1)],), "write_lammps": ("lammps",),
    "write_vtu": ("a.vtu",), "write_contacts": ("a.vtu",), "write_bonds": ("a.vtu",), "contact_columns": ()}


@pytest.mark.parametrize("name", OLD)
def test_former_names_of_a_simulation(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sim = simulation()
    if name == "write_lammps":
        sim = md.Simulation(STEEL, dt=1e-6)
        sim.add_clumps(BALL, (0, 0, 0))
    texts, found = deprecated(lambda: getattr(sim, name))
    new = OLD[name].partition(".__")[0]
    assert len(texts) == 1 and f"sim.{name} is now sim.{new}" in texts[0] and name not in dir(sim)
    if name in CALLS:
        deprecated(lambda: found(*CALLS[name]))
    else:
        assert not callable(found)


@pytest.mark.parametrize("call, names", [
    (lambda: md.Simulation(STEEL, None, "spiral", "hertz", dt=1e-6), "rotation, contact"),
    (lambda: simulation().add_clumps(BALL, (9, 0, 0), (1, 0, 0, 0), (1, 0, 0), (0, 0, 1)),
     "velocity, angular_velocity"),
    (lambda: simulation().set_motion([0], "xy"), "free"),
    (lambda: simulation().run(2, 1, lambda sim: None), "every, callback"),
    (lambda: simulation().run_until(2e-6, 1, lambda sim: None), "every, callback"),
    (lambda: simulation().energy(simulation().contacts()), "contacts"),
    (lambda: simulation().bonds.add([(0, 1)], 1e7), "young"),
    (lambda: simulation().stress(1.0), "volume"),
    (lambda: simulation().walls.torque(0, (0, 0, 0)), "about"),
    (lambda: md.PeriodicBox((0, 0, 0), (1, 1, 1), (True,) * 3), "axes"),
    (lambda: md.Pressure(1.0, 1.0, 0.5), "damping"),
    (lambda: md.Servo((0, 0, 1), mass=1.0, force=1.0), "direction"), (lambda: md.Driven(1.0), "mass"),
    (lambda: md.Plane((0, 0, 0), (0, 0, 1), STEEL), "material"), (lambda: md.MeshWall(triangle(), 2.0), "scale"),
    (lambda: md.Cylinder((0, 0, 0), (0, 0, 1), 1.0, True), "outside"),
    (lambda: md.Cone((0, 0, 0), (0, 0, 1), (1.0, 2.0), 1.0, STEEL), "material"),
    (lambda: md.Oscillation((1, 0, 0), 1.0, 0.5), "phase"),
    (lambda: md.Pair(STEEL, md.Material(1e6, 0.3), 0.5), "restitution"),
    (lambda: Inlet(BALL, (0, 0, 0), (1, 1, 1), 5.0), "rate"), (lambda: Outlet((0, 0, 0), (1, 1, 1), "gate"), "name")])
def test_positional_arguments_that_are_keyword_only(call, names):
    texts, _ = deprecated(call)
    assert len(texts) == 1 and f"give {names} by name" in texts[0]


def triangle():
    return np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0)], float), np.array([(0, 1, 2)])


def test_other_former_names():
    sim = simulation()
    for call, words in ((lambda: md.box((0, 0, 0), (1, 1, 1)), "md.box is now md.box_walls"),
                        (lambda: md.Pair(STEEL, md.Material(1e6, 0.3), contact=False), "contact is now interacts"),
                        (lambda: sim.walls.force(k=0), "k is now wall"),
                        (lambda: sim.sphere_centers(), "sphere_centers is an array now")):
        texts, _ = deprecated(call)
        assert len(texts) == 1 and words in texts[0], texts


def test_too_many_arguments():
    with pytest.raises(TypeError, match="positional"):
        md.Servo((0, 0, 1), mass=1.0, force=1.0, direction=(0, 0, 1))
    with pytest.raises(TypeError, match="unexpected keyword argument 'k'"):
        simulation().walls.force(k=0, wall=0)
    with pytest.raises(TypeError, match="cannot be called"):
        simulation().position()
