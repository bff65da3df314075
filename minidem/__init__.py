"""minidem: a small discrete-element code for rigid multi-sphere clumps.

    ClumpTemplate --> State --> broad phase --> contacts --> gather --> translation + rotation --> State
     (once)          clumps     candidate       force per    F, tau      x, v        q, w            |
                     spheres    pairs           contact      per clump                        energy, output

The names of the files follow this line: clump, state, broadphase/, contact/ (contacts, gather),
translation/, rotation/, time_loop, energy, output/. Simulation holds them together.

SI units. Quaternions (w, x, y, z), template frame -> lab. The public API is in the lab frame.
"""
try:
    from minidem import driver as _built     # noqa: F401
except ImportError as error:
    raise ImportError("minidem's compiled modules are missing or stale; build them from the source folder with\n"
                      "    python -m pip install -e .") from error

from minidem import rotation
from minidem.citation import cite
from minidem.clump import ClumpTemplate
from minidem.energy import Energy
from minidem.material import Material, effective_modulus
from minidem.simulation import Simulation
from minidem.walls import Plane, box

__version__ = "0.1.0"
__all__ = ["ClumpTemplate", "Energy", "Material", "Plane", "Simulation", "box", "cite", "effective_modulus",
           "rotation"]
