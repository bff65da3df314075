"""Fields of clumps and random numbers: what functions in all languages see and change. Bits: test_bits."""
import copy
import operator
import re
from functools import partial

import capillary_bridge as bridge
import numpy as np
import pytest
from bit_systems import wet_grains
from rods_with_fields import MATERIAL, ROD, box_of_rods, compiled_conduction, conduction, same
from scenes import warnings_of
from user_functions import CFUNC

import minidem as md
from minidem.analysis.damping import exchange_rate

BALL = md.ClumpTemplate([(0, 0, 0)], [0.01], density=2500.0)


def heat(sim):
    return float(np.sum(sim.mass * 800.0 * sim.fields["temperature"]))


def exchange(contacts, rate):
    for name, values in contacts.fields.items():
        contacts.rates[name][:] = rate * (values[:, ::-1] - values)


def test_fluxes_conserve_and_mix():
    """Of several fields and functions. The motion is that without fields."""
    sim, without = box_of_rods(flux=conduction), box_of_rods()
    sim.fields.add("dipole", np.random.default_rng(0).normal(size=(sim.n_clumps, 3)), components=3)
    sim.fields.add_flux(exchange, [1e-3])
    spread, total, dipole = np.ptp(sim.fields["temperature"]), heat(sim), sim.fields["dipole"]
    for one in sim, without:
        one.run(3000)
    assert np.ptp(sim.fields["temperature"]) < 0.7 * spread and tuple(sim.fields) == ("temperature", "dipole")
    assert heat(sim) == pytest.approx(total, rel=1e-13)
    assert sim.fields["dipole"].sum(axis=0) == pytest.approx(dipole.sum(axis=0), abs=1e-12)
    assert not np.array_equal(sim.fields["dipole"], dipole) and np.array_equal(sim.position, without.position)


def arrays(*pointers):
    """Rows of eight of what a compiled function receives. pointers : (pointer, number of rows)"""
    return [np.ctypeslib.as_array(pointer, (rows, 8)) for pointer, rows in pointers]


@CFUNC
def flux_of_rows(contact, result, rates, parameters):
    rows, rate = arrays((contact, 86), (rates, 2))
    rate[0] = parameters[0] * (2.0 * np.sqrt(rows[14] * np.maximum(rows[13], 0.0))) * (rows[85] - rows[84])
    rate[1] = -rate[0]


@CFUNC
def ids_and_forces(contact, result, rates, parameters):
    rows, forces, rate = arrays((contact, 86), (result, 3), (rates, 2))
    rate[:] = rows[83] + 100.0 * np.linalg.norm(forces, axis=0), rows[82]


def two_spheres(contact="hertz-mindlin", dt=1e-5, distance=0.0199, material=MATERIAL, **motion):
    sim = md.Simulation(material, contact=contact, dt=dt)
    sim.add_clumps(BALL, [(0, 0, 0), (distance, 0, 0)], **motion)
    return sim


def test_ids_and_forces_that_compiled_functions_see():
    """contact 82 and 83 ids; result 0-2 force."""
    sim = md.Simulation(md.Material(young=1e7, poisson=0.3), contact="hertz-mindlin", dt=1e-6)
    sim.add_clumps(BALL, [(9, 0, 0), (0, 0, 0), (0.0199, 0, 0)])
    sim.remove_clumps([0])
    sim.fields.add("temperature", 0.0)
    sim.fields.add_flux(ids_and_forces)
    force = np.linalg.norm(sim.contacts()["force"][0])
    sim.run(1)
    assert sim.fields["temperature"] / 1e-6 == pytest.approx([2.0 + 100.0 * force, 1.0])


def test_insertion_and_removal():
    sim = box_of_rods(flux=conduction)
    sim.run(500)
    before = dict(zip(sim.ids.tolist(), sim.fields["temperature"].tolist()))
    sim.remove_clumps([0, 7])
    sim.add_clumps(ROD, [(0.06, 0.06, 0.4)])
    after = dict(zip(sim.ids.tolist(), sim.fields["temperature"].tolist()))
    assert after == {k: v for k, v in before.items() if k not in (0, 7)} | {60: 350.0}
    total = heat(sim)
    sim.run(1)                                          # at the last pose heat flowed to rods that are gone
    total, change = heat(sim), heat(sim) - total
    assert abs(change) < 1e-3
    sim.run(500)
    assert heat(sim) == pytest.approx(total, rel=1e-9)


def between_plates(of_wall, contact="hertz-mindlin", **options):
    """A ball that touches two walls, of which the second has no temperature."""
    sim = md.Simulation(MATERIAL, [md.Plane((0, 0, 0), (0, 0, 1)), md.Plane((0, 0, 0.0199), (0, 0, -1))], dt=1e-5,
                        contact=contact)
    sim.add_clumps(BALL, [(0, 0, 0.00995)])
    sim.fields.add("temperature", 300.0, walls=[of_wall, np.nan], **options)
    return sim


def test_walls_with_and_without_a_value():
    sim, seen = between_plates(350.0), []
    def flux(contacts):
        seen.append((contacts.ids.copy(), contacts.fields["temperature"].copy()))
        conduction(contacts, 1.0)
    sim.fields.add_flux(flux)
    sim.run(10)
    assert sim.fields["temperature"][0] > 300.0
    ids, values = seen[0]                  # later ones may be for slopes of the rates
    found = {tuple(pair): row for pair, row in zip(ids.tolist(), values.tolist()) if pair[0] == 0}
    assert set(found) == {(0, -1), (0, -2)} and found[0, -1][1] == 350.0 and found[0, -2][1] == found[0, -2][0]


def wet_springs(contacts, stiffness):
    wetness = contacts.fields["wetness"]
    contacts.force = (stiffness * contacts.overlap * (1.0 + wetness.sum(axis=1)))[:, None] * contacts.normal
    contacts.rates["wetness"][:, 0] = wetness[:, 1] - wetness[:, 0]
    contacts.rates["wetness"][:, 1] = wetness[:, 0] - wetness[:, 1]


@CFUNC
def compiled_wet_springs(contact, history, result, parameters):
    rows, out = arrays((contact, 86), (result, 14))
    out[:3] = parameters[0] * np.maximum(rows[13], 0.0) * (1.0 + rows[84] + rows[85]) * rows[:3]
    out[3:10] = 0.0
    out[12:] = rows[85] - rows[84], rows[84] - rows[85]


@pytest.mark.parametrize("force", [wet_springs, compiled_wet_springs], ids=["python", "compiled"])
def test_laws_read_and_change_fields(force, own_law):
    own_law("wet-springs", force, parameters={"stiffness": None})
    for wetness in ([0.0, 0.0], [0.0, 2.0]):
        sim = two_spheres("wet-springs:stiffness=1e3")
        sim.fields.add("wetness", wetness)
        assert sim.force[1, 0] == pytest.approx(1e3 * 1e-4 * (1.0 + sum(wetness)))
        sim.run(100)
        assert sim.fields["wetness"].sum() == pytest.approx(sum(wetness), rel=1e-14)
    assert sim.fields["wetness"][0] > 0.0


def decay(t, x, v, q, w, rate, *, fields):
    return np.zeros(3), np.zeros(3), {"activity": -rate * fields["activity"]}


@CFUNC
def compiled_decay(time, clumps, wrenches, parameters):
    rows, rates = arrays((clumps, 16), (wrenches, 7))
    rates[6] = -parameters[0] * rows[15]


def decaying(contact, language, rate, dt):
    """Two spheres apart whose activities decay at half the rate: the capacity is 2."""
    sim = two_spheres(contact, dt, distance=1.0, material=md.Material(1e7, 0.3))
    sim.fields.add("activity", [1.0, 2.0], capacity=2.0)
    sim.forces.add(decay if language == "python" else compiled_decay, [rate])
    return sim


each_language = pytest.mark.parametrize("language", ["python", "compiled"])
each_contact = pytest.mark.parametrize("contact", ["hertz", "hertz-mindlin"])


@pytest.mark.filterwarnings("ignore:dt = ")
@each_language
@each_contact
def test_rates_of_forces_are_of_second_order(language, contact):
    errors = []
    for dt in (0.02, 0.01):
        sim = decaying(contact, language, 2.0, dt)
        sim.run_until(1.0)
        errors.append(np.abs(sim.fields["activity"] - np.exp(-1.0) * np.array([1.0, 2.0])).max())
    assert 1.85 < np.log2(errors[0] / errors[1]) < 2.15 and errors[1] < 1e-4


def pair_of_spheres(dt, contact="hertz-mindlin"):
    """Soft ones, which hardly move."""
    return two_spheres(contact, dt, material=md.Material(young=1e-6, poisson=0.3))


def source(t, x, v, q, w, rate, *, fields):
    return 0.0 * x, 0.0 * x, {name: -rate * values for name, values in fields.items()}


def exchanging_law():
    def force(contacts, rate):
        exchange(contacts, rate)
    md.contact.register("exchanging", force, parameters={"rate": None})


# what is there at the start, what changes, rate of the decay of the difference
CHANGES = {
    **{name: (parts, lambda sim: operator.setitem(sim.fields, "temperature", [5.0, 1.0]), rate)
       for name, parts, rate in (
        ("set_field", {"flux"}, 100.0), ("set_field with a force", {"flux", "force"}, 120.0),
        ("set_field with a law", {"law"}, 100.0))},
    "add_flux": (set(), lambda sim: sim.fields.add_flux(exchange, [50.0]), 100.0),
    "add_force": (set(), lambda sim: sim.forces.add(source, [100.0]), 100.0),
    "add_field": ({"flux"}, lambda sim: sim.fields.add("temperature", [1.0, 3.0]), 100.0),
    "add_field with a force": ({"flux", "force"}, lambda sim: sim.fields.add("temperature", [1.0, 3.0]), 120.0)}


@pytest.mark.usefixtures("own_law")
@pytest.mark.parametrize("name", CHANGES)
def test_changes_between_steps_keep_the_second_order(name):
    """After ten steps something changes; the difference of both values then decays at a known rate."""
    exchanging_law()
    parts, change, rate = CHANGES[name]
    errors = []
    for dt in (4e-4, 2e-4):
        sim = pair_of_spheres(dt, "exchanging:rate=50" if "law" in parts else "hertz-mindlin")
        sim.fields.add("another" if "add_field" in name else "temperature", [1.0, 3.0])
        if "flux" in parts:
            sim.fields.add_flux(exchange, [50.0])
        if "force" in parts:
            sim.forces.add(source, [20.0])
        sim.run(10)
        change(sim)
        start = sim.fields["temperature"]
        sim.run(round(0.02 / dt))
        errors.append(abs(np.diff(sim.fields["temperature"])[0] / np.diff(start)[0] - np.exp(-rate * 0.02)))
    assert 1.8 < np.log2(errors[0] / errors[1]) < 2.2, errors


def test_files_have_the_fields(tmp_path):
    meshio, hoomd = pytest.importorskip("meshio"), pytest.importorskip("gsd.hoomd")
    sim = box_of_rods(flux=conduction)
    sim.fields.add("dipole", (1.0, 2.0, 3.0), components=3)
    with md.Trajectory(tmp_path / "a.gsd") as trajectory:
        sim.run(600)
        trajectory(sim)
    sim.io.write_vtu(tmp_path / "a.vtu", fields=["velocity"])
    with hoomd.open(tmp_path / "a.gsd") as frames:
        log = frames[0].log
    data, temperature = meshio.read(tmp_path / "a.vtu").point_data, sim.fields["temperature"]
    expected = temperature[log["particles/clump"]].astype(np.float32)
    assert np.ptp(temperature) > 10.0 and np.array_equal(log["particles/temperature"], expected)
    np.testing.assert_allclose(data["temperature"], temperature[sim.sphere_clump], rtol=1e-6)
    assert all(np.all(values == (1.0, 2.0, 3.0)) for values in (data["dipole"], log["particles/dipole"]))


# ---------------------------------------------------------------- amounts that contacts transfer

def wet_pair(own_law, gap=1e-6, first=2.0, speed=0.3, **options):
    own_law("wet", bridge.shared_force, bridge.shared_describe, **bridge.SHARED)
    sim = md.Simulation(bridge.GLASS, contact="wet:reach=6e-4", dt=1e-5, **options)
    sim.add_clumps(bridge.SPHERE, [(0, 0, 0), (2e-3 + gap, 0, 0)], velocity=[(speed, 0, 0), (-speed, 0, 0)])
    sim.fields.add("liquid", [first * 1e-11, 4e-11])
    return sim


def held(sim):
    return sim.contacts()["history"][:, 0, 3].sum()


@pytest.mark.parametrize("gap, first", [(1e-6, 2.0), (-1e-6, 2.0), (-1e-6, 0.0)])
def test_amounts_are_transferred_once_as_they_are(own_law, gap, first):
    """5 % of both in the step in which a bridge forms, half of it to both in the last; also of a contact at first."""
    sim, rows = wet_pair(own_law, gap, first), []
    def look(sim):
        if len(rows) % 9 == 0:
            copy.deepcopy(sim).contacts()               # evaluations between steps transfer nothing
        rows.append((*sim.fields["liquid"], held(sim), len(sim.contacts())))
    look(sim)
    sim.run(200, every=1, callback=look)
    states = [row for k, row in enumerate(rows) if k == 0 or row[:3] != rows[k - 1][:3]]
    dry, wet, done = (np.array(row[:3]) / 1e-11 for row in states)
    left, taken = np.array([0.95 * first, 3.8]), 0.05 * (first + 4.0)
    assert dry.tolist() == [first, 4.0, 0.0]
    assert wet == pytest.approx([*left, taken], rel=1e-15)
    assert done == pytest.approx([*left + 0.5 * taken, 0.0], rel=1e-15)
    assert rows[1][2] > 0.0 and rows[-1][3] == 0


@pytest.mark.parametrize("enough", [30, pytest.param(200_000, marks=pytest.mark.slow)])
def test_bridges_lose_nothing(enough, own_law, monkeypatch):
    """So many are formed and broken. Their bits over threads and restarts: test_bits."""
    events = [0, 0]
    def force(contacts, *values):
        before = contacts.history[:, 0, 3] > 0.0
        bridge.shared_force(contacts, *values)
        after = contacts.history[:, 0, 3] > 0.0
        counted = contacts.ids[:, 0] >= 0               # some are evaluated by two threads
        events[0] += np.count_nonzero(after & ~before & counted)
        events[1] += np.count_nonzero(before & ~after & counted)
    own_law("wet", force, bridge.shared_describe, **bridge.SHARED)
    sim = wet_grains("wet:tension=0.001,reach=1e-4", threads=2)
    total = 2.0 * sim.fields["liquid"].sum()
    while min(events) < enough:
        sim.run(20)
        assert 2.0 * sim.fields["liquid"].sum() + held(sim) == pytest.approx(total, rel=1e-12)
    assert np.count_nonzero(sim.fields["liquid"]) > 20


def test_compiled_functions_transfer_amounts(own_law):
    """Rows 12 + 2 n ... of the result of a law, 2 n ... of the rates of a flux: of i, then of j."""
    @CFUNC
    def force(contact, history, result, parameters):
        rows, out, kept = arrays((contact, 86), (result, 16), (history, 4))
        out[:10] = 0.0
        out[:3] = parameters[0] * np.maximum(rows[13], 0.0) * rows[:3]
        begins = (kept[3] == 0.0) & (rows[13] > 0.0)
        out[14, begins], out[15, begins], kept[3, begins] = 0.25, -0.25, 1.0
    @CFUNC
    def flux(contact, result, rates, parameters):       # as the contact ends
        rows, out, rate = arrays((contact, 86), (result, 16), (rates, 4))
        ends = np.where(out[10] == 0.0, 1.0, 0.0)
        rate[:] = ends, ends, ends * (1.0 + rows[84]), 0.5 * ends               # rates do not count there
    own_law("compiled", force, parameters={"stiffness": 1e3})
    sim = two_spheres("compiled", distance=0.02001, velocity=[(1, 0, 0), (-1, 0, 0)])
    sim.fields.add("charge", [0.0, 0.0])
    sim.fields.add_flux(flux)
    rows = [(0.0, 0.0)]
    sim.run(1000, every=1, callback=lambda sim: rows.append(tuple(sim.fields["charge"])))
    states = [row for k, row in enumerate(rows) if k == 0 or row != rows[k - 1]]
    assert sorted(states[1]) == [-0.25, 0.25] and not len(sim.contacts()) and len(states) == 3
    assert sorted((states[2][0] - states[1][0], states[2][1] - states[1][1])) in ([0.5, 0.75], [0.5, 1.25])


def test_rates_of_a_law_count_in_the_last_evaluation_of_a_contact(own_law):
    """A law knows that a contact ends; a flux that is driven by a difference does not, and counts for nothing."""
    def force(contacts, stiffness):
        contacts.force = stiffness * np.maximum(contacts.overlap, 0.0)[:, None] * contacts.normal
        contacts.rates["wetness"] = np.array([1.0, -1.0]) * (contacts.overlap <= 0.0)[:, None]
    def flux(contacts):
        contacts.rates["heat"] = (contacts.overlap <= 0.0).astype(float)[:, None] * np.ones(2)
    own_law("last", force, parameters={"stiffness": 1e3})
    sim = two_spheres("last", distance=0.02001, velocity=[(1, 0, 0), (-1, 0, 0)])
    sim.fields.add("wetness", 0.0)
    sim.fields.add("heat", 0.0)
    sim.fields.add_flux(flux)
    sim.run(1000)
    assert sorted(sim.fields["wetness"]) == pytest.approx([-1e-5, 1e-5]) and not len(sim.contacts())
    assert not sim.fields["heat"].any()


def test_rates_and_amounts_are_assigned(own_law):
    wrong = {}
    def force(contacts, stiffness):
        contacts.rates["wetness"] = np.ones((8, 2))
        contacts.rates["wetness"] += 1.0
        contacts.transfer["dipole"] = 0.0
        contacts.transfer["dipole"][:, 0] = (1.0, 2.0, 3.0) * (contacts.overlap > 0.0)[:, None]
        assert list(contacts.rates) == ["wetness", "dipole"] and "wetnes" not in contacts.fields
        for text, change in (("new", lambda: contacts.rates.__setitem__("wetnes", 1.0)),
                             ("shape", lambda: contacts.transfer.__setitem__("wetness", np.zeros(8))),
                             ("all", lambda: setattr(contacts, "rates", {"wetness": np.zeros((8, 2))})),
                             ("fields", lambda: contacts.fields.__setitem__("wetness", 1.0))):
            with pytest.raises(ValueError) as error:
                change()
            wrong[text] = str(error.value)
    own_law("assigns", force, parameters={"stiffness": 1e3})
    sim = two_spheres("assigns", 1e-3, material=md.Material(1.0, 0.3))
    sim.fields.add("wetness", [0.0, 2.0])
    sim.fields.add("dipole", (0.0, 0.0, 0.0), components=3)
    sim.run(2)
    assert sim.fields["wetness"] == pytest.approx([0.004, 2.004])
    assert sorted(sim.fields["dipole"].tolist()) == [[0.0] * 3, [2.0, 4.0, 6.0]]
    assert "rates['wetnes']: there is no such field; known are wetness, dipole" in wrong["new"]
    assert "transfer['wetness'] has shape (8,); give shape (8, 2)" in wrong["shape"]
    assert "rates['wetness'] = " in wrong["all"] and "read-only" in wrong["fields"]


# ---------------------------------------------------------------- steps that are too long for a field

def said(run):
    return [text for text in warnings_of(run)[0] if "field" in text]


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("product", [0.9, 1.1])
def test_a_step_that_a_flux_does_not_allow(product, late):
    """Two spheres in contact: their difference decays at twice the rate over the capacity, and grows above 1 / dt."""
    sim = pair_of_spheres(1e-4)
    if late:
        sim.run(300)
    sim.fields.add("temperature", [1.0, 3.0], capacity=5.0)
    texts = said(lambda: (sim.fields.add_flux(exchange, [0.5 * 5.0 * product / 1e-4]), sim.run(60), sim.run(200)))
    grown = abs(np.diff(sim.fields["temperature"])[0]) > 2.0
    assert grown == (product > 1.0) == len(texts)
    if texts:
        assert texts[0].startswith(f"step {301 if late else 1} (time")
        assert "'temperature'" in texts[0] and "rate of 1.1e+04 1/s, 1.1 times 1 / dt" in texts[0]
        assert "Lower dt below 9.09e-05 s" in texts[0]


@pytest.mark.parametrize("product", [0.9, 1.05, 1.5])
@each_language
@each_contact
def test_a_step_that_a_force_does_not_allow(product, language, contact):
    """Noticed once the field has grown, from the growth in a step."""
    sim = decaying(contact, language, 2.0 * product / 0.02, 0.02)
    texts = said(lambda: sim.run(100))
    assert (np.abs(sim.fields["activity"]).max() > 2.0) == (product > 1.0) == len(texts)
    if texts:
        rate, step = map(float, re.search(r"rate of (\S+) 1/s.*Lower dt below (\S+) s", texts[0]).groups())
        assert 0.02 * rate == pytest.approx(product, rel=0.01) and step == pytest.approx(0.02 / product, rel=0.01)


def test_the_rate_of_a_law_and_fluxes_together(own_law):
    """With walls: half of the sphere's own rate, of which the wall without a value has none."""
    exchanging_law()
    sim = between_plates(300.0, "exchanging:rate=70", capacity=2.0)
    sim.fields.add_flux(exchange, [30.0])
    sim.run(1)
    rate, clump, name = exchange_rate(sim)
    assert rate == pytest.approx(50.0, rel=1e-6) and (clump, name) == (0, "temperature")
    sim.fields["temperature"] = [350.0]
    assert exchange_rate(sim)[0] == pytest.approx(50.0, rel=1e-6)


def test_looks_at_rates_change_no_bit():
    """Also one that fails."""
    def flux(contacts, conductivity):
        if fails:
            raise ArithmeticError
        conduction(contacts, conductivity)
    sims, fails = [box_of_rods(flux=flux, conductivity=4e7) for _ in range(2)], False
    sims[1].monitor.due = sims[1].monitor.ready = 10 ** 9
    assert len(said(lambda: sims[0].run(1000))) == 1
    sims[1].run(1000)
    assert same(*sims)
    looked, fails = copy.deepcopy(sims[0]), True
    for look in looked.contacts, partial(looked.fields.add_flux, flux, [1.0]):
        with pytest.raises(ArithmeticError):
            look()
    fails = False
    for sim in looked, sims[1]:
        sim.run(10)
    assert same(looked, sims[1])


# ---------------------------------------------------------------- random numbers of forces

def noise(strength):
    def force(t, x, v, q, w, *, random):
        return strength * (random[:, :3] - 0.5), strength * 1e-2 * (random[:, 3:] - 0.5)
    return force


@CFUNC
def compiled_noise(time, clumps, wrenches, parameters):
    rows, out = arrays((clumps, 22), (wrenches, 6))
    out[:3], out[3:] = parameters[0] * (rows[16:19] - 0.5), parameters[0] * 1e-2 * (rows[19:] - 0.5)


def test_random_numbers_are_those_of_numpy():
    seen = {}
    def force(t, x, v, q, w, *, random):
        seen[round(t / 1e-5)] = random
        return np.zeros(3), np.zeros(3)
    sim = md.Simulation(md.Material(young=1e7, poisson=0.3), dt=1e-5)
    sim.add_clumps(BALL, np.arange(5)[:, None] * [1.0, 0, 0])
    sim.remove_clumps([1])
    sim.forces.add(force, random=6, seed=2 ** 40 + 17)
    sim.run(3)
    assert sorted(seen) == [0, 1, 2, 3]
    for step, numbers in seen.items():
        for id_, row in zip(sim.ids, numbers):
            philox = np.random.Philox(counter=[0, int(id_), step, 0], key=[2 ** 40 + 17, 0])
            assert np.array_equal(row, np.random.Generator(philox).random(6))


@pytest.mark.parametrize("language", ["numba flux", "flux of rows", "force"])
def test_languages_have_equal_bits(language):
    """In C the rows that are documented: contact 14 radius, 13 overlap, 84 and 85 fields."""
    sims = [box_of_rods() for _ in range(2)]
    if language == "force":
        sims[0].forces.add(noise(1e-3), random=6, seed=5)
        sims[1].forces.add(compiled_noise, [1e-3], random=6, seed=5)
    else:
        flux = compiled_conduction() if language == "numba flux" else flux_of_rows
        for sim, function in zip(sims, (conduction, flux)):
            sim.fields.add_flux(function, [1e6])
    for sim in sims:
        sim.run(1500)
    assert same(*sims)
