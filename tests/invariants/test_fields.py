"""Fields of clumps: what they are kept over, bits, and what functions in all languages see and change."""
import copy

import numpy as np
import pytest
from rods_with_fields import MATERIAL, POINTERS, ROD, box_of_rods, compiled_conduction, conduction, same

import minidem as md
from minidem.scenario.c_functions import ctypes_functions


def heat(sim):
    return float(np.sum(sim.mass * 800.0 * sim.field("temperature")))


def test_flux_conserves_and_mixes():
    sim = box_of_rods(flux=conduction)
    spread, total = np.ptp(sim.field("temperature")), heat(sim)
    sim.run(3000)
    assert np.ptp(sim.field("temperature")) < 0.7 * spread
    assert heat(sim) == pytest.approx(total, rel=1e-13)


def test_fields_do_not_change_the_motion():
    one, other = box_of_rods(flux=conduction), box_of_rods()
    one.run(1500)
    other.run(1500)
    assert np.array_equal(one.position, other.position)
    assert not same(one, other)


@pytest.mark.parametrize("threads", [2, 3])
def test_equal_bits_for_any_number_of_threads(threads):
    flux = compiled_conduction()
    sims = [box_of_rods(4000, flux, threads=n) for n in (1, threads)]
    assert sims[1].threads == threads
    for sim in sims:
        sim.run(400)
        sim.engine.loop.sort_clumps()
        sim.run(200)
    assert same(*sims)


def test_compiled_and_python_functions_agree():
    one, other = box_of_rods(flux=conduction), box_of_rods(flux=compiled_conduction())
    one.run(1500)
    other.run(1500)
    assert same(one, other)


def test_c_functions_have_the_rows_that_are_documented(tmp_path):
    """contact 14 radius, 13 overlap, 84 and 85 fields, 82 and 83 ids; result 0-2 force; rates."""
    source = tmp_path / "flux.c"
    source.write_text("""#include <math.h>
void flux(const double *contact, const double *result, double *rates, const double *parameters) {
    for (int k = 0; k < 8; k++) {
        double width = 2.0 * sqrt(contact[8 * 14 + k] * fmax(contact[8 * 13 + k], 0.0));
        rates[k] = parameters[0] * width * (contact[8 * 85 + k] - contact[8 * 84 + k]);
        rates[8 + k] = -rates[k];
    }
}
void ids_and_forces(const double *contact, const double *result, double *rates, const double *parameters) {
    for (int k = 0; k < 8; k++) {
        double force = sqrt(result[k] * result[k] + result[8 + k] * result[8 + k] + result[16 + k] * result[16 + k]);
        rates[k] = contact[8 * 83 + k] + 100.0 * force;
        rates[8 + k] = contact[8 * 82 + k];
    }
}
""")
    functions = ctypes_functions(source, ["flux", "ids_and_forces"])
    if functions is None:
        pytest.skip("no C compiler")
    one, other = box_of_rods(flux=conduction), box_of_rods(flux=functions["flux"])
    one.run(1500)
    other.run(1500)
    assert same(one, other)
    sim = md.Simulation(md.Material(young=1e7, poisson=0.3), contact="hertz-mindlin", dt=1e-6)
    sim.add_clumps(md.ClumpTemplate([(0, 0, 0)], [0.01], density=2500.0), [(9, 0, 0), (0, 0, 0), (0.0199, 0, 0)])
    sim.remove_clumps([0])
    sim.add_field("temperature", 0.0)
    sim.add_flux(functions["ids_and_forces"])
    force = np.linalg.norm(sim.contacts()["force"][0])
    sim.run(1)
    assert sim.field("temperature") / 1e-6 == pytest.approx([2.0 + 100.0 * force, 1.0])


def test_restart_copy_and_split_runs(tmp_path):
    sim, whole = box_of_rods(flux=conduction), box_of_rods(flux=conduction)
    whole.run(1500)
    sim.run(700)
    sim.save(tmp_path / "a.npz")
    loaded = md.Simulation.load(tmp_path / "a.npz")
    with pytest.raises(ValueError, match="add_flux"):
        loaded.run(1)
    loaded.add_flux(conduction, [1e6])
    copied = copy.deepcopy(sim)
    for one in (sim, loaded, copied):
        one.run(800)
        assert same(one, whole)


def test_checkpoint_before_the_first_step(tmp_path):
    sim = box_of_rods(flux=conduction)
    sim.energy()
    sim.save(tmp_path / "a.npz")
    loaded = md.Simulation.load(tmp_path / "a.npz")
    loaded.add_flux(conduction, [1e6])
    sim.run(500)
    loaded.run(500)
    assert same(sim, loaded)


@pytest.mark.parametrize("change", ["add_clumps", "set_field"])
@pytest.mark.parametrize("how", ["copy", "file", "look and copy"])
def test_rates_before_the_next_step(change, how, tmp_path):
    """What a force has given to new clumps or values is kept in copies and files, beside that of a flux."""
    sim = box_of_rods(n=20, flux=conduction)
    sim.add_force(source, [2e3])
    sim.run(300)
    sim.set_field("temperature", 400.0) if change == "set_field" else sim.add_clumps(ROD, [(0.06, 0.06, 0.3)])
    if "look" in how:
        sim.energy()
    other = copy.deepcopy(sim)
    if how == "file":
        sim.save(tmp_path / "a.npz")
        other = md.Simulation.load(tmp_path / "a.npz")
        other.add_flux(conduction, [1e6])
        other.add_force(source, [2e3])
    for one in (sim, other):
        one.run(20)
    assert same(sim, other) and sim.field("temperature")[-1] < 345.0 + 45.0 * (change == "set_field")


def test_insertion_and_removal():
    sim = box_of_rods(flux=conduction)
    sim.run(500)
    before = dict(zip(sim.ids.tolist(), sim.field("temperature").tolist()))
    sim.remove_clumps([0, 7])
    sim.add_clumps(ROD, [(0.06, 0.06, 0.4)])
    after = dict(zip(sim.ids.tolist(), sim.field("temperature").tolist()))
    assert after == {k: v for k, v in before.items() if k not in (0, 7)} | {60: 350.0}
    total = heat(sim)
    sim.run(1)                                          # at the last pose heat flowed to rods that are gone
    total, change = heat(sim), heat(sim) - total
    assert abs(change) < 1e-3
    sim.run(500)
    assert heat(sim) == pytest.approx(total, rel=1e-9)


def test_clumps_cannot_be_added_without_a_value():
    sim = box_of_rods()
    sim.add_field("wetness", np.zeros(sim.n_clumps))
    with pytest.raises(ValueError, match="'wetness' has no value for new clumps"):
        sim.add_clumps(ROD, [(0.06, 0.06, 0.4)])


def test_step_that_fails_is_undone():
    class Failure(Exception):
        pass

    calls = []

    def fails(contacts):
        calls.append(1)
        if len(calls) == 400:
            raise Failure
        conduction(contacts, 1e6)

    sim, whole = box_of_rods(flux=conduction), box_of_rods()
    whole.add_flux(fails)
    with pytest.raises(Failure):
        whole.run(1000)
    whole.run(1000 - whole.step_count)
    sim.run(1000)
    assert same(sim, whole)


def test_walls_with_and_without_a_value():
    sim = md.Simulation(MATERIAL, [md.Plane((0, 0, 0), (0, 0, 1)), md.Plane((0, 0, 0.0199), (0, 0, -1))], dt=1e-5,
                        contact="hertz-mindlin")
    sim.add_clumps(md.ClumpTemplate([(0, 0, 0)], [0.01], density=2500.0), [(0, 0, 0.00995)])
    sim.add_field("temperature", 300.0, walls=[350.0, np.nan])
    seen = []

    def flux(contacts):
        seen.append((contacts.ids.copy(), contacts.fields["temperature"].copy()))
        conduction(contacts, 1.0)

    sim.add_flux(flux)
    sim.run(10)
    assert sim.field("temperature")[0] > 300.0
    ids, values = seen[-1]
    found = {tuple(pair): row for pair, row in zip(ids.tolist(), values.tolist()) if pair[0] == 0}
    assert set(found) == {(0, -1), (0, -2)}
    assert found[0, -1][1] == 350.0 and found[0, -2][1] == found[0, -2][0]


def test_ids_of_both_clumps():
    sim = box_of_rods()
    sim.remove_clumps(range(0, 60, 7))
    pairs = set()

    def flux(contacts):
        pairs.update(tuple(sorted(pair)) for pair, overlap in zip(contacts.ids.tolist(), contacts.overlap)
                     if overlap > 0.0)

    sim.add_flux(flux)
    sim.run(1000)
    pairs.clear()
    sim.run(1)
    contacts, ids = sim.contacts(), sim.ids
    expected = {tuple(sorted((int(ids[i]), int(ids[j]) if j >= 0 else int(j))))
                for i, j in zip(contacts["clump_i"], contacts["clump_j"])}
    assert pairs == expected


def test_vectors_and_several_fields():
    sim = box_of_rods()
    rng = np.random.default_rng(0)
    given = rng.normal(size=(sim.n_clumps, 3))
    sim.add_field("dipole", given, components=3)
    sim.add_field("charge", 1.0)
    assert sim.fields == ("temperature", "dipole", "charge")

    def flux(contacts):
        dipole = contacts.fields["dipole"]
        contacts.rates["dipole"][:, 0] = 100.0 * (dipole[:, 1] - dipole[:, 0])
        contacts.rates["dipole"][:, 1] = 100.0 * (dipole[:, 0] - dipole[:, 1])
        contacts.rates["charge"][:, 0] = 1.0 * (contacts.ids[:, 1] >= 0)
        contacts.rates["charge"][:, 1] = 1.0

    sim.add_flux(flux)
    sim.run(1000)
    dipole = sim.field("dipole")
    assert dipole.shape == given.shape and not np.array_equal(dipole, given)
    assert dipole.sum(axis=0) == pytest.approx(given.sum(axis=0), abs=1e-12)
    assert sim.field("charge").max() > 1.0


def test_python_law_reads_and_changes_fields():
    def force(contacts, stiffness):
        wetness = contacts.fields["wetness"]
        contacts.force = (stiffness * contacts.overlap * (1.0 + wetness.sum(axis=1)))[:, None] * contacts.normal
        contacts.rates["wetness"][:, 0] = wetness[:, 1] - wetness[:, 0]
        contacts.rates["wetness"][:, 1] = wetness[:, 0] - wetness[:, 1]

    md.contact.register("wet-springs", force, parameters={"stiffness": None})
    sims = []
    for wetness in ([0.0, 0.0], [0.0, 2.0]):
        sim = md.Simulation(MATERIAL, contact="wet-springs:stiffness=1e3", dt=1e-5)
        sim.add_clumps(md.ClumpTemplate([(0, 0, 0)], [0.01], density=2500.0), [(0, 0, 0), (0.0199, 0, 0)])
        sim.add_field("wetness", wetness)
        assert sim.force[1, 0] == pytest.approx(1e3 * 1e-4 * (1.0 + sum(wetness)))
        sim.run(100)
        sims.append(sim)
    assert sims[1].field("wetness").sum() == pytest.approx(2.0, rel=1e-14)
    assert sims[1].field("wetness")[0] > 0.0


def test_compiled_law_reads_and_changes_fields():
    numba = pytest.importorskip("numba")

    @numba.cfunc(POINTERS)
    def force(contact, history, result, parameters):
        rows, out = numba.carray(contact, (86, 8)), numba.carray(result, (14, 8))
        for k in range(8):
            for m in range(3):
                out[m, k] = parameters[0] * max(rows[13, k], 0.0) * (1.0 + rows[84, k] + rows[85, k]) * rows[m, k]
            for m in range(3, 10):
                out[m, k] = 0.0
            out[12, k] = rows[85, k] - rows[84, k]
            out[13, k] = -out[12, k]

    md.contact.register("compiled-wet-springs", force, parameters={"stiffness": None})
    sim = md.Simulation(MATERIAL, contact="compiled-wet-springs:stiffness=1e3", dt=1e-5)
    sim.add_clumps(md.ClumpTemplate([(0, 0, 0)], [0.01], density=2500.0), [(0, 0, 0), (0.0199, 0, 0)])
    sim.add_field("wetness", [0.0, 2.0])
    assert sim.force[1, 0] == pytest.approx(0.3)
    sim.run(100)
    assert sim.field("wetness").sum() == pytest.approx(2.0, rel=1e-14) and sim.field("wetness")[0] > 0.0


def decay(t, x, v, q, w, rate, *, fields):
    return np.zeros(3), np.zeros(3), {"activity": -rate * fields["activity"]}


def compiled_decay():
    numba = pytest.importorskip("numba")

    @numba.cfunc(POINTERS)
    def force(time, clumps, wrenches, parameters):
        activity, rate = numba.carray(clumps, (16, 8)), numba.carray(wrenches, (7, 8))
        for k in range(8):
            rate[6, k] = -parameters[0] * activity[15, k]

    return force


@pytest.mark.filterwarnings("ignore:dt = ", "ignore:contact law")
@pytest.mark.parametrize("language", ["python", "numba"])
@pytest.mark.parametrize("contact", ["hertz", "hertz-mindlin"])
def test_rates_of_forces_are_of_second_order(language, contact):
    errors = []
    for dt in (0.02, 0.01):
        sim = md.Simulation(MATERIAL, contact=contact, dt=dt)
        sim.add_clumps(md.ClumpTemplate([(0, 0, 0)], [0.01], density=2500.0), [(0, 0, 0), (1, 0, 0)])
        sim.add_field("activity", [1.0, 2.0], capacity=2.0)
        sim.add_force(decay if language == "python" else compiled_decay(), [2.0])
        sim.run_until(1.0)
        errors.append(np.abs(sim.field("activity") - np.exp(-1.0) * np.array([1.0, 2.0])).max())
    assert 1.85 < np.log2(errors[0] / errors[1]) < 2.15
    assert errors[1] < 1e-4


def pair_of_spheres(dt, contact="hertz-mindlin"):
    """Two soft spheres that overlap and hardly move, of unequal temperatures."""
    sim = md.Simulation(md.Material(young=1e-6, poisson=0.3), contact=contact, dt=dt)
    sim.add_clumps(md.ClumpTemplate([(0, 0, 0)], [0.01], density=2500.0), [(0, 0, 0), (0.0199, 0, 0)])
    return sim


def exchange(contacts, rate):
    values = contacts.fields["temperature"]
    contacts.rates["temperature"][:, 0] = rate * (values[:, 1] - values[:, 0])
    contacts.rates["temperature"][:, 1] = rate * (values[:, 0] - values[:, 1])


def exchange_all(contacts, rate):
    for name, values in contacts.fields.items():
        contacts.rates[name][:] = rate * (values[:, ::-1] - values)


def source(t, x, v, q, w, rate, *, fields):
    """Decay of all fields."""
    return 0.0 * x, 0.0 * x, {name: -rate * values for name, values in fields.items()}


def exchanging_law():
    def force(contacts, rate):
        exchange(contacts, rate)

    md.contact.register("exchanging", force, parameters={"rate": None})


@pytest.mark.parametrize("change", ["set_field", "add_flux", "add_force", "set_field with a force",
                                    "set_field with a law", "add_field", "add_field with a force"])
def test_changes_between_steps_keep_the_second_order(change):
    """After ten steps something changes; the difference of both values then decays at a known rate."""
    exchanging_law()
    errors = []
    for dt in (4e-4, 2e-4):
        sim = pair_of_spheres(dt, "exchanging:rate=50" if "law" in change else "hertz-mindlin")
        sim.add_field("another" if "add_field" in change else "temperature", [1.0, 3.0])
        if change in ("set_field", "set_field with a force"):
            sim.add_flux(exchange, [50.0])
        elif "add_field" in change:
            sim.add_flux(exchange_all, [50.0])
        if "with a force" in change:
            sim.add_force(source, [20.0])
        sim.run(10)
        if "set_field" in change:
            sim.set_field("temperature", [5.0, 1.0])
        elif "add_field" in change:
            sim.add_field("temperature", [1.0, 3.0])
        elif change == "add_flux":
            sim.add_flux(exchange, [50.0])
        else:
            sim.add_force(source, [100.0])
        start = sim.field("temperature")
        sim.run(round(0.02 / dt))
        rate = 120.0 if "with a force" in change else 100.0
        errors.append(abs(np.diff(sim.field("temperature"))[0] / np.diff(start)[0] - np.exp(-rate * 0.02)))
    assert 1.8 < np.log2(errors[0] / errors[1]) < 2.2, errors


def test_set_field_and_frames(tmp_path):
    meshio = pytest.importorskip("meshio")
    sim = box_of_rods()
    sim.set_field("temperature", 310.0)
    sim.add_field("dipole", (1.0, 2.0, 3.0), components=3)
    sim.write_vtu(tmp_path / "a.vtu", fields=["velocity"])
    data = meshio.read(tmp_path / "a.vtu").point_data
    assert np.all(data["temperature"] == 310.0) and np.all(data["dipole"] == (1.0, 2.0, 3.0))
    assert len(data["temperature"]) == sim.n_spheres


def test_trajectory_has_the_fields(tmp_path):
    hoomd = pytest.importorskip("gsd.hoomd")
    sim = box_of_rods(flux=conduction)
    sim.add_field("dipole", (1.0, 2.0, 3.0), components=3)
    with md.Trajectory(tmp_path / "a.gsd") as trajectory:
        trajectory(sim)
        sim.run(600)
        trajectory(sim)
    with hoomd.open(tmp_path / "a.gsd") as frames:
        log = frames[1].log
        clump = log["particles/clump"]
        assert np.array_equal(log["particles/temperature"], sim.field("temperature")[clump].astype(np.float32))
        assert np.array_equal(log["particles/dipole"], np.tile([1.0, 2.0, 3.0], (len(clump), 1)))
        assert not np.array_equal(log["particles/temperature"], frames[0].log["particles/temperature"])


@pytest.mark.parametrize("arguments, words", [
    (dict(name="a b"), "name = 'a b'"), (dict(name="temperature"), "there is a field of this name"),
    (dict(name="velocity"), "name = 'velocity'"), (dict(name="a", components=9), "components = 9"),
    (dict(name="a", components=8), "at most 8"), (dict(name="a", values=[1.0, 2.0]), "values has shape"),
    (dict(name="a", values=np.nan), "values"), (dict(name="a", capacity=0.0), "capacity = 0.0"),
    (dict(name="a", values=[[1.0, 2.0]], components=3), "values has shape"), (dict(name="a", walls=[1.0]), "walls")])
def test_bad_arguments(arguments, words):
    sim = box_of_rods()
    with pytest.raises(ValueError, match=words):
        sim.add_field(**arguments)
    assert sim.fields == ("temperature",)


def test_a_value_that_is_not_finite_ends_the_run():
    sim = box_of_rods()

    def flux(contacts):
        contacts.rates["temperature"][:, 0] = np.inf

    sim.add_flux(flux)
    with pytest.raises(FloatingPointError, match="the field 'temperature' of clump [0-9]+ is not finite"):
        sim.run(1000)


def test_a_callback_that_raises_leaves_fields_as_they_were():
    sim = box_of_rods()
    before = sim.field("temperature")

    def callback(sim):
        sim.set_field("temperature", 0.0)
        raise RuntimeError

    with pytest.raises(RuntimeError):
        sim.run(10, every=5, callback=callback)
    assert np.array_equal(sim.field("temperature"), before)


def test_fields_are_refused_for_lammps(tmp_path):
    with pytest.raises(ValueError, match="fields cannot be given to LAMMPS: temperature"):
        box_of_rods().write_lammps(tmp_path / "rods", steps=10)


def test_unknown_field_and_missing_records():
    sim = md.Simulation(MATERIAL, dt=1e-5)
    sim.add_clumps(ROD, [(0, 0, 0)])
    with pytest.raises(ValueError, match="no such field; known are none"):
        sim.field("temperature")
    with pytest.raises(ValueError, match="no field"):
        sim.add_flux(conduction, [1.0])
    sim.add_field("temperature", 1.0)
    with pytest.raises(ValueError, match="'hertz' keeps no records"):
        sim.add_flux(conduction, [1.0])
    with pytest.raises(ValueError, match="takes"):
        box_of_rods().add_flux(lambda: None)
