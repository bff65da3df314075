"""Templates in checkpoints: arrays of the attributes of all templates (checkpoint_fields.py)."""
import numpy as np

from minidem.output.checkpoint_fields import FIELDS
from minidem.templates.clump_template import ClumpTemplate

OF_SPHERES = "n_template_spheres"
ATTRIBUTES = {field.name.removeprefix("template_"): field for field in FIELDS
              if field.shape[0] in ("n_templates", OF_SPHERES) and field.name != "template_sizes"}


def pack_templates(templates):
    """Arrays of templates, each given as its attributes by name."""
    joined = {field.name: np.concatenate([np.zeros((0, *field.shape[1:])), *(
        np.reshape(template[name], (-1, *field.shape[1:])) for template in templates)])
        for name, field in ATTRIBUTES.items()}
    return joined | {
        "template_sizes": np.array([len(template["radii"]) for template in templates], dtype=np.int32)}


def unpack_templates(arrays):
    """Templates from the stored values, which are not computed again."""
    templates, sizes = [], arrays["template_sizes"]
    for k, (end, size) in enumerate(zip(np.cumsum(sizes), sizes)):
        template = object.__new__(ClumpTemplate)
        for name, field in ATTRIBUTES.items():
            rows = arrays[field.name]
            value = (rows[end - size:end] if field.shape[0] == OF_SPHERES else rows[k]).copy()
            vars(template)[name] = value if value.ndim else value.item()
        templates.append(template)
    return templates
