"""LIGGGHTS as a peer: insert minidem's clumps one by one by liggghts.in, read the motion of the spheres.

LIGGGHTS cannot read clumps (fix multisphere) from a file. It inserts clumps at random places of a region, with a
given orientation, velocity and angular velocity: here one clump per region, in a region as small as round-off.
LIGGGHTS writes the motion of the spheres with all digits, but not of the clumps: velocity and centre of a
clump are weighted means over its spheres, with weights that are exact for a rigid body.
"""

import re
from pathlib import Path

import numpy as np

from minidem.output.lammps.dump import read_dump
from peers.peer import Measurement, Peer, run_script
from peers.state import box_of, clump_state, total_energy

SKINS = (0.5, 1.0, 2.0)                 # in radii of the largest sphere
MAX_CLUMPS = 20_000                    # insertion time grows with the square of the number: 30 s for 10 000
# LIGGGHTS requires large primes, different ones for a template, a distribution and an insertion.
TEMPLATE_SEED, DISTRIBUTION_SEED, CLUMP_SEED = 15485863, 32452843, 49979687


def measure(program, sim, settings, warmup, steps, folder):
    folder = Path(folder)
    write_insertion(sim, folder)
    low, high = box_of(sim)
    variables = {"skin": settings["skin"] * sim.sphere_radii.max(), "young": sim.material.young,
                 "poisson": sim.material.poisson, "dt": sim.dt, "warmup": warmup, "steps": steps}
    for k, axis in enumerate("xyz"):
        variables.update({f"low_{axis}": low[k], f"high_{axis}": high[k]})
    output, us_per_step = run_script(program, "liggghts.in", variables, folder)
    version = re.search(r"^LIGGGHTS \(Version LIGGGHTS-PUBLIC (.*?),", output, re.MULTILINE)[1]
    energies = [motion_of_clumps(sim, folder / f"{moment}.spheres")[1] for moment in ("start", "end")]
    position = motion_of_clumps(sim, folder / "warm.spheres")[0]
    return Measurement(version, us_per_step, *energies, position.tolist())


def write_insertion(sim, folder):
    """Write insert.in (a template per clump template, in its principal frame; a region and an insertion per clump),
    remove.in (removes the insertions) and the sphere files of the templates."""
    insert, remove = [], []
    for k, template in enumerate(sim.templates, start=1):
        np.savetxt(folder / f"{k}.spheres", np.column_stack([template.offsets, template.radii]), "%.17g")
        a, b, c = template.inertia
        insert.append(
            f"fix template{k} all particletemplate/multisphere {TEMPLATE_SEED} atom_type 1 "
            f"density constant {template.density:.17g} nspheres {len(template.radii)} ntry 1000 "
            f"spheres file {k}.spheres scale 1.0 type {k} mass {template.mass:.17g} "
            f"inertia_tensor {a:.17g} 0 0 {b:.17g} 0 {c:.17g} use_density\n"
            f"fix kind{k} all particledistribution/discrete {DISTRIBUTION_SEED} 1 template{k} 1.0\n")
    state = clump_state(sim)
    rounding = 4.0 * np.finfo(float).eps * np.abs(state["wall_point"]).max()
    # The step that inserts a clump ends with a half kick, so velocities are those half a step earlier.
    spin = np.linalg.solve(state["inertia"], state["angular_momentum_before"][:, :, None])[:, :, 0]
    rows = zip(sim.template_index, state["position"], state["principal_orientation"],
               state["velocity_before"], spin)
    for i, (k, position, orientation, velocity, omega) in enumerate(rows):
        corners = " ".join(f"{x - rounding:.17g} {x + rounding:.17g}" for x in position)
        insert.append(
            f"region place{i} block {corners} units box volume_limit 1e-300\n"
            f"fix clump{i} all insert/pack seed {CLUMP_SEED} distributiontemplate kind{k + 1} "
            f"insert_every once verbose no overlapcheck no all_in no vel constant {numbers(velocity)} "
            f"omega constant {numbers(omega)} orientation constant {numbers(orientation)} "
            f"region place{i} particles_in_region 1 ntry_mc 1001\n")
        remove.append(f"unfix clump{i}\n")
    (folder / "insert.in").write_text("".join(insert))
    (folder / "remove.in").write_text("".join(remove))


def numbers(vector):
    return " ".join(f"{x:.17g}" for x in vector)


def motion_of_clumps(sim, path):
    """Centres (n, 3) [m] of the clumps and the total energy [J], from a dump of the motion of the spheres."""
    rows = read_dump(path)[:, 1:]                       # ids follow the order of insertion
    position, velocity, body_omega, inertia = np.empty((4, sim.n_clumps, 3))
    for k, template in enumerate(sim.templates):
        clumps = np.flatnonzero(sim.template_index == k)
        spheres = np.isin(sim.sphere_clump, clumps)
        center, v, omega = np.split(rows[spheres].reshape(len(clumps), len(template.radii), 9), 3, axis=2)
        equations = np.vstack([template.offsets.T, np.ones(len(template.radii))])
        weight = np.linalg.lstsq(equations, [0.0, 0.0, 0.0, 1.0])[0]
        position[clumps], velocity[clumps] = (np.einsum("nmx,m->nx", a, weight) for a in (center, v))
        # Best rotation of the template onto the spheres: Kabsch, doi:10.1107/S0567739476001873
        u, _, vt = np.linalg.svd(np.einsum("nmx,my->nxy", center - position[clumps, None], template.offsets))
        u[:, :, 2] *= np.linalg.det(u @ vt)[:, None]
        body_omega[clumps] = np.einsum("nxy,nx->ny", u @ vt, omega[:, 0])
        inertia[clumps] = template.inertia
    return position, total_energy(sim, sim.mass, velocity, body_omega, inertia * body_omega, rows[:, :3])


LIGGGHTS = Peer(name="liggghts", program="liggghts", package="liggghts", measure=measure,
                settings=tuple({"skin": skin} for skin in SKINS), max_clumps=MAX_CLUMPS)
