"""Collisions with damping, of five to thirty-five steps per contact: minidem/contact/FRICTION.md."""
from functools import cache
from math import exp, log, pi, sqrt

import numpy as np
import pytest
from examples import in_one_line, rows_of
from oblique_impacts import PHASES, duration
from reference_contact import effective_modulus
from scenes import Shape, ball, unit_vectors
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import minidem as md

pytestmark = pytest.mark.filterwarnings("ignore:dt = .*above the Rayleigh step:UserWarning")
RADIUS = 1e-3


@pytest.mark.parametrize("steps, mean, error", [
    (5, 0.4958, 7.8e-3), (6, 0.4985, 5.9e-3), (8, 0.4995, 2.8e-3), (12, 0.4999, 8.3e-4), (25, 0.5, 8.2e-5),
    (50, 0.5, 2.8e-5), (100, 0.5, 3.9e-6)])
def test_restitution_of_two_spheres(steps, mean, error):
    """The table of FRICTION.md."""
    speed, n, modulus = 0.1, 64, effective_modulus(2e6, 0.25, 2e6, 0.25)
    dt = 2.94 * (15 / 16 * ball(RADIUS).template.mass / 2 / (modulus * np.sqrt(RADIUS / 2)))**0.4 * speed**-0.2 / steps
    sim = md.Simulation(md.Material(2e6, 0.25, restitution=0.5), contact="hertz-mindlin", dt=dt, threads=1)
    half = RADIUS + 0.5 * (1e-7 + (np.arange(n) + 0.5) / n * speed * dt)
    place = np.column_stack([np.append(-half, half), np.tile(0.01 * np.arange(n), 2), np.zeros(2 * n)])
    sim.add_clumps(ball(RADIUS).template, place, velocity=np.outer(np.repeat([0.5, -0.5], n), [speed, 0.0, 0.0]))
    sim.run(4 * steps + 20)
    assert len(sim.contacts()) == 0
    rebound = (sim.velocity[n:, 0] - sim.velocity[:n, 0]) / speed
    assert np.mean(rebound) == pytest.approx(mean, abs=6e-5)
    assert np.sqrt(np.mean((rebound - 0.5)**2)) == pytest.approx(error, rel=0.03)


@pytest.mark.parametrize("spheres, restitution, six, twelve, many", [
    (1, 0.9, 0.900, 0.900, 0.900), (1, 0.5, 0.498, 0.500, 0.500), (1, 0.1, 0.096, 0.099, 0.100),
    (2, 0.9, 0.894, 0.896, 0.896), (2, 0.5, 0.436, 0.447, 0.450), (2, 0.1, 0.049, 0.054, 0.055),
    (5, 0.9, 0.869, 0.874, 0.875), (5, 0.5, 0.351, 0.372, 0.378), (5, 0.1, 0.016, 0.017, 0.017)])
def test_restitution_of_rods(spheres, restitution, six, twelve, many):
    """With the masses of the clumps: the table "Clumps" of FRICTION.md."""
    found = [rebound_of_rods(spheres, restitution, steps, "clump") for steps in (6, 12, 100)]
    np.testing.assert_allclose(found, [six, twelve, many], rtol=0, atol=6e-4)


@pytest.mark.parametrize("spheres, restitution", [(2, 0.443), (5, 0.371)])
def test_restitution_of_rods_at_small_overlaps(spheres, restitution):
    """At 0.5 and with the masses of the clumps; 0.04 % of the radius in place of 2 %."""
    assert rebound_of_rods(spheres, 0.5, 100, "clump", speed=1e-3, n=8) == pytest.approx(restitution, abs=6e-4)


@pytest.mark.parametrize("restitution, found", [(0.5, 0.550), (0.1, 0.253)])
def test_restitution_without_attraction(restitution, found):
    """Of a sphere on a plane, mean over phases: FRICTION.md, "Several contacts at once"."""
    sphere, speed, n = ball(RADIUS).template, 0.01, 16
    dt = duration(sphere.mass, RADIUS, MODULUS, speed) / 100
    place = np.column_stack([0.01 * np.arange(n), np.zeros(n), RADIUS + (np.arange(n) + 0.5) / n * speed * dt])
    sim = on_plane(sphere, restitution, dt, "single,limit_damping=yes", position=place, velocity=(0.0, 0.0, -speed))
    after = as_contacts_end(sim, lambda sim: sim.velocity[:, 2])
    assert np.mean(after) / speed == pytest.approx(found, abs=6e-4)


STIFFNESS, DASHPOT, MODULUS = 1e4, 0.1, effective_modulus(1e9, 0.25, 1e9, 0.25)
# law, dashpot(overlap, m*, R*), beta(m*), of the table "Dashpots of other codes" of guide/coming_from.md
DASHPOTS = {
    "velocity": ("hooke-coulomb:stiffness=1e4", lambda d, m, r: DASHPOT, lambda m: 0.5 * DASHPOT / sqrt(STIFFNESS * m)),
    "mass_velocity": ("hooke-coulomb:stiffness=1e4", lambda d, m, r: 1e4 * m, lambda m: 0.5e4 * sqrt(m / STIFFNESS)),
    "tsuji": ("hertz-mindlin", lambda d, m, r: 0.6 * sqrt(m * 4.0 / 3.0 * MODULUS * sqrt(r * d)),
              lambda m: 0.6 / sqrt(5.0)),
    "betan": ("hertz-mindlin:limit_damping=yes", lambda d, m, r: 0.4 * sqrt(m * 2.0 * MODULUS * sqrt(r * d)),
              lambda m: 0.2 * sqrt(6.0 / 5.0))}


@pytest.mark.parametrize("radii", [(1e-3, 1e-3), (1e-3, 2e-3)])
@pytest.mark.parametrize("name", DASHPOTS)
def test_dashpots_of_other_codes(name, radii):
    """A collision with their force, integrated, and one with the restitution that guide/coming_from.md makes of it."""
    contact, dashpot, beta_of = DASHPOTS[name]
    clumps, speed = [ball(radius).template for radius in radii], 0.5
    mass, radius = (1.0 / (1.0 / a + 1.0 / b) for a, b in ([c.mass for c in clumps], radii))
    linear, beta = contact.startswith("hooke"), beta_of(mass)

    def change(t, state):
        d, rate = max(state[0], 0.0), state[1]
        elastic = STIFFNESS * d if linear else 4.0 / 3.0 * MODULUS * sqrt(radius * d) * d
        force = elastic + dashpot(d, mass, radius) * rate
        return rate, -(max(force, 0.0) if "limit" in contact else force) / mass
    def apart(t, state):
        return state[0]
    apart.terminal, apart.direction = True, -1
    end = solve_ivp(change, (0.0, 1e-2), (0.0, speed), "DOP853", events=apart, rtol=1e-9, atol=1e-15)
    there = -end.y[1, -1] / speed
    restitution = exp(-pi * beta / sqrt(1.0 - beta ** 2))
    assert there == pytest.approx(restitution, abs=1e-3) or "limit" in contact and there > restitution
    sim = md.Simulation(md.Material(1e9, 0.25, restitution=restitution), contact=contact, dt=end.t[-1] / 200, threads=1)
    for clump, place, velocity in zip(clumps, (-radii[0] - 1e-8, radii[1]), (speed, 0.0)):
        sim.add_clumps(clump, (place, 0, 0), velocity=(velocity, 0, 0))
    sim.run_until(1.1 * end.t[-1])
    assert len(sim.contacts()) == 0
    assert sim.velocity[1, 0] - sim.velocity[0, 0] == pytest.approx(there * speed, abs=1e-3 * speed)


def rebound_of_rods(spheres, restitution, steps, mass_of, speed=0.1, n=64):
    """Normal velocity of the end of a rod that hits a plane at 45 degrees, after over before; mean over n phases."""
    rod = Shape(np.outer(2.0 * RADIUS * np.arange(spheres), [1.0, 0.0, 0.0]), [RADIUS] * spheres).template
    arm = (spheres - 1) * RADIUS * np.sqrt(0.5) * np.array([1.0, 0.0, -1.0])
    mass = 1.0 / (1.0 / rod.mass + np.sum(np.cross(arm, [0.0, 0.0, 1.0])**2) / rod.inertia.max())
    modulus = effective_modulus(2e6, 0.25, 2e6, 0.25)
    dt = duration(mass, RADIUS, modulus, speed) / steps
    height = RADIUS - arm[2] + 1e-7 + (np.arange(n) + 0.5) / n * speed * dt
    sim = on_plane(rod, restitution, dt, mass_of, 2e6, velocity=(0.0, 0.0, -speed),
                   position=np.column_stack([0.05 * np.arange(n), np.zeros(n), height]),
                   orientation=(np.cos(np.pi / 8), 0.0, np.sin(np.pi / 8), 0.0))
    def speed_of_the_end(sim):
        lowest = sim.sphere_centers.reshape(n, spheres, 3)[:, -1]
        return (sim.velocity + np.cross(sim.angular_velocity, lowest - sim.position))[:, 2]
    return np.mean(as_contacts_end(sim, speed_of_the_end)) / speed


def on_plane(clump, restitution, dt, mass_of, young=1e9, **placed):
    sim = md.Simulation(md.Material(young, 0.25, restitution=restitution), [md.Plane([0.0] * 3, (0.0, 0.0, 1.0))],
                        contact=f"hertz-mindlin:mass={mass_of}", dt=dt, threads=1)
    sim.add_clumps(clump, **placed)
    return sim


def as_contacts_end(sim, value):
    """value(sim) of each clump (n,) when its first contact has ended."""
    found, touched = np.full(sim.n_clumps, np.nan), np.zeros(sim.n_clumps, dtype=bool)
    while np.isnan(found).any():
        sim.run(1)
        touching = np.isin(np.arange(sim.n_clumps), sim.contacts()["clump_i"])
        ended = touched & ~touching & np.isnan(found)
        found[ended] = value(sim)[ended]
        touched |= touching
    return found


def rebounds(mass_of, restitution, n=60, speed=0.01):
    """Normal velocity of the contact point after over before, of pairs of spinning asymmetric clumps."""
    rng = np.random.default_rng(2)
    shape = Shape(RADIUS * np.array([(-1.5, 0.0, 0.0), (1.5, 0.0, 0.0), (0.0, 1.8, 0.9)]), [RADIUS] * 3)
    time = duration(shape.template.mass / 2, RADIUS / 2, effective_modulus(1e7, 0.25, 1e7, 0.25), 2.0 * speed)
    sim = md.Simulation(md.Material(1e7, 0.25, restitution=restitution), contact=f"hertz-mindlin:mass={mass_of}",
                        dt=time / 60, threads=1)
    site = np.column_stack([np.zeros((n, 2)), 0.02 * np.arange(n)])
    for side in 1.0, -1.0:
        sim.add_clumps(shape.template, site + (side * 3.1 * RADIUS, 0.0, 0.0), unit_vectors(rng, n, 4),
                       velocity=(-side * speed, 0.0, 0.0), angular_velocity=rng.normal(size=(n, 3)))
    first, found, many, last = {}, {}, set(), None
    sim.run_until(0.99 * (3.1 * RADIUS - shape.template.bounding_radius) / speed)
    assert not len(sim.contacts())
    while sim.time < 4.2 * RADIUS / speed:
        sim.run(1)
        all_contacts = sim.contacts()
        touching = all_contacts[["sphere_i", "sphere_j"]].tolist()
        if touching == last:                            # no contact has begun or ended
            continue
        now, last = {pair: [] for pair in range(n)}, touching
        for contact in all_contacts:
            now[contact["clump_i"] % n].append(contact)
        for pair, contacts in now.items():
            if len(contacts) > 1:
                many.add(pair)
            elif contacts and pair not in first:
                first[pair] = contacts[0], normal_speed(sim, contacts[0])
            elif not contacts and pair in first and pair not in found:
                contact, before = first[pair]
                found[pair] = -normal_speed(sim, contact) / before
    return np.array([found[pair] for pair in found if pair not in many])


def normal_speed(sim, contact):
    """Of the centres of the spheres of a contact relative to each other, along its normal."""
    clumps, spheres = ([contact[name + "_i"], contact[name + "_j"]] for name in ("clump", "sphere"))
    arms = sim.sphere_centers[spheres] - sim.position[clumps]
    velocity = sim.velocity[clumps] + np.cross(sim.angular_velocity[clumps], arms)
    return (velocity[0] - velocity[1]) @ contact["normal"]


@pytest.mark.slow                       # by default two rods, and clumps on a plane
def test_restitution_of_any_clump():
    """Mean within 0.3 % of that of the material, all within 1.5 %; with the masses of the clumps 0.33 to 0.47."""
    found = rebounds("shared", 0.5)
    assert len(found) > 50 and np.mean(found) == pytest.approx(0.5, rel=3e-3)
    np.testing.assert_allclose(found, 0.5, rtol=1.5e-2)
    found = rebounds("clump", 0.5)
    assert np.mean(found) == pytest.approx(0.376, abs=5e-3) and 0.32 < min(found) and max(found) < 0.48


@cache
def energy_left(number, speed, dt, restitution=0.5):
    """Part of the kinetic energy that a row of grains keeps when it hits a wall."""
    material = md.Material(2e6, 0.2, restitution=restitution)
    sim = md.Simulation(material, [md.Plane([0.0] * 3, (0.0, 0.0, 1.0))], contact="hertz-mindlin", dt=dt, threads=1)
    height = RADIUS + 1e-5 + 2.0 * RADIUS * np.arange(number) + (PHASES * speed * dt)[:, None]
    site = np.broadcast_to(0.01 * np.arange(len(PHASES))[:, None], height.shape)
    sim.add_clumps(ball(RADIUS).template, np.column_stack([site.ravel(), 0.0 * site.ravel(), height.ravel()]),
                   velocity=[[0.0, 0.0, -speed]] * height.size)
    before = sim.energy().kinetic
    sim.run(round(8e-3 / dt))
    assert len(sim.contacts()) == 0
    return sim.energy().kinetic / before


@pytest.mark.parametrize("number, left, five, ten", [(1, 0.25, 0.002, 0.0), (2, 0.41, 0.034, 0.009),
                                                     (6, 0.60, 0.034, 0.008)])
def test_errors_of_a_row(number, left, five, ten):
    """The table of FRICTION.md."""
    exact = energy_left(number, 0.3, 1e-6)
    assert exact == pytest.approx(left, abs=6e-3)
    assert energy_left(number, 0.3, 1e-4) - exact == pytest.approx(five, abs=6e-4)
    assert energy_left(number, 0.3, 5e-5) - exact == pytest.approx(ten, abs=6e-4)
    if number == 6:                                     # with strong damping it comes apart
        assert [energy_left(6, 0.3, dt, 0.1) for dt in (1e-4, 1e-6)] == pytest.approx([0.46, 0.39], abs=6e-3)


FLAT = rows_of("guide/friction.md", r"(?:any, on one|rod of|plate of|cube of) ([\dx ]*)spheres? \| (\d+) \| (.*)", 7)
STIFF = effective_modulus(1e9, 0.25, 1e9, 0.25)


def mobility(axes, clump, arms):
    """1 / m* of contacts with a plane across z, at these arms (n, 3) from the centre of mass [1/kg].

    axes : (3, 3), columns are the principal axes, lab frame
    """
    cross = np.cross(arms, [0.0, 0.0, 1.0])
    return 1.0 / clump.mass + np.einsum("ni,ij,nj->n", cross, axes / clump.inertia @ axes.T, cross)


def falls_flat(numbers, restitution, mass_of="single", speed=0.02):
    """Rebound of a lattice of touching spheres that falls flat on a wall, and by the formula of FRICTION.md."""
    lattice = 2.0 * RADIUS * np.array(list(np.ndindex(*numbers)))
    clump = md.ClumpTemplate(lattice, [RADIUS] * len(lattice), density=2500.0)
    n = numbers[0] * numbers[1]
    dt = duration(clump.mass, RADIUS, n * STIFF, speed) / 200
    sim = on_plane(clump, restitution, dt, mass_of, position=[(0.0, 0.0, numbers[2] * RADIUS + 0.3 * speed * dt)],
                   velocity=(0.0, 0.0, -speed))
    sim.run(2)
    assert len(sim.contacts()) == n
    sim.run(2400)
    arms = (lattice - clump.center_of_mass)[lattice[:, 2] == 0.0] - (0.0, 0.0, RADIUS)
    masses = 1.0 / mobility(clump.axes, clump, arms) if mass_of == "single" else np.full(n, clump.mass)
    beta = -log(restitution) / sqrt(pi**2 + log(restitution)**2) * np.sum(np.sqrt(masses)) / sqrt(n * clump.mass)
    return sim.velocity[0, 2] / speed, exp(-pi * beta / sqrt(1.0 - beta**2)) if beta < 1.0 else 0.0


@pytest.mark.parametrize("words, contacts, values", FLAT)
def test_clumps_that_fall_flat(words, contacts, values):
    """The table of the guide, and the formula. With shared masses the restitution is that of the material."""
    numbers = ([int(word) for word in words.split("x")] if words else [1]) + [1, 1]
    assert numbers[0] * numbers[1] == int(contacts)
    for restitution, expected in zip((0.9, 0.5, 0.1), map(float, values.split("|"))):
        found, derived = falls_flat(numbers[:3], restitution)
        assert found == pytest.approx(expected, abs=6e-4) and found == pytest.approx(derived, abs=3e-4)
        assert falls_flat(numbers[:3], restitution, "shared")[0] == pytest.approx(restitution, abs=3e-4)


def test_flat_clumps_elsewhere_in_the_documents():
    """With the masses of the clumps, at another speed, of two clumps."""
    for found in (falls_flat((5, 1, 1), 0.5, "clump"), falls_flat((5, 1, 1), 0.5, speed=2.0)):
        assert found[0] == pytest.approx(found[1], abs=3e-4)
    assert f"rod of five with {falls_flat((5, 1, 1), 0.5, 'clump')[0]:.3f}" in in_one_line("guide/friction.md")
    rod, speed = md.shapes.rod(10.0 * RADIUS, RADIUS, 5, 2500.0), 0.02
    dt = duration(0.5 * rod.mass, RADIUS, 5 * STIFF / sqrt(2.0), speed) / 200
    sim = md.Simulation(md.Material(1e9, 0.25, restitution=0.5), contact="hertz-mindlin:mass=single", dt=dt,
                        threads=1)
    sim.add_clumps(rod, [(0, 0, 0), (2.001 * RADIUS, 0, 0)], velocity=[(0.5 * speed, 0, 0), (-0.5 * speed, 0, 0)])
    sim.run(2000)
    assert (sim.velocity[1, 0] - sim.velocity[0, 0]) / speed == pytest.approx(falls_flat((5, 1, 1), 0.5)[0], abs=1e-3)


SPREAD = rows_of("contact/FRICTION.md", r"(rod of 5|asymmetric, 4 spheres) \| (1e-\d) \| (.*)", 5)
ODD = ((0, 0, 0), (1.3, 0.2, 0), (0.1, 1.5, 0.3), (-0.3, -0.2, 1.1)), (1.0, 0.8, 0.7, 0.9)
SHAPES = {"rod of 5": ([(1.4 * k, 0, 0) for k in range(5)], [1.0] * 5), "asymmetric, 4 spheres": ODD}


def restitutions_of_single_impacts(clump, overlap, n=150, restitution=0.5):
    """Impulse of a plane over that of a rigid body without restitution, minus 1, of clumps that hit it with one sphere.

    In random orientations, with spins; overlap : of a head-on impact of the whole mass, in RADIUS.
    """
    rng, speed = np.random.default_rng(1), sqrt((overlap * RADIUS)**2.5 * 16 / 15 * STIFF * sqrt(RADIUS) / clump.mass)
    dt, rows = duration(clump.mass, RADIUS, STIFF, speed) / 50, []
    while len(rows) < n:
        turn = Rotation.random(random_state=rng.integers(1 << 30))
        centres = turn.apply(clump.centers - clump.center_of_mass)
        low = centres[:, 2] - clump.radii
        first = low.argmin()
        spin, velocity = rng.normal(0, 0.3 * speed / RADIUS, 3), np.append(rng.normal(0, 0.3 * speed, 2), -speed)
        arm = centres[first] - (0.0, 0.0, clump.radii[first])
        approach = -(velocity + np.cross(spin, arm))[2]
        if np.partition(low, 1)[1] - low[first] > 0.3 * RADIUS and approach > 0.2 * speed:
            rows.append((turn.as_quat()[[3, 0, 1, 2]], velocity, spin, rng.uniform() * approach * dt - low[first],
                         mobility(turn.as_matrix() @ clump.axes, clump, arm[None])[0] * clump.mass / approach))
    turns, velocities, spins, heights, per_speed = map(np.array, zip(*rows))
    sim = on_plane(clump, restitution, dt, "shared", velocity=velocities, angular_velocity=spins, orientation=turns,
                   position=np.column_stack([12 * RADIUS * np.arange(n), np.zeros(n), heights]))
    return as_contacts_end(sim, lambda sim: (sim.velocity - velocities)[:, 2] * per_speed - 1.0)


@pytest.mark.parametrize("name, overlap, values", SPREAD)
def test_spread_of_single_impacts(name, overlap, values):
    """The table of FRICTION.md: it grows with the overlap."""
    centers, radii = (RADIUS * np.array(values, dtype=float) for values in SHAPES[name])
    found = restitutions_of_single_impacts(md.ClumpTemplate(centers, radii, density=2500.0), float(overlap))
    assert [found.min(), np.percentile(found, 5), found.mean(), found.max()] == pytest.approx(
        [float(value) for value in values.split("|")], abs=6e-4)
