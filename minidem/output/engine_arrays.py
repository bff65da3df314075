"""The arrays of checkpoints that the Driver has under other names."""
SAME_NAME = ("work", "force_work", "servo_states", "wall_work", "dissipated")
HISTORY = ("spheres", "records", "force", "couple", "mass", "rolling_inertia")


def arrays_of_driver(loop):
    """What the loop has of history, sums of energies and motions of walls, by the names of checkpoint_fields.py."""
    past = loop.past()
    history = {f"history_{name}": values for name, values in past.get("history", {}).items()}
    return history | {name: past[name].copy() for name in SAME_NAME if name in past}


def arguments_of_driver(known):
    """Arguments of a Driver, from validated arrays."""
    found = {name: known[name] for name in SAME_NAME if name in known}
    if "history_spheres" in known:
        found["history"] = {name: known[f"history_{name}"] for name in HISTORY}
    return found
