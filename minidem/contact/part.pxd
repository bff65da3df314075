"""Interface of the parts of a law with friction: normal force, friction, rolling resistance.

A law is the sum of its parts (friction.pyx). Each part is a function of eight contacts, of the form of `PartFunction`:

    contact, result, parameters     as of a HistoryFunction (rows.pxd). The normal part writes FORCE, the others add
                                    to FORCE or COUPLE; each writes its own energies
    history     the records of friction_records.pxd, shared by the normal and the tangential part
    own         records of this part alone, behind those, as many as its `Part` says
    normal      (NORMAL_ROWS, LANES), written by the normal part, read by the others

A second function of the same form, for observables, has DescriptionRows as its result. Of the rows of `normal` it has
CONTACT_RADIUS and LOAD. Results are zero before the first part.
"""
from minidem.contact.rows cimport OwnRows

cdef enum NormalRow:
    CONTACT_RADIUS = 0      # a at the pose [m], 1 for linear springs; 0: no contact
    OLD_RADIUS = 1          # one step ago; of a new contact that of its first instant
    STRETCHED = 2           # fraction of the step in which springs are stretched: since touch, or since LOAD was zero
    KEEPS = 3               # 1: springs go on, 0: LOAD was zero in this step, and they are gone
    DASHPOT_COEFFICIENT = 4     # c [N s/m]
    LOAD = 5                # L of the limits of friction and rolling resistance [N]
    OLD = 6                 # 0 in a new contact, else 1
    POSE_VELOCITY = 7       # 3  of i relative to j at the contact point, at the pose [m/s]
    NORMAL_ROWS = 10

cdef extern from *:
    """
    typedef const double *__restrict__ minidem_given_rows;
    """
    ctypedef const double *GivenRows "minidem_given_rows"       # read only; not among those written

ctypedef void (*PartFunction)(GivenRows contact, OwnRows history, OwnRows own, OwnRows normal, OwnRows result,
                              GivenRows parameters) noexcept nogil

cdef struct PartCall:
    PartFunction forces     # NULL behind the last part
    PartFunction describe
    int first               # number of the first record of its own
