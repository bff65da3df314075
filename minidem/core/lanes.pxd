"""The width of a block: eight clumps, so that one vector instruction of 512 bits treats all of them."""

cdef enum:
    LANES = 8
    LOG_LANES = 3


cdef inline unsigned int row_of(unsigned int slot) noexcept nogil:
    """The row of a slot: the member row of a sphere, the block of a clump."""
    return slot >> LOG_LANES


cdef inline unsigned int lane_of(unsigned int slot) noexcept nogil:
    return slot & (LANES - 1)
