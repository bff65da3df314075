"""md.Table: rows of energies and of functions, as scenarios write them, and after a restart."""
import numpy as np
import pytest
from rods_in_box import SCENARIO as RODS
from sheared_scenes import MOTIONS, gas

import minidem as md

RUN = ["--time", "0.02", "--frames", "0", "--seed", "3", "--quiet"]


def test_energies_of_a_scenario(tmp_path):
    """The same file, to the last byte, and its picture."""
    pytest.importorskip("matplotlib")
    assert RODS.main([*RUN, "--out", str(tmp_path / "run")]) == 0
    expected = (tmp_path / "run" / "energy.csv").read_bytes()
    sim = RODS.build(RODS.parse(RUN))
    times = np.loadtxt(tmp_path / "run" / "energy.csv", delimiter=",", skiprows=1)[:, 0]
    with md.Table(tmp_path / "script" / "energy.csv") as table:
        for step in np.rint(times / sim.dt).astype(int).tolist():
            sim.run(step - sim.step_count)
            table(sim)
            table(sim)
    assert (tmp_path / "script" / "energy.csv").read_bytes() == expected
    assert (tmp_path / "script" / "energy.png").read_bytes().startswith(b"\x89PNG")


def test_functions_and_restart(tmp_path):
    columns = {("vx", "vy", "vz"): lambda sim: sim.velocity[0], "n": lambda sim: len(sim.contacts())}
    sim, whole = gas(MOTIONS["shear"], n=50, speed=3.0), md.Table(tmp_path / "whole.csv", columns)
    sim.run(300, every=100, callback=whole)
    assert whole["vz"][-1] == sim.velocity[0, 2] and whole["n"].tolist()[-1] == len(sim.contacts())
    assert whole["time"] == pytest.approx(sim.dt * np.array([100, 200, 300]))
    sim, parts = gas(MOTIONS["shear"], n=50, speed=3.0), tmp_path / "parts.csv"
    with md.Table(parts, columns) as table:
        sim.run(200, every=100, callback=table)
        sim.save(tmp_path / "state.npz")
        sim.run(50, every=50, callback=table)
    sim = md.Simulation.load(tmp_path / "state.npz")
    table = md.Table(parts, columns, append=True)
    table(sim)                                                  # now, so that the row at 250 steps goes
    sim.run(100, every=100, callback=table)
    assert parts.read_text() == (tmp_path / "whole.csv").read_text()
    with pytest.raises(ValueError, match="its columns are not time,other"):
        md.Table(parts, {"other": lambda sim: 1.0}, append=True)(sim)


def test_strains_of_a_box_that_moves(tmp_path):
    sim, table = gas(MOTIONS["stretched"], n=50), md.Table(tmp_path / "energy.csv")
    sim.run(10, every=5, callback=table)
    assert table["strain_shear"][-1] == sim.strain[3] and table["work"][-1] == sim.energy().work


@pytest.mark.parametrize("columns, message", [
    ({}, r"columns = \{\}: give a dict of names to functions"), ([1], r"columns = \[1\]: give a dict"),
    ({"a": 1.0}, r"columns: \('a',\): 1.0: give a dict"), ({"a,b": len}, "the name 'a,b' is not a text without"),
    ({"time": len}, "'time' is the first column"), ({("a", "a"): len}, "given twice"),
    ({"a": lambda: 1.0}, r"columns\['a'\] = .*: it is called with \(simulation\)"),
])
def test_malformed_columns(columns, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        md.Table(tmp_path / "a.csv", columns)


def test_malformed_values(tmp_path):
    sim = gas(MOTIONS["shear"], n=50)
    for function, found in ((lambda sim: (1.0, 2.0), r"\[1.0, 2.0\]"), (lambda sim: "x", r"\['x'\]")):
        with pytest.raises(ValueError, match=f"the function of a returned {found} at 0 s; return 1 number$"):
            md.Table(tmp_path / "a.csv", {"a": function})(sim)
    with pytest.raises(KeyError, match="no such column before the first call"):
        md.Table(tmp_path / "a.csv")["total"]
    with pytest.raises(ValueError, match="path"):
        md.Table(tmp_path / "a.txt")
