"""The input of LAMMPS in a folder: the input script, spheres and clumps (read_data, infile of fix rigid/small)."""
from __future__ import annotations

import warnings
from itertools import product

import numpy as np

from minidem.core.atomic import replace_text, replacing
from minidem.core.checks import file_path, whole
from minidem.core.quaternions import rotate
from minidem.output.lammps.history import STEP, frozen, has_springs, loading
from minidem.output.lammps.walls import bounds_of, contact_commands, warn_of_differences
from minidem.templates.clump_template import ClumpTemplate

SPHERES, CLUMPS, INPUT, CHECKPOINT = "spheres.data", "clumps.state", "in.minidem", "start.npz"
PAIRS, WALLS = "end.springs", "end.walls"
SKIN = 0.5                  # in radii, the median of the spheres
MOTION = "mass xu yu zu vx vy vz omegax omegay omegaz"
HEADER = """\
# A simulation of minidem in LAMMPS. `mpirun -np 8 lmp -in in.minidem -var steps 100000` runs so many steps; then
# Simulation.read_lammps reads this folder. Needs LAMMPS newer than 2Aug2023, with the packages GRANULAR and RIGID.
variable        steps index {steps}
variable        every index {every}             # steps between two frames of all spheres in spheres.dump; 0: none
variable        skin index {skin:.17g}               # affects the time of a step only"""
SETUP = """\
units           si
atom_style      hybrid sphere bond              # bond: for the molecule id; there are no bonds
boundary        {boundary}
newton          on                              # off: memory errors of fix rigid/small on several ranks
comm_modify     vel yes cutoff {cutoff:.17g}    # fix rigid/small requires the length of a clump
{read}
balance         1.1 shift xyz 20 1.05           # otherwise each rank has an equal part of the box, which may be empty
pair_style      granular
{contacts}
neighbor        ${{skin}} {search}
neigh_modify    delay 0 every 1 check yes one 10000 page 1000000
{before}{motion}
{deform}fix             balance all balance 10000 1.1 shift xyz 20 1.05
timestep        {dt:.17g}
variable        translational equal {translational}     # kinetic energies [J]; pair_style granular has no potential
variable        rotational equal {rotational}
thermo_style    custom step time cpu v_translational v_rotational f_balance"""
EXCLUDE = """\
group           {group} molecule {molecules}
neigh_modify    exclude molecule/intra {group}
"""
FREEZE = "fix             frozen frozen freeze           # as heavy as a wall"
READ = "read_data       spheres.data"
READ_BOTH = f"""\
fix             given all property/atom d2_given 6
{READ} fix given NULL Motion"""
GIVEN = "".join(f"variable        given{k} atom d2_given[{k}]\n" for k in range(1, 7))
STRETCH = f"""\
# Springs of friction are stretched in one step in which nothing moves, by the velocities in Velocities of spheres.data;
# those of the simulation are in Motion. The step is so long, and they are so small, that dashpots do nothing.
timestep        {STEP:g}
run             1 post no
reset_timestep  0
{GIVEN}\
set             group all vx v_given1 vy v_given2 vz v_given3 omega v_given4 v_given5 v_given6
unfix           given
"""
RIGID = """\
fix             gravity bodies gravity {gravity} disable
fix             bodies bodies rigid/small molecule infile clumps.state reinit no gravity gravity
compute         motion bodies rigid/local bodies mol {row} angmomx angmomy angmomz quatw quati quatj quatk
compute         bodies_translational all ke/rigid bodies
compute         bodies_rotational all erotate/rigid bodies"""
SINGLE = """\
group           singles molecule 0
fix             weight singles gravity {gravity}
fix             singles singles nve/sphere
compute         singles_translational singles ke
compute         singles_rotational singles erotate/sphere"""
DUMP = """\
dump            {group} {group} {columns}
dump_modify     {group} format float %.17g"""
RUN = """\
if "${{every}} > 0" then "dump frames all custom ${{every}} spheres.dump id mol type radius x y z vx vy vz"
thermo          1000
variable        moment index start end
variable        part index 0 ${{steps}}
label           again
run             ${{part}}
{dumps}
next            part moment
jump            SELF again
"""
REST = {"bodies": """\
velocity        all zero linear rigid bodies
velocity        all zero angular rigid bodies
""", "singles": """\
velocity        singles set 0 0 0
set             group singles omega 0 0 0
"""}
WALL_FORCES = f"""\
dump            walls all custom 1 {WALLS} id {{columns}}
dump_modify     walls format float %.17g
"""
SPRINGS = f"""\
# Tangential forces of spheres without velocities, so that they are those of the springs and not of dashpots.
{{rest}}compute         pairs all property/local patom1 patom2
compute         springs all pair/local p1 p2 p3
dump            springs all local 1 {PAIRS} index c_pairs[*] c_springs[*]
dump_modify     springs format float %.17g
{{walls}}run             0 post no
"""


def write_lammps(sim, folder, steps, every):
    """Write a folder of files: see `Simulation.io.write_lammps`."""
    folder, steps, every = file_path("folder", folder), whole("steps", steps, 1), whole("every", every, 0)
    setup(sim)                                          # refuses
    velocities, reason = loading(sim)
    skin, springs = SKIN * np.median(sim.sphere_radii), has_springs(sim)
    script = "\n".join([HEADER.format(steps=steps, every=every, skin=skin),
                        setup(sim, springs, velocities is not None),
                        RUN.format(dumps=dump_commands(sim)) + (spring_commands(sim) if springs else "")])
    warn_of_differences(sim)
    if reason:
        warnings.warn(f"contacts begin in LAMMPS without the springs of friction: {reason}; let the clumps come to "
                      "rest there again, or flow for a while, before you measure", UserWarning, stacklevel=3)
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("spheres.dump", PAIRS, WALLS, *map(".".join, product(("start", "end"), ("bodies", "singles")))):
        (folder / name).unlink(missing_ok=True)         # of another state
    write_data(sim, folder, velocities)
    sim.save(folder / CHECKPOINT)
    replace_text(folder / INPUT, script)


def setup(sim, springs=False, stretched=False):
    """Commands up to the first step; springs : for `spring_commands`;  stretched : `write_data` has velocities."""
    if not sim.n_clumps:
        raise ValueError("there are no clumps: add some before the files of LAMMPS are written")
    if sim.reader.user_forces.expected:
        raise ValueError("user forces cannot be given to LAMMPS; write the files of a simulation without them, as of "
                         "Simulation.load(path, forces='drop')")
    if not moving_groups(sim):
        raise ValueError("all clumps are held at rest: add some that move before the files of LAMMPS are written")
    still = groups_of(sim).get("frozen", np.zeros(sim.n_clumps, dtype=bool))
    moves = np.broadcast_to(sim.reader.motion_factors()[0], (sim.n_clumps, 3)).all(axis=1)
    other = np.flatnonzero(~still & ~(moves & sim.reader.turns_freely()))
    if len(other):
        raise ValueError(f"clump {other[0]} is held, but moves or is free in part, which cannot be given to LAMMPS; "
                         "hold it at rest by sim.set_motion(ids, free='', turns=''), or free it by sim.set_motion(ids) "
                         "and add fix move or fix setforce to the script")
    if sim.fields:
        raise ValueError(f"fields cannot be given to LAMMPS: {', '.join(sim.fields)}; write the files of a simulation "
                         "without them")
    for k in np.unique(sim.template_index[single_spheres(sim) & ~still]):
        template = sim.templates[k]
        ball = ClumpTemplate([(0.0, 0.0, 0.0)], template.radii, template.mass / template.volume)
        if np.any(template.offsets) or not np.allclose(template.inertia, ball.inertia, rtol=1e-6, atol=0.0):
            raise ValueError(f"templates[{k}] = {template!r}: it is one sphere with mass properties of its own, and a "
                             "single sphere of LAMMPS is a uniform ball; make it of several spheres")
    size = np.linalg.norm(sim.gravity)
    direction = np.divide(sim.gravity, size) if size else (0.0, 0.0, -1.0)
    gravity = f"{size:.17g} vector " + " ".join(f"{x:.17g}" for x in direction)
    motion = "\n".join({"bodies": RIGID, "singles": SINGLE, "frozen": FREEZE}[group].format(
        gravity=gravity, row=MOTION) for group in groups_of(sim))
    energies = {kind: "+".join(f"c_{group}_{kind}" for group in moving_groups(sim))
                for kind in ("translational", "rotational")}
    molecules = {"bodies": f"<> 1 {sim.n_clumps}", "frozen": sim.n_clumps + 1}
    before = "".join(EXCLUDE.format(group=group, molecules=molecules[group])
                     for group in groups_of(sim) if group in molecules) + STRETCH * stretched
    return SETUP.format(boundary=bounds_of(sim)[2], deform=deform_commands(sim), dt=sim.dt, before=before,
                        motion=motion, cutoff=2.0 * sim.reader.bounding_radii().max(),
                        read=READ_BOTH if stretched else READ, **energies,
                        contacts="\n".join(contact_commands(sim, springs)),
                        search="multi" if len(np.unique(sim.material_index)) > 1 else "bin")


def deform_commands(sim):
    """fix deform of a periodic box that moves, or nothing. ValueError for what LAMMPS does not compute equally."""
    box = sim.reader.periodic
    if box is None or box.shear is None and not any(rate != 0.0 for rate in box.rates):
        return ""
    if not single_spheres(sim).all():
        raise ValueError("the periodic box moves, across whose faces the rigid bodies of LAMMPS have no velocities of "
                         "images (fix rigid with fix deform): clumps of one sphere only can be given to it")
    if box.servos or box.functions:
        raise ValueError(f"periodic = {box!r}: a pressure or a function of the time cannot be given to LAMMPS; give "
                         "constant rates")
    found = [f"{axis} trate {rate:.17g}" for axis, rate in zip("xyz", box.rates) if rate != 0.0]
    if box.shear is not None:
        flow, gradient, rate = box.shear
        if flow > gradient:
            raise ValueError(f"periodic = {box!r}: in LAMMPS the flow axis is before the gradient axis; give "
                             "shear=('x', 'y', rate), ('x', 'z', ...) or ('y', 'z', ...)")
        found.append(f"{'xyz'[flow]}{'xyz'[gradient]} erate {rate:.17g}")
    return f"fix             box all deform 1 {' '.join(found)} remap v flip yes\n"


def dump_commands(sim):
    """Commands that write the motion of the clumps to ${moment}.bodies and ${moment}.singles; see dump.py."""
    columns = {"bodies": "local 1 ${moment}.bodies c_motion[*]", "singles": f"custom 1 ${{moment}}.singles id {MOTION}"}
    groups = moving_groups(sim)
    return "\n".join([*(DUMP.format(group=group, columns=columns[group]) for group in groups),
                      "run             0 post no", *(f"undump          {group}" for group in groups)])


def spring_commands(sim):
    """Commands that write the springs of contacts at the end; see dump.py."""
    fixes = [line.split()[1] for line in contact_commands(sim) if line.startswith("fix ")]
    walls = WALL_FORCES.format(columns=" ".join(f"f_{fix}[1*4]" for fix in fixes)) if fixes else ""
    return SPRINGS.format(rest="".join(REST[group] for group in moving_groups(sim)), walls=walls)


def groups_of(sim):
    """Groups of LAMMPS that are not empty, each (n_clumps,) bool: bodies of several spheres, single spheres, what is
    held at rest."""
    single, still = single_spheres(sim), frozen(sim)
    found = {"bodies": ~single & ~still, "singles": single & ~still, "frozen": still}
    return {group: clumps for group, clumps in found.items() if clumps.any()}


def moving_groups(sim):
    """The same without what is held."""
    return {group: clumps for group, clumps in groups_of(sim).items() if group != "frozen"}


def write_data(sim, folder, velocities=None):
    """Write the files that the commands of `setup` read. velocities : of `loading`."""
    with replacing(folder / SPHERES) as path:
        write_spheres(sim, path, velocities)
    bodies = groups_of(sim).get("bodies")
    if bodies is not None:      # molecule, mass, centre, inertia (6), velocity, angular momentum, image flags
        inertia = inertia_of(sim)[1]
        momentum = np.einsum("nij,nj->ni", inertia, sim.angular_velocity)
        table = np.column_stack([np.arange(1, sim.n_clumps + 1), sim.mass, sim.wrapped_position,
                                 inertia[:, [0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]], sim.velocity, momentum, sim.image])
        with replacing(folder / CLUMPS) as path:
            np.savetxt(path, table[bodies], "%d" + 16 * " %.17g" + 3 * " %d", header=str(np.count_nonzero(bodies)),
                       comments="")


def single_spheres(sim):
    """(n_clumps,) bool, the clumps of one sphere, which fix rigid/small refuses; they are for fix nve/sphere."""
    return np.array([len(template.radii) == 1 for template in sim.templates])[sim.template_index]


def inertia_of(sim):
    """Quaternions (n, 4), principal frame to lab; inertia about the centres of mass, lab (n, 3, 3) [kg m2]."""
    principal, moments = sim.reader.column("orientation"), sim.reader.column("inertia")
    axes = rotate(principal[:, None], np.eye(3)).swapaxes(1, 2)
    return principal, (axes * moments[:, None, :]) @ axes.swapaxes(1, 2)


def write_spheres(sim, path, velocities):
    """Data file. Lines: id, type, position, diameter, density (of clumps of one sphere), molecule id.

    The type is the rank of the material; the molecule is the clump, from 1 on, or 0 for clumps of one sphere. All
    clumps that are held are one molecule, the last one, whose spheres do not touch each other.
    """
    center, radius, clump = sim.sphere_centers, sim.sphere_radii, sim.sphere_clump
    low, high, _ = bounds_of(sim)
    box, velocity = sim.box, sim.velocity[clump]
    n, density = len(radius), sim.mass[clump] / (4.0 / 3.0 * np.pi * radius ** 3)
    sides = "".join(f"{a:.17g} {b:.17g} {axis}lo {axis}hi\n" for a, b, axis in zip(low, high, "xyz"))
    if box is not None and (box.moves or box.across is not None):       # single spheres, in the tilted cell
        inside = box.in_cell(center, box.low)[0]
        center, velocity = inside, velocity + box.flow(inside) - box.flow(center)
        sides += "{:.17g} {:.17g} {:.17g} xy xz yz\n".format(*box.tilts)
    single, ids = single_spheres(sim)[clump], np.arange(1, n + 1)
    motion = np.column_stack([velocity, sim.angular_velocity[clump]]) * single[:, None]
    molecule = np.where(frozen(sim)[clump], sim.n_clumps + 1, np.where(single, 0, clump + 1))
    materials, kind = np.unique(sim.material_index, return_inverse=True)
    table = np.column_stack([ids, kind[clump] + 1, center, 2.0 * radius, density, molecule])
    sections = {"Velocities": motion} if velocities is None else {"Velocities": velocities, "Motion": motion}
    with path.open("w") as file:
        np.savetxt(file, table, "%d %d %.17g %.17g %.17g %.17g %.17g %d", comments="",
                   header=f"spheres\n\n{n} atoms\n{len(materials)} atom types\n{sides}\nAtoms # hybrid\n")
        for name, rows in sections.items():
            np.savetxt(file, np.column_stack([ids, rows]), "%d" + 6 * " %.17g", header=f"\n{name}\n", comments="")
