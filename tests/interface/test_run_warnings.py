"""Warnings in scripts, by checks of runs and for what a contact law does not read: when, and what else changes."""
import copy
import pickle
import re
import warnings
from dataclasses import replace

import numpy as np
import pytest
import scenes
from examples import rows_of
from rods_in_box import SCENARIO as RODS
from scenes import warnings_of
from scipy.spatial import ConvexHull

import minidem as md
from minidem.analysis.monitor import SPACING, Monitor
from minidem.contact.friction import PARTS
from minidem.initial import Outlet, SieveCurve

RADIUS = 0.01
BALL = md.ClumpTemplate([(0.0, 0.0, 0.0)], [RADIUS], 2500.0)
FLOOR = md.Plane((0, 0, 0), (0, 0, 1))
EARTH = (0, 0, -9.81)
SIDES = np.array([(x, y, z) for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (-0.1, 0.1)])
CUBE = SIDES, ConvexHull(SIDES).simplices                       # triangles of both orientations
OPEN = SIDES, CUBE[1][:-1]


def ball(young, walls, dt=1e-4, position=(0, 0, 1.01 * RADIUS), velocity=(0, 0, 0), gravity=EARTH, **options):
    sim = md.Simulation(md.Material(young, 0.2), walls, dt=dt, gravity=gravity, **options)
    sim.add_clumps(BALL, position, velocity=velocity)
    return sim


def said_in(run):
    return warnings_of(run, __file__)[0]


def flying(walls, velocity=(0, 0, 1500.0), others=()):
    sim = ball(70e9, walls, 1e-5, (0, 0, 0), velocity, (0, 0, 0))
    sim.add_clumps(BALL, np.reshape(others, (-1, 3)))
    return sim


def escaping(velocity=(0, 0, 0), **motion):
    """Too soft for its speed; another one, which it does not meet, stays inside, and one was outside from the start."""
    sim = ball(1e4, [md.MeshWall(CUBE, velocity=velocity, **motion)], 1e-4, (0, 0, 0), np.add(velocity, (0, 0, 6.0)),
               (0, 0, 0))
    sim.add_clumps(BALL, [(0, 0.06, 0), (0, 0.5, 0)], velocity=[velocity, (0, 0, 0)])
    return sim


PLATE = np.array([(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)]), [(0, 1, 2), (0, 2, 3)]
ON_PLATE, BOX = md.MeshWall(PLATE), ((-1, -1, 0), (1, 1, 1))
TETRAHEDRON = np.array([(0, 0, 0), (0.3, 0, 0), (0, 0.3, 0), (0, 0, 0.3)]), [(0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3)]


def above_plate(walls, gravity=EARTH, force=None, **options):
    sim = md.Simulation(md.Material(1e7, 0.2), walls, dt=2e-3, gravity=gravity, **options)
    sim.add_clumps(BALL, [(0.2, 0.1, 0.3), (1.5, 0, 0.5), (0, -1.6, 0.5)], scale=10.0)
    if force:
        sim.forces.add(force)
    return sim


def on_belt(velocity, position=(0, 0, 1.01 * RADIUS), **options):
    return ball(1e4, [md.MeshWall((0.1 * PLATE[0], PLATE[1]), velocity=velocity, **options)], 1e-3, position)


def lost(number):
    return (rf"step \d+ \(time [1-4][\d.]+ s\): {number} of 3 clumps fall freely, far below all walls and the periodic "
            r"box, with nothing to land on; clump \d is at \[.*\] m\. Close the walls, add an md\.Plane")


def in_millimetres(scale):
    """A mesh of 60 m beside grains of 2 cm; it is not the first wall."""
    triangle = [(0, 0, -10), (60, 0, -10), (0, 30, -10)], [(0, 1, 2)]
    return ball(1e9, [md.Plane((0, 0, -99), (0, 0, 1)), md.MeshWall(triangle, scale=scale)], 1e-5)


MILLIMETRES = (r"wall 1, a mesh, is 60 m long, 3000 times the diameter of the largest clump, 0.02 m. A file in mm "
               r"needs MeshWall\(..., scale=1e-3\)")
OVERLAP = (r"step 256 \(time 0.0256 s\): clump 0 and wall 0 overlap by 0.0\d+ m, 0.311 of the smaller radius.*Take a "
           "stiffer material or slower clumps")
BEHIND = r"step \d+ .*: the centre of clump 0 has passed through wall 0 and is 0.\d+ m behind it.*too soft"
FAST = (r"step 1 \(time 1e-05 s\): clump 0 moves by 0.015 m in a step, 1.5 times the radius of its smallest sphere, "
        "and may pass through walls and clumps without a contact. Lower dt")
GROWN = (r"step 100 \(time 0.001 s\): the energy balance has grown by \S+ J since step 1, \S+ times the energy that "
         "there was or came in. The step 1e-05 s is too long for contacts, or for the rotation. Lower dt")
ESCAPED = (r".*clump 0 was within the closed mesh of wall 0 and is \S+ m outside its bounding box: it has passed "
           "through the mesh. Lower dt, or its speed, or take a stiffer material")
LEFT = (r"step \d+ \(time \S+ s\): wall 0, a MeshWall, has moved by \S+ m and has left all clumps, since velocity = "
        r"\[2.0, 0.0, 0.0\] m/s carries it away. .*md.Plane a velocity within the plane")
WARNINGS = {        # name: (simulation, its steps, what is said of some of the texts, a word that no other text has)
    "modulus in a wrong unit": (lambda: ball(70.0, [FLOOR]), 20_000, [OVERLAP, BEHIND], ""),
    "cylinder": (lambda: ball(70.0, [md.Cylinder((0, 0, 0), (0, 1, 0), 0.05)]), 20_000, [BEHIND], "behind"),
    "harmless": (lambda: ball(1e9, [FLOOR], 1e-5), 20_000, [], ""),
    "fast through a mesh": (lambda: flying([md.MeshWall(OPEN)]), 100, [FAST, GROWN], ""),
    "fast near a plane": (lambda: flying([md.Plane((0, 0, -1), (0, 0, 1))]), 2, [FAST], ""),
    "fast near another": (lambda: flying([], others=[(0, 1, 0)]), 2, [FAST], ""),
    "fast and alone": (lambda: flying([]), 2, [], ""),
    "mesh at rest": (escaping, 1000, [ESCAPED], "closed mesh"),
    "mesh that turns": (lambda: escaping(angular_velocity=(0, 0, 2.0)), 1000, [ESCAPED], "closed mesh"),
    "mesh that moves": (lambda: escaping((5.0, 0, 0)), 1000, [ESCAPED], "closed mesh"),
    "mesh that shakes": (lambda: escaping(motion=md.Oscillation((0.5, 0, 0), 3.0)), 1000, [ESCAPED], "closed mesh"),
    "out of an open mesh": (lambda: flying([md.MeshWall(OPEN)], (9.0, 0, 0)), 50_000, [], "closed mesh"),
    "beside a closed mesh": (lambda: ball(1e9, [md.MeshWall(TETRAHEDRON)], 1e-5, (0.2, 0.2, 0.2), (1.0, 1.0, 1.0),
                                          (0, 0, 0)), 50_000, [], "closed mesh"),
    "mesh in mm": (lambda: in_millimetres(1.0), 200, [MILLIMETRES], ""),
    "mesh in m": (lambda: in_millimetres(1e-3), 200, [], ""),
    # fall for ever: beside a finite wall, out of it, along an open axis; once, with number and place
    "beside a plate": (lambda: above_plate([ON_PLATE]), 2000, [lost(2)], "fall"),
    "under a lid": (lambda: above_plate([ON_PLATE, md.Plane((0, 0, 2), (0, 0, -1))]), 2000, [lost(2)], "fall"),
    "out of a tube": (lambda: above_plate([md.Cone((0, 0, -1), (0, 0, 1), (0.5, 0.5), 1.0),
                                           md.Plane((-2, 0, 0), (1, 0, 0))]), 2000, [lost(3)], "fall"),
    "in a cylinder": (lambda: above_plate([ON_PLATE, md.Cylinder((0, 0, 0), (0, 0, 1), 3.0)]), 2000, [lost(2)], "fall"),
    "plate that rises": (lambda: above_plate([md.MeshWall(PLATE, velocity=(0, 0, 0.5))]), 2000, [lost(2)], "fall"),
    "open axis": (lambda: above_plate([], periodic=(*BOX, (True, True, False))), 2000, [lost(3)], "fall"),
    "oblique": (lambda: above_plate([], (5.0, 0, -5.0), periodic=(*BOX, (False, True, True))), 2000, [lost(1)], "fall"),
    # fall and are not lost: in open space, without gravity, onto a wall far below, with a wall, along a periodic axis,
    # onto a force
    "open space": (lambda: above_plate([]), 1050, [], "fall"),
    "no gravity": (lambda: above_plate([ON_PLATE], (0, 0, 0)), 1050, [], "fall"),
    "vertical plane": (lambda: above_plate([md.Plane((-2, 0, 0), (1, 0, 0))]), 1050, [], "fall"),
    "slope below": (lambda: above_plate([ON_PLATE, md.Plane((0, 0, -300), (0.6, 0, 0.8))]), 1050, [], "fall"),
    "cylinder below": (lambda: above_plate([ON_PLATE, md.Cylinder((0, 0, -300), (1, 0, 0), 400.0)]), 1050, [], "fall"),
    "plate that falls": (lambda: above_plate([md.MeshWall(PLATE, velocity=(0, 0, -12.0))]), 1050, [], "fall"),
    "periodic": (lambda: above_plate([], periodic=(*BOX, (True, False, True))), 1050, [], "fall"),
    "force below": (lambda: above_plate([ON_PLATE], force=lambda t, x, v, q, w: (50.0 * np.maximum(-15.0 - x, 0.0),
                                                                                0 * x)), 1050, [], "fall"),
    # the velocity of a mesh moves the whole mesh; a warning comes once it is away
    "belt that leaves": (lambda: on_belt((2.0, 0, 0)), 1000, [LEFT], "left all"),
    "belt that rises": (lambda: on_belt((0, 0, 2.0)), 1000, [], "left all"),
    "slow belt": (lambda: on_belt((0.01, 0, 0)), 1000, [], "left all"),
    "belt of nobody": (lambda: on_belt((2.0, 0, 0), (3, 0, 0.5)), 1000, [], "left all"),
    "belt that shakes": (lambda: on_belt((2.0, 0, 0), motion=md.Oscillation((0, 0, 0.01), 1.0)), 1000, [], "left all"),
}


@pytest.mark.parametrize("name", WARNINGS)
def test_what_is_said(name):
    make, steps, expected, word = WARNINGS[name]
    found = [text for text in said_in(lambda: make().run(steps)) if word in text]
    assert len(found) == len(expected) and all(map(re.match, expected, found)), found


def test_clumps_that_leave_are_not_lost():
    sim, outlet = above_plate([ON_PLATE]), Outlet((-9, -9, -9), (9, 9, -2))
    assert not [text for text in said_in(lambda: sim.run(2000, every=100,
                                                         callback=outlet)) if "fall" in text] and sim.n_clumps == 1


def test_clumps_that_come_later_are_lost_too():
    sim = ball(1e4, [md.MeshWall(CUBE)], position=(0, 0, 0), gravity=(0, 0, 0))
    sim.run(200)
    sim.add_clumps(BALL, [(0.05, 0, 0), (-0.05, 0, 0)], velocity=[(0, 0, 0), (0, 0, 6.0)])
    sim.run(100)
    sim.remove_clumps([0])
    with pytest.warns(UserWarning, match="clump 1 was within the closed mesh"):
        sim.run(1000)


def test_each_cause_once_in_a_simulation_and_its_copies():
    sim = ball(70.0, [FLOOR])
    assert len(said_in(lambda: sim.run(5000))) == 2
    for same in (sim, copy.deepcopy(sim), pickle.loads(pickle.dumps(sim))):
        assert said_in(lambda: same.run(5000)) == [] and set(same.monitor.issued) == {"overlap", "wall"}
    fresh = copy.deepcopy(ball(70.0, [FLOOR]))          # before anything was said
    assert len(said_in(lambda: fresh.run(5000))) == 2


@pytest.mark.parametrize("make", [lambda density: md.ClumpTemplate([(0, 0, 0)], [RADIUS], *density),
                                  lambda density: md.shapes.rod(6 * RADIUS, RADIUS, 3, *density)], ids=["ball", "rod"])
@pytest.mark.parametrize("known", [False, True])
def test_a_density_that_nobody_gave(make, known, tmp_path):
    """Once it runs; not if the template or the material has one, nor after a restart, which has a number."""
    def simulation(*density):
        sim = md.Simulation(md.Material(1e9, 0.2, density=2500.0 if known else None), dt=1e-5)
        assert said_in(lambda: sim.add_clumps(make(density), [(0, 0, 0), (1, 0, 0)])) == []
        return sim
    sim, other = simulation(), simulation(2500.0)
    assert sim.mass.tolist() == other.mass.tolist() and said_in(lambda: other.run(2)) == []
    sim.save(tmp_path / "a.npz")
    texts = said_in(lambda: [sim.run(2), copy.deepcopy(sim).run(2), md.Simulation.load(tmp_path / "a.npz").run(2)])
    assert len(texts) == 1 - known
    assert all("template of clump 0 was made without one, and 2500 kg/m3 are taken. Give" in text for text in texts)


def flowing(given, speed, affine, motion, gradient):
    """Warnings about 60 balls in a box, with velocities `speed`, normal, and the flow of the box `given` times."""
    box = md.PeriodicBox((0, 0, 0), (1, 1, 1), axes=(True,) * 3, affine=affine, **motion)
    sim = md.Simulation(md.Material(1e9, 0.2), dt=1e-5, periodic=box)
    position = (np.argwhere(np.ones((4, 4, 4)))[:60] + 0.5) / 4.0
    noise = np.random.default_rng(1).normal(0.0, speed, (60, 3))
    sim.add_clumps(BALL, position, velocity=noise + given * (position - 0.5) @ gradient.T)
    return said_in(lambda: sim.run(200))


@pytest.mark.parametrize("speed", [0.0, 1.0, 4.0])
@pytest.mark.parametrize("motion, i, j, rate", [({"shear": ("x", "y", 10.0)}, 0, 1, 10.0),
                                                ({"rates": (0, 0, -10.0)}, 2, 2, -10.0)])
def test_the_flow_of_a_box_is_given_twice(motion, i, j, rate, speed):
    """By velocities with the flow, as of `velocity ramp`, and affine=True; 4 m/s are more than the flow, of 2.9 m/s."""
    gradient = np.zeros((3, 3))
    gradient[i, j] = rate
    texts = flowing(1.0, speed, True, motion, gradient)
    if speed < 4.0:
        [text] = texts
        assert f"twice the {rate:g} 1/s of the periodic box" in text
        assert f"the velocity gradient dv_{'xyz'[i]}/d{'xyz'[j]} of" in text
        assert text.startswith("step 1 ") and text.endswith("Give velocities without the flow, or affine=False")
        found = float(text.split(" of the clumps is ")[1].split()[0])
        assert found == pytest.approx(2.0 * rate, rel=0.0002 if speed == 0.0 else 0.2)
    for affine, given in (True, 0.0), (False, 1.0), (False, 0.0):
        assert flowing(given, speed, affine, motion, gradient) == []


def test_as_an_error_it_ends_a_run_at_a_whole_step():
    sim, same = ball(70.0, [FLOOR]), ball(70.0, [FLOOR])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="step 256.*overlap"):
            sim.run(300)
    assert sim.step_count == 256
    with pytest.warns(UserWarning):
        sim.run(44)
        same.run(300)
    assert all(np.array_equal(a, b) for a, b in zip(scenes.state_of(sim), scenes.state_of(same), strict=True))


@pytest.mark.parametrize("name", ["_speed", "_damping", "enclosures"])
def test_a_check_that_fails_ends_no_run(name, monkeypatch):
    """It is said once, and changes no bit; nor do settings of NumPy for floating point errors."""
    def fail(*arguments):
        raise IndexError("5 is out of bounds")
    def landed():
        sim = ball(1e9, [FLOOR], 1e-5, contact="hertz-mindlin")
        with np.errstate(all="raise"):
            return said_in(lambda: sim.run(3000)), scenes.state_of(sim)
    silent, expected = landed()
    monkeypatch.setattr(f"minidem.analysis.monitor.{name}", fail)
    texts, found = landed()
    assert silent == [] and all(np.array_equal(a, b) for a, b in zip(expected, found, strict=True))
    assert len(texts) == 1 and re.match(r"step \d+ .*: a check of the run has failed, by IndexError: 5 is", texts[0])


def test_looks_are_at_known_steps(monkeypatch, tmp_path):
    """Also in pieces of a thousand steps, and in a continued simulation."""
    sim, looks, look = ball(1e9, [FLOOR], dt=1e-5), [], Monitor.look
    monkeypatch.setattr(Monitor, "look", lambda self, sim: (looks.append(sim.step_count), look(self, sim)))
    for _ in range(20):
        sim.run(1000)
    assert looks == [1, 128, 256, 512, 1000, 1024, 2000, 2048, 3000, 4000, 4096, 6000, 8000, 8192, 11_000, 14_000,
                     16384]
    looks.clear()
    sim.run(6 * SPACING)
    assert np.diff([20_000, *looks, sim.step_count]).max() < 2 * SPACING
    sim.save(tmp_path / "a.npz")
    looks.clear()
    md.Simulation.load(tmp_path / "a.npz").run(10)
    assert looks == [sim.step_count + 10]
    looks.clear()
    ball(1e9, [FLOOR], dt=1e-5).run(20_000)
    assert looks == [1, 128, 256, 512, 1024, 2048, 4096, 8192, 16384]


def test_a_scenario_says_it_once_and_in_its_own_words(tmp_path, capsys, without_pictures):
    """What its build says, too; a continued run says nothing again. Its looks are at scheduled steps."""
    def build(options):
        sim = md.Simulation(md.Material(1e4, 0.2, friction=0.3), [md.MeshWall(CUBE)], dt=1e-4)
        sim.add_clumps(BALL, (0, 0, 0), velocity=(0, 0, 6.0))
        return sim
    for options, expected in (["--time", "0.1"], 1), (["--time", "0.2", "--resume"], 0):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert replace(RODS, build=build, observables=()).main(
                ["--frames", "0", "--quiet", "--out", str(tmp_path), *options]) == 0
        said = capsys.readouterr().err
        assert said.count("warning") == 3 * expected
        assert all(said.count(words) == expected for words in ("does not read friction", "overlap by", "closed mesh"))


# --- the balance of energies, and rotations that a scheme does not resolve ---

TOP = md.ClumpTemplate([(-0.01, 0, 0), (0.01, 0.004, 0), (0.013, 0.02, 0.01)], [0.01, 0.011, 0.006], 2500.0)
LARGEST_TURN = dict(rows_of("guide/integrators.md", r"`([\w:=-]+)` (?:\| [^|]+){5}\| ([\d.]+)", 18))


def spinning(scheme, angle, dt=1e-4, clump=TOP, steps=3, hold=None):
    """A free top that turns by this angle in a step, about no axis of its own."""
    sim = md.Simulation(PLAIN, rotation=scheme, dt=dt)
    sim.add_clumps(clump, (0, 0, 0), angular_velocity=angle / dt * np.array([0.4, 0.6, 0.693]), **(hold or {}))
    return [text for text in said_in(lambda: sim.run(steps)) if "rotation scheme" in text]


@pytest.mark.parametrize("scheme", LARGEST_TURN)
def test_a_body_that_turns_too_far_in_a_step(scheme):
    """From about the largest turn of the guide on, of a body that is none of those there."""
    largest = float(LARGEST_TURN[scheme])
    assert spinning(scheme, 0.6 * largest) == []
    if scheme != "exact":
        [text] = spinning(scheme, 3.0 * largest, steps=1)
        assert re.match(rf"step 1 .*: clump 0 turns by \S+ rad in a step, too much for the rotation scheme '{scheme}': "
                        r"after a revolution its spheres are out of place by \S+ of its size. Lower dt, or take "
                        "rotation='exact'", text)


def test_rotations_that_nobody_sees_are_free():
    """Of a sphere, of a rod about its axis, and of what turns about a given axis."""
    rod = md.shapes.rod(0.06, 0.01, 3, 2500.0)
    assert spinning("euler", 3.0, clump=BALL) == spinning("lie-verlet", 2.0, hold={"turns": (0.4, 0.6, 0.693)}) == []
    sim = md.Simulation(PLAIN, rotation="lie-verlet", dt=1e-4)
    sim.add_clumps(rod, (0, 0, 0), angular_velocity=rod.axes[:, 0] * 1e4)
    assert said_in(lambda: sim.run(3)) == []


@pytest.mark.parametrize("change", [None, "velocity", "wall", "force", "copy"])
def test_the_balance_is_of_one_run_without_changes(change):
    """What a user does between two looks is no growth of the energy; growth after it is."""
    sim = ball(1e7, [FLOOR], 1e-5, (0, 0, 1.01 * RADIUS), (0, 0, -0.1))
    def run():
        sim.run(2000)
        if change == "velocity":
            sim.set_motion([0], velocity=(0, 0, -3.0))
        elif change == "wall":
            sim.walls.move(0, velocity=(0, 0, 3.0))
        elif change == "force":
            sim.forces.add(lambda t, x, v, q, w: (0 * x + (0, 0, 1.0), 0 * x))
        copy.deepcopy(sim).run(2000)
        sim.run(6000)
    assert [text for text in said_in(run) if "balance" in text] == []


def test_a_law_that_reports_no_energies_has_no_balance(own_law):
    own_law("mine", force, **RECORD)
    sim = ball(1e7, [FLOOR], 1e-5, contact="mine:stiffness=1e4", velocity=(0, 0, -1.0))
    assert said_in(lambda: sim.run(3000)) == []


# --- properties and parameters that a contact law does not read ---

READ = {"hertz": (), "hertz:onset=corrected": (), "hooke:stiffness=1e5": (), "hooke:stiffness=1e5,onset=corrected": (),
        "hertz-mindlin": ("restitution", "friction"), "hertz-mindlin:limit_damping=yes": ("restitution", "friction"),
        "hertz-mindlin:rolling=none": ("restitution", "friction"),
        "hertz-mindlin:rolling=epsd,rolling_damping=0": ("restitution", "friction", "rolling_friction"),
        "hertz-mindlin:cohesion=jkr": ("restitution", "friction", "adhesion"),
        "hertz-mindlin:cohesion=dmt": ("restitution", "friction", "adhesion"),
        "hertz-mindlin:sliding=static": ("restitution", "friction", "static_friction"),
        "hertz-mindlin:rolling=constant": ("restitution", "friction", "rolling_friction"),
        "hertz-mindlin:rolling=epsd,cohesion=jkr": ("restitution", "friction", "rolling_friction", "adhesion"),
        "hertz-mindlin:liquid=willett": ("restitution", "friction", "bridge_volume"),
        "hooke-coulomb:stiffness=1e5,tangential_damping=0": ("restitution", "friction"),
        "hooke-coulomb:rolling=epsd,stiffness=1e5": ("restitution", "friction", "rolling_friction")}
GIVEN = {"restitution": 0.5, "friction": 0.4, "rolling_friction": 0.3, "adhesion": 0.2, "bridge_volume": 1e-9,
         "static_friction": 60.0}
PLAIN = md.Material(1e7, 0.2)


@pytest.mark.parametrize("name", GIVEN)
@pytest.mark.parametrize("contact", READ)
def test_a_property_changes_the_result_or_is_warned_of(contact, name):
    """Of a ball that hits a floor, slides and rolls; where it has friction, so that it may roll."""
    assert {spec.partition(":")[0] for spec in READ} == set(md.contact.available())
    base = replace(PLAIN, friction=0.2) if "friction" in READ[contact] else PLAIN
    def rolled(material):
        sim = md.Simulation(material, [FLOOR], contact=contact, dt=1e-5, gravity=(0, 0, -9.81))
        sim.add_clumps(BALL, (0, 0, 0.01), velocity=(1.0, 0, -0.3), angular_velocity=(0, 60.0, 5.0))
        sim.run(100)
        return sim
    materials = base, replace(base, **{name: GIVEN[name]})
    (none, plain), (said, changed) = (warnings_of(lambda: rolled(material)) for material in materials)
    none, said = ([text for text in texts if " needs another " not in text] for texts in (none, said))
    moved = any((getattr(plain, q) != getattr(changed, q)).any() for q in ("velocity", "angular_velocity"))
    assert none == [] and moved == (name in READ[contact]) and len(said) == 1 - moved
    for text in said:
        assert f"contact law {contact!r} does not read {name} of Material(young=" in text
        for option, read in (("rolling=epsd would", "rolling_friction"), ("cohesion=jkr would", "adhesion"),
                             ("liquid=willett would", "bridge_volume"), ("sliding=static would", "static_friction")):
            assert (option in text.replace("'", "")) == (name == read)


@pytest.mark.parametrize("contact, given, remedies", [
    ("hertz", ["rolling_friction"], "'hertz-mindlin:rolling=epsd' and contact='hooke-coulomb:rolling=epsd' would"),
    ("hertz-mindlin", ["rolling_friction"], "'hertz-mindlin:rolling=epsd' would read it; else leave it out"),
    ("hooke-coulomb:stiffness=1e5", ["rolling_friction"], "'hooke-coulomb:stiffness=1e5,rolling=epsd' would read it"),
    *((contact, ["rolling_friction", "adhesion"], "'hertz-mindlin:rolling=epsd,cohesion=jkr' would read them; else")
      for contact in ("hertz", "hooke-coulomb:stiffness=1e5", "hertz-mindlin"))])
def test_the_remedy_is_an_option_of_the_chosen_law_or_all_laws_that_help(contact, given, remedies):
    material = replace(PLAIN, **dict.fromkeys(given, 0.1))
    [text], _ = warnings_of(lambda: md.Simulation(material, contact=contact, dt=1e-6))
    assert f"; contact={remedies}" in text


@pytest.mark.parametrize("contact, name, reader", [
    ("hertz-mindlin:bond_range=1", "bond_range", "bonds=parallel"),
    ("hooke-coulomb:stiffness=1e5,bond_range=1", "bond_range", "bonds=parallel"),
    ("hertz-mindlin:surface_tension=0.03", "surface_tension", "liquid=willett"),
    ("hertz-mindlin:contact_angle=0.3", "contact_angle", "liquid=willett"),
    ("hertz-mindlin:rolling_damping=0", "rolling_damping", "rolling=epsd"),
    ("hertz-mindlin:mobilised_damping=1", "mobilised_damping", "rolling=epsd")])
def test_a_parameter_that_is_not_read(contact, name, reader):
    [text], sim = warnings_of(lambda: md.Simulation(PLAIN, contact=contact, dt=1e-6))
    assert f"{contact!r} reads {name} with {reader} only; give that as well, or leave {name} out" in text
    assert warnings_of(lambda: copy.deepcopy(sim))[0] == []
    assert warnings_of(lambda: md.Simulation(PLAIN, contact=f"{contact},{reader}", dt=1e-6))[0] == []
    default = {"bond_range": 0.5, "surface_tension": 0.0728, "contact_angle": 0.0, "rolling_damping": 0.3,
               "mobilised_damping": 0.0}[name]
    assert warnings_of(lambda: md.Simulation(PLAIN, contact=f"hertz-mindlin:{name}={default}", dt=1e-6))[0] == []


def settled(contact, material, pairs=()):
    """A ball on a floor, which is of another material with pairs."""
    sim = md.Simulation(material, [replace(FLOOR, material=pair.b) for pair in pairs] or [FLOOR], contact=contact,
                        pairs=pairs, dt=1e-5)
    sim.add_clumps(BALL, (0, 0, 0.01))
    return sim


NEEDS = [(law, given, name) for law in map(md.contact.info, md.contact.available())
         for given, names in law.needs.items() for name in names]
WITHOUT = {"tangential", "bonds"}           # options that need no property: other springs, and bonds that are added


def test_every_option_that_adds_a_part_says_what_it_needs():
    for law in {law.name: law for law, *_ in NEEDS}.values():
        options = {f"{option}={word}" for option, words in PARTS.items() if option in law.parameters
                   for word in list(words)[1:]}
        assert options == set(law.needs) | {given for given in options if given.partition("=")[0] in WITHOUT}


@pytest.mark.parametrize("law, given, name", NEEDS, ids=[f"{law.name}:{given}-{name}" for law, given, name in NEEDS])
def test_an_option_without_what_it_needs(law, given, name):
    """It is said once, at the first step; not where one pair has it, nor where it is taken away later."""
    contact = f"{law.name}:{given}{',stiffness=1e4' if 'stiffness' in law.parameters else ''}"
    enough = f"{contact},adhesive_stiffness=0.1" if "adhesive_stiffness" in law.needs[given] else contact
    neutral = {name: getattr(md.Material, name)} if name in GIVEN else {}
    has = replace(PLAIN, **GIVEN | {"adhesion": 1e-3})
    lacks, other = replace(has, **neutral), replace(has, **neutral, name="other")

    def said(run):
        return [text for text in said_in(run) if " needs another " in text]

    sim = settled(enough if neutral else contact, lacks)
    [text] = said(lambda: sim.run(1))
    assert f"contact law {sim.contact!r}: {given} needs another {name} than {neutral.get(name, 0):g} (" in text
    assert ("of md.Material or md.Pair" if neutral else "a parameter of the law") in text
    assert said(lambda: [one.run(200) for one in (sim, copy.deepcopy(sim))]) == []
    pair = md.Pair(lacks, other, **{one: getattr(has, one) for one in neutral})
    for sim in settled(enough, has), settled(enough, lacks, [pair]):
        taken = replace(lacks, name="new")
        assert said(lambda: (sim.run(1), sim.set_material(sim.material, taken), sim.run(200))) == []


def test_static_friction_that_is_not_larger():
    [text] = said_in(lambda: settled("hertz-mindlin:sliding=static", replace(
        PLAIN, friction=0.2, static_friction=0.2)).run(1))
    assert "sliding=static needs another static_friction than 0.2 (of md.Material or md.Pair)" in text


ROLLING = replace(PLAIN, rolling_friction=0.3, name="sticky")
PAIR = md.Pair(PLAIN, ROLLING, rolling_friction=0.2)


def mindlin(material=PLAIN, walls=None, pair=None, added=None):
    sim = md.Simulation(material, walls, contact="hertz-mindlin", dt=1e-6, pairs=[pair or md.Pair(PLAIN, ROLLING)])
    if added:
        sim.add_clumps(BALL, (0, 0, 0.02), material=added)
    return sim


@pytest.mark.parametrize("how, owner", [
    ({"material": ROLLING}, "material 'sticky'"), ({"walls": [replace(FLOOR, material=ROLLING)]}, "material 'sticky'"),
    ({"added": ROLLING}, "material 'sticky'"),
    ({"pair": PAIR}, "the pair of Material(young=10000000.0, poisson=0.2) and material 'sticky'")],
    ids=["simulation", "wall", "clumps", "pair"])
def test_all_who_give_it_are_checked_and_each_cause_is_said_once(how, owner):
    [text], sim = warnings_of(lambda: mindlin(**how))
    assert f"'hertz-mindlin' does not read rolling_friction of {owner}, which has no effect then" in text
    for same in (sim, copy.deepcopy(sim), pickle.loads(pickle.dumps(sim)), copy.copy(copy.copy(sim))):
        said, _ = warnings_of(lambda: [same.add_clumps(BALL, (0, 0, 0.1), material=how.get("added")), same.run(2)])
        assert said == [] and "unread rolling_friction" in same.monitor.issued


def test_a_refused_start_says_nothing():
    sim = md.Simulation(PLAIN, dt=1e-6)
    sim.add_clumps(BALL, (0, 0, 0.02))
    said, error = warnings_of(lambda: pytest.raises(ValueError, sim.add_clumps, BALL, (0, 0, 0.025),
                                                 material=replace(PLAIN, friction=0.1)))
    assert said == [] and "unread friction" not in sim.monitor.issued and "overlaps clump" in str(error.value)


def force(c, stiffness, mode):
    c.force = (stiffness * np.maximum(c.overlap, 0.0))[:, None] * c.normal


RECORD = {"parameters": {"stiffness": None, "mode": ("dry", "wet")}, "power": 1.0, "reads_of_pairs": (),
          "reads_with": {"mode=wet": ("rolling_friction",)}}


def test_a_law_of_a_user(own_law):
    """What its options read is warned of, and needed of pairs, as of the built-in ones."""
    own_law("mine", force, **RECORD)
    dry, wet = "mine:stiffness=1e5", "mine:stiffness=1e5,mode=wet"
    walls = [replace(FLOOR, material=replace(PLAIN, name="other"))]
    for material, contact, words in (
            (ROLLING, dry, f"'{dry}' does not read rolling_friction"),
            (ROLLING, dry, f"; contact='{wet}' would read it"),
            (ROLLING, "hertz", "contact='mine:mode=wet'"),
            (replace(PLAIN, friction=0.1), wet, "contact='hertz-mindlin' and contact='hooke-coulomb' would read it")):
        [text], _ = warnings_of(lambda: md.Simulation(material, contact=contact, dt=1e-6))
        assert words in text
    assert warnings_of(lambda: md.Simulation(ROLLING, contact=wet, dt=1e-6))[0] == []
    md.Simulation(PLAIN, walls, contact=dry, dt=1e-6)
    for contact, words in ((wet, "'mine' reads rolling_friction of their pair; add md.Pair"),
                           ("hertz-mindlin", "'hertz-mindlin' reads restitution, friction of their pair"),
                           ("hertz-mindlin:rolling=epsd", "restitution, friction, rolling_friction of their pair")):
        with pytest.raises(ValueError, match=words):
            md.Simulation(PLAIN, walls, contact=contact, dt=1e-6)
    own_law("mine", lambda c, stiffness, mode, viscosity: None, **RECORD | {
        "parameters": RECORD["parameters"] | {"viscosity": 0.0}, "reads_with": {"mode=wet": ("viscosity",)}})
    [text], _ = warnings_of(lambda: md.Simulation(PLAIN, contact=f"{dry},viscosity=1", dt=1e-6))
    assert "reads viscosity with mode=wet only" in text
    assert warnings_of(lambda: md.Simulation(PLAIN, contact=f"{wet},viscosity=1", dt=1e-6))[0] == []


def test_walls_are_called_by_their_names():
    """In warnings of runs, and where clumps are refused; a wall without a name has its number alone."""
    floor, ceiling = replace(FLOOR, name="the floor"), md.Plane((0, 0, 1), (0, 0, -1))
    sim = ball(1e4, [ceiling, floor])
    assert re.search(r"clump 0 and wall 1 \('the floor'\) overlap", "".join(said_in(lambda: sim.run(300))))
    sim = ball(1e4, [floor, ceiling], position=(0, 0, 0.99), gravity=(0, 0, 500.0))
    assert re.search("clump 0 and wall 1 overlap", "".join(said_in(lambda: sim.run(300))))
    for clumps in ([(0, 0, 0)], [(k, 0, 0) for k in range(50)]):
        with pytest.raises(ValueError, match=r"overlaps wall 0 \('the floor'\) by 0.01 m"):
            sim.add_clumps(BALL, clumps)


@pytest.mark.parametrize("density, radius, young, said", [
    (2500.0, RADIUS, 1e7, ""), (30.0, RADIUS, 1e5, ""), (2.5, RADIUS, 1e5, "clump 0 is 2.5 kg/m3, as of a gas or foam"),
    (2500.0, 10.0, 1e7, "times the Rayleigh step 0.865 s of the smallest sphere, whose radius is 10 m; 10 mm are"),
    (2500.0, 10.0, 1e14, ""), (2500.0, 0.3, 1e4, "")])
def test_units_that_are_not_si(density, radius, young, said):
    sim = md.Simulation(md.Material(young, 0.3), [FLOOR], dt=1e-5, gravity=EARTH)
    sim.add_clumps(md.ClumpTemplate([(0, 0, 0)], [radius], density), (0, 0, 2.0 * radius))
    texts = said_in(lambda: sim.run(200))
    assert len(texts) == bool(said) and said in "".join(texts)


def test_sieves_in_millimetres():
    [text] = said_in(lambda: SieveCurve([(0.5, 0.0), (2.0, 1.0)]))
    assert "the largest sieve has an opening of 2 m; 4 mm are 0.004 m" in text
    assert said_in(lambda: SieveCurve([(0.5e-3, 0.0), (2e-3, 1.0)])) == []


@pytest.mark.parametrize("law, silent", [(lambda contacts: None, True), (lambda contacts: setattr(
    contacts, "force", 1e4 * np.maximum(contacts.overlap, 0.0)[:, None] * contacts.normal), False),
    (lambda contacts: contacts.history.fill(0.01), False)])             # as in a dent
def test_a_law_that_exerts_no_force(own_law, law, silent):
    own_law("mine", law)
    texts = said_in(lambda: ball(1e7, [FLOOR], contact="mine", position=(0, 0, 0.99 * RADIUS)).run(3))
    assert [text for text in texts if "'mine' exerts no force in any of 1 contacts" in text] == texts * silent
