"""The time loop: poses, candidates, contacts, sums, kick, drift and rotation, without Python in between.

    kick            v_(n+1/2) = v_(n-1/2) + dt F_n / m
    for each stage of the rotation scheme, at the fraction c of the step:
        move        pose at t_n + c dt                     (rotation scheme, then leapfrog drift)
        candidates  made anew if a sphere may have left its skin
        contacts    F, M at that pose
    finish          of the rotation scheme, if it has one; F, M are those of t_(n+1)

Between steps the state is whole: x_n, v_(n-1/2), what the scheme stores, and F_n, M_n. Threads own
ranges of blocks. One parallel region lasts for all steps of a call; in it the threads meet twice
per evaluation: before contacts are looked for (all poses known) and after (all have read them).
"""
from cython.parallel import parallel, threadid
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

import numpy as np

from minidem.broadphase.broadphase cimport (
    IN_CALLBACK, NO_FAILURE, NOT_FINITE, OUT_OF_MEMORY, SMALL_TEAM, Broadphase, any_failure,
    create_broadphase, free_broadphase, renew, renewal_due,
)
from minidem.broadphase.neighbours cimport Neighbours, Planes, owns
from minidem.contact.contacts cimport Contact, Contacts, find_contacts, free_contacts
from minidem.contact.gather cimport clear_forces, gather
from minidem.contact.hertz cimport hertz_energy
from minidem.openmp cimport barrier, has_openmp, processors, team_size
from minidem.pose cimport pose_members, pose_range
from minidem.rotation.scheme cimport BlockFunction, Kernels, Step
from minidem.rows cimport FORCE, INVERSE_MASS, LANES, ORIENTATION, PREDICTED, VELOCITY
from minidem.state cimport State, StateView
from minidem.translation.leapfrog cimport drift, kick

SPHERES_PER_THREAD = 2000           # with fewer, one more thread costs more than it brings

# one contact, in the user's numbers; the j fields of wall k are -1 - k
CONTACT = np.dtype([("clump_i", np.int32), ("clump_j", np.int32), ("sphere_i", np.int32), ("sphere_j", np.int32),
                    ("overlap", float), ("normal", float, 3), ("force", float, 3), ("point", float, 3),
                    ("energy", float)])

cdef enum:
    MAX_STAGES = 8


cdef struct Loop:
    StateView state
    Planes planes
    double modulus                  # effective modulus of two clumps [Pa]
    double gravity[3]
    Step step
    BlockFunction move
    BlockFunction finish            # may be NULL
    BlockFunction predict
    BlockFunction sync
    int n_stages
    double fraction[MAX_STAGES]     # instant of a stage, in steps after t_n
    int n_threads
    bint contacts_matter            # False: free bodies
    Broadphase broad
    Contacts *contacts              # (n_threads,)
    void *owner                     # the TimeLoop, when it has a Python torque; else NULL
    long long steps_done


cdef inline void meet(const Loop *loop) noexcept nogil:
    if loop.n_threads > 1:
        barrier()


cdef void advance(Loop *loop, int thread, int stage) noexcept nogil:
    """Kick (first stage), rotate and drift own blocks to the pose of this stage."""
    cdef const Neighbours *mine = loop.broad.threads + thread
    cdef double old[4 * LANES]
    cdef double dt = loop.step.dt
    cdef double ahead = loop.fraction[stage] - (loop.fraction[stage - 1] if stage > 0 else 0.0)
    cdef Step step = loop.step
    cdef Py_ssize_t b
    cdef double *block
    cdef bint beyond = False
    step.stage = stage
    for b in range(mine.first_block, mine.last_block):
        block = loop.state.blocks + b * loop.state.n_rows * LANES
        if stage == 0:
            kick(block, dt)
        memcpy(old, block + ORIENTATION * LANES, 4 * LANES * sizeof(double))
        loop.move(block, &step)
        beyond |= drift(block, ahead * dt, old, 0.5 * loop.broad.inner_skin)
    loop.broad.reports[thread].beyond = beyond


cdef void over_blocks(Loop *loop, int thread, BlockFunction function) noexcept nogil:
    cdef Py_ssize_t b
    for b in range(loop.broad.threads[thread].first_block, loop.broad.threads[thread].last_block):
        function(loop.state.blocks + b * loop.state.n_rows * LANES, &loop.step)


cdef void forces(Loop *loop, int thread) noexcept nogil:
    """Forces and torques of own clumps at the pose; own active spheres are posed. Called by all threads together."""
    cdef Neighbours *mine = loop.broad.threads + thread
    cdef Contacts *contacts = loop.contacts + thread
    cdef bint fine = True
    meet(loop)
    if renewal_due(&loop.broad):
        renew(&loop.broad, thread, &loop.state, &loop.planes)
    if not contacts.cleared:
        fine = clear_forces(contacts, mine, &loop.state, loop.gravity)
    fine &= find_contacts(contacts, mine, &loop.state, &loop.planes, loop.modulus, loop.step.dt)
    if not (fine and gather(contacts, mine, &loop.state, loop.gravity)):
        loop.broad.reports[thread].failure = OUT_OF_MEMORY
    meet(loop)


cdef void ask_python(Loop *loop, double steps) noexcept with gil:
    """Torques from the Python function of the TimeLoop, `steps` after its start."""
    cdef TimeLoop owner = <TimeLoop> loop.owner
    try:
        owner.torque(steps)
    except BaseException as error:
        owner.error = error
        loop.broad.reports[0].failure = IN_CALLBACK


cdef void work(Loop *loop, int thread, long long steps) noexcept nogil:
    """One thread's part of so many steps."""
    cdef const Neighbours *mine = loop.broad.threads + thread
    cdef long long n
    cdef int stage
    for n in range(steps):
        if thread == 0:
            loop.broad.steps += 1
        for stage in range(loop.n_stages):
            advance(loop, thread, stage)
            if loop.contacts_matter:
                pose_members(&loop.state, mine.active.data, mine.active.size)
                forces(loop, thread)
            if loop.owner != NULL:
                over_blocks(loop, thread, loop.predict)
                ask_python(loop, loop.steps_done + loop.fraction[stage])
            if any_failure(&loop.broad):
                return
        if loop.finish != NULL:
            over_blocks(loop, thread, loop.finish)
        if thread == 0:
            loop.steps_done += 1


cdef void work_together(Loop *loop, long long steps) noexcept nogil:
    """`steps` steps by all threads; steps < 0: only the forces at the present pose."""
    cdef int thread = 0
    if loop.n_threads == 1:
        task(loop, 0, steps)
    else:
        with parallel(num_threads=loop.n_threads):
            thread = threadid()
            if team_size() == loop.n_threads:
                task(loop, thread, steps)
            elif thread == 0:
                loop.broad.reports[0].failure = SMALL_TEAM


cdef inline void task(Loop *loop, int thread, long long steps) noexcept nogil:
    if steps < 0:
        forces(loop, thread)
    else:
        work(loop, thread, steps)


cdef class TimeLoop:
    """The loop over a fixed set of clumps.

    Parameters
    ----------
    state : State
    kernels, stages, parameters : of the rotation scheme; kernels None where the loop only evaluates.
    dt : step [s]
    modulus : effective modulus between clumps [Pa]; None: free bodies, no contacts, torques as they stand
    gravity : (3,) [m/s2]
    planes : (points (k, 3), unit normals (k, 3), effective moduli (k,))
    threads : int
    torque : optional function of the number of steps since the loop was made; writes the torques at the
        pose. It is called at every pose, one thread only.
    """
    cdef Loop loop
    cdef readonly State state
    cdef object keep
    cdef object torque
    cdef object error

    def __cinit__(self, State state, Kernels kernels, stages, parameters, double dt, modulus=None,
                  gravity=(0.0, 0.0, 0.0), planes=None, int threads=1, torque=None):
        cdef double[::1] values = np.array(list(parameters) + [0.0], dtype=float)
        cdef double[:, ::1] points, normals
        cdef double[::1] moduli
        cdef int k
        if len(stages) > MAX_STAGES:
            raise ValueError(f"a rotation scheme may have {MAX_STAGES} stages, not {len(stages)}")
        self.state = state
        self.loop.state = state.view
        self.loop.step.dt = dt
        self.loop.step.parameters = &values[0]
        self.loop.move = kernels.move
        self.loop.finish = kernels.finish
        self.loop.predict = kernels.predict
        self.loop.sync = kernels.sync
        self.loop.n_stages = len(stages)
        for k in range(self.loop.n_stages):
            self.loop.fraction[k] = stages[k]
        self.loop.contacts_matter = modulus is not None
        self.keep = [values, kernels]
        if modulus is not None:
            self.loop.modulus = modulus
            for k in range(3):
                self.loop.gravity[k] = gravity[k]
            if planes is not None and len(planes[2]):
                points, normals, moduli = (np.array(a, dtype=float, order="C") for a in planes)
                self.loop.planes.count = len(moduli)
                self.loop.planes.point = &points[0, 0]
                self.loop.planes.normal = &normals[0, 0]
                self.loop.planes.modulus = &moduli[0]
                self.keep += [points, normals, moduli]
        if torque is not None:
            self.torque = torque
            self.loop.owner = <void *> self
        useful = max(1, state.n_spheres // SPHERES_PER_THREAD)
        self.allocate(1 if torque is not None else max(1, min(threads, useful, self.loop.state.n_blocks)))

    cdef void allocate(self, int n_threads):
        self.loop.n_threads = n_threads
        self.loop.contacts = <Contacts *> calloc(n_threads, sizeof(Contacts))
        if self.loop.contacts == NULL or not create_broadphase(&self.loop.broad, &self.loop.state, n_threads):
            raise MemoryError("no memory for the lists of the time loop")
        if not self.loop.contacts_matter:
            self.loop.broad.inner_skin = 1e300

    def __dealloc__(self):
        cdef int t
        if self.loop.contacts != NULL:
            for t in range(self.loop.n_threads):
                free_contacts(self.loop.contacts + t)
        free(self.loop.contacts)
        free_broadphase(&self.loop.broad)

    @property
    def threads(self):
        """Threads that the loop really uses."""
        return self.loop.n_threads

    @property
    def statistics(self):
        """What the candidate lists look like and how often they were made."""
        cdef int t, source
        pairs = outer = 0
        for t in range(self.loop.n_threads):
            pairs += self.loop.broad.threads[t].pairs.size // 2
            for source in range(self.loop.n_threads):
                outer += self.loop.broad.threads[source].found[t].size // 2
        return {"outer_skin": self.loop.broad.outer_skin, "inner_skin": self.loop.broad.inner_skin,
                "outer_lists": self.loop.broad.n_outer, "inner_lists": self.loop.broad.n_inner,
                "outer_pairs": outer, "inner_pairs": pairs, "threads": self.loop.n_threads}

    def run(self, long long steps):
        """Advance by so many steps; returns how many were completed."""
        cdef long long before = self.loop.steps_done
        with nogil:
            work_together(&self.loop, steps)
        self.raise_failure()
        return self.loop.steps_done - before

    def evaluate(self):
        """Forces, torques and contacts at the present pose, whatever was there before."""
        self.loop.broad.valid = False
        with nogil:
            work_together(&self.loop, -1)
        self.raise_failure()

    cdef object raise_failure(self):
        cdef int t, failure, clump
        for t in range(self.loop.n_threads):
            failure = self.loop.broad.reports[t].failure
            clump = self.loop.broad.reports[t].clump
            self.loop.broad.reports[t].failure = NO_FAILURE
            if failure == IN_CALLBACK:
                error, self.error = self.error, None
                raise error
            if failure == OUT_OF_MEMORY:
                raise MemoryError("no memory for the lists of candidates and contacts")
            if failure == SMALL_TEAM:
                raise RuntimeError(f"OpenMP gave fewer than the {self.loop.n_threads} threads asked for; "
                                   "lower `threads` or raise OMP_THREAD_LIMIT")
            if failure == NOT_FINITE:
                raise FloatingPointError(f"the position or orientation of clump {clump} is not finite")

    def start(self, Kernels kernels, clumps, double dt):
        """Half a step back, and the scheme's own start, for the clumps listed; forces must be known.

        dt : the step, or 0 to leave out the half step.
        """
        cdef double[:, ::1] block
        cdef Step step = self.loop.step
        step.dt = dt
        clumps = np.asarray(clumps)
        for number in np.unique(clumps // LANES):
            block = self.state.blocks[number].copy()
            kick(&block[0, 0], -0.5 * dt)
            if kernels.start != NULL:
                kernels.start(&block[0, 0], &step)
            lanes = clumps[clumps // LANES == number] % LANES
            self.state.blocks[number][:, lanes] = np.asarray(block)[:, lanes]

    def synchronise(self):
        """(velocity (n, 3) lab, angular velocity (n, 3) principal body frame) at the instant of the pose."""
        cdef double[:, :, ::1] copy = self.state.blocks.copy()
        cdef Py_ssize_t b
        for b in range(copy.shape[0]):
            kick(&copy[b, 0, 0], 0.5 * self.loop.step.dt)
            self.loop.sync(&copy[b, 0, 0], &self.loop.step)
        rows = np.asarray(copy).transpose(0, 2, 1).reshape(-1, copy.shape[1])[:self.state.n_clumps]
        return rows[:, VELOCITY:VELOCITY + 3].copy(), rows[:, PREDICTED:PREDICTED + 3].copy()

    def pose(self):
        """Put all spheres where their clumps are."""
        pose_range(&self.loop.state, 0, self.loop.state.n_blocks)

    @property
    def steps_done(self):
        """Steps since this loop was made."""
        return self.loop.steps_done

    @property
    def contacts_known(self):
        """Whether contacts have been looked for at the present pose."""
        return self.loop.broad.n_inner > 0

    def contacts(self):
        """Contacts at the present pose, a structured array (CONTACT) in the order of the spheres' numbers."""
        cdef Py_ssize_t count = 0, k
        cdef int t
        cdef Contact *contact
        cdef int[:, ::1] pair
        cdef double[:, ::1] values
        for t in range(self.loop.n_threads):
            count += self.loop.contacts[t].size
        pair, values = np.empty((count, 2), dtype=np.int32), np.empty((count, 5))
        count = 0
        for t in range(self.loop.n_threads):
            for k in range(self.loop.contacts[t].size):
                contact = self.loop.contacts[t].data + k
                if owns(self.loop.broad.threads + t, &self.loop.state, contact.i):      # else its owner lists it
                    pair[count, 0], pair[count, 1] = contact.i, contact.j
                    values[count, 0], values[count, 1] = contact.overlap, contact.force
                    for a in range(3):
                        values[count, 2 + a] = contact.normal[a]
                    count += 1
        return self.describe(np.asarray(pair)[:count], np.asarray(values)[:count])

    def describe(self, slots, values):
        """Rows of CONTACT from slots (n, 2) and (overlap, force, normal) (n, 5)."""
        state = self.state
        spheres = state.spheres.reshape(-1, 4)[slots[:, 0]]
        wall = slots[:, 1] < 0
        clump_of_slot = state.clump_number.reshape(-1, LANES)[state.block_of_member].reshape(-1)
        found = np.zeros(len(slots), dtype=CONTACT)
        for numbers, clump, sphere in ((slots[:, 0], "clump_i", "sphere_i"), (slots[:, 1], "clump_j", "sphere_j")):
            found[clump] = np.where(numbers < 0, numbers, clump_of_slot[numbers])
            found[sphere] = np.where(numbers < 0, numbers, state.sphere_number.reshape(-1)[numbers])
        found["overlap"], found["normal"] = values[:, 0], values[:, 2:]
        # the middle of the overlap of two spheres; on a wall its foot
        arm = spheres[:, 3] - np.where(wall, 1.0, 0.5) * found["overlap"]
        found["point"] = spheres[:, :3] - arm[:, None] * found["normal"]
        for k in range(len(found)):
            found["energy"][k] = hertz_energy(values[k, 1], values[k, 0])
        swap = ~wall & (found["sphere_j"] < found["sphere_i"])
        for i, j in (("clump_i", "clump_j"), ("sphere_i", "sphere_j")):
            found[i][swap], found[j][swap] = found[j][swap], found[i][swap]
        found["normal"][swap] *= -1.0
        found["force"] = values[:, 1:2] * found["normal"]
        return found[np.lexsort((found["sphere_j"], found["sphere_i"]))]


def most_threads():
    """Processors that this process may use; 1 in a build without OpenMP."""
    return processors() if has_openmp() else 1
