"""Which clumps a simulation has, with which fields, and what remains of clumps that were removed."""
from dataclasses import dataclass, field, replace

import numpy as np


@dataclass(frozen=True, eq=False)
class Population:
    """Ids of the present clumps, and sums over the removed ones.

    Attributes
    ----------
    ids : (n,) int64, ascending
    next_id : id of the next new clump; an id is never used again
    work : work of user forces on removed clumps, and of walls and box before a change of walls [J]
    exchanged : energy of added clumps minus energy of removed ones since the first step [J]
    breakage : energy of fragments minus energy of the clumps that they have replaced [J]
    fields : tuple of Field, whose values are in the blocks of the state
    outflow : dict, name of an outlet -> (number, mass [kg]) of the clumps that it has removed since the start
    """

    ids: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    next_id: int = 0
    work: float = 0.0
    exchanged: float = 0.0
    breakage: float = 0.0
    fields: tuple = ()
    outflow: dict = field(default_factory=dict)

    @property
    def components(self):
        """(name, first component, number of components) of each field, a tuple."""
        ends = np.cumsum([0, *(field.components for field in self.fields)])
        return tuple((field.name, int(end), field.components) for field, end in zip(self.fields, ends))

    def with_new(self, n):
        """Return the population with n more clumps."""
        end = self.next_id + n
        return replace(self, ids=np.append(self.ids, np.arange(self.next_id, end)), next_id=end)

    def with_outflow(self, outlet, mass):
        """Return the population after `outlet` has removed clumps of mass (n,)."""
        count, total = self.outflow.get(outlet, (0, 0.0))
        return replace(self, outflow=self.outflow | {outlet: (count + len(mass), total + float(mass.sum()))})
