"""The phases of a step, as a simulation lists them and ARCHITECTURE.md describes them."""
import re
from pathlib import Path

import numpy as np

import minidem as md

PAGE = Path(__file__).parents[2] / "minidem" / "ARCHITECTURE.md"
BALL = md.ClumpTemplate([(0, 0, 0)], [0.1], 1000.0)


def test_a_simulation_without_options_has_few_phases():
    sim = md.Simulation(md.Material(1e7, 0.3), dt=1e-5)
    sim.add_clumps(BALL, (0, 0, 0))
    assert sim.diagnostics.phases == ("move", "join", "search", "contacts", "join")


def test_all_options_have_the_phases_of_the_architecture_in_its_order():
    listed = re.findall(r"^ (\w+(?: \w+)*)  ", PAGE.read_text().split("```text\n")[2].partition("```")[0], re.M)
    found = set()
    for contact, more in ("hertz:onset=corrected", {}), ("hertz-mindlin:mass=shared", {"restitution": 0.5}):
        box = md.PeriodicBox((0, 0, 0), (5, 5, 5), axes=(True, True, True), rates=(md.Pressure(1e3, time=1.0), 0, 0))
        sim = md.Simulation(md.Material(1e7, 0.3, **more), periodic=box, contact=contact,
                            rotation="velocity-verlet", dt=1e-5, threads=2)
        sim.add_clumps(BALL, 0.3 * np.argwhere(np.ones((16, 16, 16))))
        sim.fields.add("temperature", 300.0)
        sim.forces.add(lambda time, position, velocity, orientation, spin: (0.0 * position, 0.0 * position))
        assert sim.diagnostics.phases == tuple(name for name in listed if name in sim.diagnostics.phases)
        found |= set(sim.diagnostics.phases)
    assert found == {name for name in listed if sim.threads > 1 or name != "exchange"}      # not without OpenMP


def test_there_is_room_for_all_phases_and_observers():
    """The loop has them in arrays of fixed length."""
    package = PAGE.parent
    text = {path: path.read_text() for suffix in ("pyx", "pxd") for path in package.rglob(f"*.{suffix}")}
    for call, most in (" add_phase(loop", "MAX_PHASES"), (" add_observer(", "MAX_OBSERVERS"):
        room, = (int(found) for source in text.values() for found in re.findall(rf"{most} = (\d+)", source))
        assert 3 < sum(line.startswith("    ") and call in line for source in text.values()
                       for line in source.splitlines()) <= room


def test_the_architecture_names_files_that_are_there():
    """A file without a folder is in the folder of the one before it, or the only one of its name."""
    package = PAGE.parent
    for name in re.findall(r"`([\w/]+\.(?:pyx?|pxd|h|md))`", PAGE.read_text()):
        assert (package / name).exists() or (package.parent / name).exists() or list(package.rglob(name)), name
