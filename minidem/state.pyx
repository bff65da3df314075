"""The state: all clumps in blocks of eight, and their spheres.

Clumps: one array of doubles, (blocks, rows, LANES); rows.pxd says what each row is.
Spheres: the k-th spheres of the eight clumps of a block form one *member row*, so that eight
spheres are posed at once; a sphere's slot is member row * LANES + lane. Each sphere's centre and
radius stand together in 32 bytes, which is what the contact search reads.
The user's numbers of clumps and spheres are kept beside the slots: sums that must not depend on
where something stands in memory are ordered by them.
"""
import numpy as np

from minidem.rows cimport (
    ANGULAR_VELOCITY, FORCE, INERTIA, INVERSE_INERTIA, INVERSE_MASS, LANES, MASS, ORIENTATION, POSITION,
    PREDICTED, PREDICTED_VELOCITY, REACH, SCRATCH, TORQUE, VELOCITY,
)

COLUMNS = {     # first row and width of what Python reads and writes; rows.pxd says what each is
    "inertia": (INERTIA, 3), "inverse_inertia": (INVERSE_INERTIA, 3), "torque": (TORQUE, 3),
    "orientation": (ORIENTATION, 4), "angular_velocity": (ANGULAR_VELOCITY, 3), "predicted": (PREDICTED, 3),
    "predicted_velocity": (PREDICTED_VELOCITY, 3),
    "position": (POSITION, 3), "velocity": (VELOCITY, 3), "force": (FORCE, 3), "mass": (MASS, 1),
    "inverse_mass": (INVERSE_MASS, 1), "reach": (REACH, 1),
}


def aligned(shape, dtype=np.float64):
    """Zeros that start on a cache line (64 bytes)."""
    count = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
    raw = np.zeros(count + 64, dtype=np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start:start + count].view(dtype).reshape(shape)


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
        self.lay_out()

    def column(self, name):
        """Copy of a quantity of all clumps (COLUMNS), as (n_clumps, width); (n_clumps,) for width 1."""
        row, width = COLUMNS[name]
        values = self.rows(row, width)
        return np.ascontiguousarray(values[:, 0] if width == 1 else values)

    def scratch(self, first, width):
        """Copy of the scratch numbers first, ..., first + width - 1 of all clumps, as (n_clumps, width)."""
        return np.ascontiguousarray(self.rows(SCRATCH + first, width))

    def rows(self, first, width):
        return self.blocks[:, first:first + width].transpose(0, 2, 1).reshape(-1, width)[:self.n_clumps]

    def set_column(self, name, values, first=0):
        """Write values, (n, width) or (width,), for the clumps from number `first` on."""
        row, width = COLUMNS[name]
        rows = self.blocks[:, row:row + width].transpose(0, 2, 1).reshape(-1, width)
        rows[first:self.n_clumps] = np.asarray(values, dtype=np.float64).reshape(-1, width)
        self.blocks[:, row:row + width] = rows.reshape(-1, LANES, width).transpose(0, 2, 1)

    def append(self, template, position, orientation, velocity, angular_velocity):
        """Add clumps of a template: (n, 3) lab, (n, 4) principal frame -> lab, (n, 3) lab, (n, 3) principal frame."""
        first = self.n_clumps
        if not any(known is template for known in self.templates):
            self.templates = self.templates + [template]
        number = [known is template for known in self.templates].index(True)
        self.add_bodies(len(position), template.inertia, orientation, angular_velocity, number)
        self.set_column("mass", template.mass, first)
        self.set_column("inverse_mass", 1.0 / template.mass, first)
        self.set_column("reach", np.sqrt((template.offsets ** 2).sum(axis=1).max()), first)
        self.set_column("position", position, first)
        self.set_column("velocity", velocity, first)
        return np.arange(first, self.n_clumps)

    def add_bodies(self, count, inertia, orientation, angular_velocity, template_number=-1):
        """Add rigid bodies; those of template number -1 have no spheres."""
        first, old = self.n_clumps, self.blocks
        self.template_index = np.concatenate([self.template_index, np.full(count, template_number, dtype=np.int32)])
        self.blocks = aligned(((first + count + LANES - 1) // LANES, SCRATCH + self.n_scratch, LANES))
        for name in ("inertia", "inverse_inertia", "mass"):     # also of lanes that stay empty, which
            row, width = COLUMNS[name]                          # never move: their inverse mass is 0
            self.blocks[:, row:row + width] = 1.0
        self.blocks[:, ORIENTATION] = 1.0
        self.blocks[:len(old)] = old
        self.lay_out()
        self.set_column("inertia", inertia, first)
        self.set_column("inverse_inertia", 1.0 / np.asarray(inertia), first)
        self.set_column("orientation", orientation, first)
        self.set_column("angular_velocity", angular_velocity, first)

    @classmethod
    def restore(cls, blocks, templates, template_index, int n_scratch):
        """The state whose blocks, templates and template numbers were saved."""
        cdef State state = cls(n_scratch)
        state.templates = list(templates)
        state.template_index = np.array(template_index, dtype=np.int32)
        state.blocks = aligned(blocks.shape)
        state.blocks[:] = blocks
        state.lay_out()
        return state

    def lay_out(self):
        """Slots of all spheres, from the templates of the clumps; then the pointers for the kernels."""
        cdef Py_ssize_t n_blocks = self.blocks.shape[0]
        self.n_clumps = len(self.template_index)
        counts = np.zeros(n_blocks * LANES, dtype=np.intp)
        sizes = np.array([len(t.radii) for t in self.templates] + [0], dtype=np.intp)   # the last: number -1
        counts[:self.n_clumps] = sizes[self.template_index]
        first_sphere = np.concatenate([[0], np.cumsum(counts)]).astype(np.intp)
        self.n_spheres = first_sphere[-1]
        members_of_block = counts.reshape(-1, LANES).max(axis=1) if n_blocks else np.zeros(0, dtype=np.intp)
        self.first_member = np.concatenate([[0], np.cumsum(members_of_block)]).astype(np.intp)
        n_members = int(self.first_member[-1])
        if n_members * LANES >= 2 ** 31:
            raise ValueError(f"{self.n_spheres} spheres are more than the 2^31 that the lists can number")
        self.block_of_member = np.repeat(np.arange(n_blocks, dtype=np.int32), members_of_block)
        self.members = aligned((n_members, 4, LANES))
        self.spheres = aligned((n_members, LANES, 4))
        self.clump_number = np.full(n_blocks * LANES, -1, dtype=np.int32)
        self.clump_number[:self.n_clumps] = np.arange(self.n_clumps)
        self.sphere_number = np.full((n_members, LANES), -1, dtype=np.int32)
        self.sphere_slot = np.empty(self.n_spheres, dtype=np.intp)
        for number, template in enumerate(self.templates):
            clumps = np.flatnonzero(self.template_index == number)
            lane = clumps % LANES
            for k in range(len(template.radii)):
                row = self.first_member[clumps // LANES] + k
                self.members[row, :3, lane] = template.offsets[k]
                self.members[row, 3, lane] = template.radii[k]
                self.sphere_number[row, lane] = first_sphere[clumps] + k
                self.sphere_slot[first_sphere[clumps] + k] = row * LANES + lane
        self.point()

    cdef void point(self):
        cdef double[:, :, ::1] blocks = self.blocks
        cdef double[:, :, ::1] members = self.members
        cdef double[:, :, ::1] spheres = self.spheres
        cdef Py_ssize_t[::1] first_member = self.first_member
        cdef int[::1] block_of_member = self.block_of_member
        cdef int[::1] clump_number = self.clump_number
        cdef int[:, ::1] sphere_number = self.sphere_number
        cdef bint empty = self.n_clumps == 0
        self.view.n_blocks = blocks.shape[0]
        self.view.n_rows = blocks.shape[1]
        self.view.n_members = members.shape[0]
        self.view.first_member = &first_member[0]
        self.view.blocks = NULL if empty else &blocks[0, 0, 0]
        self.view.clump_number = NULL if empty else &clump_number[0]
        empty = members.shape[0] == 0
        self.view.members = NULL if empty else &members[0, 0, 0]
        self.view.spheres = NULL if empty else &spheres[0, 0, 0]
        self.view.block_of_member = NULL if empty else &block_of_member[0]
        self.view.sphere_number = NULL if empty else &sphere_number[0, 0]
