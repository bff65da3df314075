"""Checkpoints of versions up to 0.12, formats 4 to 14, turned into those of the newest format.

Format 14 has no onset corrections, format 13 neither fractures nor fields. Each format before has what those before it
have, and more:

    4   clumps of one material, Hertz's law, planes at rest      9   history of contacts
    5   scale of each clump                                     10   ids, where clumps were removed
    6   contact law                                             11   other walls than planes at rest
    7   several materials, or properties of their contacts      12   periodic box

What a file does not need is missing in it; checkpoint_fields.py says what then holds. There are arrays for each
template and each mesh, and energies for each clump. Effective masses of contacts are those of the clumps.
"""
from itertools import count, takewhile

import numpy as np

from minidem.contact import registry
from minidem.output.checkpoint_fields import ATTRIBUTES, pack_templates
from minidem.output.npz_checksum import FORMAT, OLDEST
from minidem.output.wall_records import pack_meshes

WITHOUT_MASS = ("hertz-mindlin", "hooke-coulomb")       # laws whose parameter "mass" is newer than these formats


def converted(settings, arrays):
    """Settings and arrays of the newest format, from those of any format that is read."""
    found = settings.get("format", OLDEST)
    if found < 13:
        settings, arrays = _of_first_formats(settings, arrays)
    if found < 14 and "dissipated" in arrays:           # without the energy of fracture
        arrays = arrays | {"dissipated": np.append(arrays["dissipated"], np.zeros((1, 2)), axis=0)}
    return settings | {"format": FORMAT} | ({"fields": []} if found < 14 else {}), arrays


def _of_first_formats(settings, arrays):
    """Formats 4 to 12 as format 13."""
    n, walls = len(arrays["template_index"]), settings["walls"]
    settings = {"contact": "hertz", "periodic": None, "materials": [settings["material"]], "pairs": [],
                "callback_due": False, "next_id": n} | settings | {
        "walls": [{"kind": "Plane", "motion": None} | wall for wall in walls]}
    settings["contact"] = with_clump_mass(settings["contact"])
    templates = [{name: arrays[f"template_{k}_{name}"] for name in ATTRIBUTES}
                 for k in takewhile(lambda k: f"template_{k}_radii" in arrays, count())]
    meshes = [(arrays[f"wall_{k}_points"], arrays[f"wall_{k}_triangles"]) if f"wall_{k}_points" in arrays else None
              for k in range(len(walls))]
    arrays = {"ids": np.arange(n)} | arrays | pack_templates(templates) | pack_meshes(meshes)
    if "history_spheres" in arrays:
        arrays |= _history(arrays)
    for name in {"dissipated", "wall_work"} & arrays.keys():        # of each clump
        arrays[name] = two_numbers(arrays[name])
    if "wall_work" in arrays:                           # the second one was a power
        arrays["wall_work"][1] *= 0.5 * settings["dt"]
    if "exchanged" in arrays:                           # what was dissipated at removed clumps came first
        if "dissipated" in arrays:
            arrays["dissipated"][:, 0] += arrays["exchanged"][:4]
        arrays["exchanged"] = arrays["exchanged"][4:]
    return settings, arrays


def two_numbers(of_clumps):
    """Sums over the clumps, each as two numbers to be added."""
    return np.column_stack([of_clumps.sum(axis=0), np.zeros(of_clumps.shape[1])])


def with_clump_mass(contact):
    """A contact law with the effective mass that it had."""
    name, _, given = contact.partition(":")
    if name not in WITHOUT_MASS or "mass" not in registry.info(name).parameters:
        return contact
    return f"{name}:{given}{',' if given else ''}mass=clump"


def _history(arrays):
    scale = arrays.get("scale", np.ones(len(arrays["template_index"])))
    mass, inertia = contact_masses(arrays["history_spheres"], arrays["template_sizes"], arrays["template_mass"],
                                   arrays["template_radii"], arrays["template_index"], scale)
    return {"history_force": arrays["history_results"][:, :3], "history_couple": arrays["history_couples"][:, :3],
            "history_mass": mass, "history_rolling_inertia": inertia}


def contact_masses(spheres, sizes, mass, radii, index, scale):
    """Effective mass m_i m_j / (m_i + m_j) [kg] of the clumps, and rolling inertia 1.4 m R^2 likewise, at walls of i.

    spheres : (n, 2) of contacts;  sizes, mass : of templates, radii of their spheres [m];  index, scale : of clumps
    """
    # take, because NumPy's indexing crashes where memory is exhausted
    sphere, ends = np.maximum(spheres, 0), np.cumsum(sizes.take(index))
    clump = ends.searchsorted(sphere, side="right")
    of_clump, scales = index.take(clump), scale.take(clump)
    radius = radii.take(np.cumsum(sizes).take(of_clump) - ends.take(clump) + sphere) * scales
    m = mass.take(of_clump) * scales ** 3
    return [np.where(spheres[:, 1] < 0, a, a * b / (a + b)) for a, b in (m.T, (1.4 * m * radius ** 2).T)]
