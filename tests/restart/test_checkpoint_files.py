"""Invalid checkpoints are refused with the reason, and never replace a valid one."""
import json
import pickle
import zipfile
from pathlib import Path

import custom_law
import numpy as np
import pytest
from old_start import in_format
from scenes import rods_in_box, settling
from user_functions import rods

import minidem as md
from minidem.output import checkpoint, npz_checksum
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
    assert len(end.broken_bonds()) == 0 and end.position.tobytes() == sim.position.tobytes()


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
                        walls=[md.Plane((0, 0, 0), (0, 0, 1), steel, motion=md.Servo((0, 0, 1), 5.0, 2.0))])
    settings = checkpoint.pack(sim)[0]
    [wall], [pair] = settings["walls"], settings["pairs"]
    assert set(wall) == {"point", "normal", "material", "velocity", "angular_velocity", "center", "motion", "kind"}
    assert set(wall["motion"]) == {"direction", "force", "mass", "damping"}
    assert set(pair) == {"a", "b", "restitution", "friction", "rolling_friction", "adhesion"}
    sim.add_clumps(md.ClumpTemplate([(0, 0, 0)], [0.01], 2500.0), (0, 0, 1), free="xy")
    assert settings["format"] == npz_checksum.UNHELD < checkpoint.pack(sim)[0]["format"] == npz_checksum.FORMAT
