"""Observables of clumps in a sheared periodic box, columns of observables.csv."""
import numpy as np

from minidem.analysis import flow
from minidem.scenario.scenario import Observable


def solid_fraction(sim):
    """Volume of the clumps over that of the box."""
    volumes = np.array([template.volume for template in sim.templates])[sim.template_index] * sim.scale ** 3
    return float(np.sum(volumes) / sim.box.volume)


def _stress(row, column):
    """A component of the stress, kinetic part included: "flow", "gradient" or "vorticity" each."""
    def value(sim):
        axes = _axes(sim)
        return sim.stress(kinetic=True)[axes[row], axes[column]]
    return value


def _axes(sim):
    along, across = sim.periodic.shear[:2]
    return {"flow": along, "gradient": across, "vorticity": 3 - along - across}


def shear_rate(sim):
    """dv_flow / dx_gradient at this instant [1/s]."""
    along, across = sim.periodic.shear[:2]
    return sim.box.gradient[along, across]


def rotation(sim):
    """Mean angular velocity about the vorticity axis, over that of the flow: 1 for spheres."""
    along, across = sim.periodic.shear[:2]
    turn = np.cross(np.eye(3)[across], np.eye(3)[along])        # the flow turns about it with half the shear rate
    rate = 0.5 * shear_rate(sim)
    return float(flow.mean_rotation(sim) @ turn / rate) if rate else np.nan


FLOW = (
    Observable("strain", "shear strain", lambda sim: sim.strain[3]),
    Observable("shear_stress", "shear stress, compression positive (Pa)", _stress("flow", "gradient")),
    Observable("stress_flow", "normal stress along the flow (Pa)", _stress("flow", "flow")),
    Observable("stress_gradient", "normal stress along the gradient (Pa)", _stress("gradient", "gradient")),
    Observable("stress_vorticity", "normal stress along the vorticity (Pa)", _stress("vorticity", "vorticity")),
    Observable("solid_fraction", "solid fraction", solid_fraction),
    Observable("temperature", "granular temperature (m²/s²)", flow.granular_temperature),
    Observable("order", "nematic order $S_2$", flow.nematic_order),
    Observable("angle", "angle of the director to the flow (rad)", flow.director_angle),
    Observable("rotation", "rotation / that of the flow", rotation),
    Observable("coordination_number", "coordination number", lambda sim: sim.coordination_number(neighbours=True)),
)
