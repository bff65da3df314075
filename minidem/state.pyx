"""The state: all clumps in blocks of eight, and their spheres.

Clumps: one array of doubles, (blocks, rows, LANES); rows.pxd says what each row is.
Spheres: the k-th spheres of the eight clumps of a block form one *member row*, so that eight
spheres are posed at once; a sphere's slot is member row * LANES + lane. Each sphere's centre and
radius stand together in 32 bytes, which is what the contact search reads. Offsets and radii are
kept once for all blocks whose lanes have the same templates.
Clumps may stand in any order, so that neighbours in space can be neighbours in memory. The user's
numbers of clumps and spheres are kept beside the slots: whatever Python reads or writes is in
their order, and so are sums, which must not depend on where something stands.
"""
import numpy as np

from minidem.reach cimport REACHES
from minidem.rows cimport (
    ANGULAR_VELOCITY, FORCE, INERTIA, INVERSE_INERTIA, INVERSE_MASS, LANES, MASS, ORIENTATION, PATH, POSITION,
    PREDICTED, PREDICTED_VELOCITY, SCRATCH, TORQUE, VELOCITY,
)

COLUMNS = {     # first row and width of what Python reads and writes; rows.pxd says what each is
    "inertia": (INERTIA, 3), "inverse_inertia": (INVERSE_INERTIA, 3), "torque": (TORQUE, 3),
    "orientation": (ORIENTATION, 4), "angular_velocity": (ANGULAR_VELOCITY, 3), "predicted": (PREDICTED, 3),
    "predicted_velocity": (PREDICTED_VELOCITY, 3),
    "position": (POSITION, 3), "velocity": (VELOCITY, 3), "force": (FORCE, 3), "mass": (MASS, 1),
    "inverse_mass": (INVERSE_MASS, 1),
}


def aligned(shape, dtype=np.float64):
    """Zeros that start on a cache line (64 bytes)."""
    count = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
    raw = np.zeros(count + 64, dtype=np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start:start + count].view(dtype).reshape(shape)


def reaches_of(offsets):
    """(REACHES,) [m2] for spheres at offsets (k, 3) from the centre of mass: see reach.pxd."""
    outer = offsets[:, :, None] * offsets[:, None, :]
    squared = np.trace(outer, axis1=1, axis2=2)
    matrices = squared[:, None, None] * np.eye(3) - outer
    by_axis, by_norm = np.abs(matrices).sum(axis=2).max(axis=0), np.full(3, squared.max())
    best = by_axis if by_axis.sum() < by_norm.sum() else by_norm
    return np.append(4.0 * best, 16.0 * squared.max())


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
        self.blocks = aligned((0, SCRATCH + n_scratch, LANES))
        self.clump_number = np.zeros(0, dtype=np.int32)
        self.lay_out(np.zeros(0, dtype=np.int32))

    def column(self, name):
        """Copy of a quantity of all clumps (COLUMNS), as (n_clumps, width); (n_clumps,) for width 1."""
        row, width = COLUMNS[name]
        values = self.rows(row, width)
        return np.ascontiguousarray(values[:, 0] if width == 1 else values)

    def scratch(self, first, width):
        """Copy of the scratch numbers first, ..., first + width - 1 of all clumps, as (n_clumps, width)."""
        return np.ascontiguousarray(self.rows(SCRATCH + first, width))

    def standing(self, name):
        """The same in the order of the slots."""
        row, width = COLUMNS[name]
        return self.blocks[:, row:row + width].transpose(0, 2, 1).reshape(-1, width)[:self.n_clumps]

    def rows(self, first, width):
        return self.blocks[:, first:first + width].transpose(0, 2, 1).reshape(-1, width)[self.clump_slot]

    def set_column(self, name, values, first=0):
        """Write values, (n, width) or (width,), for the clumps from number `first` on."""
        row, width = COLUMNS[name]
        rows = self.blocks[:, row:row + width].transpose(0, 2, 1).reshape(-1, width)
        rows[self.clump_slot[first:]] = np.asarray(values, dtype=np.float64).reshape(-1, width)
        self.blocks[:, row:row + width] = rows.reshape(-1, LANES, width).transpose(0, 2, 1)

    def permute(self, order):
        """Let the clumps stand in another order: order (n_clumps,) their present slots, as they shall follow."""
        for row in range(self.blocks.shape[1]):         # row by row: no second copy of everything
            values = self.blocks[:, row].reshape(-1)    # a copy
            values[:self.n_clumps] = values[order]
            self.blocks[:, row] = values.reshape(-1, LANES)
        self.lay_out(self.clump_number[order])

    def append(self, template, position, orientation, velocity, angular_velocity):
        """Add clumps of a template: (n, 3) lab, (n, 4) principal frame -> lab, (n, 3) lab, (n, 3) principal frame."""
        first = self.n_clumps
        if not any(known is template for known in self.templates):
            self.templates = self.templates + [template]
        number = [known is template for known in self.templates].index(True)
        self.add_bodies(len(position), template.inertia, orientation, angular_velocity, number)
        self.set_column("mass", template.mass, first)
        self.set_column("inverse_mass", 1.0 / template.mass, first)
        self.set_column("position", position, first)
        self.set_column("velocity", velocity, first)
        return np.arange(first, self.n_clumps)

    def add_bodies(self, count, inertia, orientation, angular_velocity, template_number=-1):
        """Add rigid bodies; those of template number -1 have no spheres."""
        first, old = self.n_clumps, self.blocks
        number = np.concatenate([self.clump_number[:first], np.arange(first, first + count, dtype=np.int32)])
        self.template_index = np.concatenate([self.template_index, np.full(count, template_number, dtype=np.int32)])
        self.blocks = aligned(((first + count + LANES - 1) // LANES, SCRATCH + self.n_scratch, LANES))
        for name in ("inertia", "inverse_inertia", "mass"):     # also of lanes that stay empty, which
            row, width = COLUMNS[name]                          # never move: their inverse mass is 0
            self.blocks[:, row:row + width] = 1.0
        self.blocks[:, ORIENTATION] = 1.0
        self.blocks[:len(old)] = old
        self.lay_out(number)
        self.set_column("inertia", inertia, first)
        self.set_column("inverse_inertia", 1.0 / np.asarray(inertia), first)
        self.set_column("orientation", orientation, first)
        self.set_column("angular_velocity", angular_velocity, first)

    def copy(self):
        """The same clumps in the same places."""
        return State.restore(self.blocks, self.templates, self.template_index, self.n_scratch,
                             self.clump_number[:self.n_clumps])

    def in_user_order(self):
        """A copy of the blocks with the clumps in the user's order and nothing that only the lists need."""
        blocks = self.blocks.copy()
        for row in range(blocks.shape[1]):
            values = blocks[:, row].reshape(-1)
            values[:self.n_clumps] = values[self.clump_slot]
            blocks[:, row] = values.reshape(-1, LANES)
        blocks[:, PATH] = 0.0
        return blocks

    @classmethod
    def restore(cls, blocks, templates, template_index, int n_scratch, clump_number=None):
        """The state whose blocks, templates and template numbers were saved, the clumps in the user's order.

        clump_number : (n_clumps,) the user's numbers of the clumps in the blocks, if they stand otherwise.
        """
        cdef State state = cls(n_scratch)
        state.templates = list(templates)
        state.template_index = np.array(template_index, dtype=np.int32)
        state.blocks = aligned(blocks.shape)
        state.blocks[:] = blocks
        state.lay_out(np.arange(len(template_index), dtype=np.int32) if clump_number is None else clump_number)
        return state

    def lay_out(self, clump_number):
        """Slots of all spheres, from the templates of the clumps; then the pointers for the kernels.

        clump_number : (n_clumps,) the user's number of the clump in each slot.
        """
        cdef Py_ssize_t n_blocks = self.blocks.shape[0]
        self.n_clumps = len(self.template_index)
        self.clump_number = np.full(n_blocks * LANES, -1, dtype=np.int32)
        self.clump_number[:self.n_clumps] = clump_number
        self.clump_slot = np.empty(self.n_clumps, dtype=np.int32)
        self.clump_slot[clump_number] = np.arange(self.n_clumps, dtype=np.int32)
        sizes = np.array([len(t.radii) for t in self.templates] + [0])     # the last: number -1, no spheres
        first_sphere = np.concatenate([[0], np.cumsum(sizes[self.template_index])])     # user's numbers
        self.n_spheres = int(first_sphere[-1])

        templates = np.full((n_blocks, LANES), -1, dtype=np.int32)
        templates.reshape(-1)[:self.n_clumps] = self.template_index[clump_number]
        mixtures, mixture = np.unique(templates, axis=0, return_inverse=True)   # of templates in a block
        rows_of_mixture = sizes[mixtures].max(axis=1, initial=0)
        rows_of_block = rows_of_mixture[mixture.reshape(-1)]
        self.first_member = np.concatenate([[0], np.cumsum(rows_of_block)]).astype(np.intp)
        n_members = int(self.first_member[-1])
        if n_members * LANES >= 2 ** 31:
            raise ValueError(f"{self.n_spheres} spheres are more than the 2^31 that the lists can number")
        self.block_of_member = np.repeat(np.arange(n_blocks, dtype=np.int32), rows_of_block)
        first_kind = np.concatenate([[0], np.cumsum(rows_of_mixture)])
        place = np.arange(n_members) - self.first_member[self.block_of_member]      # k: the k-th spheres
        self.kind_of_member = (first_kind[mixture.reshape(-1)[self.block_of_member]] + place).astype(np.int32)

        self.kinds = aligned((int(first_kind[-1]), 4, LANES))
        self.mixture_of_block = mixture.reshape(-1).astype(np.int32)
        self.reaches = aligned((len(mixtures), REACHES, LANES))
        for number, lane in zip(*np.nonzero(mixtures >= 0)):
            template = self.templates[mixtures[number, lane]]
            rows = slice(first_kind[number], first_kind[number] + len(template.radii))
            self.kinds[rows, :3, lane] = template.offsets
            self.kinds[rows, 3, lane] = template.radii
            self.reaches[number, :, lane] = reaches_of(template.offsets)
        self.sphere_number = np.full((n_members, LANES), -1, dtype=np.int32)
        for lane in range(LANES):
            number = self.clump_number[lane::LANES][self.block_of_member]
            real = place < sizes[templates[:, lane]][self.block_of_member]
            self.sphere_number[real, lane] = (first_sphere[number] + place)[real]
        self.sphere_slot = np.empty(self.n_spheres, dtype=np.int32)
        slots = np.flatnonzero(self.sphere_number >= 0)
        self.sphere_slot[self.sphere_number.reshape(-1)[slots]] = slots
        self.spheres = aligned((n_members, LANES, 4))
        self.spheres[:, :, 3] = self.kinds[self.kind_of_member, 3]
        self.point()

    cdef void point(self):
        cdef double[:, :, ::1] blocks = self.blocks
        cdef double[:, :, ::1] kinds = self.kinds
        cdef double[:, :, ::1] spheres = self.spheres
        cdef Py_ssize_t[::1] first_member = self.first_member
        cdef int[::1] block_of_member = self.block_of_member
        cdef int[::1] kind_of_member = self.kind_of_member
        cdef int[::1] mixture_of_block = self.mixture_of_block
        cdef double[:, :, ::1] reaches = self.reaches
        cdef int[::1] clump_number = self.clump_number
        cdef int[:, ::1] sphere_number = self.sphere_number
        cdef bint empty = self.n_clumps == 0
        self.view.n_blocks = blocks.shape[0]
        self.view.n_rows = blocks.shape[1]
        self.view.n_members = kind_of_member.shape[0]
        self.view.first_member = &first_member[0]
        self.view.blocks = NULL if empty else &blocks[0, 0, 0]
        self.view.clump_number = NULL if empty else &clump_number[0]
        self.view.mixture_of_block = NULL if empty else &mixture_of_block[0]
        self.view.reaches = NULL if empty else &reaches[0, 0, 0]
        empty = kind_of_member.shape[0] == 0
        self.view.kinds = NULL if empty else &kinds[0, 0, 0]
        self.view.kind_of_member = NULL if empty else &kind_of_member[0]
        self.view.spheres = NULL if empty else &spheres[0, 0, 0]
        self.view.block_of_member = NULL if empty else &block_of_member[0]
        self.view.sphere_number = NULL if empty else &sphere_number[0, 0]
