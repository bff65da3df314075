"""The state: all clumps in blocks of eight, and their spheres.

rows.pxd says how a block is stored, layout.pyx in which slots clumps and spheres are. Of a sphere, centre and radius
are 32 contiguous bytes, which is what the contact search reads. Clumps may be in any order in memory; what Python reads
or writes is in the order of the user's numbers, and so are sums.
"""
from libc.math cimport INFINITY, fabs, sqrt

import numpy as np

from minidem.core.quaternions import conjugate, multiply
from minidem.state.bodies import FREE_HOLD, Bodies, as_numbers
from minidem.state.layout import aligned

from minidem.core.lanes cimport LANES, LOG_LANES, lane_of, row_of
from minidem.core.vec3 cimport Vec3, dot, vec3
from minidem.state.periodic_box cimport rounded
from minidem.state.rows cimport ClumpBlock, ConstantBlock, FieldBlock, WrenchBlock, load


def rows_of(block):
    """First row and width of each member of a struct of rows of eight, by name."""
    columns, first = {}, 0
    for name, values in block.items():
        columns[name] = first, len(values) // LANES
        first += len(values) // LANES
    return columns, first


cdef ClumpBlock a_clump
cdef WrenchBlock a_wrench
cdef ConstantBlock a_constant
cdef FieldBlock a_field
COLUMNS, CLUMP_ROWS = rows_of(a_clump)      # as Python reads and writes them
WRENCH, WRENCH_ROWS = rows_of(a_wrench)
CONSTANTS, CONSTANT_ROWS = rows_of(a_constant)      # read only
FIELD_ROWS = tuple(rows_of(a_field)[0])


def copied(rows):
    """Copy, aligned to a cache line."""
    own = aligned(rows.shape)
    own[:] = rows
    return own


cdef class State:
    """Arrays of clumps and spheres.

    Parameters
    ----------
    n_scratch : int
        Scratch rows of the rotation scheme.
    box : PeriodicBox, optional
    """

    def __init__(self, int n_scratch=0, box=None):
        self.n_scratch, self.box, self.shift = n_scratch, box, np.zeros((0, 3), dtype=np.int64)
        self.bodies = Bodies()
        self.template_index, self.scale = np.zeros(0, dtype=np.int32), np.zeros(0)
        self.material_index = np.zeros(0, dtype=np.int32)
        self.take(aligned((0, CLUMP_ROWS + n_scratch, LANES)), aligned((0, WRENCH_ROWS, LANES)),
                  Layout(self.bodies, self.template_index, self.scale, None, np.zeros(0, dtype=np.int32)))

    def column(self, name):
        """Copy of a quantity of all clumps (COLUMNS, WRENCH, CONSTANTS), as (n_clumps, width); (n_clumps,) for width 1.

        Positions are those in unbounded space: see wrap.
        """
        if name in CONSTANTS:
            constants = self.layout.constants.reshape(-1, CONSTANT_ROWS, LANES)
            values = self.rows(constants, *CONSTANTS[name], self.layout.block_type)
        else:
            values = self.rows(*self.array_of(name))
        if name == "position" and self.box is not None:
            values += self.shift * self.box.start.length
        return values.reshape(-1) if values.shape[1] == 1 else values

    def scratch(self, first, width):
        """Copy of the scratch values first, ..., first + width - 1 of all clumps, as (n_clumps, width)."""
        return self.rows(self.blocks, CLUMP_ROWS + first, width)

    def in_slot_order(self, name):
        """A quantity (COLUMNS) in the order of the slots, (n_clumps, width)."""
        row, width = COLUMNS[name]
        return self.blocks[:, row:row + width].transpose(0, 2, 1).reshape(-1, width)[:self.n_clumps]

    def array_of(self, name):
        """(array, first row, width) of a quantity that changes."""
        return (self.wrench, *WRENCH[name]) if name in WRENCH else (self.blocks, *COLUMNS[name])

    def rows(self, blocks, first, width, block_of=()):
        """Copy of `width` rows of blocks from `first` on, (n_clumps, width), in the user's order; see read_rows."""
        values = np.empty((self.n_clumps, width))
        read_rows(blocks, np.array(block_of, dtype=np.int32), first, self.clump_slot, values)
        return values

    def write(self, first, values):
        """Write values (n_clumps, width) to the rows of the blocks from `first` on."""
        write_rows(self.blocks, first, self.clump_slot, np.ascontiguousarray(values, dtype=np.float64))

    def set_column(self, name, values, first=0):
        """Write values, (n, width) or (width,), for the clumps from number `first` on."""
        blocks, row, width = self.array_of(name)
        given = np.ascontiguousarray(values, dtype=np.float64).reshape(-1, width)
        slots = self.clump_slot[first:]
        if len(given) not in (1, len(slots)):
            raise ValueError(f"{name} has {len(given)} rows for {len(slots)} clumps")
        write_rows(blocks, row, slots, given)

    def extremes(self):
        """Largest stored speed [m/s], and corners of the bounding box of the centres of mass [m], two tuples.

        Compiled, so that it takes no longer than a few steps.
        """
        cdef double fastest = 0.0
        cdef Vec3 v, x, low = vec3(INFINITY, INFINITY, INFINITY), high = vec3(-INFINITY, -INFINITY, -INFINITY)
        cdef const ClumpBlock *clumps
        cdef Py_ssize_t slot
        for slot in range(self.view.n_blocks * LANES):
            if self.view.clump_number[slot] >= 0:
                clumps = clumps_of(&self.view, slot // LANES)
                v, x = load(clumps.velocity + slot % LANES), load(clumps.position + slot % LANES)
                fastest = max(fastest, dot(v, v))
                low = vec3(min(low.x, x.x), min(low.y, x.y), min(low.z, x.z))
                high = vec3(max(high.x, x.x), max(high.y, x.y), max(high.z, x.z))
        return sqrt(fastest), (low.x, low.y, low.z), (high.x, high.y, high.z)

    cdef object wrap(self):
        """Move the stored positions of clumps that have left the periodic box far behind into it.

        Far from the origin numbers are less precise. `shift` counts the lengths of the box by which the position of a
        clump in unbounded space differs from the stored one. Along axes that move, whose images have other velocities,
        none is moved. It cannot be interrupted halfway. A second call changes nothing.
        """
        cdef double[:, ::1] box
        if self.layout.n_clumps and self.box is not None:
            box = self.box.at_rest
            carried = None if self.hold is None else self.hold["wall"] > 0.0        # a wall that turns has no images
            wrap_far(self.blocks, self.clump_slot if carried is None else
                     np.where(carried, np.int32(-1), self.clump_slot), box, self.shift)

    cdef object take(self, blocks, wrench, Layout layout):
        """Set the arrays of this state; the clumps are in the slots of the layout."""
        self.view = layout.view
        self.view.n_rows = blocks.shape[1]
        self.view.blocks, self.view.wrench = <double *> pointer_to(blocks), <WrenchBlock *> pointer_to(wrench)
        self.blocks, self.wrench, self.layout = blocks, wrench, layout
        self.templates, self.spheres = self.bodies.templates, layout.spheres
        self.n_clumps, self.n_spheres = layout.n_clumps, layout.n_spheres
        self.clump_number, self.clump_slot = layout.clump_number, layout.clump_slot
        self.sphere_number, self.sphere_slot = layout.sphere_number, layout.sphere_slot

    def with_clumps(self, template, position, orientation, velocity, angular_velocity, scale=1.0, material=0):
        """A new state with n clumps of a template added; this one is not changed.

        position (n, 3) lab, orientation (n, 4) principal frame -> lab, velocity (n, 3) lab, angular_velocity (n, 3)
        principal frame, scale of the lengths, one number or (n,), index of the material.
        """
        number = self.bodies.number_of(template)
        new = number == len(self.bodies.templates)
        return self.extended(self.bodies.with_template(template) if new else self.bodies,
                             np.full(len(position), number), scale, material, position=position,
                             orientation=orientation, velocity=velocity, angular_velocity=angular_velocity)

    def with_bodies(self, inertia, orientation, angular_velocity):
        """The same with rigid bodies without spheres: principal moments (n, 3), the rest as in `with_clumps`."""
        first = len(self.bodies.sizes)
        return self.extended(self.bodies.with_moments(inertia), np.arange(first, first + len(inertia)), 1.0, 0,
                             orientation=orientation, angular_velocity=angular_velocity)

    def extended(self, bodies, numbers, scale, material, **columns):
        """A new state with clumps appended; numbers (n,) of their bodies, index of their material."""
        first, count = self.n_clumps, len(numbers)
        slots = np.arange(first, first + count, dtype=np.int32)
        blocks, wrench = self.blank(first + count)
        blocks[:len(self.blocks)], wrench[:len(self.wrench)] = self.blocks, self.wrench
        for name, values in columns.items():
            row, width = COLUMNS[name]
            write_rows(blocks, row, slots, np.ascontiguousarray(values, dtype=np.float64).reshape(-1, width))
        template_index = np.concatenate([self.template_index, numbers.astype(np.int32)])
        scales = np.concatenate([self.scale, np.broadcast_to(np.asarray(scale, dtype=np.float64), count)])
        material_index = np.concatenate([self.material_index, np.full(count, material, dtype=np.int32)])
        return State.made_of(blocks, wrench, bodies, template_index, scales, material_index,
                             np.concatenate([self.clump_number[:first], slots]), self.box,
                             np.append(self.shift, np.zeros((count, 3), dtype=np.int64), axis=0),
                             None if self.hold is None else np.append(self.hold, FREE_HOLD.repeat(count)))

    def without(self, gone):
        """A new state without the clumps of which `gone` (n_clumps,) is true; the others keep their order."""
        kept = self.clump_number[:self.n_clumps]
        slots, number = np.flatnonzero(~gone[kept]), np.cumsum(~gone, dtype=np.int32) - 1
        return State.made_of(*self.in_order(slots), self.bodies, self.template_index[~gone], self.scale[~gone],
                             self.material_index[~gone], number[kept[slots]].astype(np.int32), self.box,
                             self.shift[~gone], None if self.hold is None else self.hold[~gone])

    def copy(self, more_rows=0, hold=()):
        """Deep copy in the same order, with so many more rows, of zeros; hold : other than of this state."""
        blocks = aligned((len(self.blocks), self.blocks.shape[1] + more_rows, LANES))
        blocks[:, :self.blocks.shape[1]] = self.blocks
        return State.made_of(blocks, copied(self.wrench), self.bodies, self.template_index, self.scale,
                             self.material_index, self.clump_number[:self.n_clumps], self.box, self.shift.copy(),
                             self.hold if isinstance(hold, tuple) else hold)

    def with_hold(self, clumps, hold):
        """A copy in which the clumps (k,) are held as `hold` (k,) says; None if all are free."""
        new = FREE_HOLD.repeat(self.n_clumps) if self.hold is None else self.hold.copy()
        orientation = self.column("orientation")
        turn = multiply(conjugate(new["frame"][clumps]), hold["frame"])
        orientation[clumps], new[clumps] = multiply(orientation[clumps], turn), hold
        cdef State state = self.copy(0, new)
        state.set_column("orientation", orientation)
        carried = clumps[hold["wall"] > 0.0]
        if self.box is not None and len(carried):       # which are not wrapped
            position = self.column("position")
            state.shift[carried] = 0
            state.set_column("position", position - state.shift * self.box.start.length)
        return state

    def with_box(self, box):
        """A copy in a box with other axes at rest: stored positions are those in unbounded space along the others."""
        cdef State state = self.copy()
        state.box = box
        if self.box is not None:
            lengths = np.where(box.moving, self.shift, 0)
            state.shift = self.shift - lengths
            state.set_column("position", self.column("position") - state.shift * box.start.length)
        return state

    def blank(self, n):
        """Blocks and wrenches of n clumps: zeros, and the orientation (1, 0, 0, 0)."""
        n_blocks = (n + LANES - 1) // LANES
        blocks = aligned((n_blocks, self.blocks.shape[1], LANES))
        blocks[:, COLUMNS["orientation"][0]] = 1.0
        return blocks, aligned((n_blocks, WRENCH_ROWS, LANES))

    def in_order(self, slots):
        """Copies of blocks and wrenches of the clumps in these slots (n,), in their order."""
        blocks, wrench = self.blank(len(slots))
        for new, old in (blocks, self.blocks), (wrench, self.wrench):
            gather(old, np.ascontiguousarray(slots, dtype=np.int64), new)
        return blocks, wrench

    def in_user_order(self):
        """Copies of blocks and wrenches in the user's order, with PATH set to zero."""
        blocks, wrench = self.in_order(self.clump_slot)
        blocks[:, COLUMNS["path"][0]] = 0.0
        return blocks, wrench

    def sorted(self, slots):
        """A copy in another order in memory; slots : (n_clumps,) the present ones."""
        return State.made_of(*self.in_order(slots), self.bodies, self.template_index, self.scale, self.material_index,
                             self.clump_number[slots], self.box, self.shift.copy(), self.hold)

    def __reduce__(self):
        return State.restore, (*self.in_user_order(), self.templates, self.template_index, self.scale,
                               self.material_index, self.box, self.shift, self.hold)

    @classmethod
    def restore(cls, blocks, wrench, templates, template_index, scale, material_index, box=None, shift=None,
                hold=None):
        """The state of saved blocks and wrenches in the user's order, which are copied.

        template_index, scale, material_index, hold : (n_clumps,) arrays of the clumps
        box : PeriodicBox, optional;  shift : (n_clumps, 3) as in `wrap`; default: 0.
        """
        n = len(template_index)
        return State.made_of(copied(blocks), copied(wrench), Bodies(templates), template_index, scale, material_index,
                             np.arange(n, dtype=np.int32), box,
                             np.zeros((n, 3), dtype=np.int64) if shift is None else np.array(shift), hold)

    @staticmethod
    def made_of(blocks, wrench, bodies, template_index, scale, material_index, clump_number, box, shift, hold=None):
        """A state of these arrays, not copied."""
        cdef State state = State.__new__(State)
        state.n_scratch = blocks.shape[1] - CLUMP_ROWS
        state.bodies, state.template_index, state.scale = bodies, template_index, scale
        state.material_index, state.box, state.shift = material_index, box, shift
        state.hold = None if hold is None or np.all(as_numbers(hold) == as_numbers(FREE_HOLD)) else hold
        state.take(blocks, wrench, Layout(bodies, template_index, scale, state.hold, clump_number))
        return state


cdef enum:
    MOST_LENGTHS = 1 << 30      # of the box in one step of a position


cdef void gather(const double[:, :, ::1] old, const long long[::1] slots, double[:, :, ::1] new) noexcept nogil:
    """Copy the clumps in slots (n,) of blocks (n_blocks, rows, LANES) into others. In C: see layout.pyx."""
    cdef Py_ssize_t b, row, k
    for b in range(new.shape[0]):                       # all of a block while it is in cache
        for row in range(old.shape[1]):
            for k in range(b * LANES, min(b * LANES + LANES, slots.shape[0])):
                new[b, row, k & (LANES - 1)] = old[slots[k] >> LOG_LANES, row, slots[k] & (LANES - 1)]


cdef void read_rows(const double[:, :, ::1] blocks, const int[::1] block_of, Py_ssize_t first, const int[::1] slots,
                    double[:, ::1] values) noexcept nogil:
    """Copy the rows first, first + 1, ... of the clumps in slots (n,) into values (n, width).

    block_of : index into `blocks` for each block of slots; empty: the same.
    """
    cdef Py_ssize_t k, b
    cdef int i
    for k in range(slots.shape[0]):
        b = block_of[row_of(slots[k])] if block_of.shape[0] else row_of(slots[k])
        for i in range(values.shape[1]):
            values[k, i] = blocks[b, first + i, lane_of(slots[k])]


cdef void write_rows(double[:, :, ::1] blocks, Py_ssize_t first, const int[::1] slots,
                     const double[:, ::1] values) noexcept nogil:
    """Copy values (n, width) to the rows; values of one row are those of all clumps."""
    cdef Py_ssize_t k, row
    cdef int i
    for k in range(slots.shape[0]):
        row = k if values.shape[0] > 1 else 0
        for i in range(values.shape[1]):
            blocks[row_of(slots[k]), first + i, lane_of(slots[k])] = values[row, i]


cdef void wrap_far(double[:, :, ::1] blocks, const int[::1] slots, const double[:, ::1] box,
                   long long[:, ::1] shift) noexcept nogil:
    """Move positions that are more than a length of the box away from its middle into it, and count the lengths.

    box : rows of lengths, their inverses, and the low corner, of the axes at rest; the others are zero.
    """
    cdef Py_ssize_t k
    cdef int axis
    cdef double d, length, inverse, lengths
    cdef double *x
    for k in range(slots.shape[0]):
        for axis in range(3 if slots[k] >= 0 else 0):
            length, inverse = box[0, axis], box[1, axis]
            x = (<ClumpBlock *> &blocks[row_of(slots[k]), 0, 0]).position + (axis * LANES + lane_of(slots[k]))
            d = x[0] - box[2, axis] - 0.5 * length
            if length > 0.0 and fabs(d) > length and fabs(d * inverse) < MOST_LENGTHS:
                lengths = rounded(d * inverse)
                x[0] -= lengths * length
                shift[k, axis] += <long long> lengths
