"""A column of the clumps that the loop computes: one line of the table, and one that computes it."""
import copy

import meshio
import numpy as np
import pytest
from scenes import rods_in_box
from user_functions import CFUNC

import minidem as md
from minidem.engine.columns import COLUMNS, Column
from minidem.output import checkpoint
from minidem.state.state import CLUMP_ROWS


@pytest.fixture
def count(own):
    """Declare a column, and let a compiled function count the steps of each clump in it."""
    def finish(bodies, wrench, constants, step):
        for lane in range(8):
            bodies[8 * CLUMP_ROWS + lane] += 1.0        # the first row behind those of all simulations

    own("counting", lambda bodies, dt, stage: None, finish=CFUNC(finish))
    COLUMNS.insert(0, Column("steps", 1, "1", "steps that a clump has done", lambda settings, snapshot:
                             settings.scheme.name == "counting", drawn=True))
    yield lambda sim: sim.reader.column("steps").tolist()
    del COLUMNS[0]


def test_a_column_is_a_line_that_declares_it_and_one_that_computes(count, tmp_path):
    """New clumps begin with zero; it persists in sorted and removed clumps, threads, copies, files, failed steps."""
    scene = rods_in_box(seed=1, n=20, walls=False)
    sim = scene.simulation(rotation="counting", threads=2)
    sim.run(5)
    sim.add_clumps(scene.shapes[0].template, [(9, 9, 9)])
    sim.run(3)
    assert count(sim) == [8] * 20 + [3]
    sim.remove_clumps(range(19))
    sim.continue_from(sim.loop.sorted(), sim.loop)
    assert count(sim) == [8, 3]
    sim.io.write_vtu(tmp_path / "a.vtu")
    np.testing.assert_array_equal(meshio.read(tmp_path / "a.vtu").point_data["steps"], [8] * 3 + [3] * 3)
    sim.save(tmp_path / "a.npz")
    for other in copy.deepcopy(sim), md.Simulation.load(tmp_path / "a.npz"):
        other.run(1)
        assert count(other) == [9, 4]
    sim.forces.add(lambda t, x, v, q, w: (0.0 * v, 0.0 * w if t < 9.5 * sim.dt else 1 / 0))
    with pytest.raises(ZeroDivisionError):
        sim.run(5)
    assert sim.step_count == 9 and count(sim) == [9, 4]


def test_files_without_a_column_and_simulations_without_it(count, tmp_path):
    """Such a file gives zeros, such a simulation ignores it, and has no rows for it."""
    sim = rods_in_box(seed=1, n=3).simulation(rotation="counting")
    sim.run(2)
    settings, arrays = checkpoint.pack(sim)
    del arrays["steps"]
    assert count(checkpoint.unpack(settings, arrays, md.Simulation)) == [0, 0, 0]
    settings, arrays = checkpoint.pack(sim)
    other = checkpoint.unpack(settings | {"rotation": "euler"}, arrays, md.Simulation)
    assert other.loop.state.blocks.shape[1] == CLUMP_ROWS and "steps" not in other.reader.drawn()
