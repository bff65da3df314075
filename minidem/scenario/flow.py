"""Observables of clumps in a sheared periodic box, columns of observables.csv."""
import numpy as np

from minidem.analysis import flow
from minidem.scenario.scenario import Observable


def solid_fraction(sim):
    """Volume of the clumps over that of the box."""
    return float(np.sum(flow.clump_volumes(sim)) / sim.box.volume)


def shear_rate(sim):
    """dv_flow / dx_gradient at this instant [1/s]."""
    return sim.box.gradient[flow.shear_axes(sim)[:2]]


def stress(sim):
    """(3, 3) stress with its kinetic part, along flow, gradient and vorticity [Pa]."""
    axes = flow.shear_axes(sim)
    return sim.stress(kinetic=True)[np.ix_(axes, axes)]


def rotation(sim):
    """Mean angular velocity about the vorticity axis, over half the vorticity of the flow; nan without flow."""
    along, across, _ = flow.shear_axes(sim)
    vorticity = shear_rate(sim) * np.cross(np.eye(3)[across], np.eye(3)[along])
    squared = vorticity @ vorticity
    return float(2.0 * flow.mean_rotation(sim) @ vorticity / squared) if squared else np.nan


SHEAR_FLOW = (
    Observable("strain", "shear strain", lambda sim: sim.strain[3]),
    Observable("shear_stress", "shear stress, compression positive (Pa)", lambda sim: stress(sim)[0, 1]),
    Observable("stress_flow", "normal stress along the flow (Pa)", lambda sim: stress(sim)[0, 0]),
    Observable("stress_gradient", "normal stress along the gradient (Pa)", lambda sim: stress(sim)[1, 1]),
    Observable("stress_vorticity", "normal stress along the vorticity (Pa)", lambda sim: stress(sim)[2, 2]),
    Observable("solid_fraction", "solid fraction", solid_fraction),
    Observable("temperature", "granular temperature (m²/s²)", flow.granular_temperature),
    Observable("order", "nematic order $S_2$", flow.nematic_order),
    Observable("angle", "angle of the director to the flow (rad)", flow.director_angle),
    Observable("rotation", "rotation / half the vorticity", rotation),
    Observable("coordination_number", "coordination number", lambda sim: sim.coordination_number(neighbours=True)),
)
