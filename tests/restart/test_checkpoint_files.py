"""Invalid checkpoints are refused with the reason, and never replace a valid one; the table of their arrays."""
import copy
import json
import pickle
import zipfile
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import custom_law
import numpy as np
import pytest
from bit_systems import ONSET, begun, brake
from old_start import in_format
from reference_walls import MINDLIN, ROLLING
from scenes import rods_in_box, settling
from user_functions import rods

import minidem as md
from minidem.core.quaternions import rotate
from minidem.output import checkpoint, npz_checksum
from minidem.output.checkpoint_arrays import ARRAYS
from minidem.state.state import COLUMNS, WRENCH


class Canary:
    """Unpickling it leaves a file."""
    def __reduce__(self):
        return Path.touch, (Path("sang"),)


@pytest.fixture
def good(tmp_path):
    path, sim = tmp_path / "good.npz", rods_in_box(seed=1, n=9).simulation()
    sim.run(20)
    sim.save(path)
    return path


def written(good, data):
    path = good.with_name("bad.npz")
    path.write_bytes(data)
    return path


def replaced(good, save=np.savez, **changed):
    """The archive with other members, its checksum left as it was."""
    with np.load(good) as file:
        save(good.with_name("bad.npz"), **{**file, **changed})
    return good.with_name("bad.npz")


def with_settings(good, **changed):
    with np.load(good) as file:
        settings = json.loads(str(file["settings"])) | changed
    return replaced(good, settings=np.array(json.dumps(settings)))


def flipped(data):
    place = data.index(b"blocks.npy") + 300             # behind the headers of the archive and of the array
    return data[:place] + bytes([data[place] ^ 4]) + data[place + 1:]


def other_position(good):
    """One bit of a position, with the archive's own checksum corrected."""
    with np.load(good) as file:
        blocks = file["blocks"].copy()
    blocks.view(np.uint64)[0, COLUMNS["position"][0], 0] ^= np.uint64(1)
    return replaced(good, blocks=blocks)


def resealed(good, **changed):
    settings, arrays = npz_checksum.read(good)
    of_settings = {name: changed.pop(name) for name in list(changed) if name in settings}
    npz_checksum.write(good.with_name("bad.npz"), settings | of_settings, arrays | changed)
    return good.with_name("bad.npz")


def foreign(good):
    with zipfile.ZipFile(good.with_name("bad.npz"), "w") as file:
        file.writestr("a.npy", b"1")
    return good.with_name("bad.npz")


FIELD = {"name": "heat", "components": 1, "new": None, "capacity": 1.0, "per_mass": False, "walls": [[None]] * 6}
REFUSED = {     # how the bad file is made of the good one -> words of the reason
    "empty": (lambda good: written(good, b""), ["not a minidem checkpoint"]),
    "text": (lambda good: written(good, b"x,y,z,r\n"), ["not a minidem checkpoint"]),
    "cut off": (lambda good: written(good, good.read_bytes()[:-100]), ["cut off", "earlier checkpoint"]),
    "half": (lambda good: written(good, good.read_bytes()[:len(good.read_bytes()) // 2]), ["cut off"]),
    "bit of the file": (lambda good: written(good, flipped(good.read_bytes())), ["damaged", "CRC"]),
    "bit of a position": (other_position, ["checksum"]),
    "array lost": (lambda good: replaced(good, started=np.zeros(9)), ["checksum"]),
    "foreign": (foreign, ["damaged"]),
    "other arrays": (lambda good: replaced(good, settings=np.arange(3)), ["not a minidem checkpoint"]),
    "newer": (lambda good: with_settings(good, format=99, made_by={"minidem": "7.0"}), ["99", "newer", "7.0"]),
    "older": (lambda good: with_settings(good, format=npz_checksum.OLDEST - 1),
              ["older", "minidem 0.12", "use the minidem that made it"]),
    "packed": (lambda good: replaced(good, np.savez_compressed), ["larger than the file"]),
    "pickle": (lambda good: written(good, pickle.dumps(Canary())), ["not a minidem checkpoint"]),
    "pickle inside": (lambda good: replaced(good, settings=np.array([Canary()], dtype=object)), ["damaged"]),
    "no such scheme": (lambda good: resealed(good, rotation="mine"), ["'mine'", "spiral"]),
    "index": (lambda good: resealed(good, template_index=np.full(9, 7, dtype=np.int32)),
              ["template_index[0] = 7", "1 templates"]),
    "radius": (lambda good: resealed(good, template_radii=np.array([1.0, -1.0, 1.0])), ["template_radii[1] = -1.0"]),
    "outflow": (lambda good: resealed(good, outflow={"outlet": [-1, 2.0]}), ["outflow of outlet = -1"]),
    "many materials": (lambda good: resealed(good, materials=[{"young": 1e7 + k, "poisson": 0.3} for k in range(1001)]),
                       ["at most 1000 materials"]),
    "many components": (lambda good: resealed(good, fields=[
        FIELD | {"components": 5, "walls": [[None] * 5] * 6}] * 2), ["components of all", "8"]),
    "values of walls": (lambda good: resealed(good, fields=[FIELD | {"walls": [[1.0]] * 2}]), ["reshape", "(6,1)"]),
    "capacity": (lambda good: resealed(good, fields=[FIELD | {"capacity": 0.0}]), ["capacity = 0.0"]),
    "no sign of steps": (lambda good: resealed(good, step_count=-4), ["step_count = -4"]),
}


@pytest.mark.parametrize("how", REFUSED)
def test_refused(how, good, monkeypatch):
    monkeypatch.chdir(good.parent)
    make, words = REFUSED[how]
    bad = make(good)
    with pytest.raises(ValueError) as error:
        md.Simulation.load(bad)
    assert all(word in str(error.value) for word in [str(bad), *words]), error.value
    assert not Path("sang").exists()


def test_numpy_reads_it_and_it_says_what_made_it(good):
    with np.load(good, allow_pickle=False) as file:
        made_by = json.loads(str(file["settings"]))["made_by"]
    assert made_by["minidem"] == md.__version__ and made_by["numpy"] == np.__version__


@pytest.mark.parametrize("array, row", [("blocks", COLUMNS["velocity"][0]), ("wrench", WRENCH["force"][0])])
def test_a_state_that_is_not_finite_does_not_replace_a_good_one(good, array, row):
    before, sim = good.read_bytes(), md.Simulation.load(good)
    getattr(sim.loop.state, array)[0, row, 3] = np.nan
    with pytest.raises(ValueError, match="step 20 is not finite"):
        sim.save(good)
    assert good.read_bytes() == before and [path.name for path in good.parent.iterdir()] == ["good.npz"]


@pytest.mark.parametrize("array, name", [
    ("history_records", "contact history: records"), ("history_force", "contact history: force, lab"),
    ("history_couple", "contact history: couple"), ("dissipated", "dissipated by damping")])
def test_a_contact_history_that_is_not_finite_does_not_replace_a_good_one(array, name, tmp_path, monkeypatch):
    sim = settling()
    sim.run(500)
    sim.save(tmp_path / "good.npz")
    before, (settings, arrays) = (tmp_path / "good.npz").read_bytes(), checkpoint.pack(sim)
    arrays[array].flat[0] = np.inf
    monkeypatch.setattr(checkpoint, "pack", lambda sim, snapshot: (settings, arrays))
    with pytest.raises(ValueError, match=f"step 500 is not finite: {name}.*; lower dt"):
        sim.save(tmp_path / "good.npz")
    assert (tmp_path / "good.npz").read_bytes() == before


def test_no_checkpoint(tmp_path):
    for path, cause in ((tmp_path / "none.npz", "there is no such file"), (tmp_path, "this is a folder")):
        with pytest.raises(OSError, match=f"path = '{path}': {cause}; give a file that Simulation.save.*: '{path}'"):
            md.Simulation.load(path)


def test_format_13(tmp_path):
    """Of 0.10 and 0.11: without fractures, and with equal bits otherwise."""
    sim, path = settling(), tmp_path / "state.npz"
    sim.run(650)
    npz_checksum.write(path, *in_format(13, *checkpoint.pack(sim)))
    assert npz_checksum.read(path)[0]["format"] == 13 and npz_checksum.read(path)[1]["dissipated"].shape == (4, 2)
    end = md.Simulation.load(path)
    assert end.energy() == sim.energy() and sim.energy().dissipated > 0.0
    assert len(end.bonds.broken()) == 0 and end.position.tobytes() == sim.position.tobytes()


def test_masses_of_earlier_versions(tmp_path):
    """Files name the mass of a contact; one that does not is from before 0.25, when the default was mass=single."""
    sim, path = settling(contact=f"{MINDLIN}:mass=single"), tmp_path / "state.npz"
    sim.run(650)
    settings, arrays = checkpoint.pack(sim)
    npz_checksum.write(path, settings | {"contact": MINDLIN}, arrays)
    old = md.Simulation.load(path)
    new = settling(contact=MINDLIN)
    assert checkpoint.pack(new)[0]["contact"] == f"{MINDLIN}:mass=shared" and new.contact == MINDLIN
    for one in sim, old:
        one.run(350)
    new.run(1000)
    assert old.contact == sim.contact and old.position.tobytes() == sim.position.tobytes() != new.position.tobytes()


def test_a_checkpoint_needs_its_law(own_law, tmp_path):
    own_law("mine", **custom_law.numpy_interface(), **custom_law.RECORD)
    rods(steps=100).save(tmp_path / "here.npz")
    md.contact.registry._registry.remove_own()
    with pytest.raises(ValueError, match="contact is 'mine:stiffness=4e6'.*first, by md.contact.register"):
        md.Simulation.load(tmp_path / "here.npz")
    own_law("mine", **custom_law.numpy_interface(), **custom_law.RECORD, records=2)
    with pytest.raises(ValueError, match="history_records"):
        md.Simulation.load(tmp_path / "here.npz")


def test_earlier_versions_of_the_format_read_what_has_nothing_new():
    """They know no other members of walls, of motions and of pairs."""
    glass, steel = md.Material(1e8, 0.2), md.Material(1e9, 0.2)
    sim = md.Simulation(glass, contact="hertz-mindlin", dt=1e-5, pairs=[md.Pair(glass, steel)],
                        walls=[md.Plane((0, 0, 0), (0, 0, 1), material=steel,
                                        motion=md.Servo(direction=(0, 0, 1), force=5.0, mass=2.0))])
    settings = checkpoint.pack(sim)[0]
    [wall], [pair] = settings["walls"], settings["pairs"]
    assert set(wall) == {"point", "normal", "material", "velocity", "angular_velocity", "center", "motion", "kind"}
    assert set(wall["motion"]) == {"direction", "force", "mass", "damping"}
    assert set(pair) == {"a", "b", "restitution", "friction", "rolling_friction", "adhesion"}
    sim.add_clumps(md.ClumpTemplate([(0, 0, 0)], [0.01], 2500.0), (0, 0, 1), free="xy")
    assert settings["format"] == npz_checksum.UNHELD < checkpoint.pack(sim)[0]["format"] == npz_checksum.FORMAT


# --- The table of the arrays: each is written, must have its type and shape, and is missed.

ROUGH = md.Material(3e7, 0.2, restitution=0.6, friction=0.4, rolling_friction=0.1)


def driven(name, law, steps):
    sim = begun(name, law)
    sim.forces.add(brake)
    sim.run(steps)
    return sim


@pytest.fixture(scope="module")
def packed():
    sims = driven("images of a floor", ROLLING, 3), driven("press", MINDLIN, 3), driven("stretched box", ROLLING, 100)
    sims[1].set_motion([0], free="xy", turns="z")
    found = [checkpoint.pack(sim) for sim in sims]
    assert all(len(arrays["history_spheres"]) > 0 for _, arrays in found)
    found.append(checkpoint.pack(driven("in contact", ONSET, 1)))
    assert len(found[-1][1]["onsets"]) > 0
    found[0][1]["work"] = np.zeros((sims[0].n_clumps, 7))           # of versions before 0.23
    found[0][1]["fractures"] = np.array([[0, 1, 0, 0, 3, 1e-3], [1, -1, 0, 0, 4, 2e-3]])    # of a law with bonds
    return found


def unpacked(settings, arrays):
    sim = checkpoint.unpack(settings, arrays, md.Simulation)
    sim.forces.add(brake)
    return sim


def of(saved, packed):
    """The first of them with an array."""
    return next(one for one in packed if saved.name in one[1])


CHANGES = (
    lambda a: a.astype(np.float32), lambda a: a.astype("U9"), lambda a: np.append(a.reshape(-1), a.reshape(-1)[:1]),
    lambda a: np.concatenate([a, a[:1]]), lambda a: a[None])         # other types, flat, longer, deeper


@pytest.mark.parametrize("saved", ARRAYS, ids=[saved.name for saved in ARRAYS])
def test_one_array_wrong(saved, packed):
    """One that is missing is refused by name, unless the table says what then holds."""
    settings, arrays = of(saved, packed)
    for change in CHANGES:
        with pytest.raises(ValueError):
            unpacked(settings, arrays | {saved.name: change(arrays[saved.name])})
    if saved.dtype is np.float64 and saved.finite:
        infinite = arrays[saved.name].copy()
        infinite.flat[0] = np.nan
        with pytest.raises(ValueError, match=f"{saved.name}.* = nan: give finite numbers only"):
            unpacked(settings, arrays | {saved.name: infinite})
    others = {name: array for name, array in arrays.items() if name != saved.name}
    if saved.missing is not None and saved.name != "history_spheres":
        unpacked(settings, others).run(3)
    else:
        name = "history_records" if saved.name == "history_spheres" else saved.name
        with pytest.raises(ValueError, match=name):
            unpacked(settings, others)


def test_work_of_an_earlier_version():
    """Files up to 0.22 have forces and torques in Python instead of their power."""
    sim = driven("in contact", ROLLING, 3)
    settings, arrays = checkpoint.pack(sim)
    work, state = arrays["force_work"], sim.loop.state
    force, torque = brake(sim.time, sim.position, state.column("predicted_velocity"), sim.orientation,
                          rotate(state.column("orientation"), state.column("predicted")))
    earlier = arrays | {"work": np.column_stack([work[:, 0], force, torque]), "force_work": np.zeros_like(work)}
    other = unpacked(settings, earlier)
    np.testing.assert_allclose(other.reader.column("force_work"), work, rtol=1e-3)
    assert np.abs(work).min() > 0.0


@pytest.mark.parametrize("name, place, value, said", [
    ("fractures", (0, 1), 1e308, r"fractures\[0, 1\] = 1e\+308: give whole"), ("fractures", (0, 2), 0.5, "whole"),
    ("fractures", (0, 4), 9.0, "ascending"), ("template_bounding_radius", (0,), -1.0, "greater than 0")])
def test_one_number_that_no_simulation_has(name, place, value, said, packed):
    settings, arrays = packed[0]
    array = arrays[name].copy()
    array[place] = value
    with pytest.raises(ValueError, match=said):
        unpacked(settings, arrays | {name: array})


def test_numbers_in_free_lanes(packed):
    """Behind the last clump of a block: they are not read."""
    settings, arrays = packed[1]
    sims = []
    for value in 0.0, 1e308:
        blocks, loads = arrays["blocks"].copy(), arrays["loads"].copy()
        n = len(arrays["ids"]) % 8
        assert 0 < n
        blocks[-1, :, n:] = loads[-1, :, n:] = value
        sims.append(unpacked(settings, arrays | {"blocks": blocks, "loads": loads}))
        sims[-1].run(3)
    assert sims[0].position.tobytes() == sims[1].position.tobytes()


def test_a_contact_of_a_sphere_with_itself(packed):
    settings, arrays = packed[1]
    spheres = arrays["history_spheres"].copy()
    spheres[-1] = spheres[-1, 0]
    with pytest.raises(ValueError, match="history_spheres.*ascending"):
        unpacked(settings, arrays | {"history_spheres": spheres})


@pytest.mark.parametrize("changes, words", [
    *(({"ids": np.array(ids)}, "ids") for ids in ((1, 0, 2), (0, 0, 2), (0, 2, 4), (-1, 1, 2), (0, 1))),
    ({"next_id": 2}, "ids|next_id"),
    *(({"material_index": np.array(indices, dtype)}, said) for indices, dtype, said in (
        ((0, 9, 0), np.int32, r"material_index\[1\] = 9: there are 3 materials"),
        ((0, -1, 0), np.int32, r"material_index\[1\] = -1"),
        ((0, 0), np.int32, r"shape \(2,\): give int32 of shape \(n_clumps = 3\)"),
        ((0, 0, 0), float, "is float64 of shape"))),
    *(({"scale": np.array(values)}, f"scale.*{said}") for values, said in (
        ([1.0, 0.0, 1.0], "greater than 0"), ([1.0, 1.0, -1.0], "greater than 0"), ([1.0, 1.0], "shape"),
        ([np.nan, 1.0, 1.0], "finite"), ([1e-100, 1.0, 1.0], "double precision"))),
    ({"shift": np.zeros((2, 3), dtype=np.int64)}, r"shift .* is int64 of shape \(2, 3\): give"),
    ({"shift": np.zeros((3, 3))}, "shift .* is float64 .*: give int64 of shape"),
    ({"periodic": [[0.0] * 3, [0.1] * 3, [True] * 3]}, "the periodic box is 0.1 m long along x"),
    ({"periodic": [[0.0] * 3, [9.0] * 3, [True, False]]}, "periodic: axes")])
def test_values_that_no_simulation_has(changes, words):
    """Of clumps of several materials, scales and box lengths, of which one was removed."""
    ball, materials = md.ClumpTemplate([(0.0, 0.0, 0.0)], [0.05]), [replace(ROUGH, friction=f) for f in (0.1, 0.2, 0.4)]
    pairs = [md.Pair(a, b, restitution=0.5, friction=0.2, rolling_friction=0.1) for a, b in combinations(materials, 2)]
    sim = md.Simulation(materials[0], dt=1e-6, contact="hertz-mindlin:rolling=epsd", pairs=pairs,
                        periodic=((0.0,) * 3, (9.0,) * 3, (True,) * 3))
    for k, material in enumerate(materials):
        sim.add_clumps(ball, (3.0 * k + 40.0, 1.0, 1.0), material=material, scale=1.0 + 0.1 * k)
    sim.remove_clumps(sim.add_clumps(ball, (3.0, 5.0, 5.0)))
    settings, arrays = checkpoint.pack(sim)
    assert settings["next_id"] == 4 and checkpoint.unpack(settings, arrays, md.Simulation).scale.tolist() == [
        1.0, 1.1, 1.2]
    settings |= {name: value for name, value in changes.items() if name in settings}
    arrays |= {name: value for name, value in changes.items() if name not in settings}
    with pytest.raises(ValueError, match=words):
        checkpoint.unpack(settings, arrays, md.Simulation)


@pytest.mark.parametrize("name", ["rotation", "materials", "walls", "step_count", "callback_due", "fields"])
def test_one_setting_missing(name, packed):
    settings, arrays = packed[0]
    with pytest.raises(KeyError, match=f"'{name}'"):            # `load` says that it is missing
        unpacked({key: value for key, value in settings.items() if key != name}, arrays)


def test_a_run_does_not_change_what_was_packed():
    sim = driven("images of a floor", ROLLING, 3)
    settings, arrays = checkpoint.pack(sim)
    kept = copy.deepcopy((settings, arrays))
    sim.run(50)
    assert settings == kept[0] and all(np.array_equal(array, kept[1][name]) for name, array in arrays.items())
