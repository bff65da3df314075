"""Rates and amounts that contacts, fluxes and forces give to the fields of clumps, in the time loop."""
from minidem.broadphase.neighbours cimport Neighbours
from minidem.contact.blocks cimport ContactBlock
from minidem.contact.contact cimport Contact, Result, Row
from minidem.contact.fixed_point cimport Wide
from minidem.contact.law cimport Law, LawKernels
from minidem.core.instant cimport Instant
from minidem.core.lanes cimport LANES
from minidem.core.vectors cimport LINE_PAIR, DoubleVector
from minidem.loop.loop cimport Loop
from minidem.state.state cimport StateView, rows_at

ctypedef void (*FluxFunction)(const Contact *contact, const Result *result, Row *rates,
                              const double *parameters) noexcept nogil

cdef struct FieldBlock:             # of the column `fields`: a component of a field
    double value[LANES]
    double rate[LANES]              # at the pose [1/s]
    double last_rate[LANES]         # a step before
    double has_last[LANES]          # 1 if that is known, else 0
    double per_capacity[LANES]      # 1 / capacity

cdef struct Flux:
    FluxFunction function
    const double *parameters

ctypedef FieldPass *FieldPassPointer

cdef struct ThreadRates:
    FieldPassPointer of_all
    const Neighbours *mine          # whose clumps are own
    DoubleVector foreign            # what own contacts give to clumps of other threads: slot, n rates, n amounts
    char padding[LINE_PAIR]

cdef struct FieldPass:              # of all threads
    ThreadRates *threads            # NULL: contacts change no field
    const Law *law
    int n                           # components of all fields; 0: there are none
    Py_ssize_t first                # first row of the column
    const double *ids               # (n_clumps,) by the user's number
    const double *of_walls          # (n_walls, n), not a number: as the clump
    bint law_writes                 # the law is a user's own and may write rates
    int n_fluxes
    const Flux *fluxes
    double *sources                 # (n_blocks, n, LANES): rates by forces of the user, times capacity
    Wide *sums                      # (n_blocks * LANES, n, SUM_PARTS): of the rates ...
    Wide *amounts                   # ... and of the amounts
    unsigned char *transfers        # (n_blocks,): whether the amounts of a block may differ from zero


cdef inline FieldBlock *field_of(const FieldPass *fields, const StateView *state, Py_ssize_t block,
                                 int component) noexcept nogil:
    return <FieldBlock *> rows_at(state, block, fields.first) + component


cdef class FieldRates:
    cdef Loop *loop
    cdef int n_threads
    cdef FieldPass own
    cdef list arrays
    cdef readonly object sources
    cdef object attach(self, Loop *loop, population, fluxes, kernels)
    cdef void *keep(self, array) except NULL
    cdef object set_fluxes(self, population, fluxes, LawKernels kernels)


cdef void call_flux(const FieldPass *fields, int k, const Contact *contact, Result *result) noexcept nogil
cdef void find_rates_of_law(const FieldPass *fields, const ContactBlock *block, const Contact *contact,
                            Result *result) noexcept nogil
cdef bint advance_fields(Loop *loop, int thread, Instant *now, void *own) noexcept nogil
cdef bint take_amounts(Loop *loop, int thread, Instant *now, void *own) noexcept nogil
cdef bint set_rates(Loop *loop, int thread, Instant *now, void *own) noexcept nogil
