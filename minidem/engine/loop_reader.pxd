"""Base class of the LoopOwner."""
from minidem.engine.compiled_forces cimport CompiledForces
from minidem.engine.history_memory cimport HistoryMemory
from minidem.engine.time_loop cimport Loop
from minidem.state.state cimport State
from minidem.walls.wall_table cimport WallTable

cdef class LoopReader:
    cdef Loop loop
    cdef readonly State state
    cdef readonly bint contacts_known   # the contacts belong to the present pose
    cdef readonly object broken         # why the state is incomplete; None: it is complete
    cdef readonly object pair_table     # PairTable of the contact law; None: free bodies
    cdef readonly object user_work      # UserWork; None: there are no user forces
    cdef CompiledForces compiled_forces  # likewise
    cdef HistoryMemory memory           # of a law with history
    cdef readonly WallTable walls       # None: free bodies
    cdef object prepare_walls(self, long long steps)
    cdef public object population       # Population: ids, and energies of removed clumps
