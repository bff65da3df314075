"""Checks of a running simulation: non-finite states, the energy limit, and warnings, each once and with numbers."""
import json
import math
from dataclasses import replace

import numpy as np
import pytest
import scenes
from killed_runs import columns
from rods_in_box import SCENARIO as RODS
from rods_with_fields import box_of_rods
from scenes import gas

import minidem as md
from minidem.scenario import Scenario
from minidem.scenario.run import ROWS_PER_SNAPSHOT

SCHEMES = md.rotation.available()
pytestmark = pytest.mark.usefixtures("without_pictures")
LOST = 5        # the clump to which it is done
NEXT_TORQUE = {"improved-pcdm", "johnson-published"}    # schemes that use the torque of the new pose alone


@pytest.mark.parametrize("quantity, first, bad", [
    ("velocity", "motion", math.nan), ("force", "motion", math.inf), ("torque", "rotation", math.nan)])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_what_is_not_finite_reaches_the_pose_in_the_next_step(scheme, quantity, first, bad):
    """... or the one after, where a scheme uses a torque only late in a step; and what went first is named."""
    sim, sound = (scenes.rods_in_box(seed=4, n=9, side=0.6).simulation(rotation=scheme) for _ in range(2))
    sim.run(10)
    values = sim.loop.state.column(quantity)
    values[LOST, 1] = bad
    sim.loop.state.set_column(quantity, values)
    if quantity == "torque" and scheme in NEXT_TORQUE:
        sim.run(10)
        sound.run(20)
        assert all(np.array_equal(a, b) for a, b in zip(scenes.state_of(sim), scenes.state_of(sound), strict=True))
        return
    with pytest.raises(FloatingPointError, match=f"orientation of clump {LOST} is not finite. Its {first} has become "
                       "unstable.*lower dt") as error:
        sim.run(1000)
    assert sim.step_count in (10, 11) and f"step {sim.step_count + 1} (" in str(error.value)


def field(threads):
    def flux(contacts, conductivity):
        contacts.rates["temperature"][:, 0] = np.inf
    return box_of_rods(flux=flux, threads=threads)


def spin(bodies, dt, stage):
    bodies.w *= 1e10


def norm(bodies, dt, stage):
    bodies.q *= 1.001


def pose(bodies, dt, stage):
    bodies.w *= 2.0
    bodies.q.T[0] = np.where(np.abs(bodies.w).max() > 1e6, np.nan, bodies.q.T[0])


def spinning(move):
    def build(threads):
        md.rotation.register("mine", move)
        return gas({}, n=24, threads=threads, rotation="mine")
    return build


def boxed(*rates):
    return lambda threads: gas({"rates": (0.0, 0.0, lambda t: rates[t > 50e-5])}, n=24, dt=1e-5, threads=threads)


@pytest.mark.usefixtures("many_threads_and_sorts", "own")
@pytest.mark.parametrize("build, words", [
    (field, "step [0-9]+: the field 'temperature' of clump [0-9]+ is not finite"),
    (spinning(spin), "step 31: the angular velocity of clump 0 is not finite"),
    (spinning(norm), "step 25: the orientation of clump 0 has the norm 1.03, .* divide q by its norm"),
    (spinning(pose), "the position or orientation of clump [0-9]+ is not finite"),
    (boxed(0.0, 2e4), "step 51: the length along z of the periodic box changes at a rate of 2e.04 1/s, by 0.2 in a"),
    (boxed(0.0, -9e3), "shrinks too far until step [0-9]+: .*along z"),
], ids=["field", "spin", "norm", "pose", "fast box", "short box"])
def test_what_is_not_sound_ends_the_run_in_its_step(build, words):
    """For any number of threads and division of the run; what is named is the same."""
    found = set()
    for threads, pieces in ((1, (10_000,)), (3, (30, 9970)), (2, (*[1] * 40, 10_000))):
        sim = build(threads)
        with pytest.raises((FloatingPointError, ValueError), match=words) as error:
            for steps in pieces:
                sim.run(steps)
        found.add((str(error.value), sim.step_count))
    assert len(found) == 1


def test_a_free_body_that_is_lost_ends_a_long_run():
    with pytest.raises(FloatingPointError, match="body 0 is no longer finite at step"):
        md.rotation.integrate("euler", (1.0, 2.0, 2.5), (1, 0, 0, 0), (2e3, 1.8e3, 1.6e3), (0, 0, 0), 1e-3, 10**12)


def main(out, *arguments, scenario=RODS):
    return scenario.main([*arguments, "--frames", "0", "--quiet", "--out", str(out)])


def summary(out):
    return json.loads((out / "summary.json").read_text())


UNSTABLE = "--dt", "4e-4"       # 1.4 Rayleigh steps: the energy of the rods explodes within two seconds


def test_the_last_good_state_is_kept(tmp_path, capsys):
    """It is that of one of the last rows, to the bit, and can be continued elsewhere."""
    assert main(tmp_path, *UNSTABLE, "--time", "2") == 1
    rows = columns(tmp_path / "energy.csv")
    last, kept = rows[-1], md.Simulation.load(tmp_path / "checkpoint.npz")
    assert (kept.time, kept.energy().total) in rows[["time", "total"]][-ROWS_PER_SNAPSHOT:].tolist()
    with pytest.warns(UserWarning, match="Rayleigh"):
        by_hand = RODS.build(RODS.parse(UNSTABLE))
    by_hand.run(kept.step_count)
    assert all(np.array_equal(a, b) for a, b in zip(scenes.state_of(kept), scenes.state_of(by_hand), strict=True))
    there = summary(tmp_path)
    assert there["ended"] == "not finite" and "Rayleigh" in there["reason"] and "clump" in there["reason"]
    assert 0 < there["steps"] - kept.step_count <= 5 * ROWS_PER_SNAPSHOT               # a row is 5 steps
    said = capsys.readouterr().err
    assert there["reason"] in said and f"up to {last['time']:g} s" in said and "Traceback" not in said


def test_energy_limit(tmp_path, capsys):
    """The run ends with the first row beyond it, and can be continued from there with the same bits."""
    run, limit = (*UNSTABLE, "--time", "0.5"), 0.01
    assert main(tmp_path / "free", *run) == 0
    free = columns(tmp_path / "free" / "energy.csv")
    errors = np.abs(free["total"] - free["total"][0]) / free["total"][0]
    first = int(np.argmax(errors > limit))
    assert 10 < first < len(free) - 10
    tenth = -(-len(free) // 10)
    drift = free["total"][-tenth:].mean() - free["total"][:tenth].mean()
    assert summary(tmp_path / "free")["relative_energy_drift"] == pytest.approx(drift / free["total"][0], rel=1e-12)
    capsys.readouterr()
    for again in ([], ["--resume"]):                        # the second time at once
        assert main(tmp_path / "a", *run, "--energy-limit", str(limit), *again) == 1
        np.testing.assert_array_equal(columns(tmp_path / "a" / "energy.csv"), free[:first + 1])
        there, said = summary(tmp_path / "a"), capsys.readouterr().err
        assert (there["ended"], there["max_relative_energy_error"]) == ("energy limit", errors[first])
        assert f"{errors[first]:.3g}" in said and f"--energy-limit {limit}" in said and "--resume" in said
    assert main(tmp_path / "a", *run, "--resume") == 0
    np.testing.assert_array_equal(columns(tmp_path / "a" / "energy.csv"), free)
    comparison = "--compare", "euler,spiral", "--time", "0.2", "--energy-limit", "1e-5"     # runs all the same
    assert main(tmp_path, *comparison) == 0
    assert [summary(tmp_path / name)["ended"] for name in ("euler", "spiral")] == ["energy limit"] * 2


def test_energy_limit_with_body_forces(tmp_path, capsys):
    """Its scale is then the largest kinetic energy so far, as in the summary. It is refused without conservation."""
    def build(options):
        sim = md.Simulation(md.Material(1e9, 0.1), md.box_walls((0, 0, 0), (1, 1, 1)), dt=1e-3, gravity=(0, 0, -9.81))
        sim.add_clumps(md.ClumpTemplate([(0, 0, 0)], [0.1]), [(0.5, 0.5, 0.3)])
        return sim
    falling = replace(RODS, build=build, observables=())
    assert main(tmp_path / "free", "--time", "1", scenario=falling) == 0
    free = columns(tmp_path / "free" / "energy.csv")
    errors, kinetic = np.abs(free["total"] - free["total"][0])[1:], (free["translational"] + free["rotational"])[1:]
    there = summary(tmp_path / "free")
    assert there["energy_scale"] == "kinetic_max"
    assert there["max_relative_energy_error"] == errors.max() / kinetic.max()
    errors /= np.maximum.accumulate(kinetic)
    limit = 0.5 * errors.max()
    assert main(tmp_path / "a", "--time", "1", "--energy-limit", str(limit), scenario=falling) == 1
    assert len(columns(tmp_path / "a" / "energy.csv")) == 2 + np.argmax(errors > limit)
    for change in ({"conservative": False}, {"forces": lambda options: [lambda t, x, v, q, w: (0.0 * x, 0.0 * w)]}):
        assert main(tmp_path / "b", "--energy-limit", "1", scenario=replace(RODS, **change)) == 2
        assert "--energy-limit" in capsys.readouterr().err and not (tmp_path / "b").exists()


def ball(speed, dt):
    def build(options):
        sim = md.Simulation(md.Material(1e9, 0.1), [md.Plane((0, 0, 0), (0, 0, 1))], dt=dt)
        sim.add_clumps(md.ClumpTemplate([(0.0, 0.0, 0.0)], [0.05], 2500.0), [(0, 0, 0.0505)], velocity=[(0, 0, -speed)])
        return sim
    return Scenario("ball", "", build, {"time": 1000 * dt})


def test_steps_that_are_too_large(tmp_path):
    """Above the period of a contact: k grows as sqrt(d), with the speed of impact. Above the Rayleigh step."""
    def period(contact):
        return np.sqrt(sim.mass[0] / (1.5 * np.linalg.norm(contact["force"]) / contact["overlap"]))
    dt, scenario = 2e-4, ball(100.0, dt=2e-4)
    assert main(tmp_path, scenario=scenario) == 0
    sim = scenario.build(None)
    while not len(sim.contacts()) or dt < period(sim.contacts()[0]):
        sim.run(1)
    limit = period(sim.contacts()[0])
    [text] = [text for text in summary(tmp_path)["warnings"] if "sqrt(m/k)" in text]
    assert (f"step {sim.step_count} (time {sim.time:.6g} s): the step {dt:g} s is {dt / limit:.3g} times sqrt(m/k) = "
            f"{limit:.3g} s of clump 0 on all its contacts (unstable from 2 on)") in text
    assert main(tmp_path, scenario=ball(0.01, dt=1e-3)) == 0
    assert ["above the Rayleigh step" in text for text in summary(tmp_path)["warnings"]] == [True]
