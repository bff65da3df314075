"""The time loop of one simulation with what is needed to make another one."""
from __future__ import annotations

import numpy as np

from minidem.contact import registry as contact_laws
from minidem.contact.pair_table import PairTable
from minidem.core.guard import Guard
from minidem.core.parameters import named_values
from minidem.engine.driver import Driver
from minidem.engine.field_table import field_values
from minidem.engine.user_forces import UserForces
from minidem.rotation import registry
from minidem.state.state import State
from minidem.walls.wall_table import WallElements


class Engine:
    """The present `Driver` of a simulation, and the settings of each further one.

    All that changes belongs to one `Driver`. What needs another one, such as adding clumps, prepares it by `make` and
    replaces the old one by one assignment to `loop`, so that Ctrl-C or an error leaves the simulation as it was.

    Attributes
    ----------
    loop : Driver
    due : int, step whose callback has not returned, or None
    calls_every : int, steps between the calls of the callback that is running, or None
    inlets_called : dict, (Inlet, step of its last call) by its id(); not in copies and files
    law, law_values : record of the contact law, and its parameters
    guard : Guard, which all methods of the simulation enter (`exclusive`)
    threads : int, largest number of threads
    """

    def __init__(self, material, walls, pairs, box, rotation, contact, dt, gravity, threads):
        self.guard, self.due, self.threads = Guard(), None, threads
        self.calls_every, self.inlets_called = None, {}
        self._dt, self._gravity = dt, gravity
        self._scheme, self._scheme_values = registry.select(rotation)
        self.law, self.law_values = contact_laws.select(contact, self._scheme)
        self._elements = WallElements(walls, None if box is None else box.start.length)
        self.loop = self.make(State(self._scheme.n_scratch, box), PairTable(material, walls, pairs))

    def make(self, state, pair_table, step_count=0, forces=None, **known):
        """A Driver for `state` at step number step_count with these UserForces; `known` are further arguments."""
        pair_table.require_pairs(self.law, self.law_values, state.material_index)
        return Driver(state, self._scheme, self._scheme_values, self._dt, first_step=step_count,
                      law=(self.law, self.law_values, pair_table), gravity=self._gravity, walls=self._elements,
                      threads=self.threads, user_forces=forces, guard=self.guard, **known)

    def law_value(self, name):
        """A parameter of the contact law, a number or a word; None for a law without it."""
        return named_values(self.law.parameters, self.law_values).get(name)

    @property
    def state(self):
        """The present State."""
        return self.loop.state

    @property
    def box(self):
        """The present Box, or None."""
        return self.loop.box

    @property
    def moves(self):
        """Whether a wall or the periodic box moves, and does work."""
        box = self.state.box
        return box is not None and box.moves or any(wall.moves for wall in self.loop.walls.elements.walls)

    def in_box(self):
        """Positions (n, 3) in the periodic box, and by how many of its lengths the stored ones are outside (n, 3)."""
        position, box = self.state.column("position"), self.box
        if box is None:
            return position, np.zeros(position.shape, dtype=np.int64)
        return box.wrapped(position), box.image(position)

    @property
    def user_forces(self):
        """The present UserForces."""
        return self.loop.user_forces or UserForces()

    @property
    def fields(self):
        """Values of the fields of the clumps by name, a dict of copies."""
        return field_values(self.loop.state, self.loop.population.components)

    def evaluate_forces(self):
        """Forces at the present positions, unless they are known."""
        if not self.loop.forces_known:
            self.loop.evaluate()

    def contacts(self):
        """The present contacts, a structured array."""
        if not self.loop.contacts_known:
            self.loop.evaluate()
        return self.loop.contacts()

    def rates(self):
        """(velocity lab, angular velocity principal frame) at the whole step."""
        if self.loop.started.any():
            self.evaluate_forces()
        return self.loop.rates()

    def spheres(self):
        """(n_spheres, 4) centres and radii, in the user's order, next to the centres of the clumps.

        Centres are those of the last step, or of the last `loop.pose()`.
        """
        state = self.state
        spheres = state.spheres.reshape(-1, 4).take(state.sphere_slot, axis=0)
        if state.box is not None:
            sizes = state.bodies.sizes[state.template_index]
            spheres[:, :3] += np.repeat(state.shift * state.box.start.length, sizes, axis=0)
        return spheres
