# distutils: extra_compile_args = -O1
"""What broke in contacts: an observer notes where a law has written the energy of a fracture; Python reads a table."""
import numpy as np

from libc.stdlib cimport free

from minidem.contact.blocks cimport ContactBlock
from minidem.contact.contacts cimport FRACTURE, Contacts, Observer, Room, add_observer
from minidem.contact.fixed_point cimport LARGEST, rounded_wide
from minidem.core.eight cimport bits_below
from minidem.core.instant cimport Instant
from minidem.core.lanes cimport LANES
from minidem.core.vectors cimport grow, release, require_memory, zeroed_memory
from minidem.state.state cimport StateView, free_slot_of

FRACTURE_ROW = np.dtype([("step", np.int64), ("energy", float), ("first", np.intc), ("second", np.intc)])

if sizeof(Fracture) != FRACTURE_ROW.itemsize:
    raise ImportError("a fracture has another layout in C than in NumPy")

cdef extern from *:
    const double LEAST_FRACTURE "5e-324"   # [J]


cdef void clear(Contacts *contacts, void *own) noexcept nogil:
    """Observer: what is noted remains."""


cdef void see(Contacts *contacts, const StateView *state, ContactBlock *block, Room *room, const Instant *now,
              void *own) noexcept nogil:
    """Observer: note what broke in a block; the energies are then zero."""
    cdef FractureVector *noted = <FractureVector *> own
    cdef double energy, per_energy = contacts.law.per_energy
    cdef double *energies = &room.result.fracture[0]
    cdef int lane, i, j
    if bits_below(energies, LEAST_FRACTURE) == (1 << LANES) - 1:
        return
    for lane in range(LANES):
        i, j, energy, energies[lane] = block.first[lane], block.second[lane], energies[lane], 0.0
        if energy <= 0.0 or i == free_slot_of(state):
            continue
        if energy * per_energy < LARGEST:
            contacts.ledger.energies[<int> FRACTURE] += rounded_wide(energy * per_energy)
        else:
            contacts.ledger.lost[<int> FRACTURE] += energy
        if grow(noted, noted.size + 1, sizeof(Fracture)):
            noted.data[noted.size] = Fracture(now.step, energy, state.sphere_number[i],
                                              state.sphere_number[j] if j >= 0 else j)
            noted.size += 1


cdef class Fractures:
    """What broke in one time loop."""

    cdef object attach(self, Loop *loop, known, bint breaks):
        """Take part in a loop. known : as of `take`, what broke before.  breaks : contacts of the law may break"""
        cdef Contacts *contacts
        cdef int t
        self.known, self.n_threads = known, loop.n_threads if breaks else 0
        self.noted = <FractureVector *> zeroed_memory(self.n_threads * sizeof(FractureVector) + 1)
        require_memory("the fractures")
        for t in range(self.n_threads):
            contacts = loop.contacts + t
            add_observer(contacts, Observer(clear, see, self.noted + t))

    def __dealloc__(self):
        cdef int t
        for t in range(self.n_threads if self.noted != NULL else 0):
            release(self.noted + t)
        free(self.noted)

    cdef object go_back(self, known):
        """Return to what `take` has given before."""
        cdef int t
        for t in range(self.n_threads):                 # nothing is interrupted from here on
            self.noted[t].size = 0
        self.known = known

    cdef object take(self, driver):
        """What broke so far, (n, 6), by ascending step and spheres.

        Ids of the two clumps, -1 - k of wall k; places of the spheres in their clumps, 0 of a wall; number of the step
        at whose end it broke; energy [J].
        """
        cdef Py_ssize_t size
        cdef int t
        noted = []
        for t in range(self.n_threads):
            size = self.noted[t].size * <Py_ssize_t> sizeof(Fracture)
            if size > 0:
                noted.append((<const char *> self.noted[t].data)[:size])
        if not noted:
            return self.known
        # bytes and columns: NumPy hides Ctrl-C where it finds the fields of a struct, or compares structured arrays
        noted = np.frombuffer(b"".join(noted), np.uint8).view(FRACTURE_ROW)
        noted = noted.take(np.lexsort((noted["second"], noted["first"], noted["step"])))
        sizes, columns = driver.state.bodies.sizes[driver.state.template_index], []
        ends = np.cumsum(sizes)
        for spheres in (noted["first"], noted["second"]):
            clump, at_wall = ends.searchsorted(np.maximum(spheres, 0), side="right"), spheres < 0
            wall = np.append(driver.walls.wall_of, 0).take(-1 - np.minimum(spheres, -1))
            columns += [np.where(at_wall, -1 - wall, driver.population.ids[clump]),
                        np.where(at_wall, 0, spheres - (ends - sizes)[clump])]
        found = np.column_stack([*columns[::2], *columns[1::2], noted["step"], noted["energy"]])
        self.go_back(np.append(self.known, found, axis=0))
        return self.known
