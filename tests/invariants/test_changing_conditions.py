"""Materials, pairs and gravity that change between two runs."""
import copy
from dataclasses import replace

import numpy as np
import pytest
import scenes
from bit_systems import bits, through_a_file

import minidem as md

pytestmark = pytest.mark.filterwarnings("ignore:contact law .* does not read", "ignore:dt = .* Rayleigh",
                                        "ignore:.*overlap by")

ROD = md.ClumpTemplate([(-0.05, 0, 0), (0, 0, 0), (0.05, 0, 0)], [0.03] * 3, density=2500.0)
BALL = md.ClumpTemplate([(0, 0, 0)], [0.05], density=2500.0)
GRAINS = md.Material(2e7, 0.2, restitution=0.6, friction=0.6, rolling_friction=0.1, adhesion=0.05)
FLOOR = md.Material(5e7, 0.3, restitution=0.6, friction=0.6, rolling_friction=0.1, adhesion=0.05, name="floor")


def bed(dt=1e-4, contact="hertz-mindlin:rolling=epsd", until=0.3, **options):
    """Rods that fall into a box with a floor of another material."""
    walls = md.box_walls((0, 0, 0), (0.4, 0.4, 2))
    walls[4] = replace(walls[4], material=FLOOR)
    sim = md.Simulation(GRAINS, walls, contact=contact, dt=dt, gravity=(0, 0, -9.81), pairs=[md.Pair(GRAINS, FLOOR)],
                        **options)
    rng = np.random.default_rng(3)
    position = np.argwhere(np.ones((2, 3, 3))) * (0.17, 0.12, 0.11) + (0.11, 0.08, 0.06)
    sim.add_clumps(ROD, position, velocity=rng.normal(0.0, 0.3, position.shape),
                   angular_velocity=rng.normal(0.0, 2.0, position.shape))
    sim.run_until(until)
    return sim


def smoother(sim):
    sim.set_material(sim.material, replace(sim.material, friction=0.1, rolling_friction=0.01))


def stiffer(sim):
    sim.set_material(FLOOR, replace(FLOOR, young=1e8))
    sim.set_material(sim.material, replace(sim.material, young=3e7, restitution=0.8))


def slippery_floor(sim):
    pair = sim.pairs[0]
    sim.set_pair(replace(pair, friction=0.05, restitution=0.9))


def swaying(t):
    return 3.0 * np.sin(40.0 * t), 0.0, -9.81


CHANGES = {"smoother": smoother, "stiffer": stiffer, "slippery floor": slippery_floor,
           "tilted": lambda sim: sim.set_gravity((3.0, 0.0, -9.0)), "swaying": lambda sim: sim.set_gravity(swaying)}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("contact", ["hertz-mindlin:rolling=epsd", "hertz-mindlin:cohesion=jkr", "hooke-coulomb"])
def test_order_of_the_balance(contact, change):
    """A change keeps the balance at its instant, and its order afterwards."""
    errors = []
    for dt in (2e-4, 5e-5):
        law = contact if contact != "hooke-coulomb" else "hooke-coulomb:stiffness=1e5"
        sim = bed(dt, law)
        before, speed, spin = sim.energy(), sim.velocity, sim.angular_velocity
        CHANGES[change](sim)
        after = sim.energy()
        assert after.balance == pytest.approx(before.balance, abs=1e-12)
        assert np.array_equal(sim.velocity, speed) and np.array_equal(sim.angular_velocity, spin)
        sim.run_until(0.4)
        errors.append(abs(sim.energy().balance - after.balance))
    assert errors[1] < errors[0] / 8.0 or errors[0] < 1e-6


def test_springs_slide_to_a_new_limit():
    """What each spring loses is what its energy exceeds that of the new limit by."""
    sim = bed()
    found = sim.contacts()
    before, new = sim.energy(), replace(sim.material, friction=0.1)
    sim.set_material(sim.material, new)
    sim.set_pair(replace(sim.pairs[0], friction=0.1))
    after, cut = sim.energy(), sim.contacts()
    assert np.array_equal(found[["sphere_i", "sphere_j"]], cut[["sphere_i", "sphere_j"]])
    size, load = (np.linalg.norm(cut["tangential"], axis=1), np.sum(cut["force"] * cut["normal"], axis=1))
    loaded = load > 0.0
    assert (size[loaded] <= 0.1 * load[loaded] * (1 + 1e-12)).all()
    assert cut["sliding"].sum() > found["sliding"].sum() > 0
    lost = before.elastic_tangential - after.elastic_tangential
    assert after.dissipated_sliding - before.dissipated_sliding == pytest.approx(lost, rel=1e-9) and lost > 0.0
    assert after.elastic == before.elastic and after.work == pytest.approx(before.work, abs=1e-12)


def test_a_stiffness_that_changes_does_work():
    """Normal springs of Hertz store k d^5/2: twice the modulus, twice the energy."""
    sim = md.Simulation(md.Material(1e7, 0.2), md.box_walls((0, 0, 0), (1, 1, 1)), dt=1e-4, gravity=(0, 0, -9.81))
    sim.add_clumps(BALL, (0.5, 0.5, 0.0499))
    sim.run(40)
    before = sim.energy()
    sim.set_material(sim.material, md.Material(2e7, 0.2))
    after = sim.energy()
    assert after.elastic == pytest.approx(2.0 * before.elastic, rel=1e-12)
    assert after.work == pytest.approx(before.elastic, rel=1e-12) and before.elastic > 0.0


def test_a_change_of_gravity_does_work():
    sim = md.Simulation(md.Material(1e7, 0.2), dt=1e-3, gravity=(0, 0, -10.0))
    sim.add_clumps(ROD, (1.0, 2.0, 3.0), velocity=(0, 1, 5))
    sim.run(1000)
    sim.set_gravity((1.0, 0.0, 2.0))
    assert sim.gravity == (1.0, 0.0, 2.0) and np.allclose(sim.force[0], sim.mass[0] * np.array((1.0, 0.0, 2.0)))
    assert sim.energy().work == pytest.approx(-sim.mass[0] * (1.0 * 1.0 + (2.0 + 10.0) * 3.0), rel=1e-12)
    sim.run(1000)                                       # parabolas, without error
    assert sim.position[0] == pytest.approx((1.0 + 0.5, 2.0 + 2.0, 3.0 + 5.0 - 5.0 - 5.0 + 1.0), abs=1e-9)


def test_a_gravity_of_the_time():
    """Trajectory and work of a free clump; the order is two."""
    errors = []
    for dt in (1e-2, 5e-3):
        sim = md.Simulation(md.Material(1e7, 0.2), dt=dt, gravity=(0, 0, -10.0))
        sim.add_clumps(ROD, (0.0, 0.0, 0.0))
        sim.set_gravity(lambda t: (np.sin(3.0 * t), 0.0, -10.0))
        sim.run_until(2.0)
        x, v = (3.0 * 2.0 - np.sin(6.0)) / 9.0, (1.0 - np.cos(6.0)) / 3.0
        errors.append([sim.position[0, 0] - x, sim.energy().work - 0.5 * sim.mass[0] * (v ** 2 + 20.0 ** 2)])
        assert sim.energy().balance == pytest.approx(0.0, abs=1e-7 * sim.energy().kinetic)
    assert np.abs(errors[1]).max() < 1e-4 and np.allclose(np.divide(*errors), 4.0, rtol=0.05)
    balance = sim.energy().balance
    sim.set_gravity((0.0, 0.0, 0.0))                    # what the function has done remains in the ledger
    speed = sim.velocity
    assert sim.energy().balance == pytest.approx(balance, abs=1e-9)
    sim.run(10)
    assert not sim.forces.functions and np.array_equal(sim.velocity, speed) and sim.energy().potential == 0.0


def test_the_conditions_of_the_start_are_those_of_the_constructor():
    def built(material, gravity):
        sim = md.Simulation(material, md.box_walls((0, 0, 0), (1, 1, 1)), dt=1e-4, contact="hertz-mindlin",
                            gravity=gravity)
        sim.add_clumps(ROD, [(0.5, 0.5, 0.029), (0.5, 0.55, 0.09)], velocity=(1, 0, -1))
        return sim

    sims = built(GRAINS, (0, 0, -9.81)), built(md.Material(1e6, 0.3), (1, 0, 0))
    sims[1].set_material(sims[1].material, GRAINS)
    sims[1].set_gravity((0, 0, -9.81))
    for sim in sims:
        sim.run(300)
    found = [bits(sim) for sim in sims]
    for one in found:                                   # the change of gravity has done work
        del one["energies"]
    assert found[0] == found[1]


@pytest.mark.usefixtures("many_threads_and_sorts")
def test_equal_bits_over_threads_parts_copies_and_files(tmp_path):
    sims = [bed(contact="hertz-mindlin:bonds=parallel,rolling=epsd")]
    sims.append(copy.deepcopy(sims[0]))
    for k, change in enumerate(CHANGES.values()):
        sims[1] = copy.deepcopy(sims[1]) if k % 2 else through_a_file(sims[1], tmp_path, threads=3)
        for sim, parts in zip(sims, (1, 5)):
            change(sim)
            for _ in range(parts):
                sim.run(60 // parts)
        assert bits(sims[0]) == bits(sims[1]) and sims[0].energy() == sims[1].energy()
    assert sims[0].materials[0].friction == 0.1 and sims[0].forces.functions and sims[0].gravity == (0.0, 0.0, 0.0)


def test_a_callback_changes_them_or_nothing():
    """Friction falls in steps; an error takes back what its call has changed."""
    sim, again = bed(), bed()

    def lower(sim):
        sim.set_material(sim.material, replace(sim.material, friction=sim.material.friction * 0.8))
        sim.set_gravity(0.5 * np.array(sim.gravity))

    def fails(sim):
        lower(sim)
        raise OSError

    with pytest.raises(OSError):
        sim.run(300, every=100, callback=fails)
    assert sim.material is GRAINS and sim.gravity == (0.0, 0.0, -9.81)
    sim.run(200, every=100, callback=lower)
    again.run(300, every=100, callback=lower)
    assert bits(sim) == bits(again) and sim.material.friction == pytest.approx(0.6 * 0.8 ** 3)


def test_pairs_that_part_and_meet():
    """Materials that no longer interact lose their contacts; the energy of these leaves as work."""
    sim = bed()
    at_floor, before = sim.contacts()["clump_j"] == -5, sim.energy()
    assert at_floor.any()
    sim.set_pair(md.Pair(GRAINS, FLOOR, interacts=False))
    after = sim.energy()
    assert not (sim.contacts()["clump_j"] == -5).any() and len(sim.contacts()) == np.count_nonzero(~at_floor)
    assert after.balance == pytest.approx(before.balance, abs=1e-12) and after.work < before.work
    sim.run(100)
    before = sim.energy()
    sim.set_pair(md.Pair(GRAINS, FLOOR))
    after = sim.energy()
    assert (sim.contacts()["clump_j"] == -5).any() and after.work > before.work
    assert after.balance == pytest.approx(before.balance, abs=1e-12)


@pytest.mark.parametrize("contact", ["hertz-mindlin", "hertz:onset=corrected"])
def test_clumps_that_no_longer_interact(contact):
    red, blue = md.Material(1e7, 0.2), md.Material(1e7, 0.2, name="blue")
    sim = md.Simulation(red, dt=1e-5, contact=contact, pairs=[md.Pair(red, blue)])
    sim.add_clumps(BALL, [(0.1, 0, 0), (0.1, 0.2, 0), (0.1, 0.2995, 0)], velocity=(-1, 0, 0))
    sim.add_clumps(BALL, (0, 0, 0), material=blue)
    sim.run(20)
    before = sim.energy()
    assert len(sim.contacts()) == 2
    sim.set_pair(md.Pair(red, blue, interacts=False))
    assert sim.contacts()[["clump_i", "clump_j"]].tolist() == [(1, 2)]
    assert sim.energy().balance == pytest.approx(before.balance, abs=1e-12) and not sim.force[[0, 3]].any()
    sim.run(100)
    assert len(sim.contacts()) == 1 and not sim.force[[0, 3]].any()


def test_materials_follow_their_walls_and_pairs():
    sim = bed(until=0.01)
    new = replace(FLOOR, friction=0.3, name="worn floor")
    sim.set_material(FLOOR, new)
    assert sim.materials == (GRAINS, new) and sim.walls[4].material is new
    assert [(pair.a, pair.b, pair.friction) for pair in sim.pairs] == [(GRAINS, new, 0.6)]
    smooth = replace(GRAINS, friction=0.2)
    sim.set_material(GRAINS, smooth)
    assert sim.material is smooth and sim.pairs[0].a is smooth and sim.material_index.tolist() == [0] * 18
    sim.add_clumps(BALL, (0.2, 0.2, 1.0))
    assert sim.materials == (smooth, new)


@pytest.mark.parametrize(("call", "text"), [
    (lambda sim: sim.set_material(md.Material(1e7, 0.2), GRAINS), "old = Material(young=10000000.0, poisson=0.2): the "
     "simulation has"),
    (lambda sim: sim.set_material(GRAINS, FLOOR), "new = material 'floor': other clumps or walls have this material"),
    (lambda sim: sim.set_material(GRAINS, replace(GRAINS, density=2000.0)), "new has the density 2000.0"),
    (lambda sim: sim.set_material("floor", GRAINS), "old = 'floor': give a minidem.Material"),
    (lambda sim: sim.set_pair(GRAINS), "give a minidem.Pair(a, b, ...)"),
    (lambda sim: sim.set_pair(md.Pair(GRAINS, FLOOR, friction=0.2, restitution=-1)), "restitution = -1"),
    (lambda sim: sim.set_gravity((0, 0)), "gravity"),
    (lambda sim: sim.set_gravity(lambda t: (0, 0)), "gravity"),
    (lambda sim: sim.set_gravity(lambda: (0, 0, 0)), "gravity")])
def test_wrong_arguments_change_nothing(call, text):
    sim = bed(until=0.01)
    before = bits(sim)
    with pytest.raises(ValueError, match="^") as error:
        call(sim)
    assert text in str(error.value) and bits(sim) == before and sim.materials == (GRAINS, FLOOR)


def test_a_property_that_the_law_does_not_read():
    sim = scenes.rods_in_box(seed=4, n=4).simulation()
    with pytest.warns(UserWarning, match="does not read friction"):
        sim.set_material(sim.material, replace(sim.material, friction=0.5))
