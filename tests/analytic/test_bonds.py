"""Bonds: beams against theory, energy to second order through breaking. Bits: test_bits."""
import cantilever
import numpy as np
import pytest
from bit_systems import BRITTLE as MATERIAL, GRAIN as BALL, agglomerates
from scenes import warnings_of

import minidem as md
from minidem.contact import registry

RADIUS, CONTACT = 0.01, "hertz-mindlin:bonds=parallel"
LINEAR = "hooke-coulomb:stiffness=1e4,bonds=parallel"


def pair(dt, distance=0.0215, contact=CONTACT, **motion):
    sim = md.Simulation(MATERIAL, contact=contact, dt=dt)
    sim.add_clumps(BALL, [(0, 0, 0), (distance, 0, 0)], **motion)
    return sim


def largest_change(sim, seconds, value=lambda sim: sim.energy().balance):
    """Of the balance of energy, over its first value."""
    rows = [value(sim)]
    sim.run_until(seconds, every=1, callback=lambda sim: rows.append(value(sim)))
    return abs(np.array(rows) / rows[0] - 1).max()


@pytest.mark.parametrize("contact", [CONTACT, LINEAR])
@pytest.mark.parametrize("damping", [0.0, 0.1])
def test_balance_and_momentum(contact, damping):
    """Two spheres that turn about each other, bend and twist their bond: second order, momentum to rounding."""
    found = []
    for dt in 4e-5, 2e-5:
        sim = pair(dt, contact=contact, velocity=[(0, 0.01, 0.0), (0.005, -0.01, 0)],
                   angular_velocity=[(1, 0, 0.3), (-1, 0.2, 0)])
        assert sim.bonds.add([(0, 1)], young=1e6, damping=damping) == 1
        before = sim.angular_momentum()
        found.append(largest_change(sim, 0.02))
        np.testing.assert_allclose(sim.angular_momentum(), before, rtol=1e-12, atol=1e-12 * abs(before).max())
        energy = sim.energy()
        assert sim.bonds()["energy"][0] == pytest.approx(
            energy.elastic + energy.elastic_tangential + energy.elastic_rolling, rel=1e-9)
    assert found[0] < 3e-3 and 3.3 < found[0] / found[1] < 4.7


@pytest.mark.parametrize("velocity", [[(-1, 0, 0), (1, 0, 0)], [(0, 1, 0), (0, -1, 0)]])
def test_balance_through_breaking(velocity):
    """A bond is pulled or sheared apart at its strength. What it held is dissipated, and the balance closes again."""
    for dt in 4e-6, 1e-6:
        sim = pair(dt, 0.0202, velocity=velocity)
        sim.bonds.add([(0, 1)], young=1e7, tensile=5e4, shear=2e4, damping=0.1)
        stresses = []
        sim.run_until(2e-4, every=1, callback=lambda sim: stresses.extend(sim.bonds()[["tension", "shear"]].tolist()))
        assert len(sim.bonds()) == 0 and len(sim.contacts()) == 0 and sim.energy().elastic == 0.0
        assert 0.85 < max(max(tension / 5e4, shear / 2e4) for tension, shear in stresses) < 1.0
        end, (broken,) = sim.energy(), sim.bonds.broken()
        assert abs(end.balance / BALL.mass - 1) < 1e-8 and end.dissipated > 0.1 * BALL.mass
        assert end.dissipated_fracture == pytest.approx(broken["energy"], rel=1e-9)
        assert end.dissipated == end.dissipated_damping + end.dissipated_fracture
        assert broken["step"] == len(stresses) + 1


@pytest.mark.parametrize("bonds, step", [(8, 0.2), pytest.param(20, 0.1, marks=pytest.mark.slow)])
def test_cantilever(bonds, step):
    deflection, frequency, residual, _ = cantilever.measured(bonds, step)
    assert abs(deflection - 1) < 0.01 and abs(frequency - 1) < 0.01 and residual < 1e-5


@pytest.mark.parametrize("axis, stress, strength", [(0, "shear", "shear"), (1, "tension", "tensile")])
def test_twisted_and_bent_apart(axis, stress, strength):
    """Spheres with opposite spins: torsion or bending of a harmonic oscillator, which breaks at half of its peak, or
    is damped."""
    young, ratio, distance, spin = 1e7, 2.0, 0.0202, np.eye(3)[axis]
    k_n = young * np.pi * RADIUS ** 2 / distance
    k = k_n / ratio * RADIUS ** 2 / 2 if stress == "shear" else k_n * RADIUS ** 2 / 4
    rate = np.sqrt(2.0 * k / BALL.inertia[0])
    peak = k * 10.0 / rate * RADIUS / (np.pi * RADIUS ** 4 / (2 if stress == "shear" else 4))
    sim = pair(2e-3 / rate, distance, angular_velocity=[-5.0 * spin, 5.0 * spin])
    sim.bonds.add([(0, 1)], young=young, stiffness_ratio=ratio, **{strength: 0.5 * peak})
    held = []
    sim.run_until(1.0 / rate, every=1,
                  callback=lambda sim: held.extend((sim.time, value) for value in sim.bonds()[stress]))
    time, found = np.transpose(held)
    np.testing.assert_allclose(found, peak * np.sin(rate * time), rtol=1e-4)
    assert time[-1] * rate == pytest.approx(np.pi / 6, abs=4e-3) and len(sim.bonds()) == 0
    assert sim.bonds.broken()["time"] == pytest.approx(time[-1] + sim.dt, rel=1e-12)
    assert sim.energy().dissipated == sim.energy().dissipated_fracture == pytest.approx(sim.bonds.broken()["energy"][0])
    assert abs(sim.energy().balance / (25.0 * BALL.inertia[0]) - 1) < 1e-6
    sim, held = pair(2e-3 / rate, distance, angular_velocity=[-5.0 * spin, 5.0 * spin]), []
    sim.bonds.add([(0, 1)], young=young, stiffness_ratio=ratio, damping=0.2)
    sim.run_until(3.0 / rate, every=1,
                  callback=lambda sim: held.extend((sim.time, value) for value in sim.bonds()[stress]))
    time, found = np.transpose(held)
    slowed = 0.4 * np.sqrt(0.7 * BALL.mass * RADIUS ** 2 * k) / BALL.inertia[0]
    turns = np.sqrt(rate ** 2 - slowed ** 2)
    expected = peak * rate / turns * np.exp(-slowed * time) * np.sin(turns * time)
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=2e-3 * peak)


def test_broken_bonds_are_listed():
    """With their steps, by ascending step and spheres, and their energies; clumps that are removed keep their ids."""
    sim, held = agglomerates(n=2, speed=6.0), []
    sim.run(1100)
    def look(sim):
        held.append(set(map(tuple, sim.bonds()[["sphere_i", "sphere_j"]].tolist())))
    look(sim)
    first, before = sim.step_count, len(sim.bonds.broken())
    sim.run(100, every=1, callback=look)
    everything = sim.bonds.broken()
    table = everything[before:]
    expected = [(first + k + 1, *pair) for k in range(100) for pair in sorted(held[k] - held[k + 1])]
    assert table[["step", "id_i", "id_j"]].tolist() == expected and len(expected) > 5       # ids: one sphere each
    np.testing.assert_allclose(table["time"], table["step"] * sim.dt, rtol=1e-15)
    assert (table["energy"] > 0.0).all() and not table["place_i"].any()
    assert sim.energy().dissipated_fracture == pytest.approx(everything["energy"].sum(), rel=1e-9)
    sim.remove_clumps(sim.ids[:27])
    sim.add_clumps(BALL, [(0.3, 0.3, 0.3)])
    bonds = sim.bonds()
    assert len(bonds) and bonds["clump_j"].max() < 27
    sim.run(10)
    assert sim.bonds.broken()[:len(everything)].tobytes() == everything.tobytes()


@pytest.mark.usefixtures("own_law", "many_threads_and_sorts")
@pytest.mark.filterwarnings("ignore:contact law 'cracks'")
@pytest.mark.parametrize("threads", [1, 2])
def test_fractures_of_another_law(threads):
    """At a wall, and between spheres of clumps of different threads: once each, in the second step."""
    def cracks(contacts):
        steps = contacts.history[:, 0, 3] + (contacts.step > 0.0)
        contacts.fracture = np.where((steps == 2.0) & (contacts.step > 0.0), contacts.overlap, 0.0)
        contacts.history[:, 0, 3] = steps
    registry.register("cracks", cracks)
    pair = md.ClumpTemplate([(0, 0, 0), (0.03, 0, 0)], [RADIUS] * 2, density=1000.0)
    sim = md.Simulation(MATERIAL, [md.Plane((0, 0, 0), (0, 0, 1)), md.Plane((0, 0, 1), (0, 0, 1))], contact="cracks",
                        dt=1e-5, threads=threads)
    sim.add_clumps(pair, [(0.1 * k, 0, 1.0099) for k in range(8)])
    sim.add_clumps(BALL, [(0.715 + 0.0198, 0, 1.012)])
    sim.run(5)
    table = sim.bonds.broken()
    at_walls = [(k, place, -2, 0, 2) for k in range(8) for place in range(2)]
    assert table[["id_i", "place_i", "id_j", "place_j", "step"]].tolist() == [*at_walls, (7, 1, 8, 0, 2)]
    assert sim.energy().dissipated == sim.energy().dissipated_fracture == pytest.approx(table["energy"].sum(), rel=1e-9)


@pytest.mark.parametrize("law", ["hertz-mindlin:bonds=parallel", "hooke-coulomb:stiffness=5e4,bonds=parallel"])
def test_bonds_of_spheres_that_overlap(law):
    """Their contacts act from the beginning, whether one has looked at the forces before or not."""
    plain = md.Material(1e7, 0.3)
    balls, ends = md.ClumpTemplate([(0, 0, 0)], [0.01], 2500.0), []
    for bonded, looks in (False, False), (True, False), (True, True):
        sim = md.Simulation(plain, contact=law, dt=4e-5)
        sim.add_clumps(balls, [(0, 0, 0), (0.0199, 0, 0)], velocity=[(0, 0, 0), (0, 1, 0)])
        if looks:
            assert sim.force[1][0] > 0.0
        if bonded:
            sim.bonds.add(0.0, young=1e7, damping=0.05)
        ends.append(sim.force)
        sim.run(1)
        ends.append(sim.force)
    assert np.array_equal(ends[0], ends[2]) and ends[0][1][0] > 0.1
    assert np.array_equal(ends[2], ends[4]) and np.array_equal(ends[3], ends[5])


def test_bonds_are_listed():
    """Of a pair that is pulled by a known length: force, energy, stresses."""
    sim = pair(1e-6)
    sim.bonds.add([(1, 0)], young=1e6, radius=0.5)
    sim.run(1)
    bond, = sim.bonds()
    assert (bond["sphere_i"], bond["sphere_j"]) == (0, 1) and bond["energy"] == 0.0
    assert sim.bonds.add(2e-3, young=1e6) == 0          # they have one
    sim = pair(1e-6, velocity=[(0, 0, 0), (1, 0, 0)])
    sim.bonds.add([(0, 1)], young=1e6, radius=0.5)
    sim.run(20)
    bond, = sim.bonds()
    stretch = np.diff(sim.position[:, 0])[0] - 0.0215
    force = 1e6 * np.pi * 0.005 ** 2 / 0.0215 * stretch
    assert bond["normal_force"] == pytest.approx(-force, rel=1e-12)
    assert bond["tension"] == pytest.approx(force / (np.pi * 0.005 ** 2), rel=1e-12)
    assert bond["energy"] == pytest.approx(0.5 * force * stretch, rel=1e-12)
    assert sim.energy().elastic == pytest.approx(bond["energy"], rel=1e-9)
    assert sim.contacts()["force"][0, 0] == pytest.approx(force, rel=1e-9)


def test_effective_mass():
    """That of a bond across a gap is that of a contact which begins there."""
    long, short, found = md.shapes.rod(0.1, RADIUS, 5, 1000.0), md.shapes.rod(0.05, RADIUS, 3, 1000.0), []
    for gap in 1e-9, -1e-9:
        sim = md.Simulation(MATERIAL, contact=CONTACT, dt=1e-6)
        sim.add_clumps(long, (0, 0, 0))
        sim.add_clumps(short, (0, 0.02 + gap, 0.04))
        assert gap < 0.0 or sim.bonds.add(2e-9, young=1e6) == 1
        sim.run(1)
        found.append([sim.loop.history()[name][0] for name in ("mass", "rolling_inertia")])
    assert found[0] == pytest.approx(found[1], rel=1e-6)


def test_across_faces_of_a_periodic_box():
    sim = md.Simulation(MATERIAL, contact=CONTACT, dt=1e-5, periodic=((0, 0, 0), (0.2, 0.2, 0.2), (True, True, True)))
    sim.add_clumps(BALL, [(0.001, 0.1, 0.1), (0.1795, 0.1, 0.1), (0.1, 0.1, 0.1)],
                   velocity=[(0, 0.1, 0), (0, 0, 0), (0, 0, 0)])
    assert sim.bonds.add(2e-3, young=1e6) == 1
    sim.run(1200)
    assert sim.bonds()[["sphere_i", "sphere_j"]].tolist() == [(0, 1)] and sim.bonds()["energy"][0] > 0.0


def test_a_step_that_is_too_long_for_a_bond():
    k_n, inertia = 1e9 * np.pi * RADIUS ** 2 / 0.0215, BALL.inertia[0]         # rotation is the fastest
    rate = np.sqrt(2.0 * (k_n * 0.01075 ** 2 / 2.5 + 0.25 * k_n * RADIUS ** 2) / inertia)
    texts, _ = warnings_of(lambda: pair(1e-4).bonds.add([(0, 1)], young=1e9), __file__)
    assert len(texts) == 1 and f"a step below {1.0 / rate:.2g} s is safe" in texts[0]


def test_all_pairs_with_exactly_the_gap_are_bonded():
    """A cube of 27 spheres has 54 such pairs; rounding of the positions decides about each."""
    cube = np.stack(np.meshgrid(*[np.arange(3)] * 3), axis=-1).reshape(-1, 3)
    for gap in 1e-4, 3e-4, 1e-3:
        sim = md.Simulation(MATERIAL, contact=CONTACT, dt=1e-5)
        sim.add_clumps(BALL, (0.1, 0.2, 0.3) + (2.0 * RADIUS + gap) * cube)
        assert sim.bonds.add(gap, young=1e6) == 54


def test_a_radius_in_metres_warns():
    """It is a ratio: a thousandth of the radius of the sphere, with a millionth of its area."""
    for radius, n in ((1e-3, 1), ([0.5, 0.0099], 1), (0.01, 0), (1.0, 0)):
        sim = md.Simulation(MATERIAL, contact=CONTACT, dt=1e-5)
        sim.add_clumps(BALL, [(0, 0, 0), (0.0215, 0, 0), (0.043, 0, 0)])
        texts, _ = warnings_of(lambda: sim.bonds.add([(0, 1), (1, 2)], young=1e6, radius=radius), __file__)
        assert len(texts) == n and all(f"radius = {np.min(radius):g} is a ratio" in text for text in texts)


@pytest.mark.slow
def test_free_spin_of_an_agglomerate():
    """A cube of 27 spheres spins for a million steps: energy to 1e-6 where its vibrations have died out."""
    cube = np.stack(np.meshgrid(*[np.arange(3)] * 3), axis=-1).reshape(-1, 3) * 0.0201
    spin = np.array([1.0, 2.0, 3.0])
    sim = md.Simulation(MATERIAL, contact=CONTACT, dt=1e-5)
    sim.add_clumps(BALL, cube, velocity=np.cross(spin, cube - cube.mean(axis=0)), angular_velocity=spin)
    sim.bonds.add(5e-4, young=1e7)
    before, energy = sim.angular_momentum(sim.position.mean(axis=0)), sim.energy().total
    sim.run(1_000_000)
    after = sim.angular_momentum(sim.position.mean(axis=0))
    assert abs(sim.energy().total / energy - 1) < 1e-6
    np.testing.assert_allclose(after, before, rtol=0, atol=1e-6 * abs(before).max())
