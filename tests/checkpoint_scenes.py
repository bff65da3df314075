"""Simulations whose checkpoints have all arrays together: walls of all kinds, materials, friction, user forces."""
import numpy as np

import minidem as md

BEFORE, DT = 650, 1e-4          # steps until clumps are in contact, and the time step [s]
ROD = md.ClumpTemplate([(-0.03, 0.0, 0.0), (0.03, 0.0, 0.0)], [0.04, 0.03], density=2500.0)
BALL = md.ClumpTemplate([(0.0, 0.0, 0.0)], [0.05], density=2500.0)
ELASTIC = md.Material(3e7, 0.2)
ROUGH = md.Material(3e7, 0.2, restitution=0.6, friction=0.4, rolling_friction=0.1)
FLOOR = md.Plane((0.0, 0.0, 0.0), (0.0, 0.0, 1.0))


def pull(t, x, v, q, w):
    """A user force: springs to a point, and a torque against rotation."""
    return -20.0 * (x - 0.2) - 0.1 * v, -1e-3 * w


def filled(material, walls, scale=1.0, templates=(ROD, BALL), of=None, **options):
    """Eight clumps that fall: four rods, and four balls on them."""
    sim = md.Simulation(material, walls, dt=DT, gravity=(0.0, 0.0, -9.81), **options)
    rng = np.random.default_rng(1)
    place = 0.075 + 0.145 * np.argwhere(np.ones((2, 2, 2)))[:, ::-1]
    for k, template in enumerate(templates):
        one = {} if of is None else {"material": of[k]}
        sim.add_clumps(template, place[4 * k:4 * k + 4], (0.8, 0.0, 0.36, 0.48),
                       rng.normal(size=(4, 3)) - [0.0, 0.0, 1.0 * k], scale=scale, **one)
    return sim


def planes():
    return filled(ELASTIC, [FLOOR])


def scales():
    return filled(ELASTIC, [FLOOR], [0.9, 1.0, 1.1, 1.2])


def forces():
    return filled(ELASTIC, [FLOOR], contact="hooke:stiffness=2e4,onset=corrected")


def materials():
    steel = md.Material(6e7, 0.3, density=2500.0, restitution=0.9, name="steel")
    return filled(ELASTIC, [md.Plane((0.0, 0.0, 0.0), (0.0, 0.0, 1.0), steel)], of=[ELASTIC, steel],
                  pairs=[md.Pair(ELASTIC, steel, restitution=0.8, friction=0.2)])


def friction():
    return filled(ROUGH, [FLOOR], contact="hertz-mindlin:rolling=epsd")


def removed():
    return filled(ROUGH, [FLOOR], [0.9, 1.0, 1.1, 1.2], contact="hertz-mindlin")


def moving():
    corners = np.array([(-1.0, -1.0, 0.0), (1.0, -1.0, 0.0), (1.0, 1.0, 0.0), (-1.0, 1.0, 0.0)])
    return filled(ROUGH, [
        md.MeshWall((corners, [(0, 1, 2), (0, 2, 3)]), velocity=(0.3, 0.0, 0.0)),
        md.Plane((0.0, 0.0, 0.4), (0.0, 0.0, -1.0), motion=md.Servo((0.0, 0.0, -1.0), 20.0, mass=1.0, damping=5.0)),
        md.Plane((-0.1, 0.0, 0.0), (1.0, 0.0, 0.0), motion=md.Oscillation((0.005, 0.0, 0.0), frequency=20.0)),
        md.Cylinder((0.13, 0.13, 0.0), (0.0, 0.0, 1.0), 0.4, angular_velocity=(0.0, 0.0, 2.0))],
        contact="hertz-mindlin")


def periodic():
    return filled(ROUGH, [FLOOR], contact="hooke-coulomb:stiffness=1e5,rolling=epsd",
                  periodic=((-0.01, -0.01, 0.0), (0.32, 0.32, 1.0), (True, True, False)))


SCENES = {made.__name__: made for made in (planes, scales, forces, materials, friction, removed, moving, periodic)}
