"""Arguments and results of user forces; copies of a simulation; contacts as columns."""

import numpy as np
import pytest
import scenes

import minidem as md

DT = 38e-6
BALL = md.ClumpTemplate([(0.0, 0.0, 0.0)], [0.05])


def rods(**changes):
    return scenes.rods_in_box(seed=4, n=6, speed=20.0, spin=20.0).changed(**changes).simulation(DT)


def drag(t, x, v, q, w):
    return -0.1 * v, -1e-3 * w


def test_functions_get_separate_arrays():
    def spoiling(t, x, v, q, w):
        force, torque = drag(t, x, v, q, w)
        for values in (x, v, q, w):
            values -= 7.0
        return force, torque

    def spring(t, x, v, q, w):
        return -x, np.zeros(3)

    one, other = rods(), rods()
    for first, sim in ((spoiling, one), (drag, other)):
        sim.add_force(first)
        sim.add_force(spring)
        sim.run(20)
    assert np.array_equal(one.position, other.position) and np.array_equal(one.orientation, other.orientation)


@pytest.mark.parametrize("answer", [np.zeros((2, 3)), [[0.0, 0.0, 1.0], [0.0, 0.0, 2.0]], np.zeros((2, 2, 3))])
def test_two_rows_for_two_clumps_are_not_taken_for_force_and_torque(answer):
    sim = md.Simulation(md.Material(young=1e7, poisson=0.2), dt=1e-5)
    sim.add_clumps(BALL, [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0)])
    sim.add_force(lambda t, x, v, q, w: answer)
    with pytest.raises(ValueError, match=r"user force returned .*: return a tuple \(force \(n, 3\), torque \(n, 3\)\)"):
        sim.run(1)


def test_masks_are_not_ignored():
    place = np.ma.masked_array([[0.0, 0.0, 0.0], [9e9, 0.0, 0.0]], mask=[[False] * 3, [True, False, False]])
    sim = md.Simulation(md.Material(young=1e7, poisson=0.2), dt=1e-5)
    with pytest.raises(ValueError, match="position has masked elements"):
        sim.add_clumps(BALL, place)
    sim.add_clumps(BALL, place[:1])                                 # nothing of it is masked
    sim.add_force(lambda t, x, v, q, w: (np.ma.masked_greater(v, -1.0), w))
    with pytest.raises(ValueError, match="force of a user force has masked elements"):
        sim.run(1)


def test_forces_are_not_evaluated_before_user_forces_are_added_again(tmp_path):
    """Saved before the first evaluation: without the user force the first step would lack it."""
    sim = rods()
    sim.add_force(drag)
    sim.save(tmp_path / "state.npz")
    other = md.Simulation.load(tmp_path / "state.npz")
    for look in (other.contacts, lambda: other.force, lambda: other.run(1)):
        with pytest.raises(ValueError, match="saved with 1 user forces and has 0: call add_force again"):
            look()
    other.add_force(drag)
    for one in (sim, other):
        one.run(5)
    assert np.array_equal(sim.velocity, other.velocity)


def test_attributes_of_subclasses():
    class Named(md.Simulation):
        pass

    sim = Named(md.Material(young=1e7, poisson=0.2), dt=1e-5)
    sim.label = "mine"
    assert sim.label == "mine"
    with pytest.raises(AttributeError, match="dt cannot be set"):
        sim.dt = 1.0


def test_contacts_as_columns():
    sim = md.Simulation(md.Material(young=1e7, poisson=0.2), walls=[md.Plane((0, 0, 0), (0, 0, 1))], dt=1e-5)
    sim.add_clumps(BALL, [(0.0, 0.0, 0.049), (0.0, 0.099, 0.049)])
    contacts, columns = sim.contacts(), sim.contact_columns()
    assert len(contacts) == 3 and all(column.shape == (3,) for column in columns.values())
    assert list(columns)[:6] == ["clump_i", "clump_j", "sphere_i", "sphere_j", "overlap", "normal_x"]
    assert np.array_equal(columns["force_y"], contacts["force"][:, 1]) and columns["force_y"].any()
    assert len(columns) == 9 + 3 * 5
