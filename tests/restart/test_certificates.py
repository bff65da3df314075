"""Certificates hold on any number of threads and for divided runs, and show what was changed, at the first link."""
import copy
import json
import os
import signal
import time
from dataclasses import replace
from pathlib import Path

import custom_integrator
import numpy as np
import processes
import pytest
from scenes import CLUMP, MATERIAL, ROLLING, settling

import minidem as md
from minidem import __main__ as command_line, isa
from minidem.accuracy import divide_link, verify_certificate
from minidem.accuracy.certificate import START, _chained
from minidem.output import checkpoint

DT, EVERY = 2e-4, 40


def scene(dt=DT, threads=1, gravity=(0.0, 0.0, -9.81), **options):
    return settling(dt, threads=threads, gravity=gravity, **options)


def another_wall():
    sim = scene()
    sim.walls.remove(0)
    sim.walls.add(md.Plane((1e-12, 0.0, 0.0), (1.0, 0.0, 0.0)))
    return sim


def another_seed():
    sim = scene()
    sim.set_motion(range(sim.n_clumps), velocity=np.random.default_rng(2).normal(size=(sim.n_clumps, 3)))
    return sim


def certified(path, sim, links=3, **options):
    certificate = md.Certificate(path, **options)
    certificate(sim)
    sim.run(links * EVERY, every=EVERY, callback=certificate)
    return certificate


def changed(path, k, **members):
    """Change members of link k, and chain all links as they should be."""
    record, before = json.loads(path.read_text()), START
    record["links"][k] |= members
    for link in record["links"]:
        link["chain"] = before = _chained(before, link)
    path.write_text(json.dumps(record))


@pytest.fixture
def path(tmp_path):
    certified(tmp_path / "run.json", scene())
    return tmp_path / "run.json"


def test_it_holds(path, capsys, tmp_path):
    for threads in (1, 2):
        found = verify_certificate(path, threads=threads)
        assert (found.checked, found.links, found.problems, found.outside) == ((1, 2, 3), 3, (), ())
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
    assert "holds: 1 of 3 links were run again (2), with equal bits" in capsys.readouterr().out


@pytest.mark.parametrize("level", isa.levels() or [""])
def test_it_holds_at_all_levels_of_the_instruction_set(path, level):
    """Of this build; tests/build/test_levels.py builds them all."""
    done = processes.python("-m", "minidem", "verify", path, env={**os.environ, isa.VARIABLE: level})
    assert "holds: 3 of 3 links" in done.stdout


@pytest.mark.parametrize("name", ["rough", "sheared"])
def test_it_holds_in_later_versions(name):
    """Runs of the version and machine that `python tools/certify.py` was called with, on any other."""
    verdict = verify_certificate(Path(__file__).with_name("certificates") / f"{name}.json")
    assert verdict.checked == (1,) and not verdict.problems, verdict


def test_it_holds_with_settings_of_another_version(path, monkeypatch):
    pack = checkpoint.pack

    def newer(*given):
        settings, arrays = pack(*given)
        return settings | {"newer": 1}, arrays

    monkeypatch.setattr(checkpoint, "pack", newer)
    assert not verify_certificate(path).problems


def test_links_run_at_a_time_and_at_random(path, capsys):
    """In processes of their own, with the verdict of one process; a sample is that of its seed."""
    assert command_line.main(["verify", str(path), "--workers", "2"]) == 0
    assert "holds: 3 of 3 links" in capsys.readouterr().out
    samples = {verify_certificate(path, sample=(2, seed)).checked for seed in range(6)}
    assert samples == {(1, 2), (1, 3), (2, 3)}
    assert verify_certificate(path, sample=(2, 5)) == verify_certificate(path, sample=(2, 5), workers=2, threads=2)
    assert verify_certificate(path, sample=(9, 0)).checked == (1, 2, 3)
    with pytest.raises(SystemExit):
        command_line.main(["verify", str(path), "--links", "1", "--sample", "1", "0"])


@pytest.mark.parametrize("workers", [[], ["--workers", "1"]])
def test_interrupted(tmp_path, capsys, workers):
    certified(tmp_path / "long.json", scene(), links=1)
    changed(tmp_path / "long.json", 1, step=10 ** 9)
    signal.setitimer(signal.ITIMER_REAL, 1.5)           # raises KeyboardInterrupt
    assert command_line.main(["verify", str(tmp_path / "long.json"), *workers]) == 130
    assert capsys.readouterr().err.endswith("minidem: interrupted\n")


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


@pytest.mark.parametrize("other, first", [
    (lambda: scene(dt=DT * (1.0 + 1e-7)), "position of clump 0 is ["),
    (lambda: scene(gravity=(1e-9, 0.0, -9.81)), "position of clump 0 is ["),
    (another_seed, "position of clump 0 is ["),
    (another_wall, "walls, history_spheres of the checkpoint differ"),
    (lambda: scene(material=replace(MATERIAL, friction=0.4000001)), "position of clump ")])
def test_another_run_is_found_at_its_first_link(tmp_path, other, first):
    """Somebody continues the certificate with states of another run, and chains them as they should be."""
    mine, other = scene(), other()
    certificate = md.Certificate(tmp_path / "run.json")
    certificate(mine)
    mine.run(EVERY)
    certificate(mine)
    other.run(2 * EVERY)
    certificate(other)
    [problem] = verify_certificate(tmp_path / "run.json").problems
    assert problem.startswith("Link 2 (steps 40 to 80) does not hold: " + first), problem


def test_a_bit_of_a_velocity_is_found(tmp_path):
    sim, certificate = scene(), md.Certificate(tmp_path / "run.json")
    certificate(sim)
    sim.set_motion([3], velocity=np.nextafter(sim.velocity[3], np.inf))
    sim.run(2)
    certificate(sim)
    [problem] = verify_certificate(tmp_path / "run.json").problems
    assert "Link 1" in problem and "clump 3" in problem and "1 clumps differ" in problem


def test_a_wrong_energy_is_found(path):
    changed(path, 1, balance=scene().energy().balance + 1e-6)
    [problem] = verify_certificate(path).problems
    assert problem.startswith("Link 1 (steps 0 to 40) does not hold: balance energy is "), problem


def late(t, position, velocity, orientation, angular_velocity):
    """From step 57 on, a small force on clump 3."""
    force = np.zeros_like(position)
    force[3, 0] = 1e-12 * (t > 56.5 * DT)
    return force, 0.0 * force


def loading(function):
    """A function that loads a checkpoint with a user force."""
    def load(path, threads):
        sim = md.Simulation.load(path, threads=threads)
        sim.forces.add(function)
        return sim
    return load


fine, faulty = (loading(function) for function in (lambda *given: (0.0 * given[1], 0.0 * given[1]), late))


def test_divided_links_lead_to_the_first_step(tmp_path, capsys, monkeypatch):
    """A machine whose velocity of clump 3 is another at step 57: others find clump and step."""
    sim, path = scene(), tmp_path / "run.json"
    sim.forces.add(late)
    certified(path, sim, links=2)
    monkeypatch.setattr("minidem.accuracy.certificate.PARTS", 8)
    found = []
    for _ in range(3):
        verdict = verify_certificate(path, load=fine)
        found.append(int(verdict.problems[0].split()[1]))
        assert found[-1] == 1 or verify_certificate(path, links=range(1, found[-1]), load=fine).problems == ()
        if "--divide" not in verdict.problems[0]:
            break
        path = divide_link(path, found[-1], load=faulty)
    assert verdict.problems[0].startswith(f"Link {found[-1]} (steps 56 to 57) does not hold: velocity of clump 3 is ")
    with pytest.raises(ValueError, match="does not hold on this machine"):
        divide_link(tmp_path / "run.json", 2, load=fine)
    assert command_line.main(["verify", str(tmp_path / "run.json"), "--divide", "1", "--load", f"{__file__}:fine"]) == 0
    assert capsys.readouterr().out == f"The links are in {tmp_path / 'run-1.json'}.\n"


def test_continued_in_another_session(tmp_path, path):
    """A certificate that is continued is that of one session; what was certified after the checkpoint is replaced."""
    certificate, sim = md.Certificate(tmp_path / "two.json"), scene()
    certificate(sim)
    sim.run(EVERY, every=EVERY, callback=certificate)
    sim.save(tmp_path / "middle.npz")
    sim.run(EVERY // 2)
    certificate(sim)
    sim, certificate = md.Simulation.load(tmp_path / "middle.npz"), md.Certificate(tmp_path / "two.json", append=True)
    certificate(sim)
    sim.run(2 * EVERY, every=EVERY, callback=certificate)
    one, two = (json.loads(file.read_text())["links"] for file in (path, tmp_path / "two.json"))
    assert [link["state"] for link in one] == [link["state"] for link in two]
    assert not verify_certificate(tmp_path / "two.json").problems


def drag(t, position, velocity, orientation, angular_velocity):
    return -1e-3 * velocity, 0.0 * velocity


def test_functions_of_users_are_named(tmp_path):
    sim = scene()
    sim.forces.add(drag)
    certified(tmp_path / "run.json", sim, links=1, outside=[test_it_holds])
    [problem] = verify_certificate(tmp_path / "run.json").problems
    assert problem.startswith("Link 1 (steps 0 to 40) cannot be run: ")
    found = verify_certificate(tmp_path / "run.json", load=loading(drag))
    assert not found.problems and found.outside == ("test_it_holds", "user force 0")
    assert "Not proved: test_it_holds, user force 0." in str(found)


def rising(t):
    return (0.0, 0.0, 0.01 * t), (0.0, 0.0, 0.0)


def conduction(contacts, rate):
    contacts.rates[:, 0, 0] = rate


def test_all_that_checkpoints_do_not_hold_is_named(tmp_path, own):
    """Motions of walls and box, fluxes with their parameters, schemes and laws of users."""
    own("mine", **custom_integrator.INTERFACES["numpy"]())
    box = md.PeriodicBox((0, 0, 0), (1, 1, 1), axes=(True, True, False), shear=("x", "y", lambda t: 0.1 * t))
    sim = md.Simulation(MATERIAL, [md.Plane((0, 0, 0), (0, 0, 1)), md.Plane((0, 0, 0.01), (0, 0, 1), motion=rising)],
                        dt=DT, periodic=box, rotation="mine", contact=ROLLING)
    sim.fields.add("T", 300.0)
    digests = []
    for rate in 1.0, 2.0:
        new = copy.copy(sim)
        new.fields.add_flux(conduction, [rate])
        md.Certificate(tmp_path / "run.json")(new)
        digests.append(json.loads((tmp_path / "run.json").read_text())["outside"])
    assert digests[0].keys() == {"flux 0", "motion of wall 1", "motion of the box", "mine"}
    assert digests[0]["motion of the box"] == "not covered: it has no source"
    assert digests[0]["mine"] == "not covered: it was registered"
    assert [name for name in digests[0] if digests[0][name] != digests[1][name]] == ["flux 0"]


def test_states_do_not_depend_on_the_block_of_a_clump():
    """With `exact`, a clump that turns fast has its block rotated in parts, whose number must not remain in files."""
    sim = md.Simulation(MATERIAL, dt=DT, contact=ROLLING)
    sim.add_clumps(CLUMP, [(0.2 * k, 0.0, 0.0) for k in range(16)],
                   angular_velocity=[(3.0, 2.0, 5000.0 if k == 0 else 1.0) for k in range(16)])
    sim.run(10)
    assert not sim.reader.column("predicted").any()


@pytest.mark.slow
def test_cost(tmp_path):
    """100 000 steps of 100 clumps certified at their start and end: processor time beside a run without, in turns."""
    times = {False: [], True: []}
    sim = settling(dt=1e-5, material=replace(MATERIAL, young=1e8))
    sim.run(100_000)
    for turn in range(7):
        for certifies in (False, True):
            one, certificate = copy.copy(sim), md.Certificate(tmp_path / f"{turn}.json")
            begun = time.process_time()
            if certifies:
                certificate(one)
                one.run(100_000, every=100_000, callback=certificate)
            else:
                one.run(100_000)
            times[certifies].append(time.process_time() - begun)
    cost = np.median(np.divide(times[True], times[False])) - 1.0
    print(f"cost of the certificate: {100 * cost:.1f} %, a run takes {min(times[False]):.2f} s")
    assert len(certificate.links) == 2 and cost < 0.03, times


def test_what_is_no_certificate(tmp_path, path):
    with pytest.raises(ValueError, match=r"\.json"):
        md.Certificate(tmp_path / "run.txt")
    for text in "nothing", "[]", '{"certificate": 1, "outside": {}, "links": []}', '{"certificate": 2}':
        (tmp_path / "other.json").write_text(text)
        with pytest.raises(ValueError, match="no certificate"):
            verify_certificate(tmp_path / "other.json")
    with pytest.raises(ValueError, match="links"):
        verify_certificate(path, links=[4])
