"""The types that a user's script sees."""
import subprocess
import sys

import pytest
from examples import ROOT

SCRIPT = """
import minidem as md

rod = md.ClumpTemplate(centers=[(-0.05, 0, 0), (0, 0, 0), (0.05, 0, 0)], radii=[0.03] * 3, density=2500.0)
sim = md.Simulation(md.Material(young=1e9, poisson=0.1), walls=md.box((0, 0, 0), (1, 1, 1)), dt=1e-5)
sim.add_clumps(rod, position=[(0.3, 0.5, 0.5)], velocity=[(1, 0, 0)])
sim.run(100, every=10, callback=md.Trajectory("rods.csv"))
reveal_type(sim.position)
reveal_type(sim.dt)
reveal_type(sim.energy().total)
reveal_type(rod.mass)
sim.runs(100)
sim.run("100")
"""


@pytest.mark.slow
def test_a_script(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "script.py").write_text(SCRIPT)
    done = subprocess.run([sys.executable, "-m", "mypy", "--no-error-summary", "--cache-dir", ROOT / ".mypy_cache",
                           "script.py"], cwd=tmp_path,
                          capture_output=True, text=True, timeout=300)
    found = [line.partition(": ")[2] for line in done.stdout.splitlines()]
    array, *numbers = (line for line in found if line.startswith("note: Revealed"))
    assert "numpy.ndarray" in array and len(numbers) == 3 and all('"float"' in line or "builtins.float" in line
                                                                  for line in numbers), found
    errors = [line for line in found if line.startswith("error")]
    assert len(errors) == 2 and '"runs"' in errors[0] and 'incompatible type "str"; expected "int"' in errors[1], found
