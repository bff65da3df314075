"""tools/compare_drum.py: exit status without LAMMPS, bad arguments, the table, and a drum beside LAMMPS."""
import compare_drum
import numpy as np
import pytest
from installed_lammps import needs_lammps


def test_missing_lammps_is_skipped(tmp_path, run_tool, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    done = run_tool("compare_drum")
    assert done.returncode == 77 and "lammps: skipped" in done.stdout


@pytest.mark.parametrize("arguments, complaint", [(["--seeds", "0"], "at least 1"), (["--time", "-1"], "above 0")])
def test_a_bad_argument_is_named(arguments, complaint, run_tool):
    done = run_tool("compare_drum", *arguments)
    assert done.returncode == 2 and complaint in done.stderr


def test_table():
    """Shares of the grains that differ by known amounts between codes, seeds and the two halves of the time."""
    when = np.linspace(0.0, 1.0, 11)
    traces = {(code, seed): np.column_stack([when, *(20.0 + 4.0 * (when >= 0.5) * (seed - 1) + offset
                                                     for offset in (0.0, 0.0, 2.0 * (code == "lammps"), 0.0))])
              for code in compare_drum.CODES for seed in (1, 2)}
    table = compare_drum.table_of(traces, ["a", "b", "c", "d"], np.array([200.0, 100.0, 100.0, 400.0]))
    assert table[1] == ("a", "11.00", "11.00", "2.00", "2.00", "0.00", "2.00")
    assert table[3] == ("c", "22.00", "24.00", "4.00", "4.00", "2.00", "4.00")


@needs_lammps
def test_drum_beside_lammps(tmp_path, run_tool, monkeypatch):
    """Both codes have the same grains in all zones at first, and much the same a moment later."""
    monkeypatch.chdir(tmp_path)
    drum = compare_drum.drum
    monkeypatch.setattr(drum, "QUICK_LENGTH", 0.0042)
    for name, value in {"WARMUP": 1, "STEPS": 4, "REPEATS": 1}.items():
        monkeypatch.setattr(compare_drum, name, value)
    done = run_tool("compare_drum", "--quick", "--time", "0.02", "--seeds", "1", "--out", "out")
    assert done.returncode == 0, done.stderr
    table = np.genfromtxt("out/zones.csv", delimiter=",", names=True)
    assert len(table) == 201 and table["time"][-1] == pytest.approx(0.02)
    for name in ("M1_in_zone_2", "M2_in_zone_2"):
        ours, theirs = table[f"minidem_1_{name}"], table[f"lammps_1_{name}"]
        assert ours[0] == theirs[0] > 0.0
        assert np.abs(ours - theirs).max() <= 2.0
