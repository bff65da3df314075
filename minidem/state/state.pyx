# distutils: extra_compile_args = -O1
"""The state: all clumps in blocks of eight, and their spheres.

rows.pxd says how a block is stored. The k-th spheres of the eight clumps of a block form one *member row*, so that
eight spheres are posed at once; the slot of a sphere is member row * LANES + lane. Of a sphere, centre and radius are
32 contiguous bytes, which is what the contact search reads. Blocks whose lanes hold the same bodies have one *block
type*: they share one set of constants and one set of sphere offsets.

Clumps may be in any order in memory; what Python reads or writes is in the order of the user's numbers, and so are
sums. Results do not depend on the order: sums on spheres have none, and a clump adds its spheres in the order of its
template. Another order is another state.
"""
from math import prod

import numpy as np

from minidem.core.quaternions import conjugate, multiply
from minidem.state.bodies import FREE_HOLD, BodyTable, as_numbers

from minidem.state.rows cimport CARRIED, FREE, HELD, PINNED, number_rows

FREE_RADIUS = 1e-3          # in largest radii, of two spheres that never touch (contact/blocks.pxd); no image is nearer
MOST_LENGTHS = 2 ** 30      # of the box in one step of a position
CLUMPS_PER_CELL = 2         # of a spatial sort
MOST_CELLS = 2 ** 20        # along an axis, so that three numbers of cells fit into one integer


def rows_of(block):
    """First row and width of each member, by name, of a struct of rows of eight whose numbers are 0, 1, 2, ..."""
    return {name: (int(np.ravel(numbers)[0]) // LANES, np.size(numbers) // LANES) for name, numbers in block.items()}


cdef ClumpBlock a_clump
cdef WrenchBlock a_wrench
cdef ConstantBlock a_constant
number_rows(&a_clump, sizeof(a_clump))
number_rows(&a_wrench, sizeof(a_wrench))
number_rows(&a_constant, sizeof(a_constant))
COLUMNS, WRENCH, CONSTANTS = rows_of(a_clump), rows_of(a_wrench), rows_of(a_constant)   # the last are read only
CLUMP_ROWS, WRENCH_ROWS = sizeof(a_clump) // (LANES * sizeof(double)), sizeof(a_wrench) // (LANES * sizeof(double))


def aligned(shape, dtype=np.float64):
    """Array of zeros, aligned to a cache line (64 bytes)."""
    count = prod(shape) * np.dtype(dtype).itemsize
    raw = np.zeros(count + 64, dtype=np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start:start + count].view(dtype).reshape(shape)


def copied(rows):
    """Copy, aligned to a cache line."""
    own = aligned(rows.shape)
    own[:] = rows
    return own


def spread(values, int width):
    """Values (n, ...) as (n, ..., width). Whole, since NumPy crashes where memory is refused while it broadcasts."""
    return values[..., None].repeat(width, axis=-1)


def as_blocks(*quantities):
    """Structs of rows of eight, of these quantities (n, LANES) or (n, LANES, width) of each lane."""
    return copied(np.concatenate([np.atleast_3d(values) for values in quantities], axis=2).swapaxes(1, 2))


def constant_blocks(bodies, body, scale):
    """ConstantBlocks of the bodies in the lanes (n, LANES) of block types, -1: none, and the factors of their lengths.
    """
    square = scale * scale
    cube = square * scale
    mass = cube * np.append(bodies.mass, 1.0).take(body)
    turn_bound = np.append(bodies.turn_bound, np.zeros((1, 4)), axis=0).take(body, axis=0)
    inertia = bodies.inertia.take(body, axis=0) * spread(cube * square, 3)      # of none: as of the last, no other kind
    return as_blocks(inertia, 1.0 / inertia, mass, np.where(body < 0, 0.0, 1.0 / mass),
                     spread(square, 4) * turn_bound)


def hold_blocks(hold):
    """HoldBlocks of the HOLDs in the lanes (n, LANES) of block types."""
    pinned, free = hold["arm"].any(axis=2), hold["free"].all(axis=2) & (hold["turns"] == 1.0)
    kind = np.where(hold["wall"] > 0.0, <int> CARRIED, np.where(pinned, <int> PINNED, np.where(
        free, <int> FREE, <int> HELD)))
    return as_blocks(hold["free"], hold["turns"], hold["axis"], hold["arm"], kind, hold["wall"] - 1.0)


def offset_blocks(bodies, body, scale, rows):
    """Offsets and radii of the spheres of block types, (sum of rows, 4, LANES).

    body, scale : as of `constant_blocks`
    rows : (n,) number of spheres of the largest body of each type
    """
    of_row, first = np.repeat(np.arange(len(rows)), rows), np.cumsum(rows) - rows
    place = spread(np.arange(len(of_row)) - first.take(of_row), LANES)      # of the sphere in its body
    spheres = np.concatenate([*bodies.shapes, np.zeros((1, 4))])            # the last one where a body has no more
    begin, size = (np.append(values, 0).take(body).take(of_row, axis=0)
                   for values in (np.cumsum(bodies.sizes) - bodies.sizes, bodies.sizes))
    offsets = spheres.take(np.where(place < size, begin + place, len(spheres) - 1), axis=0)
    return as_blocks(offsets * spread(scale.take(of_row, axis=0), 4))


def row_major(position):
    """Permutation (n,) that sorts points (n, 3) by the cells of a cubic lattice, row by row, layer by layer.

    Clumps in this order are near their neighbors in memory, so that most of what a step reads is in cache. A cell holds
    two points on the average. Its width does not depend on points far from most others, beyond the percentiles 1 and 99
    along an axis. Points of one cell keep their order.
    """
    n = len(position)
    ends = n // 100, n - 1 - n // 100
    low, high = np.partition(position, ends, axis=0).take(ends, axis=0)
    extent = np.maximum(high - low, np.finfo(float).tiny)
    edge = max(np.cbrt(CLUMPS_PER_CELL / n * extent.prod()), extent.max() / MOST_CELLS)
    cells = np.zeros(n, dtype=np.int64)
    for k in range(3):              # one by one, see `spread`
        along = np.minimum(np.maximum((position[:, k] - low[k]) / edge, -1.0), MOST_CELLS - 2.0) + 1.0
        cells += along.astype(np.int64) * MOST_CELLS ** k
    return cells.argsort(kind="stable")


cdef class State:
    """Arrays of clumps and spheres.

    Parameters
    ----------
    box : PeriodicBox, optional
    """

    def __init__(self, box=None):
        none = np.zeros(0, dtype=np.int32)
        self.fill(aligned((0, CLUMP_ROWS, LANES)), aligned((0, WRENCH_ROWS, LANES)), BodyTable(), none, np.zeros(0),
                  none, none, box, None, None, {})

    def fill(self, blocks, wrench, bodies, template_index, scale, material_index, clump_number, box, shift, hold,
             optional):
        """Set the arrays, which are not copied, and lay out the spheres.

        clump_number : (n_clumps,) the user's number of the clump in each slot
        template_index, scale, material_index, shift, hold : (n_clumps, ...) by the user's number; shift None: zeros
        optional : widths of the last columns of `blocks`, by name
        """
        cdef Py_ssize_t n = len(template_index)
        ends = np.cumsum([CLUMP_ROWS, *optional.values()]).tolist()
        self.blocks, self.wrench, self.optional = blocks, wrench, optional
        self.columns = COLUMNS | dict(zip(optional, zip(ends, optional.values())))
        self.bodies, self.templates, self.template_index, self.scale = bodies, bodies.templates, template_index, scale
        self.material_index, self.box, self.n_clumps = material_index, box, n
        self.shift = np.zeros((0 if box is None else n, 3), dtype=np.int64) if shift is None else shift
        self.hold = None if hold is None or np.all(as_numbers(hold) == as_numbers(FREE_HOLD)) else hold
        self.clump_number, self.clump_slot = np.full(len(blocks) * LANES, -1, np.int32), np.empty(n, np.int32)
        self.clump_number[:n] = clump_number[:n]
        self.clump_slot.put(self.clump_number[:n], np.arange(n))
        self.lay_out()

    def lay_out(self):
        """Find the block types, give the spheres their places in member rows, and point to all arrays.

        ValueError for more spheres than the lists can number.
        """
        cdef StateView *view = &self.view
        bodies, of_clumps = self.bodies, self.template_index
        if self.hold is not None:
            bodies, of_clumps = bodies.held(of_clumps, self.hold)
        body = np.append(of_clumps, np.int32(-1)).take(self.clump_number).reshape(-1, LANES)        # -1: an empty lane
        scale = np.append(self.scale, 1.0).take(self.clump_number).reshape(-1, LANES)
        lanes, numbers = np.hstack([body.view(np.uint8), scale.view(np.uint8)]), {}
        lanes = lanes.view(f"V{lanes.shape[1]}").reshape(-1).tolist()
        block_type = np.array([numbers.setdefault(lane, len(numbers)) for lane in lanes], dtype=np.int32)
        first = np.unique(block_type, return_index=True)[1]
        body, scale = body.take(first, axis=0), scale.take(first, axis=0)
        rows = np.append(bodies.sizes, 0).take(body).max(axis=1)            # of each block type
        first_member = np.cumsum(np.append(0, rows.take(block_type)))
        n_members = int(first_member[-1])
        if n_members * LANES >= 2 ** 30:
            raise ValueError(f"these clumps have more spheres than the 2^30 that the lists can number: {n_members} "
                             f"rows of {LANES}")
        offset_table = offset_blocks(bodies, body, scale, rows)
        block_of_member = np.repeat(np.arange(len(block_type), dtype=np.int32), np.diff(first_member))
        offset_row = ((np.cumsum(rows) - rows).take(block_type) - first_member[:-1]).take(block_of_member)
        offset_row = (offset_row + np.arange(n_members)).astype(np.int32)
        spheres = aligned((n_members + 1, LANES, 4))
        spheres[:-1, :, 3] = offset_table[:, 3].take(offset_row, axis=0)
        apart = FREE_RADIUS * np.max(spheres[:, :, 3], initial=0.0)
        spheres[-1, :2, 3], spheres[-1, 1, 0] = apart, 4.0 * apart
        sizes = bodies.sizes.take(of_clumps)
        first = first_member.take(self.clump_slot // LANES) * LANES + self.clump_slot % LANES
        self.n_spheres = sizes.sum()
        self.sphere_slot = (np.repeat(first - LANES * (np.cumsum(sizes) - sizes), sizes)
                            + LANES * np.arange(self.n_spheres)).astype(np.int32)
        self.sphere_number = np.full((n_members, LANES), -1, dtype=np.int32)
        self.sphere_number.put(self.sphere_slot, np.arange(self.n_spheres))
        holds = None if bodies.hold is None else hold_blocks(np.append(bodies.hold, FREE_HOLD).take(body))
        self.spheres, self.constants, self.block_type = spheres[:-1], constant_blocks(bodies, body, scale), block_type
        names = "\0".join([*self.optional, "\0"]).encode()
        first_rows = np.array([self.columns[name][0] for name in self.optional], dtype=np.intp)
        self.members = first_member, block_of_member, offset_row, offset_table, holds, names, first_rows
        view.optional, view.optional_rows = names, <const Py_ssize_t *> pointer_to(first_rows)
        view.n_blocks, view.n_members, view.n_rows = len(block_type), n_members, self.blocks.shape[1]
        view.blocks, view.wrench = <double *> pointer_to(self.blocks), <WrenchBlock *> pointer_to(self.wrench)
        view.first_member = <const Py_ssize_t *> pointer_to(first_member)
        view.block_of_member = <const int *> pointer_to(block_of_member)
        view.offset_row = <const int *> pointer_to(offset_row)
        view.offset_table = <const double *> pointer_to(offset_table)
        view.block_type = <const int *> pointer_to(block_type)
        view.constants = <const ConstantBlock *> pointer_to(self.constants)
        view.holds = NULL if holds is None else <const HoldBlock *> pointer_to(holds)
        view.spheres = <double *> pointer_to(spheres)
        view.clump_number = <const int *> pointer_to(self.clump_number)
        view.sphere_number = <const int *> pointer_to(self.sphere_number)

    @property
    def nbytes(self):
        """Memory of all arrays [bytes]."""
        return sum([array.nbytes for array in (
            self.blocks, self.wrench, self.spheres, self.template_index, self.scale, self.material_index, self.shift,
            self.clump_number, self.clump_slot, self.sphere_number, self.sphere_slot, *self.members[:4])])

    def column(self, name):
        """Copy of a quantity of all clumps (columns, WRENCH, CONSTANTS), as (n_clumps, width); (n_clumps,) for width 1.

        Positions are in unbounded space: see wrap.
        """
        if name in CONSTANTS:
            row, width = CONSTANTS[name]
            values = self.rows(self.constants[:, row:row + width].take(self.block_type, axis=0), 0, width)
        else:
            values = self.rows(*self.array_of(name))
        if name == "position" and self.box is not None:
            values += self.shift * self.box.start.length
        return values.reshape(-1) if values.shape[1] == 1 else values

    def scratch(self, first, width):
        """Copy of the scratch values first, ..., first + width - 1 of all clumps, as (n_clumps, width)."""
        return self.rows(self.blocks, self.columns["scratch"][0] + first, width)

    def in_slot_order(self, name):
        """A quantity (columns) in the order of the slots, (n_clumps, width)."""
        blocks, row, width = self.array_of(name)
        return blocks[:, row:row + width].swapaxes(1, 2).reshape(len(blocks) * LANES, width)[:self.n_clumps]

    def lanes_of(self, chosen):
        """(n_blocks, 1, LANES) bool, which lanes hold clumps of which `chosen` (n_clumps,) is true."""
        return np.append(chosen, False).take(self.clump_number).reshape(-1, 1, LANES)

    def array_of(self, name):
        """(array, first row, width) of a quantity that changes."""
        return (self.wrench, *WRENCH[name]) if name in WRENCH else (self.blocks, *self.columns[name])

    def rows(self, blocks, first, width):
        """Copy of `width` rows of blocks from `first` on, (n_clumps, width), in the user's order."""
        values = np.empty((self.n_clumps, width))
        read_rows(blocks, first, self.clump_slot, values)
        return values

    def write(self, first, values, blocks=None):
        """Write values (n_clumps, width) to the rows of blocks from `first` on; default: the blocks of the state."""
        write_rows(self.blocks if blocks is None else blocks, first, self.clump_slot,
                   np.ascontiguousarray(values, dtype=np.float64))

    def set_column(self, name, values, first=0):
        """Write values, (n, width) or (width,), for the clumps from number `first` on."""
        blocks, row, width = self.array_of(name)
        given = np.ascontiguousarray(values, dtype=np.float64).reshape(-1, width)
        slots = self.clump_slot[first:]
        if len(given) not in (1, len(slots)):
            raise ValueError(f"{name} has {len(given)} rows for {len(slots)} clumps")
        write_rows(blocks, row, slots, given)

    cdef object wrap(self):
        """Move the stored positions of clumps that have left the periodic box far behind into it.

        Far from the origin numbers are less precise. `shift` counts the lengths of the box by which the position of a
        clump in unbounded space differs from the stored one. Along axes that move, whose images have other velocities,
        none is moved; nor is a clump that a wall carries, as a wall that turns has no images. It cannot be interrupted
        halfway. A second call changes nothing.
        """
        if self.box is None:
            return
        length, inverse, low = self.box.at_rest
        position = self.rows(*self.array_of("position"))
        d = position - low - 0.5 * length
        far = (length > 0.0) & (np.abs(d) > length) & (np.abs(d * inverse) < MOST_LENGTHS)
        if self.hold is not None:
            far &= self.hold["wall"][:, None] == 0.0
        lengths = np.where(far, np.rint(d * inverse), 0.0)
        position, shift = position - lengths * length, self.shift + lengths.astype(np.int64)
        write_rows(self.blocks, COLUMNS["position"][0], self.clump_slot, position)
        self.shift[:] = shift

    def replaced(self, blocks, wrench, **others):
        """A new state with these blocks and wrenches, which are not copied, and with `others` of the arguments of
        `fill`, where they differ from this state."""
        same = {"bodies": self.bodies, "template_index": self.template_index, "scale": self.scale,
                "material_index": self.material_index, "clump_number": self.clump_number, "box": self.box,
                "shift": None if self.box is None else self.shift.copy(), "hold": self.hold, "optional": self.optional}
        cdef State state = State.__new__(State)
        state.fill(blocks, wrench, **(same | others))
        return state

    def with_clumps(self, template, position, orientation, velocity, angular_velocity, scale=1.0, material=0):
        """A new state with n clumps of a template added; this one is not changed.

        position (n, 3) lab, orientation (n, 4) principal frame -> lab, velocity (n, 3) lab, angular_velocity (n, 3)
        principal frame, scale of the lengths, one number or (n,), index of the material.
        """
        bodies, number = self.bodies.including(template)
        return self.extended(bodies, np.full(len(position), number), scale, material, position=position,
                             orientation=orientation, velocity=velocity, angular_velocity=angular_velocity)

    def extended(self, bodies, numbers, scale, material, **columns):
        """A new state with clumps appended; numbers (n,) of their bodies, index of their material."""
        first, count = self.n_clumps, len(numbers)
        slots = np.arange(first, first + count, dtype=np.int32)
        blocks, wrench = self.blank(first + count, self.blocks.shape[1])
        blocks[:len(self.blocks)], wrench[:len(self.wrench)] = self.blocks, self.wrench
        write_rows(blocks, CLUMP_ROWS, slots, np.zeros((1, blocks.shape[1] - CLUMP_ROWS)))      # of empty lanes so far
        for name, values in columns.items():
            row, width = COLUMNS[name]
            write_rows(blocks, row, slots, np.ascontiguousarray(values, dtype=np.float64).reshape(-1, width))
        return self.replaced(
            blocks, wrench, bodies=bodies, template_index=np.append(self.template_index, numbers.astype(np.int32)),
            scale=np.append(self.scale, np.broadcast_to(np.asarray(scale, dtype=np.float64), count)),
            material_index=np.append(self.material_index, np.full(count, material, dtype=np.int32)),
            clump_number=np.append(self.clump_number[:first], slots),
            shift=None if self.box is None else np.append(self.shift, np.zeros((count, 3), dtype=np.int64), axis=0),
            hold=None if self.hold is None else np.append(self.hold, FREE_HOLD.repeat(count)))

    def without(self, gone):
        """A new state without the clumps of which `gone` (n_clumps,) is true; the others keep their order."""
        kept = self.clump_number[:self.n_clumps]
        slots, number = np.flatnonzero(~gone[kept]), np.cumsum(~gone, dtype=np.int32) - 1
        return self.replaced(
            *self.in_order(slots), template_index=self.template_index[~gone], scale=self.scale[~gone],
            material_index=self.material_index[~gone], clump_number=number[kept[slots]],
            shift=None if self.box is None else self.shift[~gone], hold=None if self.hold is None else self.hold[~gone])

    def copy(self, **others):
        """Deep copy in the same order; others : see `replaced`."""
        return self.replaced(copied(self.blocks), copied(self.wrench), **others)

    def with_columns(self, optional):
        """A copy with these optional columns, widths by name; the same state if it has them.

        Rows that the state does not have yet are zero. Rows of its other optional columns are lost.
        """
        if list(optional.items()) == list(self.optional.items()):
            return self
        blocks = aligned((len(self.blocks), CLUMP_ROWS + sum(optional.values()), LANES))
        state = self.replaced(blocks, copied(self.wrench), optional=optional)
        for name, (first, width) in state.columns.items():
            if name in self.columns:
                old, known = self.columns[name]
                width = min(width, known)
                blocks[:, first:first + width] = self.blocks[:, old:old + width]
        return state

    def with_hold(self, clumps, hold):
        """A copy in which the clumps (k,) are held as `hold` (k,) says; None if all are free."""
        new = FREE_HOLD.repeat(self.n_clumps) if self.hold is None else self.hold.copy()
        orientation = self.column("orientation")
        turn = multiply(conjugate(new["frame"][clumps]), hold["frame"])
        orientation[clumps], new[clumps] = multiply(orientation[clumps], turn), hold
        state = self.copy(hold=new)
        state.set_column("orientation", orientation)
        carried = clumps[hold["wall"] > 0.0]
        if self.box is not None and len(carried):       # which are not wrapped
            position = self.column("position")
            state.shift[carried] = 0
            state.set_column("position", position - state.shift * self.box.start.length)
        return state

    def with_box(self, box):
        """A copy in a box with other axes at rest: stored positions are in unbounded space along the others."""
        if self.box is None:
            return self.copy(box=box, shift=None)
        state = self.copy(box=box, shift=self.shift - np.where(box.moving, self.shift, 0))
        state.set_column("position", self.column("position") - state.shift * box.start.length)
        return state

    def blank(self, n, rows):
        """Blocks of so many rows and wrenches of n clumps: zeros, and the orientation (1, 0, 0, 0)."""
        n_blocks = (n + LANES - 1) // LANES
        blocks = aligned((n_blocks, rows, LANES))
        blocks[:, COLUMNS["orientation"][0]] = 1.0
        return blocks, aligned((n_blocks, WRENCH_ROWS, LANES))

    def in_order(self, slots, *arrays):
        """Copies of blocks and wrenches of the clumps in these slots (n,), in their order.

        arrays : blocks and wrenches; default: those of the state
        """
        slots, order, values = slots.astype(np.int32), np.arange(len(slots), dtype=np.int32), np.empty((len(slots), 1))
        arrays = arrays or (self.blocks, self.wrench)
        copies = self.blank(len(slots), arrays[0].shape[1])
        for new, old in zip(copies, arrays):
            for row in range(old.shape[1]):             # one by one, which takes little memory
                read_rows(old, row, slots, values)
                write_rows(new, row, order, values)
        return copies

    def in_user_order(self):
        """Copies of blocks and wrenches in the user's order, with PATH set to zero."""
        blocks, wrench = self.in_order(self.clump_slot)
        blocks[:, COLUMNS["path"][0]] = 0.0
        return blocks, wrench

    def sorted(self, slots):
        """A copy in another order in memory; slots : (n_clumps,) the present ones."""
        return self.replaced(*self.in_order(slots), clump_number=self.clump_number[slots])

    def __reduce__(self):
        return State.restore, (*self.in_user_order(), self.templates, self.template_index, self.scale,
                               self.material_index, self.box, self.shift, self.hold, self.optional)

    @classmethod
    def restore(cls, blocks, wrench, templates, template_index, scale, material_index, box=None, shift=None,
                hold=None, optional=None):
        """The state of saved blocks and wrenches in the user's order, which are copied.

        template_index, scale, material_index, hold : (n_clumps,) arrays of the clumps
        box : PeriodicBox, optional;  shift : (n_clumps, 3) as in `wrap`; default: 0;  optional : as of `fill`
        """
        order, none = np.arange(len(template_index), dtype=np.int32), State()
        return none.replaced(                           # free lanes hold what they must, whatever was saved
            *none.in_order(order, blocks, wrench), bodies=BodyTable().with_templates(templates),
            template_index=template_index, scale=scale, material_index=material_index, clump_number=order, box=box,
            shift=None if shift is None else np.array(shift), hold=hold,
            optional=optional or {})


cdef void read_rows(const double[:, :, ::1] blocks, Py_ssize_t first, const int[::1] slots,
                    double[:, ::1] values) noexcept nogil:
    """Copy the rows first, first + 1, ... of the clumps in slots (n,) into values (n, width)."""
    cdef Py_ssize_t k
    cdef int i
    for k in range(slots.shape[0]):
        for i in range(values.shape[1]):
            values[k, i] = blocks[row_of(slots[k]), first + i, lane_of(slots[k])]


cdef void write_rows(double[:, :, ::1] blocks, Py_ssize_t first, const int[::1] slots,
                     const double[:, ::1] values) noexcept nogil:
    """Copy values (n, width) to the rows; values of one row are for all clumps."""
    cdef Py_ssize_t k, row
    cdef int i
    for k in range(slots.shape[0]):
        row = k if values.shape[0] > 1 else 0
        for i in range(values.shape[1]):
            blocks[row_of(slots[k]), first + i, lane_of(slots[k])] = values[row, i]
