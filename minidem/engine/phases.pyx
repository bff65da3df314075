"""The phases of a step: which functions a simulation calls, in which order.

Those of loop.pyx are of every simulation; what is optional has a phase of its own, in a file of its own.
"""
from minidem.fields.rates cimport advance_fields, set_rates, take_amounts
from minidem.forces.user_forces cimport add_user_forces, predict_rates
from minidem.loop.loop cimport (
    Phase, PhaseFunction, begin, exchange, find_forces, finish, join, move, reduce, search, stay,
)
from minidem.onset.onset_pass cimport add_onset_forces, mark_onsets
from minidem.rotation.scheme cimport FINISH
from minidem.shared_mass cimport find_mean_masses, find_shared_masses
from minidem.steering.steer cimport steer
from minidem.steering.work cimport find_work


cdef inline void add_phase(Loop *loop, bint wanted, const char *name, PhaseFunction run,
                           void *own=NULL) noexcept nogil:
    if wanted:
        loop.phases[loop.n_phases] = Phase(name, run, own)
        loop.n_phases += 1


cdef void list_phases(Loop *loop, const Options *has, bint between) noexcept nogil:
    """List the phases of a step, or of an evaluation between two steps."""
    cdef bint contacts = loop.has_contacts, onsets = has.onsets != NULL
    cdef bint finishes = loop.roles >> FINISH & 1, holds = loop.restrain != NULL
    cdef bint forces = has.forces != NULL and (between or has.forces.calls)
    cdef bint moves = loop.course.walls > 0 or loop.course.boxes > 0
    loop.n_phases = 0
    loop.stores_wrenches = (not contacts or onsets or finishes or holds or forces)
    add_phase(loop, has.moving.n_sums > 0 and not between, "steer", steer, has.moving)
    add_phase(loop, not between, "move", move)
    add_phase(loop, between, "stay", stay)
    add_phase(loop, has.fields != NULL and not between, "fields", advance_fields, has.fields)
    add_phase(loop, contacts, "join", join)
    add_phase(loop, contacts, "search", search)
    add_phase(loop, contacts and loop.law.history != NULL, "begin", begin)
    add_phase(loop, loop.law.shares_mass, "mean masses", find_mean_masses)
    add_phase(loop, contacts, "contacts", find_forces)
    add_phase(loop, loop.law.shares_mass, "masses", find_shared_masses)
    add_phase(loop, onsets, "onsets", mark_onsets, has.onsets)
    add_phase(loop, contacts, "join", join)
    add_phase(loop, contacts and loop.n_threads > 1, "exchange", exchange)
    add_phase(loop, forces and not between, "predict", predict_rates, has.forces)
    add_phase(loop, contacts and loop.stores_wrenches, "reduce", reduce)
    add_phase(loop, has.fields != NULL, "amounts", take_amounts, has.fields)
    add_phase(loop, forces, "forces", add_user_forces, has.forces)
    add_phase(loop, has.fields != NULL, "rates", set_rates, has.fields)
    add_phase(loop, onsets, "correct", add_onset_forces, has.onsets)
    add_phase(loop, contacts and (moves or holds), "work", find_work, has.moving)
    add_phase(loop, finishes and not between, "finish", finish)
