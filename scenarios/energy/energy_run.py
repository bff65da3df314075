"""A run with energies recorded at equidistant instants, and the processor time of its time loop."""
from dataclasses import dataclass
from time import process_time

import numpy as np

import minidem as md
from minidem.analysis.energy import lasting_energy_error
from minidem.scenario.record import ENERGIES
from minidem.simulation.pace import steps_to_reach


@dataclass(frozen=True)
class EnergyRun:
    """Result of `energy_run`.

    Attributes
    ----------
    energies : dict
        Columns of energy.csv except the time, name -> array (rows,) [J]; the first row is the initial state.
    contacts : (rows,) array
        Number of contacts.
    steps : int
        Number of steps made.
    loop_seconds : float
        Processor time of the time loop alone [s].
    """

    energies: dict[str, np.ndarray]
    contacts: np.ndarray
    steps: int
    loop_seconds: float

    @property
    def change(self) -> np.ndarray:
        """(rows,) |E - E0| / E0 of the total energy."""
        total = self.energies["total"]
        return np.abs(total - total[0]) / total[0]

    @property
    def lasting_error(self) -> tuple[float | None, str | None]:
        """Lasting relative energy error, and its rows: see `lasting_energy_error`."""
        return lasting_energy_error(self.energies, self.contacts)


def energy_run(sim: md.Simulation, time: float, rows: int, limit: float = np.inf) -> EnergyRun:
    """Run `sim` and record energies.

    Parameters
    ----------
    sim : Simulation
        In its initial state.
    time : float
        Duration [s].
    rows : int
        Number of equidistant instants, the end among them; at most one per step.
    limit : float
        The run ends when the relative change of the total energy exceeds it.

    Raises
    ------
    FloatingPointError
        For a non-finite state.
    """
    steps = steps_to_reach(time, sim.dt)
    rows, loop_seconds, found, contacts = min(rows, steps), 0.0, [], []
    for k in range(rows + 1):
        begun = process_time()
        sim.run(k * steps // rows - sim.step_count)
        loop_seconds += process_time() - begun
        table = sim.contacts()
        found.append(sim.energy(contacts=table, shadow=True))
        contacts.append(len(table))
        if abs(found[-1].total - found[0].total) > limit * found[0].total:
            break
    energies = {name: np.array([getattr(energy, name) for energy in found]) for name in ENERGIES}
    return EnergyRun(energies, np.array(contacts), sim.step_count, loop_seconds)
