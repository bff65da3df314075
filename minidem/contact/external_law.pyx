# distutils: extra_compile_args = -O1
"""Contact laws in other languages (core/external.pyx).

`registry.register` documents the signatures. The `context` of the parameters is the `LawKernels` that hold Python
functions.
"""
import numpy as np

from minidem.contact.columns import COEFFICIENTS, CONTACT, ENERGIES, GOES_ON, IDS, RATES, RESULT, VALUES
from minidem.core.checks import short_repr
from minidem.core.external import Assignable, resolve

from cpython.buffer cimport PyBUF_READ, PyBUF_WRITE
from libc.math cimport fabs, sqrt
from libc.string cimport memset

from minidem.contact.contact cimport Contact, Energies, Result, Row, load3, store3
from minidem.contact.law cimport HistoryFunction, LawKernels
from minidem.contact.part cimport LawParameters
from minidem.core.external cimport array_at
from minidem.core.lanes cimport LANES
from minidem.core.vec3 cimport Vec3, add_scaled, dot

cdef struct DashpotHistory:         # the last record of a law with one
    Row approach                    # velocity, half a step before the pose [m/s]
    Row force                       # normal, with the dashpot [N]
    Row damping                     # of the dashpot [N]
    Row known                       # 0 in a new contact, else 1

ENERGY_ROWS = <int> (sizeof(Energies) // sizeof(Row))
SIGNATURE = "void (const double *contact, double *history, double *result, const double *parameters)"

GIVEN = {name: CONTACT[name] for name in CONTACT if CONTACT[name][0] < COEFFICIENTS}
FORCES_WITH_COUPLES = {name: RESULT[name] for name in RESULT if name != "rates"}
FORCES = {name: RESULT[name] for name in FORCES_WITH_COUPLES if name != "couple"}


def arrays_of(rows, columns):
    """Views of rows by name: (8,) of one row, (8, n) of n.  columns : (first row, width) by name."""
    return {name: rows[first] if n == 1 else rows[first:first + n].T for name, (first, n) in columns.items()}


class EightContacts(Assignable):
    """Eight contacts, for a Python law: arrays to read, and arrays to change in place or to assign to.

    Attributes
    ----------
    normal, middle_normal : (8, 3) arrays, read-only
        Unit, from j to i, at the pose; along the normal half a step before. Their product is 1. All vectors: lab frame.
    velocity, angular_velocity : (8, 3) arrays, read-only
        Of i relative to j half a step before the pose, at the contact point [m/s]; [rad/s].
    spin, overlap, radius, mass, rolling_inertia, step : (8,) arrays, read-only
        Mean angular velocity of i and j about the normal [rad/s]. Overlap at the pose [m]. Effective radius of the
        spheres, at a plane the radius of i [m]. Effective mass of the contact [kg]. Inertia about the contact point of
        spheres with the masses of the clumps [kg m2]. Step [s], or 0 where forces are evaluated between two steps.
    coefficients : (8, n) array, read-only
        Of the pair of materials, in the order of the law, and zeros; n is at least 8.
    ids : (8, 2) array, read-only
        Of the clumps i and j; -1 - number of a wall.
    fields : mapping of (8, 2) or (8, 2, components) arrays, read-only
        Values of i and j of each field (`Simulation.fields.add`); a wall without a value has the value of i.
    rates : mapping of arrays of these shapes
        Rates times capacity at which the contact changes the fields of i and j, zero at first. For `force` and fluxes.
        Rates of a flux count in contacts that last, rates of a law in the last evaluation of a contact, too.
    transfer : mapping of arrays of these shapes
        Amounts times capacity that are added to the fields of i and j in this step, once and as they are, also in the
        last evaluation of a contact; zero at first. Contacts read the values before it, forces those after it. Between
        two steps nothing is transferred: a contact with an amount then keeps its history, to write both in the next
        step. What a wall gets is lost. For `force` and fluxes.
    history : (8, records, 4) array
        Of the last step, zero in a new contact; to be replaced by the history of this step. Not for fluxes.
    force, couple : (8, 3) arrays
        On i [N], zero at first. Of a law with couples: in addition to the moment of the force [N m].
    dissipated : (8, 4) array
        Energy dissipated in this step by damping, tangential damping, sliding, rolling [J].
    goes_on, fracture : (8,) arrays
        1 if the contact continues, else 0; at first whether the overlap is positive. Energy of what breaks in this
        contact at this pose [J], zero at first; those above zero are listed by `Simulation.bonds.broken`.
    normal_energy, tangential_energy, rolling_energy, sliding : (8,) arrays
        Elastic energies at the pose [J], and 1 if the limit of friction is reached; of `describe` only, instead of the
        force and all that follows it.
    """

    def __init__(self, contact, results, history=None):
        super().__init__(**arrays_of(contact, GIVEN), coefficients=contact[COEFFICIENTS:IDS].T, **results)
        if history is not None:
            vars(self)["history"] = history.reshape(-1, 4, LANES).transpose(2, 0, 1)


class OfFields(dict):
    """Arrays by the names of fields. An assignment changes their elements; ValueError for another shape.

    what : name of this attribute of EightContacts;  fields : as of LawKernels.
    rows : (2 components of all fields, 8), of which the arrays are views
    """

    def __init__(self, what, fields, rows):
        both = rows.reshape(2, len(rows) // 2, LANES).transpose(2, 0, 1)
        super().__init__({name: both[:, :, first] if n == 1 else both[:, :, first:first + n]
                          for name, first, n in fields})
        self._what = what

    def __setitem__(self, name, values):
        if name not in self:
            raise ValueError(f"{self._what}[{name!r}]: there is no such field; known are {', '.join(self)}")
        array = self[name]
        if np.shape(values) not in (array.shape, ()):
            raise ValueError(f"{self._what}[{name!r}] has shape {np.shape(values)}; give shape {array.shape}, or one "
                             "number")
        array[...] = values


def changes_of(fields, rows):
    """What a function changes: rates and amounts, of rows (4 components of all fields, 8)."""
    half = len(rows) // 2
    return {"rates": OfFields("rates", fields, rows[:half]), "transfer": OfFields("transfer", fields, rows[half:])}


cdef object bodies_of(const Contact *contact, LawKernels owner):
    """Ids and fields of both bodies, as copies."""
    rows = read_only(contact.ids, VALUES - IDS + 2 * owner.n_components)
    return {"ids": rows[:2].T.astype(np.int64), "fields": OfFields("fields", owner.fields, rows[2:])}


cdef object read_only(const void *rows, int count):
    """A copy."""
    values = array_at(<const double *> rows, count, PyBUF_READ).copy()
    values.flags.writeable = False
    return values


cdef object explained(error, function, LawKernels owner):
    """Return an error of a function in Python, with the names and shapes of the fields that it may be about."""
    if isinstance(error, (ValueError, KeyError)) and owner.fields:
        fields = ", ".join(f"{name!r} of shape {(LANES, 2) if n == 1 else (LANES, 2, n)}"
                           for name, _, n in owner.fields)
        error.args = (f"{error} (in {getattr(function, '__qualname__', function)}; fields and rates: {fields})",)
    return error


cdef object refuse_answer(str role, answer):
    """ValueError where a function returns what it should have assigned."""
    if answer is not None:
        raise ValueError(f"{role} returned {short_repr(answer)}: return nothing, and assign the results to the "
                         f"attributes of its first argument, as in contacts."
                         f"{ {'describe': 'normal_energy', 'flux': 'rates[name][:]'}.get(role, 'force')} = ...")


cdef void call(str role, const Contact *contact, double *history, double *result, int n_results,
               const LawParameters *parameters) noexcept with gil:
    cdef LawKernels owner = <LawKernels> parameters.context
    memset(result, 0, (GOES_ON if n_results == RATES else n_results) * sizeof(Row))
    if owner.failed:                                    # the driver raises the error after the step
        return
    try:
        # copies, because the rows are gone after the call
        values = read_only(contact, COEFFICIENTS + owner.n_coefficients)
        writes_rates = role == "force" and owner.n_components > 0
        records = array_at(history, 4 * (owner.n_records - (owner.undamped != NULL)), PyBUF_WRITE)
        results = array_at(result, RATES + 4 * owner.n_components if writes_rates else n_results, PyBUF_WRITE)
        new_records, new_results = records.copy(), results.copy()
        given = arrays_of(new_results, ENERGIES if role == "describe" else
                          FORCES_WITH_COUPLES if owner.has_couples else FORCES)
        given |= {} if owner.fields is None else bodies_of(contact, owner)
        given |= changes_of(owner.fields, new_results[RATES:]) if writes_rates else {}
        refuse_answer(role, owner.functions[role](EightContacts(values, given, new_records), *owner.values))
        records[:], results[:] = new_records, new_results
    except BaseException as error:
        owner.error, owner.failed = explained(error, owner.functions[role], owner), True


cdef void force(const Contact *contact, double *history, Result *result,
                const LawParameters *parameters) noexcept with gil:
    call("force", contact, history, <double *> result, RATES, parameters)


cdef void describe(const Contact *contact, double *history, Energies *energies,
                   const LawParameters *parameters) noexcept with gil:
    call("describe", contact, history, <double *> energies, ENERGY_ROWS, parameters)


cdef void damped(const Contact *contact, double *history, Result *result,
                 const LawParameters *parameters) noexcept nogil:
    """A user's function and, beside the normal part F = k d^p of its force, the dashpot of restitution.py.

    Its coefficient is a factor times sqrt(m F / d). Damping is semi-implicit, as in parts/normal.pyx; in a step in
    which the contact begins or ends, it acts for the part of the step in which the bodies touch.
    """
    cdef DashpotHistory *own = <DashpotHistory *> (history + parameters.record)
    cdef double half, mass, overlap, deep, force, approach, rate, shift, c
    cdef Vec3 normal
    cdef int lane
    (<HistoryFunction> parameters.undamped)(contact, history, result, parameters)
    for lane in range(LANES):
        half, mass, overlap = 0.5 * contact.step[lane], contact.mass[lane], contact.overlap[lane]
        normal, deep = load3(contact.normal, lane), overlap if overlap > 1e-300 else 1e-300
        force = dot(load3(result.force, lane), normal)
        c = contact.coefficients[parameters.factor][lane] * sqrt(
            mass * (force if force > 0.0 and overlap > 0.0 else 0.0) / deep)
        approach = -dot(load3(contact.velocity, lane), load3(contact.middle_normal, lane))
        rate = approach + 0.5 * own.known[lane] * (approach - own.approach[lane])
        rate = (mass * rate - half * (force - own.force[lane])) / (mass + half * c)
        shift = fabs(half * rate)
        rate *= c * (0.5 * (deep + shift) / shift if deep < 2.0 * shift else 1.0)           # now the force
        store3(result.force, lane, add_scaled(load3(result.force, lane), rate, normal))
        result.dissipated[0][lane] += half * (own.damping[lane] + rate) * approach
        own.approach[lane], own.force[lane], own.damping[lane], own.known[lane] = approach, force + rate, rate, 1.0


cdef void describe_nothing(const Contact *contact, double *history, Energies *energies,
                           const LawParameters *parameters) noexcept nogil:
    memset(energies, 0, sizeof(Energies))


cdef class PythonFlux:
    """A flux written in Python: what `flux` finds in place of parameters."""
    cdef LawKernels kernels             # of the law of its loop, which raises its errors
    cdef object function, values

    def __init__(self, LawKernels kernels, function, values):
        self.kernels, self.function, self.values = kernels, function, values


cdef void flux(const Contact *contact, const Result *result, Row *rates, const double *parameters) noexcept with gil:
    cdef PythonFlux owner = <PythonFlux> (<void **> parameters)[0]
    cdef LawKernels kernels = owner.kernels
    if kernels.failed:
        return
    try:
        given = arrays_of(read_only(result, RATES), FORCES_WITH_COUPLES if kernels.has_couples else FORCES) \
            | bodies_of(contact, kernels)
        new = np.zeros((4 * kernels.n_components, LANES))
        given |= changes_of(kernels.fields, new)
        refuse_answer("flux", owner.function(
            EightContacts(read_only(contact, COEFFICIENTS + kernels.n_coefficients), given), *owner.values))
        array_at(<const double *> rates, len(new), PyBUF_WRITE)[:] = new
    except BaseException as error:
        kernels.error, kernels.failed = explained(error, owner.function, kernels), True


FLUX = <size_t> flux


CALLERS = {"force": <size_t> force, "describe": <size_t> describe}


def make_kernels(functions, int records, bint couples, parameters, bint has_dashpot):
    """LawKernels of {"force": function, "describe": function or None}; each through any of the interfaces."""
    cdef LawKernels made
    addresses, in_python = resolve(functions, CALLERS, SIGNATURE, ("contacts", *parameters))
    made = LawKernels(history=<size_t> damped if has_dashpot else addresses["force"],
                      describe=addresses.get("describe", <size_t> describe_nothing),
                      undamped=addresses["force"] if has_dashpot else 0, n_records=records + has_dashpot,
                      has_couples=couples)
    made.functions, made.keep, made.sees_bodies = in_python, functions, True
    return made
