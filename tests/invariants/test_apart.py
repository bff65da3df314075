"""Materials whose pair has no contact: a mixture moves as its parts do alone, in equal bits."""
import numpy as np
import pytest

import minidem as md

RED, BLUE, FLOOR = (md.Material(young=1e7, poisson=0.3, restitution=0.5, friction=0.3, name=name)
                    for name in ("red", "blue", "floor"))
PAIRS = [md.Pair(RED, BLUE, contact=False), md.Pair(RED, FLOOR, restitution=0.5, friction=0.3),
         md.Pair(BLUE, FLOOR, contact=False)]
ROD = md.shapes.rod(0.06, 0.01, 4, density=2500.0)


def rods(materials, contact="hertz-mindlin", threads=1):
    """Rods of these materials above a floor for red ones, below which there is one for blue ones."""
    sim = md.Simulation(RED, [md.Plane((0, 0, 0), (0, 0, 1), material=FLOOR),
                              md.Plane((0, 0, -0.02), (0, 0, 1), material=BLUE)],
                        contact=contact, dt=2e-5, gravity=(0, 0, -9.81), pairs=PAIRS, threads=threads)
    for material in materials:
        rng = np.random.default_rng(1)
        place = np.stack(np.meshgrid(*[0.07 * np.arange(1, 9)] * 3), axis=-1).reshape(-1, 3)
        turned = rng.normal(size=(len(place), 4))
        sim.add_clumps(ROD, place, turned / np.linalg.norm(turned, axis=1)[:, None],
                       velocity=rng.normal(0.0, 2.0, place.shape), material=material)
    return sim


@pytest.mark.parametrize("contact", ["hertz", "hertz-mindlin"])
def test_a_mixture_moves_as_its_parts_alone(contact, tmp_path):
    mixture = rods([RED, BLUE], contact, threads=2)
    mixture.run(1000)
    mixture.save(tmp_path / "state.npz")
    mixture = md.Simulation.load(tmp_path / "state.npz", threads=1)
    mixture.run(1000)
    assert len(mixture.contacts()) > 20
    for k, material in enumerate((RED, BLUE)):
        alone = rods([material], contact)
        alone.run(2000)
        own = mixture.material_index == mixture.materials.index(material)
        for name in "position", "orientation", "velocity", "angular_velocity", "force", "torque":
            np.testing.assert_array_equal(getattr(mixture, name)[own], getattr(alone, name))
        assert 0.005 < alone.sphere_centers()[:, 2].min() + 0.02 * k < 0.012


def test_messages():
    sim = rods([RED, BLUE], "hertz-mindlin:bonds=parallel")
    with pytest.raises(ValueError, match=r"pairs\[0\] = \[   0 2048\]: the materials of these"):
        sim.add_bonds([[0, 2048]], young=1e7)
    with pytest.raises(ValueError, match="clump 0: it overlaps clump 1024 by"):
        sim.add_clumps(ROD, sim.position[:1], material=RED)
