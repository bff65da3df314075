"""Operations that signals and refused memory interrupt: what makes a simulation, and what is then done to it.

A repeated act completes what an interruption has left undone. Tests compare `finished` with that of
an operation that nothing interrupts.
"""
import copy
import dataclasses
import signal
import time

import numpy as np
import scenes

import minidem as md

DT = 38e-6
MANY = scenes.packed_mixture(4, (6, 6, 8), speed=20.0, spin=20.0)
FEW = scenes.rods_in_box(seed=4, n=8, speed=20.0, spin=20.0)
BALL = md.ClumpTemplate([(0, 0, 0)], [0.01], density=2500.0)
EIGHTHS = md.Fragments.packed(BALL, 8)
BEGUN = 30                                          # steps of a cube before the operation


def drag(t, x, v, q, w):
    return -0.1 * v * (1.0 + np.sin(1e4 * t)), -1e-3 * w


def mean(contacts):
    rate = 10.0 * (contacts.fields["T"][:, 1] - contacts.fields["T"][:, 0])
    contacts.rates["T"][:] = np.column_stack([rate, -rate])


def driven(threads):
    sim = FEW.part(range(6)).simulation(DT, threads=threads)
    sim.forces.add(drag)
    sim.run(3)
    return sim


def frictional(threads):
    material = md.Material(MANY.young, MANY.poisson, restitution=0.8, friction=0.4)
    return MANY.simulation(DT, material, contact="hertz-mindlin", threads=threads)


def cube(contact):
    """32 balls that overlap on one side and do not touch on the other, on a floor."""
    def make(threads):
        damped = {} if "onset" in contact else {"restitution": 0.5, "friction": 0.3}
        sim = md.Simulation(md.Material(1e6, 0.3, **damped), [md.Plane((0, 0, -0.0099), (0, 0, 1))], dt=5e-6,
                            contact=contact, threads=threads)
        places = np.argwhere(np.ones((4, 4, 2))) * (0.0199, 0.0199, 0.0203)
        sim.add_clumps(BALL, places, velocity=np.random.default_rng(1).normal(0.0, 0.5, places.shape))
        sim.run(BEGUN)
        return sim
    return make


def machine(threads):
    """A cube in weak bonds on a belt, with masses that contacts share, between a lid that is driven and a Servo."""
    walls = [md.Plane((0, 0, -0.0099), (0, 0, 1), surface_velocity=(0.5, 0, 0)),
             md.Plane((0, 0, 0.0302), (0, 0, -1), name="lid", motion=md.Driven(mass=0.02, force=20.0)),
             md.Plane((-0.0099, 0, 0), (1, 0, 0), motion=md.Servo(pressure=1e3, mass=0.02, area=1e-3))]
    sim = md.Simulation(md.Material(1e6, 0.3, restitution=0.5, friction=0.3), walls, dt=5e-6, threads=threads,
                        contact="hertz-mindlin:bonds=parallel")
    places = np.argwhere(np.ones((4, 4, 2))) * (0.0199, 0.0199, 0.0203)
    sim.add_clumps(BALL, places, velocity=np.random.default_rng(1).normal(0.0, 0.5, places.shape))
    sim.bonds.add(3e-4, young=1e7, tensile=2e4, shear=2e4, damping=0.05)
    sim.run(BEGUN)
    assert 0 < len(sim.bonds.broken()) and 0 < len(sim.bonds())
    return sim


def pressed_box(threads):
    box = md.PeriodicBox((0, 0, 0), (0.081, 0.081, 0.042), axes=(True,) * 3, shear=("x", "y", 20.0),
                         rates=(md.Pressure(1e3, 1e-3), 0.0, -5.0))
    sim = md.Simulation(md.Material(1e6, 0.3, restitution=0.5, friction=0.3), dt=5e-6, threads=threads,
                        contact="hertz-mindlin", periodic=box)
    places = np.argwhere(np.ones((4, 4, 2))) * (0.0199, 0.0199, 0.0203) + 0.01
    sim.add_clumps(BALL, places, velocity=np.random.default_rng(1).normal(0.0, 0.5, places.shape))
    sim.run(BEGUN)
    return sim


def one_step(sim):
    sim.run_until((BEGUN + 1) * sim.dt)


def many_runs(sim, path):
    while sim.step_count < 40:
        sim.run(1)


def add(sim, path):
    if sim.n_clumps == 6:
        sim.add_clumps(FEW.shapes[0].template, **scenes.motion(values[6:] for values in FEW.state))


def add_force(sim, path):
    if len(sim.forces.functions) == 1:
        sim.forces.add(drag)


def continued(sim, path):
    sim.save(path)
    other = md.Simulation.load(path, threads=1)
    other.forces.add(drag)
    other.run(10)


def bond(sim, path):
    if not len(sim.bonds()):
        sim.bonds.add(1e-3, young=1e6)
    one_step(sim)


def add_many(sim, path):
    if sim.n_clumps == 32:
        sim.add_clumps(BALL, np.argwhere(np.ones((4, 4, 5))) * 0.0199 + (0.0, 0.0, 0.0399))
    one_step(sim)


def remove(sim, path):
    if sim.n_clumps == 32:
        sim.remove_clumps([5, 20])
    one_step(sim)


def break_up(sim, path):
    if sim.n_clumps == 32:
        sim.replace([5, 20], EIGHTHS)
    one_step(sim)


def grow(sim, path):
    if sim.scale[3] == 1.0:
        sim.set_scale(sim.ids[::3], 1.01)
    if sim.scale[1] == 1.0:
        sim.set_scale(sim.ids[1::3], 0.98)
    one_step(sim)


def conduct(sim, path):
    if not sim.fields:
        sim.fields.add("T", np.arange(32.0))
    if not sim.loop.user_forces.fluxes:
        sim.fields.add_flux(mean)
    if not sim.forces.functions:
        sim.forces.add(drag)
    one_step(sim)


def hold(sim, path):
    """Some in part, at pins, by an oscillation, by the lid; one more wall, and the belt stops."""
    if sim.loop.state.hold is None:
        sim.set_motion([0, 1], free="xz", turns="y")
    if not sim.loop.state.hold["arm"].any():
        sim.set_motion([2], pin=sim.position[2] + 0.005)
    if len(sim.walls) == 3:
        sim.set_motion([4, 6], motion=md.Oscillation((1e-4, 0, 0), 300.0))
    if not (sim.loop.state.hold["wall"] == 2).any():
        sim.set_motion([7, 9], motion="lid")
    if len(sim.walls) == 4:
        sim.walls.add(md.Plane((0, -0.0099, 0), (0, 1, 0), motion=md.Driven(mass=0.02, force=5.0)))
    if any(sim.walls[0].surface_velocity):
        sim.walls.move(0)
    one_step(sim)


def deform(sim, path):
    if sim.loop.state.box.record["shear"][2] > 0.0:
        sim.deform(shear=("x", "y", -20.0), rates=(0.0, 0.0, 5.0))
    one_step(sim)


def other_conditions(sim, path):
    """Less friction, and another gravity."""
    if sim.material.friction == 0.3:
        sim.set_material(sim.material, dataclasses.replace(sim.material, friction=0.05))
    if not any(sim.gravity):
        sim.set_gravity((0.0, 0.0, -50.0))
    one_step(sim)


def look(sim, path):
    sim.force, sim.contacts(), sim.energy()


BONDED, ONSET = cube("hertz-mindlin:bonds=parallel"), cube("hertz:onset=corrected")
OPERATIONS = {
    "run": (lambda threads: MANY.simulation(DT, threads=threads), lambda sim, path: sim.run_until(40 * DT)),
    "friction": (frictional, lambda sim, path: sim.run_until(40 * DT)),
    "many runs": (frictional, many_runs),
    "force": (driven, lambda sim, path: sim.run_until(40 * DT)),
    "add clumps": (driven, add),
    "add a force": (driven, add_force),
    "save and load": (driven, continued),
    "look": (driven, look),
    # in which contacts are evaluated between steps
    "bonds": (BONDED, bond), "copy": (BONDED, lambda sim, path: look(copy.copy(sim), path)),
    "add many": (BONDED, add_many), "remove": (BONDED, remove), "break": (BONDED, break_up), "grow": (machine, grow),
    "fluxes": (BONDED, conduct),
    "machine": (machine, lambda sim, path: sim.run_until(40 * 5e-6)), "hold": (machine, hold),
    "conditions": (machine, other_conditions),
    "deform": (pressed_box, deform),
    "copy with onsets": (ONSET, lambda sim, path: look(copy.copy(sim), path)), "onsets": (ONSET, add_many),
}


def interrupted(act, after, errors=KeyboardInterrupt):
    """Call act(), with a signal after so many seconds [s]; whether it came in time."""
    try:
        try:
            signal.setitimer(signal.ITIMER_REAL, after)
            act()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
        time.sleep(0.0)                     # a signal that came last is answered here
    except errors:
        return True
    return False


def bits(sim):
    return [sim.step_count, *(values.tobytes() for values in (
        *scenes.state_of(sim), sim.force, sim.torque, sim.contacts(), sim.bonds(), *sim.fields.values()))]


def finished(sim, act, path):
    act(sim, path)
    sim.run(5)
    return bits(sim)
