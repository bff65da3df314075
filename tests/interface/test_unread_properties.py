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

    (none, plain), (said, changed) = (texts_of(lambda: rolled(m)) for m in (base, replace(base, **{name: GIVEN[name]})))
    moved = any((getattr(plain, q) != getattr(changed, q)).any() for q in ("velocity", "angular_velocity"))
    assert none == [] and moved == (name in READ[contact]) and len(said) == 1 - moved
    for text in said:
        assert f"contact law {contact!r} does not read {name} of Material(young=" in text
        for option, read in (("rolling=epsd would", "rolling_friction"), ("cohesion=jkr would", "adhesion")):
            assert (option in text.replace("'", "")) == (name == read)


@pytest.mark.parametrize("contact, given, remedies", [
    ("hertz", ["rolling_friction"], "'hertz-mindlin:rolling=epsd' and contact='hooke-coulomb:rolling=epsd' would"),
    ("hertz-mindlin", ["rolling_friction"], "'hertz-mindlin:rolling=epsd' would read it; else leave it out"),
    ("hooke-coulomb:stiffness=1e5", ["rolling_friction"], "'hooke-coulomb:stiffness=1e5,rolling=epsd' would read it"),
    *((contact, ["rolling_friction", "adhesion"], "'hertz-mindlin:rolling=epsd,cohesion=jkr' would read them; else")
      for contact in ("hertz", "hooke-coulomb:stiffness=1e5", "hertz-mindlin"))])
def test_the_remedy_is_an_option_of_the_chosen_law_or_all_laws_that_help(contact, given, remedies):
    material = replace(PLAIN, **dict.fromkeys(given, 0.1))
    [text], _ = texts_of(lambda: md.Simulation(material, contact=contact, dt=1e-6))
    assert f"; contact={remedies}" in text


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
    [text], sim = texts_of(lambda: mindlin(**how))
    assert f"'hertz-mindlin' does not read rolling_friction of {owner}, and contacts are without" in text
    for same in (sim, copy.deepcopy(sim), pickle.loads(pickle.dumps(sim)), copy.copy(copy.copy(sim))):
        said, _ = texts_of(lambda: [same.add_clumps(BALL, (0, 0, 0.1), material=how.get("added")), same.run(2)])
        assert said == [] and "unread rolling_friction" in same.monitor.issued


def test_a_refused_start_says_nothing():
    sim = md.Simulation(PLAIN, dt=1e-6)
    sim.add_clumps(BALL, (0, 0, 0.02))
    said, error = texts_of(lambda: pytest.raises(ValueError, sim.add_clumps, BALL, (0, 0, 0.025),
                                                 material=replace(PLAIN, friction=0.1)))
    assert said == [] and "unread friction" not in sim.monitor.issued and "overlaps clump" in str(error.value)


def force(c, stiffness, mode):
    c.force = (stiffness * np.maximum(c.overlap, 0.0))[:, None] * c.normal


RECORD = {"parameters": {"stiffness": None, "mode": ("dry", "wet")}, "power": 1.0, "reads_of_pairs": (),
          "reads_with": {"mode=wet": ("rolling_friction",)}}
VISCOUS = RECORD | {"parameters": RECORD["parameters"] | {"viscosity": 0.0}, "reads_with": {"mode=wet": ("viscosity",)}}


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
        [text], _ = texts_of(lambda: md.Simulation(material, contact=contact, dt=1e-6))
        assert words in text
    assert texts_of(lambda: md.Simulation(ROLLING, contact=wet, dt=1e-6))[0] == []
    md.Simulation(PLAIN, walls, contact=dry, dt=1e-6)
    for contact, words in ((wet, "'mine' reads rolling_friction of their pair; add md.Pair"),
                           ("hertz-mindlin", "'hertz-mindlin' reads restitution, friction of their pair"),
                           ("hertz-mindlin:rolling=epsd", "restitution, friction, rolling_friction of their pair")):
        with pytest.raises(ValueError, match=words):
            md.Simulation(PLAIN, walls, contact=contact, dt=1e-6)
    own_law("mine", lambda c, stiffness, mode, viscosity: None, **VISCOUS)
    [text], _ = texts_of(lambda: md.Simulation(PLAIN, contact=f"{dry},viscosity=1", dt=1e-6))
    assert "reads viscosity with mode=wet only" in text
    assert texts_of(lambda: md.Simulation(PLAIN, contact=f"{wet},viscosity=1", dt=1e-6))[0] == []
