"""What `run_ensemble(threads=...)` is to a simulation that is made without `threads`."""
import pytest

from minidem.ensemble import run_ensemble

SCRIPT = """
import numpy as np
import minidem as md

def threads_of(side):
    ball = md.ClumpTemplate([(0, 0, 0)], [0.4], density=2500.0)
    sim = md.Simulation(md.Material(young=1e7, poisson=0.2), dt=1e-5)
    sim.add_clumps(ball, np.stack(np.meshgrid(*3 * [np.arange(side)]), axis=-1).reshape(-1, 3).astype(float))
    sim.run(1)
    return {"threads": sim.threads, "spheres": sim.n_spheres}
"""


@pytest.mark.parametrize("surrounding", [None, "8"])
def test_default_threads_in_a_run(surrounding, tmp_path, monkeypatch):
    if surrounding is None:
        monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    else:
        monkeypatch.setenv("OMP_NUM_THREADS", surrounding)
    (tmp_path / "script.py").write_text(SCRIPT)
    for threads in (1, 2):
        [row] = run_ensemble(f"{tmp_path}/script.py:threads_of", {"side": [17]}, tmp_path / str(threads), workers=1,
                             threads=threads, progress=False)
        assert row["error"] is None and row["spheres"] == 17 ** 3 > 4000
        assert 1 <= row["threads"] <= threads
