"""The struct of a time loop, and all memory that it points to."""
from minidem.broadphase.broadphase cimport Broadphase
from minidem.contact.blocks cimport Blocks
from minidem.contact.contacts cimport Contacts
from minidem.contact.law cimport LawKernels
from minidem.engine.loop cimport Loop
from minidem.rotation.scheme cimport Kernels
from minidem.state.state cimport Layout, Reordering, State
from minidem.walls.surface cimport Walls
from minidem.walls.wall_table cimport WallElements


cdef class Lists:                   # of candidates and contacts
    cdef Broadphase broad
    cdef Contacts *contacts
    cdef int n_threads
    cdef void exchange(self, Loop *loop) noexcept

cdef class LoopMemory:
    cdef Loop loop
    cdef readonly State state
    cdef readonly WallElements walls    # None: free bodies
    cdef Walls own_walls                # with the materials and poses of this loop
    cdef readonly object pair_table     # PairTable of the contact law; None: free bodies
    cdef HistoryMemory contacts         # of a law with records
    cdef Kernels kernels
    cdef LawKernels law_kernels         # None: free bodies
    cdef bint calls_fluxes              # a flux is written in Python
    cdef object gravity
    cdef double[:, ::1] body_force   # see Loop
    cdef double[:, ::1] clump_motions
    cdef unsigned char[::1] onset_blocks
    cdef long long next_sort            # number of the outer rebuild at which clumps are sorted again
    cdef object arrays                  # others that the loop points to
    cdef object set_scheme(self, scheme, parameters)
    cdef object set_law(self, law, values)
    cdef object set_fields(self, population, fluxes)
    cdef bint run_has_ended(self) noexcept
    cdef bint calls_python(self)
    cdef HistoryMemory arrays_of(self, Layout layout, history)
    cdef object body_force_of(self, Layout layout)
    cdef object history(self)
    cdef void take_view(self) noexcept
    cdef void use(self, Lists lists, HistoryMemory contacts, double[:, ::1] body_force) noexcept
    cdef long long wrap_if_due(self) except -1
    cdef object sort_if_due(self, driver)
    cdef object sort(self, driver)
    cdef object sort_with_lists(self, Reordering new, HistoryMemory contacts)
    cdef object use_one_thread(self)
    cdef object release_lists(self)
    cdef object statistics(self)
    cdef object raise_failure(self, error)
    cdef object raise_force_after_end(self)


cdef class HistoryMemory:
    cdef double[:, ::1] motions
    cdef double[:, :, ::1] spins
    cdef Blocks spheres                 # contacts until `bind`
    cdef Blocks walls
    cdef bint bound
    cdef object add_contacts(self, history, const int[:, ::1] slots, const int[::1] materials)
    cdef void bind(self, Loop *loop) noexcept

cdef object export_history(Loop *loop, Layout layout)
