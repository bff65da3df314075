"""The arrays of checkpoints that the Driver has in another form."""
import numpy as np

from minidem.output.old_checkpoints import contact_masses, two_numbers

WORKS = ("work", "force_work")


def arrays_of_driver(loop):
    """What the loop has of history, sums of energies and motions of walls, by the names of checkpoint_fields.py."""
    past, state = loop.past(), loop.state
    values = {name: past[name] for name in (*WORKS, "servo_states") if name in past}
    if "servo_states" in past:
        values["servo_states"] = past["servo_states"].copy()
    if "wall_work" in past:
        values |= {"wall_work": two_numbers(past["wall_work"]), "wall_work_of_clumps": past["wall_work"]}
    if "history" in past:
        history, bodies = past["history"], state.bodies
        mass, inertia = contact_masses(history["spheres"], bodies.sizes, bodies.mass,
                                       np.concatenate([np.zeros(0), *(shape[:, 3] for shape in bodies.shapes)]),
                                       state.template_index, state.scale)
        values |= {"dissipated": two_numbers(past["dissipated"]), "dissipated_of_clumps": past["dissipated"],
                   "history_spheres": history["spheres"], "history_records": history["records"],
                   "history_force": history["results"][:, :3], "history_couple": history["couples"][:, :3],
                   "history_levers": history["results"][:, 3:], "history_mass": mass,
                   "history_rolling_inertia": inertia}
    return values


def arguments_of_driver(known):
    """Arguments of a Driver, from validated arrays."""
    found = {name: known[name] for name in (*WORKS, "servo_states") if name in known}
    if "wall_work" in known:
        found["wall_work"] = _of_clumps(known, "wall_work")
    if "history_spheres" in known:
        force, couple = known["history_force"], known["history_couple"]
        found["history"] = {"spheres": known["history_spheres"], "records": known["history_records"],
                            "results": np.hstack([force, known["history_levers"]]),
                            "couples": np.hstack([couple, np.zeros((len(couple), 1))])}
        found["dissipated"] = _of_clumps(known, "dissipated")
    return found


def _of_clumps(known, name):
    """Rows of the clumps; those of an old file, which has a sum, are the sum and zeros."""
    rows = known[f"{name}_of_clumps"]
    if len(rows) and not rows.any():
        rows[0] = known[name].sum(axis=1)
    return rows
