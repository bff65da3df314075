"""Validation of new clumps, and their transformation to what the state stores."""
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from minidem.core.checks import LARGEST, dimensions, finite_array, short_repr, unit_quaternions
from minidem.core.quaternions import multiply, rotate_back
from minidem.material import Material, require_materials
from minidem.templates.clump_template import ClumpTemplate, template_scales


def clump_columns(template: ClumpTemplate, position: Any, orientation: ArrayLike, velocity: ArrayLike,
                  angular_velocity: ArrayLike, scale: ArrayLike, material: Material) -> tuple[np.ndarray, ...]:
    """Arguments of `State.with_clumps` from those of `Simulation.add_clumps`, which documents them.

    Returns
    -------
    tuple of ndarray
        position (n, 3), orientation (n, 4) principal frame -> lab, velocity (n, 3), angular velocity (n, 3) principal
        frame, scale (n,).
    """
    if not isinstance(template, ClumpTemplate):
        raise ValueError(f"template = {short_repr(template)}: give a minidem.ClumpTemplate")
    require_materials(material=material)
    if material.density not in (None, template.density):
        raise ValueError(f"material has the density {material.density}, and the template {template.density}: make the "
                         "template with the density of the material")
    if dimensions("position", position) == 1 and len(position) == 3:
        position = [position]
    position = finite_array("position", position, (-1, 3), limit=LARGEST)
    n = len(position)
    orientation = unit_quaternions("orientation", orientation, n, stacklevel=4)
    velocity = finite_array("velocity", velocity, (n, 3), repeat=True, limit=LARGEST)
    angular_velocity = finite_array("angular_velocity", angular_velocity, (n, 3), repeat=True, limit=LARGEST)
    scale = template_scales(template, scale, n)
    internal = multiply(orientation, template.orientation)
    return position, internal, velocity, rotate_back(internal, angular_velocity), scale
