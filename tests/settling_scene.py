"""A hundred clumps of three spheres that fall into a box and lose their energy."""
import numpy as np

import minidem as md

N = 100
CLUMP = md.ClumpTemplate([(-0.02, 0.0, 0.0), (0.02, 0.0, 0.0), (0.0, 0.02, 0.01)], [0.03, 0.03, 0.025], density=2500.0)
BALL = md.ClumpTemplate([(0.0, 0.0, 0.0)], [0.04], density=2500.0)
MATERIAL = md.Material(young=1e7, poisson=0.2, restitution=0.5, friction=0.4, rolling_friction=0.1)
ELASTIC = md.Material(young=1e7, poisson=0.2)
ROLLING = "hertz-mindlin:rolling=epsd"


def material_for(contact):
    """MATERIAL for laws that read its friction, else the same without it."""
    return MATERIAL if md.contact.info(contact).reads_of_pairs else ELASTIC


def settling(dt=1e-4, contact=ROLLING, template=CLUMP, gravity=(0.0, 0.0, -9.81), material=None, **options):
    sim = md.Simulation(material or material_for(contact), md.box((0.0, 0.0, 0.0), (0.6, 0.6, 0.6)), contact=contact,
                        dt=dt, gravity=gravity, **options)
    rng = np.random.default_rng(1)
    place = 0.07 + 0.115 * np.argwhere(np.ones((5, 5, 4)))
    turn = rng.normal(size=(N, 4))
    sim.add_clumps(template, place, turn / np.linalg.norm(turn, axis=1)[:, None], rng.normal(size=(N, 3)),
                   5.0 * rng.normal(size=(N, 3)))
    return sim
