# distutils: extra_compile_args = -O1
"""Base class of the LoopOwner: the struct of the time loop, and all that Python reads of it without changing it."""
from libc.math cimport INFINITY, sqrt

import numpy as np

from minidem.engine.history_memory import history_without

from minidem.contact.contact_list cimport deepest_overlap, list_contacts, list_last, list_stored
from minidem.contact.fixed_point cimport Wide, split_wide
from minidem.core.lanes cimport LANES
from minidem.core.vec3 cimport Vec3, dot, vec3
from minidem.engine.history_memory cimport export_dissipated, export_history
from minidem.engine.time_loop cimport BLOCKS, CONTACTS, LISTS, N_PHASES, OUTSIDE, WAITING, record_phase
from minidem.state.pose cimport pose_range
from minidem.state.rows cimport POSITION, VELOCITY, load
from minidem.walls.surface cimport take_poses


cdef class LoopReader:
    """See `Driver`."""

    @property
    def shares(self):
        """(threads,) fraction of the clumps that each thread owns."""
        return [self.loop.broad.shares[t].part for t in range(self.loop.n_threads)]

    @property
    def threads(self):
        """Threads that the loop uses."""
        return self.loop.n_threads

    @property
    def statistics(self):
        """Sizes of the lists of candidates and numbers of their rebuilds, a dict."""
        cdef int t, source
        pairs = outer = active = 0
        for t in range(self.loop.n_threads):
            pairs += self.loop.broad.threads[t].pairs.size // 2
            active += self.loop.broad.threads[t].active.size
            for source in range(self.loop.n_threads):
                outer += self.loop.broad.threads[source].found[t].size // 2
                outer += self.loop.broad.threads[source].cross_thread[t].size // 2
        return {"outer_skin": self.loop.broad.outer_skin, "inner_skin": self.loop.broad.inner_skin,
                "outer_lists": self.loop.broad.n_outer, "inner_lists": self.loop.broad.n_inner,
                "outer_pairs": outer, "inner_pairs": pairs, "active_slots": active * LANES,
                "threads": self.loop.n_threads, "shares": self.shares}

    def time_phases(self, bint on=True):
        """Start or stop recording the time that thread 0 spends in each phase of a step.

        The clock is then read four times in a step, at about 30 ns each.
        """
        cdef int phase
        self.loop.timed = on
        record_phase(&self.loop, OUTSIDE)
        for phase in range(<int> N_PHASES):
            self.loop.seconds[phase] = 0.0

    @property
    def phase_seconds(self):
        """Time of thread 0 by phase since `time_phases`, a dict [s]; the phases are in time_loop.pxd."""
        phases = {"blocks": BLOCKS, "lists": LISTS, "contacts": CONTACTS, "waiting": WAITING, "outside": OUTSIDE}
        return {name: self.loop.seconds[<int> phase] for name, phase in phases.items()}

    def pose(self):
        """Compute the positions of all spheres."""
        pose_range(&self.loop.state, 0, self.loop.state.n_blocks)

    @property
    def steps_done(self):
        """Steps since this loop was made."""
        return self.loop.steps_done

    @property
    def first_step(self):
        """Number of the step at which this loop was made."""
        return self.loop.first_step

    @property
    def step_count(self):
        """Number of the present step."""
        return self.loop.first_step + self.loop.steps_done

    @property
    def dt(self):
        """[s]"""
        return self.loop.step.dt

    def history(self):
        """Contacts with history, a dict of arrays (history_memory.pyx); None if the law has none."""
        if self.memory is None:
            return None
        return export_history(&self.loop, self.state.layout)

    def dissipated(self):
        """(4, 2) energies dissipated by damping, tangential damping, sliding, rolling, each the sum of two numbers [J].
        """
        return None if self.memory is None else export_dissipated(&self.loop)

    def work(self):
        """(n_clumps, 7) work of user forces in Python on each clump [J], these forces and torques; None without any."""
        return None if self.user_work is None else self.user_work.rows(self.step_count)

    def force_work(self):
        """(n_clumps, 2) work of compiled user forces on each clump [J], and its power [W]; None without user forces."""
        return None if self.compiled_forces is None else self.compiled_forces.work()

    def wall_work(self):
        """(2, 2) work of moving walls since the start, and in half a step at the last one, each the sum of two numbers
        [J]; None if no wall moves."""
        cdef double[:, ::1] parts = np.zeros((2, 2))
        cdef Wide work = 0, power = 0
        cdef int t
        if self.walls is None or not self.walls.walls.any_moves:
            return None
        for t in range(self.loop.n_threads):
            work += self.loop.contacts[t].wall_work
            power += self.loop.contacts[t].wall_power
        split_wide(work, self.loop.law.energy_unit, &parts[0, 0])
        split_wide(power, self.loop.law.energy_unit, &parts[1, 0])
        return np.asarray(parts)

    def works(self):
        """Arrays (n_clumps, k) of which the first column is work on each clump [J], or None, by name."""
        return {"work": self.work(), "force_work": self.force_work()}

    def past(self, n_new=0):
        """Arguments of a Driver that continues this one with n_new more clumps: population, former_walls, and unless
        they are None history, dissipated, work, wall_work, force_work, servo_states."""
        found = {name: np.append(values, np.zeros((n_new, values.shape[1])), axis=0)
                 for name, values in self.works().items() if values is not None}
        history = {} if self.memory is None else {"history": self.history(), "dissipated": self.dissipated()}
        history |= {} if self.wall_work() is None else {"wall_work": self.wall_work()}
        history |= {} if self.walls is None or not self.walls.servos else {"servo_states": self.walls.servo_states}
        return found | history | {"population": self.population.with_new(n_new), "former_walls": self.walls}

    def past_without(self, gone):
        """The same without the clumps of which `gone` (n_clumps,) is true, and without their contacts."""
        past = self.past()
        population = self.population.without(gone, self.works())
        if "history" in past:
            sizes = self.state.bodies.sizes[self.state.template_index]
            past["history"] = history_without(past["history"], np.repeat(gone, sizes))
        return past | {name: past[name][~gone] for name in self.works() if name in past} \
            | {"population": population}

    def contacts(self):
        """Contacts at the present pose, a structured array (contact/contact_table.py)."""
        if self.memory is not None:
            return self.of_walls(list_stored(self.state, &self.loop.state, self.loop.contacts, self.loop.n_threads))
        return self.of_walls(list_contacts(self.state, self.loop.contacts, self.loop.broad.threads,
                                           self.loop.n_threads))

    def extremes(self):
        """Largest speed of a clump half a step before the pose [m/s], largest overlap [m], corners of the bounding box
        of the centres of mass [m], two tuples; contacts must be known.

        Compiled, so that it takes no longer than a few steps.
        """
        cdef double fastest = 0.0, deepest
        cdef Vec3 v, x, low = vec3(INFINITY, INFINITY, INFINITY), high = vec3(-INFINITY, -INFINITY, -INFINITY)
        cdef Py_ssize_t slot
        cdef const double *rows
        with nogil:
            for slot in range(self.loop.state.n_blocks * LANES):
                if self.loop.state.clump_number[slot] < 0:
                    continue
                rows = self.loop.state.blocks + slot // LANES * self.loop.state.n_rows * LANES + slot % LANES
                v, x = load(rows + VELOCITY * LANES), load(rows + POSITION * LANES)
                fastest = max(fastest, dot(v, v))
                low = vec3(min(low.x, x.x), min(low.y, x.y), min(low.z, x.z))
                high = vec3(max(high.x, x.x), max(high.y, x.y), max(high.z, x.z))
            deepest = deepest_overlap(&self.loop.state, self.loop.contacts, self.loop.n_threads)
        return sqrt(fastest), deepest, (low.x, low.y, low.z), (high.x, high.y, high.z)

    def contacts_of_last(self, Py_ssize_t n):
        """Contacts of the n clumps added last, at the present pose; the forces on clumps stay as they are."""
        self.pose()
        return self.of_walls(list_last(self.state, n, &self.loop.law))

    def overlap_walls(self, spheres):
        """(n,) bool, spheres (n, 4) that overlap with walls; see Observables.overlap_walls."""
        self.prepare_walls(0)
        return self.walls.overlaps(spheres)

    cdef object prepare_walls(self, long long steps):
        """Poses of the walls from the present step on."""
        cdef int t
        if self.walls is not None and self.walls.walls.any_moves:
            self.walls.walls.travelled = self.loop.contacts[0].walls.travelled      # lists remain valid over runs
            self.walls.prepare(self.step_count, steps)
            for t in range(self.loop.n_threads):
                take_poses(&self.loop.contacts[t].walls, self.loop.walls)

    def of_walls(self, contacts):
        """Contacts (n,) with the numbers of walls instead of those of their elements."""
        for name in ("clump_j", "sphere_j"):
            at_wall = contacts[name] < 0
            contacts[name][at_wall] = -1 - self.walls.wall_of.take(-1 - contacts[name][at_wall])     # see new_memory
        return contacts
