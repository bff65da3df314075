"""Checkpoints that earlier versions have written, with the state some steps later (old_scenes.py)."""
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from old_scenes import AFTER, BEFORE, PULLED, SCENES, pull, state_of
from old_start import in_format_13, save_for

import minidem as md
from minidem.output import checkpoint, npz_checksum, old_checkpoints

FILES = Path(__file__).with_name("old_checkpoints.zip")
FORMATS = {"planes": 4, "scales": 5, "forces": 6, "materials": 7, "friction": 9, "removed": 10, "moving": 11,
           "periodic": 12}
HISTORY = "friction", "removed", "moving", "periodic"
OLD = [f"{version}_{name}" for version in ("0.8.0", "0.9.0") for name in SCENES]


@pytest.fixture
def file(tmp_path):
    def extracted(name):
        with zipfile.ZipFile(FILES) as archive:
            return Path(archive.extract(f"{name}.npz", tmp_path))
    return extracted


def assert_near(sim, state, **bounds):
    for key, value in state_of(sim).items():
        assert value == pytest.approx(np.array(state[key]), **bounds), key


@pytest.mark.parametrize("name", OLD)
def test_goes_on(name, file):
    """From the saved state to that of the version that wrote it; friction of 0.8.0 has another limit."""
    path, (version, scene) = file(name), name.split("_")
    assert npz_checksum.read(path)[0]["format"] == FORMATS[scene]
    sim, notes = checkpoint.load(path, md.Simulation)
    if scene in PULLED:
        sim.add_force(pull)
    assert_near(sim, notes["before"], rel=1e-12, abs=1e-12)
    sim.run(AFTER)
    if version == "0.8.0" and scene in HISTORY:
        assert np.max(np.abs(np.asarray(sim.position) - notes["after"]["position"])) < 2e-4
        assert sim.energy().balance == pytest.approx(notes["after"]["balance"], rel=1e-6)
    else:
        assert_near(sim, notes["after"], rel=1e-7, abs=1e-9)
    sim.save(path)
    assert npz_checksum.read(path)[0]["format"] == npz_checksum.FORMAT


@pytest.mark.parametrize("name", [name for name in OLD if name.endswith(HISTORY)])
def test_history(name, file):
    """Records, forces and couples are carried over; energies are summed over the clumps."""
    settings, old = npz_checksum.read(file(name))
    new = old_checkpoints.converted(settings, old)[1]
    assert len(new["history_spheres"]) > 0 and new["history_records"] is old["history_records"]
    assert np.array_equal(new["history_force"], old["history_results"][:, :3])
    assert np.array_equal(new["history_couple"], old["history_couples"][:, :3])
    assert new["dissipated"].sum(axis=1) == pytest.approx(np.append(old["dissipated"].sum(axis=0), 0.0), rel=1e-14)
    assert new["history_mass"].shape == new["history_rolling_inertia"].shape == (len(new["history_spheres"]),)
    assert np.all(new["history_mass"] > 0.0) and np.all(new["history_rolling_inertia"] > 0.0)


def test_format_13(tmp_path):
    """Of 0.10 and 0.11: without fractures, and with equal bits otherwise."""
    sim, path = SCENES["friction"](), tmp_path / "state.npz"
    sim.run(BEFORE)
    npz_checksum.write(path, *in_format_13(*checkpoint.pack(sim)))
    assert npz_checksum.read(path)[0]["format"] == 13 and npz_checksum.read(path)[1]["dissipated"].shape == (4, 2)
    end = md.Simulation.load(path)
    assert end.energy() == sim.energy() and sim.energy().dissipated > 0.0
    assert len(end.broken_bonds()) == 0 and end.position.tobytes() == sim.position.tobytes()


def test_work_of_walls_is_summed(file):
    settings, old = npz_checksum.read(file("0.9.0_moving"))
    total = old_checkpoints.converted(settings, old)[1]["wall_work"]
    summed = old["wall_work"].sum(axis=0) * (1.0, 0.5 * settings["dt"])         # work, and power to that of half a step
    assert np.array_equal(total.sum(axis=1), summed) and total.any()


@pytest.mark.parametrize("contact, expected", [
    ("hertz", "hertz"), ("hertz-mindlin", "hertz-mindlin:mass=clump"), ("hooke:stiffness=1e5", "hooke:stiffness=1e5"),
    ("hooke-coulomb:stiffness=1e5,rolling=epsd", "hooke-coulomb:stiffness=1e5,rolling=epsd,mass=clump")])
def test_mass_of_contacts_remains_that_of_clumps(contact, expected, monkeypatch):
    class Record:
        parameters = {"mass": ("contact", "clump")}

    monkeypatch.setattr(old_checkpoints.registry, "info", lambda name: Record)
    assert old_checkpoints.with_clump_mass(contact) == expected


def test_settings_that_the_first_versions_did_not_write(file):
    """0.2 knew no other law than Hertz's; materials and pairs had fewer properties."""
    path = file("0.8.0_planes")
    settings, arrays = npz_checksum.read(path)
    del settings["contact"]
    npz_checksum.write(path, settings, arrays)
    sim = md.Simulation.load(path)
    assert sim.contact == "hertz" and sim.materials == (md.Material(3e7, 0.2),)


@pytest.mark.parametrize("lost", ["blocks", "loads", "started", "template_index", "template_1_mass", "history_records",
                                  "history_results", "history_couples", "wall_0_triangles", "servo_states"])
def test_lost_arrays_are_named(lost, file):
    path = file("0.9.0_moving")
    settings, arrays = npz_checksum.read(path)
    npz_checksum.write(path, settings, {name: array for name, array in arrays.items() if name != lost})
    with pytest.raises(ValueError, match=f"{path}: cannot be continued here: .*'{lost}'"):
        md.Simulation.load(path)


@pytest.mark.parametrize("seed", range(60))
def test_forged(seed, file):
    """With a valid checksum and one array replaced: refused by name of the file, or it is read."""
    rng = np.random.default_rng(seed)
    path = file("0.9.0_moving")
    settings, arrays = npz_checksum.read(path)
    name = sorted(arrays)[rng.integers(len(arrays))]
    array = arrays[name].copy()
    if array.size:
        array.flat[rng.integers(array.size)] = rng.choice([np.nan, -1, 0, 2, 1e300] if array.dtype.kind == "f"
                                                          else [-1, 0, 2, 100])
    arrays[name] = [array, array.reshape(-1), array.astype("U9"), np.repeat(np.atleast_1d(array), 2, axis=0)][
        rng.integers(4)]
    npz_checksum.write(path, settings, arrays)
    try:
        md.Simulation.load(path, threads=1)
    except ValueError as error:
        assert str(path) in str(error)


@pytest.mark.parametrize("scene", SCENES)
def test_start_states_for_older_versions(scene, tmp_path):
    """Those of tools/old_start.py, read again. Contacts may get another mass there, as in older versions."""
    sim = SCENES[scene]()
    sim.add_force(pull)
    sim.run(BEFORE)
    save_for(tmp_path, sim, tmp_path / "start.npz")
    assert npz_checksum.read(tmp_path / "start.npz")[0]["format"] == 12
    other = md.Simulation.load(tmp_path / "start.npz")
    other.add_force(pull)
    assert_near(other, state_of(sim), rel=1e-12, abs=1e-12)
    arrays, again = checkpoint.pack(sim)[1], checkpoint.pack(other)[1]
    for name in ("history_spheres", "history_records", "history_force", "history_couple") if scene in HISTORY else ():
        assert len(arrays[name]) and np.array_equal(arrays[name], again[name])
    if scene not in HISTORY:
        sim.run(AFTER)
        other.run(AFTER)
        assert_near(other, state_of(sim), rel=1e-12, abs=1e-12)


def test_files_are_small():
    with zipfile.ZipFile(FILES) as archive:
        assert sorted(archive.namelist()) == sorted(f"{name}.npz" for name in OLD)
        made_by = {name: json.loads(str(np.load(archive.open(name))["settings"]))["made_by"]["minidem"]
                   for name in archive.namelist()}
    assert all(name.startswith(version) for name, version in made_by.items()) and FILES.stat().st_size < 100_000
