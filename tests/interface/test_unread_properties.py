"""Restitution, friction and rolling friction that the contact law with its options does not read are warned of once."""
import copy
import pickle
import warnings
from dataclasses import replace

import numpy as np
import pytest

import minidem as md

READ = {"hertz": (), "hertz:onset=corrected": (), "hooke:stiffness=1e5": (), "hooke:stiffness=1e5,onset=corrected": (),
        "hertz-mindlin": ("restitution", "friction"), "hertz-mindlin:limit_damping=yes": ("restitution", "friction"),
        "hertz-mindlin:rolling=none": ("restitution", "friction"),
        "hertz-mindlin:rolling=epsd,rolling_damping=0": ("restitution", "friction", "rolling_friction"),
        "hertz-mindlin:cohesion=jkr": ("restitution", "friction", "adhesion"),
        "hertz-mindlin:rolling=epsd,cohesion=jkr": ("restitution", "friction", "rolling_friction", "adhesion"),
        "hooke-coulomb:stiffness=1e5,tangential_damping=0": ("restitution", "friction"),
        "hooke-coulomb:rolling=epsd,stiffness=1e5": ("restitution", "friction", "rolling_friction")}
GIVEN = {"restitution": 0.5, "friction": 0.4, "rolling_friction": 0.3, "adhesion": 0.2}
PLAIN = md.Material(1e7, 0.2)
BALL = md.ClumpTemplate([(0.0, 0.0, 0.0)], [0.01], density=2500.0)
FLOOR = md.Plane((0, 0, 0), (0, 0, 1))


def texts_of(make):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        made = make()
    return [str(warning.message) for warning in caught], made


def test_all_laws_are_here():
    assert {spec.partition(":")[0] for spec in READ} == set(md.contact.available())


@pytest.mark.parametrize("name", GIVEN)
@pytest.mark.parametrize("contact", READ)
def test_a_property_changes_the_result_or_is_warned_of(contact, name):
    """Of a ball that hits a floor, slides and rolls; where it has friction, so that it may roll."""
    base = replace(PLAIN, friction=0.2) if "friction" in READ[contact] else PLAIN

    def rolled(material):
        sim = md.Simulation(material, [FLOOR], contact=contact, dt=1e-5, gravity=(0, 0, -9.81))
        sim.add_clumps(BALL, (0, 0, 0.01), velocity=(1.0, 0, -0.3), angular_velocity=(0, 60.0, 5.0))
        sim.run(100)
        return sim

    (none, plain), (said, changed) = (texts_of(lambda: rolled(m)) for m in (base, replace(base, **{name: GIVEN[name]})))
    moved = any((getattr(plain, q) != getattr(changed, q)).any() for q in ("velocity", "angular_velocity"))
    assert none == [] and moved == (name in READ[contact])
    if moved:
        assert said == []
        return
    [text] = said
    assert f"contact law {contact!r} does not read {name} of Material(young=" in text
    for option, read in (("rolling=epsd would", "rolling_friction"), ("cohesion=jkr would", "adhesion")):
        assert (option in text.replace("'", "")) == (name == read)


@pytest.mark.parametrize("contact, remedies", [
    ("hertz", ["'hertz-mindlin:rolling=epsd'", "'hooke-coulomb:rolling=epsd'"]),
    ("hertz-mindlin", ["'hertz-mindlin:rolling=epsd'"]),
    ("hooke-coulomb:stiffness=1e5", ["'hooke-coulomb:stiffness=1e5,rolling=epsd'"])])
def test_the_remedy_is_an_option_of_the_chosen_law_or_all_laws_that_help(contact, remedies):
    [text], _ = texts_of(lambda: md.Simulation(replace(PLAIN, rolling_friction=0.1), contact=contact, dt=1e-6))
    assert f"; contact={' and contact='.join(remedies)} would read it; else leave it out" in text
    for remedy in remedies:
        specification = remedy.strip("'")
        if "stiffness" not in specification and specification.startswith("hooke"):
            specification += ",stiffness=1e5"
        law, values = md.contact.registry.select(specification)
        assert "rolling_friction" in law.pair_properties(values)


def test_several_properties_need_several_options():
    both = replace(PLAIN, rolling_friction=0.1, adhesion=0.1)
    for contact in "hertz", "hooke-coulomb:stiffness=1e5", "hertz-mindlin":
        [text], _ = texts_of(lambda contact=contact: md.Simulation(both, contact=contact, dt=1e-6))
        assert "; contact='hertz-mindlin:rolling=epsd,cohesion=jkr' would read them; else leave them out" in text


@pytest.mark.parametrize("contact, name, reader", [
    ("hertz-mindlin:bond_range=1", "bond_range", "bonds=parallel"),
    ("hooke-coulomb:stiffness=1e5,bond_range=1", "bond_range", "bonds=parallel"),
    ("hertz-mindlin:rolling_damping=0", "rolling_damping", "rolling=epsd")])
def test_a_parameter_that_is_not_read(contact, name, reader):
    """Not with its reader, nor at its default."""
    [text], sim = texts_of(lambda: md.Simulation(PLAIN, contact=contact, dt=1e-6))
    assert f"{contact!r} reads {name} with {reader} only; give that as well, or leave {name} out" in text
    assert texts_of(lambda: copy.deepcopy(sim))[0] == []
    assert texts_of(lambda: md.Simulation(PLAIN, contact=f"{contact},{reader}", dt=1e-6))[0] == []
    default = {"bond_range": 0.5, "rolling_damping": 0.3}[name]
    assert texts_of(lambda: md.Simulation(PLAIN, contact=f"hertz-mindlin:{name}={default}", dt=1e-6))[0] == []


ROLLING = replace(PLAIN, rolling_friction=0.3, name="sticky")
PAIR = md.Pair(PLAIN, ROLLING, rolling_friction=0.2)
PLAIN_PAIR = md.Pair(PLAIN, ROLLING)


def add_to(sim):
    sim.add_clumps(BALL, (0, 0, 0.02), material=ROLLING)
    return sim


@pytest.mark.parametrize("make, owner", [
    (lambda: md.Simulation(ROLLING, contact="hertz-mindlin", dt=1e-6), "material 'sticky'"),
    (lambda: md.Simulation(PLAIN, [replace(FLOOR, material=ROLLING)], contact="hertz-mindlin", dt=1e-6,
                           pairs=[PLAIN_PAIR]), "material 'sticky'"),
    (lambda: add_to(md.Simulation(PLAIN, contact="hertz-mindlin", dt=1e-6, pairs=[PLAIN_PAIR])), "material 'sticky'"),
    (lambda: md.Simulation(PLAIN, contact="hertz-mindlin", dt=1e-6, pairs=[PAIR]),
     "the pair of Material(young=10000000.0, poisson=0.2) and material 'sticky'")],
    ids=["simulation", "wall", "clumps", "pair"])
def test_all_who_give_it_are_checked_and_each_cause_is_said_once(make, owner):
    [text], sim = texts_of(make)
    assert f"'hertz-mindlin' does not read rolling_friction of {owner}, and contacts are without" in text
    for same in (sim, copy.deepcopy(sim), pickle.loads(pickle.dumps(sim)), copy.copy(copy.copy(sim))):
        same.add_clumps(BALL, (0, 0, 0.1), material=replace(PLAIN, rolling_friction=0.1) if PAIR in sim.pairs else None)
        assert "unread rolling_friction" in same.monitor.issued
    assert texts_of(lambda: [copy.deepcopy(sim), pickle.loads(pickle.dumps(sim)), sim.run(2)])[0] == []


def test_a_refused_start_says_nothing():
    sim = add_to(md.Simulation(PLAIN, dt=1e-6))
    said, error = texts_of(lambda: pytest.raises(ValueError, sim.add_clumps, BALL, (0, 0, 0.025),
                                                 material=replace(PLAIN, friction=0.1)))
    assert said == [] and "unread friction" not in sim.monitor.issued and "overlaps clump" in str(error.value)


def force(c, stiffness, mode):
    c.force = (stiffness * np.maximum(c.overlap, 0.0))[:, None] * c.normal


RECORD = {"parameters": {"stiffness": None, "mode": ("dry", "wet")}, "power": 1.0, "reads_of_pairs": (),
          "reads_with": {"mode=wet": ("rolling_friction",)}}
VISCOUS = RECORD | {"parameters": RECORD["parameters"] | {"viscosity": 0.0}, "reads_with": {"mode=wet": ("viscosity",)}}


def test_a_law_of_a_user(own_law):
    own_law("mine", force, **RECORD)
    dry, wet = "mine:stiffness=1e5", "mine:stiffness=1e5,mode=wet"
    [text], _ = texts_of(lambda: md.Simulation(ROLLING, contact=dry, dt=1e-6))
    assert f"'{dry}' does not read rolling_friction" in text and f"; contact='{wet}' would read it" in text
    [text], _ = texts_of(lambda: md.Simulation(ROLLING, contact="hertz", dt=1e-6))
    assert "contact='mine:mode=wet'" in text
    [text], _ = texts_of(lambda: md.Simulation(replace(PLAIN, friction=0.1), contact=wet, dt=1e-6))
    assert "contact='hertz-mindlin' and contact='hooke-coulomb' would read it" in text and "mine'" not in text
    assert texts_of(lambda: md.Simulation(ROLLING, contact=wet, dt=1e-6))[0] == []
    own_law("mine", lambda c, stiffness, mode, viscosity: None, **VISCOUS)
    [text], _ = texts_of(lambda: md.Simulation(PLAIN, contact=f"{dry},viscosity=1", dt=1e-6))
    assert "reads viscosity with mode=wet only" in text
    assert texts_of(lambda: md.Simulation(PLAIN, contact=f"{wet},viscosity=1", dt=1e-6))[0] == []


def test_a_pair_is_needed_where_the_options_read_it(own_law):
    own_law("mine", force, **RECORD)
    walls = [replace(FLOOR, material=replace(PLAIN, name="other"))]
    md.Simulation(PLAIN, walls, contact="mine:stiffness=1e5", dt=1e-6)
    with pytest.raises(ValueError, match="'mine' reads rolling_friction of their pair; add md.Pair"):
        md.Simulation(PLAIN, walls, contact="mine:stiffness=1e5,mode=wet", dt=1e-6)
    with pytest.raises(ValueError, match="'hertz-mindlin' reads restitution, friction of their pair"):
        md.Simulation(PLAIN, walls, contact="hertz-mindlin", dt=1e-6)
    with pytest.raises(ValueError, match="reads restitution, friction, rolling_friction of their pair"):
        md.Simulation(PLAIN, walls, contact="hertz-mindlin:rolling=epsd", dt=1e-6)
