"""Errors and drift of the total energy over the rows of a table."""
import numpy as np


def scale_of(first, with_potential, kinetic):
    """(what energy errors are divided by [J], its name).

    The initial energy `first`; with body forces its zero is arbitrary, and at rest it is nothing: then the
    largest translational + rotational energy seen, `kinetic`. (None, None) while nothing has moved.
    """
    if first > 0.0 and not with_potential:
        return first, "energy_initial"
    return (kinetic, "kinetic_max") if kinetic > 0.0 else (None, None)


def scale_parts(table):
    """(whether there is potential energy, largest translational + rotational energy [J]), for `scale_of`."""
    return bool(np.any(table["potential"])), np.max(table["translational"] + table["rotational"])


def energy_scale(table):
    """`scale_of` the rows of a table."""
    return scale_of(table["total"][0], *scale_parts(table))


def energy_error(table):
    """max |E - E0| / scale over the rows, or None without a scale."""
    scale, _ = energy_scale(table)
    total = table["total"]
    return None if scale is None else np.max(np.abs(total - total[0])) / scale


def energy_drift(table):
    """(mean energy of the last tenth of the rows - that of the first) / scale, or None without a scale."""
    scale, _ = energy_scale(table)
    total, tenth = table["total"], -(-len(table.rows) // 10)
    return None if scale is None else (np.mean(total[-tenth:]) - np.mean(total[:tenth])) / scale
