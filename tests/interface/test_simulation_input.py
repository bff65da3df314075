"""Input of Simulation: overlaps, warnings, sizes of clumps; what can be read, and cannot be set."""
import copy
import pickle
import re
import time

import numpy as np
import pytest
import scenes
from examples import ROOT
from scipy.spatial.transform import Rotation

import minidem as md

STEEL = md.Material(young=2e11, poisson=0.3)
BALL = md.ClumpTemplate([(0.0, 0.0, 0.0)], [0.01], density=7800.0)


def simulation(**how):
    return md.Simulation(**({"material": STEEL, "walls": md.box_walls((0, 0, 0), (1, 1, 1)), "dt": 1e-6} | how))


def test_overlap_at_the_start():
    """Up to a tenth of the smaller radius, which may be that of a scaled clump; what is refused changes nothing."""
    sim = simulation()
    sim.add_clumps(BALL, [(0.3, 0.3, 0.3), (0.3, 0.3, 0.3191), (0.5, 0.5, 0.0091), (0.8, 0.8, 0.8)])
    sim.add_clumps(BALL, [(0.31181, 0.3, 0.3)], scale=0.2)
    assert len(sim.contacts()) == 3
    sim.run(3)
    before = sim.position, sim.velocity, sim.energy().total
    for place, scale, words in (
            ((0.8, 0.8, 0.7815), 1.0, "overlaps clump [35] by 0.0015"), ((0.8, 0.8, 0.8), 1.0, "overlaps clump [35]"),
            ((0.78100001, 0.8, 0.8), 1.0, r"0.00100001 m at the start, 0.100001 of the smaller radius.*limit is 0.1"),
            ((0.78821, 0.8, 0.8), 0.2, "overlaps clump [35] by 0.00021 m"), ((0.5, 0.7, 0.005), 1.0, "wall 4"),
            ((7.0, 0.5, 0.5), 1.0, "wall 1")):
        with pytest.raises(ValueError, match=f"position of clump [35].*{words}"):
            sim.add_clumps(BALL, [place], scale=scale)
    assert sim.n_clumps == 5
    assert all(np.array_equal(a, b) for a, b in zip(before, (sim.position, sim.velocity, sim.energy().total)))


@pytest.mark.parametrize("others", [1, 100])            # few new clumps, and many
def test_an_overlap_of_exactly_the_limit_is_taken(others):
    """Rounding of the positions decides about it: some 1e-10 radii here."""
    rng = np.random.default_rng(5)
    for place, along in zip(rng.uniform(-1e4, 1e4, (20, 3)), scenes.unit_vectors(rng, 20)):
        line = place + np.arange(1, others)[:, None]
        for limit in 0.1, 0.0:
            sim = md.Simulation(STEEL, dt=1e-6)
            sim.add_clumps(BALL, [place, place + (2.0 - limit) * BALL.radii[0] * along, *line], overlap=limit)
            with pytest.raises(ValueError, match=f"the limit is {limit:g}"):
                sim.add_clumps(BALL, [place - (2.0 - limit - 1e-6) * BALL.radii[0] * along, *line + 0.5],
                               overlap=limit)


def test_a_step_above_the_rayleigh_step_warns_once_and_again_for_a_smaller_sphere():
    """Of smaller spheres, of smaller sizes of a template, or of a stiffer material; at the line of the user."""
    sim, stiff = simulation(dt=1e-4), md.Material(1e14, 0.2)
    for place, radius, scale, material, warns in (
            (0.2, 0.02, 1.0, None, 1), (0.4, 0.02, 1.0, None, 0), (0.6, 0.03, 1.0, None, 0), (0.8, 0.01, 1.0, None, 1),
            (0.9, 0.01, 1.0, None, 0), (0.1, 0.02, 0.4, None, 1), (0.5, 0.03, 1.0, stiff, 1)):
        ball = md.ClumpTemplate([(0, 0, 0)], [radius])
        texts, _ = scenes.warnings_of(lambda: sim.add_clumps(
            ball, [(place, 0.5, 0.5)], scale=scale, material=material), __file__)
        limit = (material or sim.material).rayleigh_step(scale * radius, 2500.0)
        assert len(texts) == warns and all("Rayleigh step" in text and f"{limit:g} s" in text for text in texts)


@pytest.mark.parametrize("n, width", [(65, 0.0), (10_000, 0.0), (10_000, 0.1)])
def test_clumps_in_one_place_are_found_before_all_contacts_are_listed(n, width):
    """Each touches each other one: 3000 rods would take a minute and gigabytes."""
    rng = np.random.default_rng(1)
    orientation = scenes.unit_vectors(rng, n, 4)
    sim = md.Simulation(md.Material(young=1e7, poisson=0.2), dt=1e-6)
    start = time.perf_counter()
    with pytest.raises(ValueError, match=r"position of clump (\d+): it overlaps clump (?!\1 )\d+ by .* m at the start"):
        sim.add_clumps(scenes.rod().template, width * rng.random((n, 3)), orientation)
    assert time.perf_counter() - start < 2.0 and sim.n_clumps == 0


def test_concentric_clumps_without_contacts_are_accepted():
    angle = 2.0 * np.pi * np.arange(70) / 70
    turned = np.column_stack([np.cos(angle / 4), *np.zeros((2, 70)), np.sin(angle / 4)])        # a quarter about z
    pair = md.ClumpTemplate([(-1, 0, 0), (1, 0, 0)], [0.02, 0.02])
    sim = md.Simulation(md.Material(young=1e7, poisson=0.2), dt=1e-6)
    sim.add_clumps(pair, np.zeros((70, 3)), turned)
    assert len(sim.contacts()) == 0
    sim.add_clumps(pair, [(0, 0, 1)] * 70, turned, scale=np.linspace(0.5, 0.6, 70))
    assert len(sim.contacts()) == 0


# --- array attributes are copies that cannot be assigned to; settings and lists are read-only ---

@pytest.fixture(scope="module")
def sim():
    return scenes.rods_in_box(seed=1, n=5).simulation()


@pytest.mark.parametrize("write", [
    lambda x: x.__setitem__(0, 1), lambda x: x[0:1].__setitem__(0, 1), lambda x: x.reshape(-1).__setitem__(3, 1)])
@pytest.mark.parametrize("name", ["position", "orientation", "velocity", "angular_velocity", "mass", "force", "torque",
                                  "sphere_radii", "template_index"])
def test_items_cannot_be_assigned(name, write, sim):
    with pytest.raises(ValueError, match=rf"{name} is a copy.*take {name}\.copy\(\)"):
        write(getattr(sim, name))


def test_what_changes_a_quantity_is_named(sim):
    for name, remedy in (("velocity", r"sim.set_motion\(ids, velocity=...\)"), ("walls", "sim.walls.move")):
        with pytest.raises(AttributeError, match=f"{name} cannot be set: {remedy}.* changes it"):
            setattr(sim, name, getattr(sim, name))
    with pytest.raises(ValueError, match=r"an array of your own; sim.set_motion\(ids, angular_velocity=...\) changes"):
        sim.angular_velocity[0] = 1.0
    with pytest.raises(AttributeError, match="dt cannot be set: make a new Simulation"):
        sim.dt = 1e-3


def test_derived_arrays_are_writable(sim):
    """SciPy requires writable buffers, too."""
    x = sim.position
    for own in (x.copy(), np.array(x), x + 1.0, x[[0, 1]], x[x[:, 0] > 0.0], np.zeros_like(x), copy.deepcopy(x),
                pickle.loads(pickle.dumps(x)), np.cross(x, x), np.concatenate([x, x])):
        own[0] = 1.0
    x -= x.mean(axis=0)
    x[0] = 1.0
    assert type(np.sum(x)) is np.float64 and type(sim.position.max()) is np.float64
    assert repr(sim.position).startswith("array(")
    turned = Rotation.from_quat(sim.orientation[:, [1, 2, 3, 0]]).apply(sim.position)
    assert np.allclose(np.linalg.norm(turned, axis=1), np.linalg.norm(sim.position, axis=1))


def test_settings_cannot_be_set(sim):
    """Subclasses may have attributes of their own."""
    class Named(md.Simulation):
        pass
    named = Named(md.Material(young=1e7, poisson=0.2), dt=1e-5)
    named.label = "mine"
    for name in ("dt", "gravity", "material", "walls", "rotation", "position", "velocity", "time", "threads",
                 "periodic", "image", "wrapped_position"):
        for one in sim, named:
            with pytest.raises(AttributeError, match=f"{name} cannot be set"):
                setattr(one, name, 1.0)
    for name, like in ("gravty", "gravity"), ("velocities", "velocity"), ("zzz", ""):
        with pytest.raises(AttributeError, match=f"no attribute '{name}'.*{like}"):
            setattr(sim, name, 1.0)
    assert isinstance(sim.walls, tuple) and isinstance(sim.templates, tuple)


def test_no_private_member_of_a_simulation_is_read():
    """Outside of its folder: `sim.settings`, `sim.loop` and `sim.monitor` are what other modules read."""
    found = [f"{path.name}: {line.strip()}" for folder in ("minidem", "scenarios", "tools", "tests")
             for path in (ROOT / folder).rglob("*.py") if path.parent.name != "simulation"
             for line in path.read_text().splitlines()
             if re.search(r"\b(sim|sims\[\w+\]|simulation)\._[a-z]", line)]
    assert not found, "\n".join(found)


def pairs(scale):
    """Colliding lumpy clumps: of a template with this scale, and of a template of that size."""
    made = md.ClumpTemplate(scenes.LUMPY_CENTERS * scale, scenes.LUMPY_RADII * scale, 2500.0)
    rng = np.random.default_rng(5)
    position = scale * 0.22 * np.array([(x, y, 0.0) for x in range(4) for y in range(4)])
    motion = scenes.unit_vectors(rng, 16, 4), 20.0 * scenes.unit_vectors(rng, 16), 9.0 * scenes.unit_vectors(rng, 16)
    for template, options in (scenes.lumpy().template, {"scale": scale}), (made, {}):
        sim = md.Simulation(md.Material(1e8, 0.1), dt=7.6e-6 * scale, gravity=(0, 0, -9.81),
                            walls=[md.Plane((0, 0, -0.2 * scale), (0, 0, 1))])
        sim.add_clumps(template, **scenes.motion((position, *motion)), **options)
        yield sim


def outcome(sim):
    return [*scenes.state_of(sim), sim.force, sim.torque, sim.mass, sim.sphere_radii, sim.contacts(), sim.energy(),
            sim.body_angular_velocity, sim.angular_momentum(), sim.sphere_centers]


@pytest.mark.parametrize("scale", [0.25, 2.0])
def test_a_scaled_clump_is_one_of_a_scaled_template(scale):
    """To the last bit where the scale is a power of two, which multiplies without rounding."""
    scaled, made = pairs(scale)
    assert np.all(scaled.scale == scale) and np.all(made.scale == 1.0)
    touched = 0
    for _ in range(100):
        for sim in (scaled, made):
            sim.run(20)
        assert all(np.array_equal(a, b) for a, b in zip(outcome(scaled), outcome(made), strict=True))
        touched += len(scaled.contacts())
    assert touched > 10
