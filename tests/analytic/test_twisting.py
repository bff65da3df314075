"""`twisting=marshall`: oscillation, sliding, LAMMPS, order and energy of the couple about the normal."""
import numpy as np
import pytest

import minidem as md

R, G = 0.01, 9.81
BALL = md.ClumpTemplate([(0, 0, 0)], [R], density=2500.0)
INERTIA = BALL.inertia[0]
STIFFNESS = 1e5
LAWS = ["hertz-mindlin:twisting=marshall", f"hooke-coulomb:stiffness={STIFFNESS},twisting=marshall",
        "hertz-mindlin:twisting=marshall,tangential=mindlin"]
MATERIAL = md.Material(1e7, 0.3, restitution=0.7, friction=0.5)
MODULUS, SHEAR = md.effective_modulus(MATERIAL, MATERIAL), md.effective_shear_modulus(MATERIAL, MATERIAL)


def resting(law, spin, damping):
    """A ball that rests on a plane; its squared contact radius, and k_t."""
    overlap = BALL.mass * G / STIFFNESS if "hooke" in law else (0.75 * BALL.mass * G / (MODULUS * R ** 0.5)) ** (2 / 3)
    sim = md.Simulation(MATERIAL, [md.Plane((0, 0, 0), (0, 0, 1))], contact=f"{law},tangential_damping={damping}",
                        dt=5e-6, gravity=(0, 0, -G))
    sim.add_clumps(BALL, (0, 0, R - overlap), angular_velocity=(0, 0, spin))
    return sim, R * overlap, 2.0 / 7.0 * STIFFNESS if "hooke" in law else 8.0 * SHEAR * np.sqrt(R * overlap)


@pytest.mark.parametrize("damping", [0.0, 0.5])
@pytest.mark.parametrize("law", LAWS)
def test_it_oscillates(law, damping):
    """With sqrt(k_t a^2 / (2 I)) while it sticks, damped by the dashpot of friction times a^2 / 2."""
    sim, square, k_t = resting(law, 1e-3, damping)
    normal = 4.0 * STIFFNESS if "hooke" in law else 5.0 * 4.0 / 3.0 * MODULUS * np.sqrt(square)
    beta = -np.log(0.7) / np.sqrt(np.pi ** 2 + np.log(0.7) ** 2)
    c = damping * beta * np.sqrt(BALL.mass * normal)
    rate, decay = np.sqrt(0.5 * k_t * square / INERTIA), 0.25 * c * square / INERTIA
    start = sim.energy()
    for part in (0.3, 0.6, 2.1):
        sim.run_until(part * 2.0 * np.pi / rate)
        w = np.sqrt(rate ** 2 - decay ** 2)
        expected = np.exp(-decay * sim.time) * (np.cos(w * sim.time) - decay / w * np.sin(w * sim.time))
        assert sim.angular_velocity[0, 2] == pytest.approx(1e-3 * expected, abs=2e-6)
    assert sim.energy().balance == pytest.approx(start.balance, abs=1e-4 * start.rotational)


@pytest.mark.parametrize("law", LAWS)
def test_it_slides(law):
    """With the couple 2/3 a mu m g."""
    sim, square, _ = resting(law, 50.0, 0.0)
    sim.run_until(0.05)
    before, since = sim.angular_velocity[0, 2], sim.time
    sim.run_until(0.15)
    couple = 2.0 / 3.0 * np.sqrt(square) * 0.5 * BALL.mass * G
    assert (before - sim.angular_velocity[0, 2]) / (sim.time - since) == pytest.approx(couple / INERTIA, rel=1e-6)


def test_beside_lammps():
    """Angular velocities of two spheres that do not move apart, sliding and then sticking, of LAMMPS of 22Jul2025.

    pair_coeff * * hertz/material 1e8 1 0.3 tangential linear_history 1e5 0 0.5 twisting marshall damping
    coeff_restitution; fix nve/sphere, fix setforce 0 0 0; timestep 1e-6
    """
    sim = md.Simulation(md.Material(1e8, 0.3, friction=0.5), dt=1e-6, contact="hertz-mindlin:tangential=linear,"
                        "tangential_stiffness=1e5,tangential_damping=0,twisting=marshall")
    sim.add_clumps(BALL, [(0, 0, 0), (0.01998, 0, 0)], angular_velocity=[(0, 0, 0), (4, 0, 0)], free="", turns="x")
    for spins in ((1.02183907023, 2.97816092977), (2.18587652778, 1.81412347222), (2.7359105683, 1.26408943169),
                  (1.85194440132, 2.14805559868)):
        sim.run(10_000)
        np.testing.assert_allclose(sim.angular_velocity[:, 0], spins, rtol=1e-7)


@pytest.mark.parametrize("law", ["hertz-mindlin", "hooke-coulomb:stiffness=1e5"])
@pytest.mark.parametrize("friction, spin", [(50.0, 3.0), (0.3, 20.0)], ids=["sticks", "slides"])
def test_order_in_collisions(law, friction, spin):
    """Balls that hit a plane while they spin, at different instants of a step: of the spin, and of the balance."""
    def after(dt, n):
        sim = md.Simulation(md.Material(1e7, 0.3, friction=friction), [md.Plane((0, 0, 0), (0, 0, 1))], dt=dt,
                            contact=f"{law}{',' if ':' in law else ':'}twisting=marshall,tangential_damping=0")
        place = np.zeros((n, 3))
        place[:, 0], place[:, 2] = 0.1 * np.arange(n), R + (np.arange(n) + 0.5) / n * 0.5 * dt
        sim.add_clumps(BALL, place, velocity=(0, 0, -0.5), angular_velocity=(0, 0, spin))
        start = sim.energy()
        sim.run(20)
        while len(sim.contacts()):
            sim.run(20)
        end = sim.energy()
        assert end.dissipated_rolling > 0.0
        return sim.angular_velocity[:, 2], abs(end.balance - start.balance) / start.rotational

    limit = after(2e-7, 4)[0].mean()
    assert 0.0 < (spin - limit) / spin < 1.0
    (coarse, gained), (fine, less) = after(2e-5, 32), after(2.5e-6, 32)
    coarse, fine = (np.sqrt(np.mean((found - limit) ** 2)) for found in (coarse, fine))
    assert fine < coarse / 8.0 ** 1.8 and less < gained / 8.0 ** 2
