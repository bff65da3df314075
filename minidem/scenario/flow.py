"""Observables of clumps in a sheared periodic box, columns of observables.csv."""
from minidem.analysis import flow
from minidem.analysis.flow import relative_rotation as rotation, shear_rate, solid_fraction, stress
from minidem.scenario.scenario import Observable

__all__ = ["SHEAR_FLOW", "rotation", "shear_rate", "solid_fraction", "stress"]
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
    Observable("tumbling", "rotation across the axes / half the vorticity", lambda sim: rotation(sim, tumbling=True)),
    Observable("coordination_number", "coordination number", lambda sim: sim.coordination_number(neighbours=True)),
)
