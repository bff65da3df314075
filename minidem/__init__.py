"""minidem: a small discrete-element code for rigid multi-sphere clumps.

The public names, after `import minidem as md`; `help(md.Simulation)` and so on tell more:

    md.Simulation           clumps, walls, settings: add_clumps, remove_clumps, run, energy, contacts, save, load ...
    md.ClumpTemplate, md.Fragments    a rigid body of spheres, also from_mesh and from_file; a pattern of fragments
    md.Material, md.Pair    elastic constants, restitution, friction; restitution and friction between two materials
    md.Plane, md.Cylinder, md.Cone, md.MeshWall, md.box_walls   walls; box_walls: six planes; MeshWall.box: finite sides
    md.CompoundWall         cones and meshes that move as one wall
    md.Oscillation, md.Servo, md.Driven    motions of walls
    md.PeriodicBox, md.Pressure            a periodic box that is sheared, stretched, or held under a pressure
    md.read_particles       the spheres of a state of LAMMPS, LIGGGHTS, exaDEM, ... as a start
    md.Energy               what sim.energy() returns
    md.analysis             measures: angle_of_repose, fabric_tensor, radial_distribution ..., means with their errors
    md.contact              the contact laws: Hertz, HertzMindlin ..., available, info, register (your own)
    md.rotation             the rotation integrators: Exact, Spiral ..., available, register, integrate (free bodies)
    md.Trajectory           GSD or CSV file of clumps over time, a callback of sim.run
    md.Frames               a folder of frames for ParaView and movies, also a callback
    md.Table                CSV file of energies, or of numbers of your own, also a callback
    md.show, md.view, md.Live, md.movie    a picture; one to turn; one that follows a run; a movie (extra render)
    md.verify, md.suggest_step    numbers with error bars, from runs with several steps; a step for a tolerance
    md.Certificate          a record by which others check a run (minidem verify FILE), a callback of sim.run
    md.cite, md.build_info  references of what a simulation used; version, instruction set, compiler of this build
    md.get_include          folder of headers in C: contact/contact.h for laws, rotation/scheme.h for schemes
    md.effective_modulus, md.effective_shear_modulus    E* and G* of two materials in contact
    md.shapes, md.mesh_report     templates of rods, fibres, platonic solids ...; a clump beside its mesh
    minidem.initial         clumps placed without overlap: place, place_densely; at rest: settled_bed, settle; while
                            running: Inlet, Outlet; grain sizes: Lognormal, RosinRammler, SieveCurve, Mixture, passing
    minidem.analysis.coarse density, velocity, stresses and temperature on a grid: Fields
    minidem.scenario        scripts with a command line, tables, frames, checkpoints: Scenario ...
    minidem.ensemble        parameter studies: run_ensemble

Two rods that meet::

    import minidem as md
    rod = md.ClumpTemplate(centers=[(-0.05, 0, 0), (0, 0, 0), (0.05, 0, 0)], radii=[0.03] * 3, density=2500.0)
    sim = md.Simulation(md.Material(young=1e9, poisson=0.1), walls=md.box_walls((0, 0, 0), (1, 1, 1)), dt=1e-5)
    sim.add_clumps(rod, position=[(0.3, 0.5, 0.5), (0.7, 0.52, 0.5)], velocity=[(1, 0, 0), (-1, 0, 0)])
    sim.run(50_000)
    print(sim.time, sim.energy().total, sim.position)

ARCHITECTURE.md in this folder describes the data flow, one step of the time loop, and why results are reproducible.

SI units. Quaternions (w, x, y, z), template frame -> lab. The public API is in the lab frame.
"""
import sys as _sys
import warnings as _warnings
from pathlib import Path as _Path

from minidem import isa as _isa

try:
    _isa.install()                              # before any other compiled module
    from minidem.core.build_record import build_info
    from minidem.engine import driver as _built  # noqa: F401
except _isa.LevelError:
    raise
except ImportError as error:
    if error.name and error.name.partition(".")[0] != "minidem":
        raise                                   # of a package that minidem needs
    _folder = _Path(__file__).parent
    raise ImportError(f"the compiled modules of minidem in {_folder} are missing or stale; build them with\n"
                      f"    {_sys.executable} -m pip install -e '{_folder.parent}'\n"
                      "or start Python in another folder, if minidem is installed elsewhere") from error

from minidem import analysis, contact, rotation
from minidem.accuracy import Certificate, suggest_step, verify
from minidem.analysis.energy import Energy
from minidem.citation import cite
from minidem.core.keywords import suggest_keywords as _suggest_keywords
from minidem.initial.particle_files import read_particles
from minidem.material import Material, Pair, effective_modulus, effective_shear_modulus
from minidem.output.frames import Frames
from minidem.output.trajectory import Trajectory
from minidem.render.movie import movie
from minidem.render.show import Live, show, view
from minidem.scenario.table import Table
from minidem.simulation import Simulation
from minidem.templates import fit_report as mesh_report, shapes
from minidem.templates.clump_template import ClumpTemplate
from minidem.templates.fragments import Fragments
from minidem.walls import CompoundWall, Cone, Cylinder, Driven, MeshWall, Oscillation, Plane, Servo, box_walls
from minidem.walls.periodic_box import PeriodicBox, Pressure

__version__ = "0.29.0"
__all__ = ["Certificate", "ClumpTemplate", "CompoundWall", "Cone", "Cylinder", "Driven", "Energy", "Fragments",
           "Frames", "Live", "Material", "MeshWall", "Oscillation", "Pair", "PeriodicBox", "Plane", "Pressure",
           "Servo", "Simulation", "Table", "Trajectory", "analysis", "box_walls", "build_info", "cite", "contact",
           "effective_modulus", "effective_shear_modulus", "get_include", "mesh_report", "movie", "read_particles",
           "rotation", "shapes", "show", "suggest_step", "verify", "view"]


def get_include() -> str:
    """Folder from which a C file of yours finds the headers of what its functions read and write.

    `#include "contact/contact.h"` for contact laws and fluxes, "rotation/scheme.h" for rotation schemes,
    "forces/user_force.h" for forces.

    Returns
    -------
    str
        For the compiler's option -I.
    """
    return str(_Path(__file__).parent)


# `import minidem.shapes` and the like: these modules have a public name beside the name in their folder.
_sys.modules |= {f"{__name__}.{name}": module for name, module in
                 {"mesh_report": mesh_report, "shapes": shapes}.items()}



def __getattr__(name):
    if name == "box":
        _warnings.warn("md.box is now md.box_walls; the old name ends with minidem 1.0", DeprecationWarning,
                       stacklevel=2)
        return box_walls
    raise AttributeError(f"module 'minidem' has no attribute {name!r}")


def __dir__():
    return [*__all__, *(name for name in globals() if name.startswith("__"))]


for _kind in [globals()[_name] for _name in __all__]:
    if isinstance(_kind, type):
        _suggest_keywords(_kind)
