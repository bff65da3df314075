"""Certificates hold on any number of threads and for divided runs, and show what was changed, at the first link."""
import json

import numpy as np
import pytest
from scenes import settling

import minidem as md
from minidem import __main__ as command_line
from minidem.accuracy import verify_certificate

DT, EVERY = 2e-4, 40


def scene(dt=DT, threads=1, gravity=(0.0, 0.0, -9.81)):
    return settling(dt, threads=threads, gravity=gravity)


def certified(path, sim, links=3, **options):
    certificate = md.Certificate(path, **options)
    certificate(sim)
    sim.run(links * EVERY, every=EVERY, callback=certificate)
    return certificate


@pytest.fixture
def path(tmp_path):
    certified(tmp_path / "run.json", scene())
    return tmp_path / "run.json"


def test_it_holds(path, capsys, tmp_path):
    for threads in (1, 2):
        found = verify_certificate(path, threads=threads)
        assert (found.checked, found.links, found.problems, found.outside) == (3, 3, (), ())
    other = md.Certificate(tmp_path / "divided.json")
    sim = scene(threads=2)
    other(sim)
    for _ in range(3):
        sim.run(EVERY // 2)
        sim.energy()
        sim.run(EVERY - EVERY // 2)
        other(sim)
        other(sim)
    one, two = (json.loads(file.read_text())["links"] for file in (path, tmp_path / "divided.json"))
    assert [link["state"] for link in one] == [link["state"] for link in two]
    assert command_line.main(["verify", str(path), "--links", "2"]) == 0
    assert "holds: 1 of 3 links" in capsys.readouterr().out


def test_a_changed_file_is_found(path, capsys):
    file = path.with_suffix(".checkpoints") / f"{EVERY}.npz"
    whole = file.read_bytes()
    file.write_bytes(whole[:-100] + bytes([whole[-100] ^ 1]) + whole[-99:])
    assert command_line.main(["verify", str(path), "--links"]) == 1
    assert capsys.readouterr().out.startswith("Link 1 (step 40):")
    file.write_bytes(whole)
    assert not verify_certificate(path, links=[]).problems
    record = json.loads(path.read_text())
    for name, value in ("total", 0.5), ("state", "0" * 64), ("step", 41), ("chain", "0" * 64):
        changed = json.loads(json.dumps(record))
        changed["links"][2][name] = value
        path.write_text(json.dumps(changed))
        assert verify_certificate(path).problems[0].startswith("Link 2 (step"), name


@pytest.mark.parametrize("change", [{"dt": DT * (1.0 + 1e-7)}, {"gravity": (1e-9, 0.0, -9.81)}])
def test_another_run_is_found_at_its_first_link(tmp_path, change):
    """Somebody continues the certificate with states of another run, and chains them as they should be."""
    mine, other = scene(), scene(**change)
    certificate = md.Certificate(tmp_path / "run.json")
    certificate(mine)
    mine.run(EVERY)
    certificate(mine)
    other.run(2 * EVERY)
    certificate(other)
    [problem] = verify_certificate(tmp_path / "run.json").problems
    assert problem.startswith("Link 2 (steps 40 to 80) does not hold: position of clump 0 is [")


def test_a_bit_of_a_velocity_is_found(tmp_path):
    sim, certificate = scene(), md.Certificate(tmp_path / "run.json")
    certificate(sim)
    sim.set_motion([3], velocity=np.nextafter(sim.velocity[3], np.inf))
    sim.run(2)
    certificate(sim)
    [problem] = verify_certificate(tmp_path / "run.json").problems
    assert "Link 1" in problem and "clump 3" in problem and "1 clumps differ" in problem


def drag(time, position, velocity, orientation, angular_velocity):
    return -1e-3 * velocity, 0.0 * velocity


def test_functions_of_users_are_named(tmp_path):
    sim = scene()
    sim.forces.add(drag)
    certified(tmp_path / "run.json", sim, links=1, outside=[test_it_holds])
    [problem] = verify_certificate(tmp_path / "run.json").problems
    assert problem.startswith("Link 1 (steps 0 to 40) cannot be run: ")
    found = verify_certificate(tmp_path / "run.json", prepare=lambda sim: sim.forces.add(drag))
    assert not found.problems and found.outside == ("test_it_holds", "user force 0")
    assert "Not proved: test_it_holds, user force 0." in str(found)


def test_what_is_no_certificate(tmp_path, path):
    with pytest.raises(ValueError, match=r"\.json"):
        md.Certificate(tmp_path / "run.txt")
    for text in "nothing", "[]", '{"certificate": 1, "outside": {}, "links": []}', '{"certificate": 2}':
        (tmp_path / "other.json").write_text(text)
        with pytest.raises(ValueError, match="no certificate"):
            verify_certificate(tmp_path / "other.json")
    with pytest.raises(ValueError, match="links"):
        verify_certificate(path, links=[4])
