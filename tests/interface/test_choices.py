"""Rotation schemes and contact laws as objects: signatures, documentation, text, errors, and the types of editors."""
import copy
import inspect
import pickle

import pytest
import stubs

import minidem as md
from minidem.contact import registry as laws
from minidem.core.parameters import default_of
from minidem.rotation import registry as schemes

REGISTRIES = {"contact": laws, "rotation": schemes}
ALL = [(kind, name) for kind, registry in REGISTRIES.items() for name in registry.available()]
ROD = md.ClumpTemplate([(-0.02, 0.0, 0.0), (0.02, 0.0, 0.0)], [0.05, 0.05], density=2500.0)


ROUGH = md.Material(1e7, 0.3, restitution=0.7, friction=0.5, rolling_friction=0.1)


def simulation(material=ROUGH, **options):
    sim = md.Simulation(material, dt=1e-5, **options)
    sim.add_clumps(ROD, [(0.0, 0.0, 0.0), (0.13, 0.05, 0.0)], velocity=[(1.0, 0.0, 0.0), (0.0, 0.0, 0.2)])
    sim.run(500)
    return sim


@pytest.mark.parametrize("kind, name", ALL)
def test_every_parameter_has_a_default_and_a_meaning(kind, name):
    record = REGISTRIES[kind].info(name)
    choice = getattr(getattr(md, kind), record.choice.__name__)
    assert choice is record.choice and choice.__doc__.startswith(f'{record.title}; as text {kind}="{name}".')
    assert record.doi in choice.__doc__ and record.equations in choice.__doc__
    signature = inspect.signature(choice)
    assert list(signature.parameters) == list(record.parameters)
    documentation = " ".join(choice.__doc__.split())
    for one in signature.parameters.values():
        meaning = record.meanings[one.name]
        assert one.kind is one.KEYWORD_ONLY and meaning in documentation
        assert meaning[0].isupper() and meaning.endswith(".")
        if one.default is not one.empty:
            assert one.default == default_of(record.parameters[one.name])
            assert f"; default {one.default} {meaning}" in documentation
    if all(one.default is not one.empty for one in signature.parameters.values()):
        assert choice() == name and choice(**{one.name: one.default for one in signature.parameters.values()}) == name


def test_an_object_is_its_text():
    law = md.contact.HertzMindlin(rolling="epsd", tangential="mindlin", mass="shared", rolling_damping=0.1)
    assert law == "hertz-mindlin:tangential=mindlin,rolling=epsd,rolling_damping=0.1" and repr(law) == repr(str(law))
    assert md.contact.Hooke(stiffness=1 / 3) == f"hooke:stiffness={1 / 3!r}"
    assert md.contact.HookeCoulomb(stiffness=1e5, tangential_damping=0) == \
        "hooke-coulomb:tangential_damping=0.0,stiffness=100000.0"
    assert md.rotation.Omelyan(iterations=20, start="map") == "omelyan:iterations=20,start=map"
    for plain in pickle.loads(pickle.dumps(law)), copy.deepcopy(law):
        assert plain == law and type(plain) is str


def test_bits_and_checkpoints_are_those_of_the_text(tmp_path):
    options = {"contact": md.contact.HertzMindlin(tangential="mindlin", rolling="epsd"),
               "rotation": md.rotation.Spiral(inner="rk4")}
    started = [simulation(**options), simulation(**{name: str(one) for name, one in options.items()})]
    assert started[0].contacts().size and started[0].contact == started[1].contact
    for k, sim in enumerate(started):
        sim.save(tmp_path / f"{k}.npz")
    loaded = [md.Simulation.load(tmp_path / f"{k}.npz") for k in range(2)]
    assert loaded[0].contact == loaded[1].contact and loaded[0].rotation == started[1].rotation
    for sim in (*started, *loaded):
        sim.run(100)
        assert (sim.position == started[0].position).all() and sim.energy() == started[0].energy()


@pytest.mark.parametrize("make, text", [
    (lambda: md.contact.Hertz(onset="correct"), "hertz:onset=correct"),
    (lambda: md.contact.Hertz(onsets="corrected"), "hertz:onsets=corrected"),
    (lambda: md.contact.Hooke(), "hooke"),
    (lambda: md.contact.Hooke(stiffness=-1.0), "hooke:stiffness=-1.0"),
    (lambda: md.contact.HertzMindlin(tangential_damping="ratio"), "hertz-mindlin:tangential_damping=ratio"),
    (lambda: md.rotation.Omelyan(iterations=2.5), "omelyan:iterations=2.5")])
def test_errors_are_those_of_the_text(make, text):
    with pytest.raises(ValueError) as of_object:
        make()
    with pytest.raises(ValueError) as of_text:
        (md.rotation if "omelyan" in text else md.contact).info(text).values(text.partition(":")[2])
    assert str(of_object.value) == str(of_text.value)


def test_a_word_is_one_word():
    with pytest.raises(ValueError, match="tangential is 'mindlin,rolling=epsd', must be one of rescale, mindlin, lin"):
        md.contact.HertzMindlin(tangential="mindlin,rolling=epsd")
    with pytest.raises(TypeError, match="positional argument"):
        md.contact.Hertz("corrected")
    with pytest.raises(ValueError, match=r"a class; call it: Hertz\(\). It must be one of: hertz, "):
        simulation(contact=md.contact.Hertz)


def test_names_are_completed():
    for module in md.contact, md.rotation:
        classes = {module.info(name).choice.__name__ for name in module.available()}
        assert set(dir(module)) == classes | set(module.__all__) and len(classes) == len(module.available())
        assert all(getattr(module, name) is not None for name in dir(module))
    with pytest.raises(AttributeError, match="'minidem.contact' has no attribute 'HertzMidlin', did you mean 'HertzM"):
        md.contact.HertzMidlin          # noqa: B018
    assert not hasattr(md.rotation, "hertz") and not hasattr(md.rotation, "Hertz")


def test_user_defined(own, own_law):
    def force(contacts, stiffness, of):
        contacts.force = stiffness * contacts.overlap[:, None] * contacts.normal

    own_law("my-law", force, parameters={"stiffness": None, "lambda": 1.0},
            meanings={"stiffness": "Of the spring [N/m]."})
    own("my_scheme.2", lambda bodies, dt, stage: None, title="none")
    assert "MyLaw" in dir(md.contact) and "    Of the spring [N/m]." in md.contact.MyLaw.__doc__
    assert str(inspect.signature(md.contact.MyLaw)) == "(*, stiffness: float)"      # lambda is no name of Python
    assert md.contact.MyLaw(stiffness=1e6, **{"lambda": 2}) == "my-law:stiffness=1000000.0,lambda=2.0"
    assert md.rotation.MyScheme2() == "my_scheme.2" and md.rotation.MyScheme2.__doc__.startswith("none; as text")
    sim = simulation(md.Material(1e7, 0.3), contact=md.contact.MyLaw(stiffness=1e6), rotation=md.rotation.MyScheme2())
    assert sim.contact == "my-law:stiffness=1000000.0" and sim.contacts().size
    own_law("no.hertz", force, parameters={"stiffness": 2.0, "of": 1})
    own_law("Hertz", force, parameters={"stiffness": 3.0, "of": 1})     # the built-in one has the class
    assert md.contact.Hertz() == "hertz" and md.contact.NoHertz() == "no.hertz"
    for meanings in ({"stiff": "x"}, "x", 1):
        with pytest.raises(ValueError, match="meanings = .*: give a dict of parameters to text"):
            own_law("other", force, parameters={"stiffness": 2.0, "of": 1}, meanings=meanings)


@pytest.mark.parametrize("kind", REGISTRIES)
def test_editors_know_the_same(kind):
    path = stubs.path(REGISTRIES[kind])
    assert path.read_text(encoding="utf-8") == stubs.stub(REGISTRIES[kind]), "run: python tools/stubs.py"
