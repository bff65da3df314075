"""Templates in checkpoints: arrays of the attributes of all of them (checkpoint_fields.py)."""
import numpy as np

from minidem.output.checkpoint_fields import FIELDS
from minidem.templates.clump_template import ClumpTemplate

ATTRIBUTES = {field.name.removeprefix("template_"): field for field in FIELDS
              if field.shape[0] in ("n_templates", "n_template_spheres") and field.name != "template_sizes"}


def pack_templates(templates):
    """Arrays of templates, each given as its attributes by name."""
    arrays = {"template_sizes": np.array([len(template["radii"]) for template in templates], dtype=np.int32)}
    for name, field in ATTRIBUTES.items():
        rows, tail = [template[name] for template in templates], field.shape[1:]
        of_spheres = field.shape[0] == "n_template_spheres"
        arrays[field.name] = np.concatenate([np.zeros((0, *tail)), *rows]) if of_spheres else \
            np.array(rows, dtype=float).reshape(-1, *tail)
    return arrays


def unpack_templates(arrays):
    """Templates from the stored values, which are not computed again."""
    templates = [object.__new__(ClumpTemplate) for _ in arrays["template_sizes"]]
    ends = np.cumsum(arrays["template_sizes"])[:-1]
    for name, field in ATTRIBUTES.items():
        rows = arrays[field.name]
        for template, value in zip(templates, rows if field.shape[0] == "n_templates" else np.split(rows, ends)):
            vars(template)[name] = value.copy() if np.ndim(value) else float(value)
    return templates
