# distutils: extra_compile_args = -O1
"""The state: all clumps in blocks of eight, and their spheres.

Clumps: what changes in one array of doubles, (blocks, rows, LANES), the loads on them in another; what never does,
such as their inertia, once for all blocks whose lanes have the same templates. rows.pxd says what each row is.
Spheres: the k-th spheres of the eight clumps of a block form one *member row*, so that eight
spheres are posed at once; a sphere's slot is member row * LANES + lane. Each sphere's centre and
radius stand together in 32 bytes, which is what the contact search reads. Offsets and radii, too, are kept
once for all blocks with the same templates.
Clumps may stand in any order, so that neighbours in space can be neighbours in memory. The user's
numbers of clumps and spheres are kept beside the slots: whatever Python reads or writes is in
their order, and so are sums, which must not depend on where something stands.
"""
import numpy as np

from minidem.rows cimport (
    ANGULAR_VELOCITY, FIXED_ROWS, FORCE, INERTIA, INVERSE_INERTIA, INVERSE_MASS, LANES, LOAD_ROWS, MASS, ORIENTATION,
    PATH, POSITION, PREDICTED, PREDICTED_VELOCITY, REACH, SCRATCH, TORQUE, VELOCITY,
)

COLUMNS = {     # first row and width of what Python reads and writes; rows.pxd says what each is
    "orientation": (ORIENTATION, 4), "angular_velocity": (ANGULAR_VELOCITY, 3), "position": (POSITION, 3),
    "velocity": (VELOCITY, 3), "predicted": (PREDICTED, 3), "predicted_velocity": (PREDICTED_VELOCITY, 3),
}
LOADS = {"torque": (TORQUE, 3), "force": (FORCE, 3)}
FIXED = {"inertia": (INERTIA, 3), "mass": (MASS, 1)}    # what it can only read


def aligned(shape, dtype=np.float64):
    """Zeros that start on a cache line (64 bytes)."""
    count = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
    raw = np.zeros(count + 64, dtype=np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start:start + count].view(dtype).reshape(shape)


def reorder(blocks, order):
    """Let the clumps of blocks (n, rows, LANES) stand in the order of their present slots `order` (n_clumps,)."""
    for row in range(blocks.shape[1]):              # row by row: no second copy of everything
        values = blocks[:, row].reshape(-1)         # a copy
        values[:len(order)] = values[order]
        blocks[:, row] = values.reshape(-1, LANES)


def reaches_of(offsets):
    """The REACH rows [m2], (4,), of spheres at offsets (k, 3) from the centre of mass: see reach.pxd."""
    outer = offsets[:, :, None] * offsets[:, None, :]
    squared = np.trace(outer, axis1=1, axis2=2)
    matrices = squared[:, None, None] * np.eye(3) - outer
    by_axis, by_norm = np.abs(matrices).sum(axis=2).max(axis=0), np.full(3, squared.max())
    best = by_axis if by_axis.sum() < by_norm.sum() else by_norm
    return np.append(4.0 * best, 16.0 * squared.max())


cdef void number_spheres(const Py_ssize_t[::1] first_member, const int[::1] clump_number, const int[::1] first_sphere,
                         int[:, ::1] sphere_number, int[::1] sphere_slot) noexcept:
    """The user's numbers of the spheres (n_members, LANES), and their slots: those of a clump follow each other.

    first_sphere : (n_clumps + 1,) number of the first sphere of each clump.
    """
    cdef Py_ssize_t slot, row, clump
    cdef int sphere
    for slot in range(clump_number.shape[0]):
        clump = clump_number[slot]
        if clump < 0:                                   # none: the slot fills up a block
            continue
        row = first_member[slot // LANES]
        for sphere in range(first_sphere[clump], first_sphere[clump + 1]):
            sphere_number[row, slot % LANES] = sphere
            sphere_slot[sphere] = <int> (row * LANES + slot % LANES)
            row += 1


cdef class State:
    """Arrays of clumps and spheres.

    Parameters
    ----------
    n_scratch : int
        Scratch rows that the rotation scheme asks for.
    """

    def __init__(self, int n_scratch=0):
        self.n_scratch = n_scratch
        self.templates = []
        self.template_index = np.zeros(0, dtype=np.int32)
        self.moments = np.zeros((0, 3))
        self.template_of_slot = None
        self.blocks, self.loads = aligned((0, SCRATCH + n_scratch, LANES)), aligned((0, LOAD_ROWS, LANES))
        self.clump_number = np.zeros(0, dtype=np.int32)
        self.lay_out(np.zeros(0, dtype=np.int32))

    def column(self, name):
        """Copy of a quantity of all clumps (COLUMNS, LOADS, FIXED), as (n_clumps, width); (n_clumps,) for width 1."""
        if name in FIXED:
            values = self.rows(self.fixed[self.mixture_of_block], *FIXED[name])
        else:
            values = self.rows(*self.place_of(name))
        return np.ascontiguousarray(values[:, 0] if values.shape[1] == 1 else values)

    def scratch(self, first, width):
        """Copy of the scratch numbers first, ..., first + width - 1 of all clumps, as (n_clumps, width)."""
        return np.ascontiguousarray(self.rows(self.blocks, SCRATCH + first, width))

    def standing(self, name):
        """The same in the order of the slots."""
        row, width = COLUMNS[name]
        return self.blocks[:, row:row + width].transpose(0, 2, 1).reshape(-1, width)[:self.n_clumps]

    def place_of(self, name):
        """(array, first row, width) of a quantity that changes."""
        return (self.loads, *LOADS[name]) if name in LOADS else (self.blocks, *COLUMNS[name])

    def rows(self, blocks, first, width):
        return blocks[:, first:first + width].transpose(0, 2, 1).reshape(-1, width)[self.clump_slot]

    def set_column(self, name, values, first=0):
        """Write values, (n, width) or (width,), for the clumps from number `first` on."""
        blocks, row, width = self.place_of(name)
        rows = blocks[:, row:row + width].transpose(0, 2, 1).reshape(-1, width)
        rows[self.clump_slot[first:]] = np.asarray(values, dtype=np.float64).reshape(-1, width)
        blocks[:, row:row + width] = rows.reshape(-1, LANES, width).transpose(0, 2, 1)

    def permute(self, order):
        """Let the clumps stand in another order: order (n_clumps,) their present slots, as they shall follow.

        Returns whether each slot holds a clump of the same template as before.
        """
        reorder(self.blocks, order)
        reorder(self.loads, order)
        return self.lay_out(self.clump_number[order])

    def append(self, template, position, orientation, velocity, angular_velocity):
        """Add clumps of a template: (n, 3) lab, (n, 4) principal frame -> lab, (n, 3) lab, (n, 3) principal frame."""
        first = self.n_clumps
        if not any(known is template for known in self.templates):
            self.templates = self.templates + [template]
        number = [known is template for known in self.templates].index(True)
        self.add(len(position), number, orientation, angular_velocity)
        self.set_column("position", position, first)
        self.set_column("velocity", velocity, first)
        return np.arange(first, self.n_clumps)

    def add_bodies(self, inertia, orientation, angular_velocity):
        """Add rigid bodies without spheres: principal moments (n, 3), the rest as in `append`."""
        self.moments = np.concatenate([self.moments, inertia])
        self.add(len(inertia), -1, orientation, angular_velocity)

    def add(self, count, template_number, orientation, angular_velocity):
        first, old, old_loads = self.n_clumps, self.blocks, self.loads
        number = np.concatenate([self.clump_number[:first], np.arange(first, first + count, dtype=np.int32)])
        self.template_index = np.concatenate([self.template_index, np.full(count, template_number, dtype=np.int32)])
        n_blocks = (first + count + LANES - 1) // LANES
        self.blocks = aligned((n_blocks, SCRATCH + self.n_scratch, LANES))
        self.loads = aligned((n_blocks, LOAD_ROWS, LANES))
        self.blocks[:, ORIENTATION] = 1.0
        self.blocks[:len(old)], self.loads[:len(old)] = old, old_loads
        self.lay_out(number)
        self.set_column("orientation", orientation, first)
        self.set_column("angular_velocity", angular_velocity, first)

    def copy(self):
        """The same clumps in the same places."""
        return State.restore(self.blocks, self.loads, self.templates, self.template_index, self.n_scratch,
                             self.clump_number[:self.n_clumps])

    def in_user_order(self):
        """Copies of blocks and loads with the clumps in the user's order and nothing that only the lists need."""
        blocks, loads = self.blocks.copy(), self.loads.copy()
        reorder(blocks, self.clump_slot)
        reorder(loads, self.clump_slot)
        blocks[:, PATH] = 0.0
        return blocks, loads

    @classmethod
    def restore(cls, blocks, loads, templates, template_index, int n_scratch, clump_number=None):
        """The state whose blocks, loads, templates and template numbers were saved, the clumps in the user's order.

        clump_number : (n_clumps,) the user's numbers of the clumps in the blocks, if they stand otherwise.
        """
        cdef State state = cls(n_scratch)
        state.templates = list(templates)
        state.template_index = np.array(template_index, dtype=np.int32)
        state.blocks, state.loads = aligned(blocks.shape), aligned(loads.shape)
        state.blocks[:], state.loads[:] = blocks, loads
        state.lay_out(np.arange(len(template_index), dtype=np.int32) if clump_number is None else clump_number)
        return state

    def lay_out(self, clump_number):
        """Slots of all spheres, from the templates of the clumps; then the pointers for the kernels.

        clump_number : (n_clumps,) the user's number of the clump in each slot.

        Returns whether each slot holds a clump of the same template as before.
        """
        templates = np.full((self.blocks.shape[0], LANES), -1, dtype=np.int32)
        templates.reshape(-1)[:len(clump_number)] = self.template_index[clump_number]
        same = np.array_equal(templates, self.template_of_slot) and len(self.moments) == 0
        if not same:
            self.arrange(templates)
        self.number(clump_number)
        self.point()
        return same

    def arrange(self, templates):
        """Member rows, their spheres, and what never changes, from the templates (n_blocks, LANES) of the slots."""
        cdef Py_ssize_t n_blocks = templates.shape[0]
        self.template_of_slot = templates
        if len(self.moments):                                   # free bodies: no two blocks are alike
            mixtures, mixture = templates, np.arange(n_blocks)
        else:
            mixtures, mixture = np.unique(templates, axis=0, return_inverse=True)   # of templates in a block
        self.mixture_of_block = mixture.reshape(-1).astype(np.int32)
        rows_of_mixture = self.template_sizes()[mixtures].max(axis=1, initial=0)
        rows_of_block = rows_of_mixture[self.mixture_of_block]
        self.first_member = np.concatenate([[0], np.cumsum(rows_of_block)]).astype(np.intp)
        n_members = int(self.first_member[-1])
        if 2 * n_members * LANES >= 2 ** 31:
            raise ValueError(f"these clumps have more spheres than the 2^30 that the lists can number: {n_members} "
                             f"rows of {LANES}")
        self.block_of_member = np.repeat(np.arange(n_blocks, dtype=np.int32), rows_of_block)
        first_kind = np.concatenate([[0], np.cumsum(rows_of_mixture)])
        self.kind_of_member = (first_kind[self.mixture_of_block[self.block_of_member]]
                               + self.place_in_clump()).astype(np.int32)
        self.kinds = aligned((int(first_kind[-1]), 4, LANES))
        for number, lane in zip(*np.nonzero(mixtures >= 0)):
            template = self.templates[mixtures[number, lane]]
            rows = slice(first_kind[number], first_kind[number] + len(template.radii))
            self.kinds[rows, :3, lane] = template.offsets
            self.kinds[rows, 3, lane] = template.radii
        self.fix(mixtures)
        # Ghosts stand behind them: in a run on one thread, memory that is never touched, which takes none.
        self.spheres = aligned((2 * n_members, LANES, 4))[:n_members]
        self.spheres[:, :, 3] = self.kinds[self.kind_of_member, 3]

    def template_sizes(self):
        """Spheres of each template; the last, for the template number -1, none."""
        return np.array([len(t.radii) for t in self.templates] + [0])

    def place_in_clump(self):
        """(n_members,): k for the k-th spheres of the clumps of a block."""
        return np.arange(len(self.block_of_member)) - self.first_member[self.block_of_member]

    def number(self, clump_number):
        """The user's numbers of clumps and spheres by slot, and slots by number."""
        self.n_clumps = len(clump_number)
        self.clump_number = np.full(self.template_of_slot.size, -1, dtype=np.int32)
        self.clump_number[:self.n_clumps] = clump_number
        self.clump_slot = np.empty(self.n_clumps, dtype=np.int32)
        self.clump_slot[clump_number] = np.arange(self.n_clumps, dtype=np.int32)
        first_sphere = np.concatenate([[0], np.cumsum(self.template_sizes()[self.template_index])]).astype(np.int32)
        self.n_spheres = int(first_sphere[-1])
        self.sphere_number = np.full((len(self.block_of_member), LANES), -1, dtype=np.int32)
        self.sphere_slot = np.empty(self.n_spheres, dtype=np.int32)
        number_spheres(self.first_member, self.clump_number, first_sphere, self.sphere_number, self.sphere_slot)

    def fix(self, mixtures):
        """What never changes about the clumps of each mixture of templates, (n_mixtures, LANES) of their numbers."""
        self.fixed = aligned((len(mixtures), FIXED_ROWS, LANES))
        self.fixed[:, INERTIA:INVERSE_MASS] = 1.0       # also of lanes that stay empty
        for number, lane in zip(*np.nonzero(mixtures >= 0)):
            template = self.templates[mixtures[number, lane]]
            self.fixed[number, INERTIA:INERTIA + 3, lane] = template.inertia
            self.fixed[number, MASS, lane] = template.mass
            self.fixed[number, INVERSE_MASS, lane] = 1.0 / template.mass
            self.fixed[number, REACH:, lane] = reaches_of(template.offsets)
        for number, moments in enumerate(self.moments):
            self.fixed[number // LANES, INERTIA:INERTIA + 3, number % LANES] = moments
        self.fixed[:, INVERSE_INERTIA:INVERSE_INERTIA + 3] = 1.0 / self.fixed[:, INERTIA:INERTIA + 3]

    cdef void point(self):
        cdef double[:, :, ::1] blocks = self.blocks
        cdef double[:, :, ::1] loads = self.loads
        cdef double[:, :, ::1] kinds = self.kinds
        cdef double[:, :, ::1] spheres = self.spheres
        cdef Py_ssize_t[::1] first_member = self.first_member
        cdef int[::1] block_of_member = self.block_of_member
        cdef int[::1] kind_of_member = self.kind_of_member
        cdef int[::1] mixture_of_block = self.mixture_of_block
        cdef double[:, :, ::1] fixed = self.fixed
        cdef int[::1] clump_number = self.clump_number
        cdef int[:, ::1] sphere_number = self.sphere_number
        cdef bint empty = self.n_clumps == 0
        self.view.n_blocks = blocks.shape[0]
        self.view.n_rows = blocks.shape[1]
        self.view.n_members = kind_of_member.shape[0]
        self.view.first_member = &first_member[0]
        self.view.blocks = NULL if empty else &blocks[0, 0, 0]
        self.view.loads = NULL if empty else &loads[0, 0, 0]
        self.view.clump_number = NULL if empty else &clump_number[0]
        self.view.mixture_of_block = NULL if empty else &mixture_of_block[0]
        self.view.fixed = NULL if empty else &fixed[0, 0, 0]
        empty = kind_of_member.shape[0] == 0
        self.view.kinds = NULL if empty else &kinds[0, 0, 0]
        self.view.kind_of_member = NULL if empty else &kind_of_member[0]
        self.view.spheres = NULL if empty else &spheres[0, 0, 0]
        self.view.block_of_member = NULL if empty else &block_of_member[0]
        self.view.sphere_number = NULL if empty else &sphere_number[0, 0]
