"""Sums over contacts that a periodic box needs which moves: its work, and under a Pressure its stress."""
from libc.stdint cimport int64_t

from minidem.contact.contacts cimport Observer
from minidem.contact.fixed_point cimport Wide
from minidem.core.lanes cimport LANES
from minidem.core.vectors cimport LINE_PAIR

cdef enum:                          # sums over contacts
    WORK_BEHIND                     # of images, in the half steps that end at the pose ...
    WORK_AHEAD                      # ... and begin there
    IMAGES                          # under a Pressure: of three axes, part of STRESS by displacements of images ...
    SHEARED = IMAGES + 3            # ... and of the shear; behind them, times the volume:
    STRESS                          # of three axes
    RESISTANCE = STRESS + 3         # of three axes, to strain rates, see md.Pressure
    BOX_SUMS = RESISTANCE + 3

cdef enum:
    STRESS_UNIT = 1 << 14           # unit of the sums of stresses / unit of energies

cdef struct BoxSums:                # over own contacts of a thread, at a pose: see add_energies
    int64_t sums[BOX_SUMS * LANES]  # of the last few blocks
    Wide totals[BOX_SUMS]
    double lost[BOX_SUMS]
    int n_blocks                    # in `sums`
    bint presses                    # an axis is under a Pressure
    char padding[LINE_PAIR]

cdef void fold_sums(BoxSums *sums) noexcept nogil
cdef Observer box_observer(BoxSums *sums) noexcept nogil
