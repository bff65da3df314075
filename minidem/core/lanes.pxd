"""The width of a block: eight clumps, so that one vector instruction of 512 bits treats all of them."""

cdef enum:
    LANES = 8
