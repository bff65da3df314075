# distutils: extra_compile_args = -O1
"""Contact laws in other languages (core/external.pyx).

`registry.register` documents the signatures. The `context` of the law is the `LawKernels` that hold Python functions.
"""
from minidem.core.external import Assignable, resolve

from cpython.buffer cimport PyBUF_READ, PyBUF_WRITE
from libc.string cimport memset

from minidem.contact.law cimport MAX_LAW_PARAMETERS, LawKernels
from minidem.contact.rows cimport (
    ANGULAR_VELOCITY, COEFFICIENTS, COUPLE, DESCRIPTION_ROWS, DISSIPATED, FORCE, FRACTURE, GOES_ON, MASS,
    MIDDLE_NORMAL, NORMAL, NORMAL_ENERGY, OVERLAP, RADIUS, RESULT_ROWS, ROLLING_ENERGY, ROLLING_INERTIA, SLIDING, SPIN,
    STEP, TANGENTIAL_ENERGY, VELOCITY,
)
from minidem.core.external cimport array_at
from minidem.core.lanes cimport LANES

SIGNATURE = "void (const double *contact, double *history, double *result, const double *parameters)"


class EightContacts(Assignable):
    """Eight contacts, for a Python law: arrays to read, and arrays to change in place or to assign to.

    Attributes
    ----------
    normal, middle_normal : (8, 3) arrays, read-only
        Unit, from j to i, at the pose; along the normal half a step before. Their product is 1. All vectors: lab frame.
    velocity, angular_velocity : (8, 3) arrays, read-only
        Of i relative to j half a step before the pose, at the contact point [m/s]; [rad/s].
    spin : (8,) array, read-only
        Mean angular velocity of i and j about the normal [rad/s].
    overlap : (8,) array, read-only
        At the pose [m].
    radius, mass : (8,) arrays, read-only
        Effective radius of the spheres [m], at a plane that of i, and effective mass of the contact [kg].
    rolling_inertia : (8,) array, read-only
        About the contact point, of spheres with the masses of the clumps [kg m2]; of laws with couples.
    step : (8,) array, read-only
        [s], or 0 where forces are evaluated between two steps.
    coefficients : (8, n) array, read-only
        Of the pair of materials, in the order of the law, and zeros; n is at least 8.
    history : (8, records, 4) array
        Of the last step, zero in a new contact; to be replaced by that of this one.
    force : (8, 3) array
        On i [N], zero at first.
    couple : (8, 3) array
        On i, in addition to the moment of the force [N m]; of a law with couples only.
    dissipated : (8, 4) array
        Energy dissipated in this step by damping, tangential damping, sliding, rolling [J].
    goes_on : (8,) array
        1 if the contact goes on, else 0; at first whether the overlap is positive.
    fracture : (8,) array
        Energy of what breaks in this contact at this pose [J], zero at first. Those above zero are listed by
        `Simulation.broken_bonds`.
    normal_energy, tangential_energy, rolling_energy : (8,) arrays
        Elastic energies at the pose [J]; of `describe` only, instead of the force and all that follows it.
    sliding : (8,) array
        1 if the limit of friction is reached; likewise.
    """

    def __init__(self, contact, history, results):
        vectors = {"normal": NORMAL, "middle_normal": MIDDLE_NORMAL, "velocity": VELOCITY,
                   "angular_velocity": ANGULAR_VELOCITY}
        numbers = {"spin": SPIN, "overlap": OVERLAP, "radius": RADIUS, "mass": MASS, "step": STEP}
        numbers |= {"rolling_inertia": ROLLING_INERTIA} if "couple" in results else {}
        super().__init__(**{name: contact[row:row + 3].T for name, row in vectors.items()},
                         **{name: contact[row] for name, row in numbers.items()},
                         coefficients=contact[COEFFICIENTS:].T,
                         history=history.reshape(-1, 4, LANES).transpose(2, 0, 1), **results)


def results_of(role, rows, has_couples):
    """Names of the results of a function, and the rows to be written."""
    if role == "describe":
        return {"normal_energy": rows[NORMAL_ENERGY], "tangential_energy": rows[TANGENTIAL_ENERGY],
                "rolling_energy": rows[ROLLING_ENERGY], "sliding": rows[SLIDING]}
    couple = {"couple": rows[COUPLE:COUPLE + 3].T} if has_couples else {}
    return {"force": rows[FORCE:FORCE + 3].T, "dissipated": rows[DISSIPATED:DISSIPATED + 4].T,
            "goes_on": rows[GOES_ON], "fracture": rows[FRACTURE]} | couple


cdef void call(str role, const double *contact, double *history, double *result, int n_results,
               const double *parameters) noexcept with gil:
    cdef LawKernels owner = <LawKernels> (<void **> (parameters + <int> MAX_LAW_PARAMETERS))[0]
    memset(result, 0, (<int> GOES_ON if n_results == RESULT_ROWS else n_results) * LANES * sizeof(double))
    if owner.failed:                                    # the driver raises the error after the step
        return
    try:
        # copies, because the rows are gone after the call
        values = array_at(contact, COEFFICIENTS + owner.n_coefficients, PyBUF_READ).copy()
        values.flags.writeable = False
        records = array_at(history, 4 * owner.n_records, PyBUF_WRITE)
        results = array_at(result, n_results, PyBUF_WRITE)
        new_records, new_results = records.copy(), results.copy()
        owner.functions[role](EightContacts(values, new_records, results_of(role, new_results, owner.has_couples)),
                              *owner.values)
        records[:], results[:] = new_records, new_results
    except BaseException as error:
        owner.error, owner.failed = error, True


cdef void force(const double *contact, double *history, double *result, const double *parameters) noexcept nogil:
    with gil:
        call("force", contact, history, result, RESULT_ROWS, parameters)


cdef void describe(const double *contact, double *history, double *result, const double *parameters) noexcept nogil:
    with gil:
        call("describe", contact, history, result, DESCRIPTION_ROWS, parameters)


cdef void describe_nothing(const double *contact, double *history, double *result,
                           const double *parameters) noexcept nogil:
    memset(result, 0, <int> DESCRIPTION_ROWS * LANES * sizeof(double))


CALLERS = {"force": <size_t> force, "describe": <size_t> describe}


def make_kernels(functions, int records, bint couples, parameters):
    """LawKernels of {"force": function, "describe": function or None}; each through any of the interfaces."""
    cdef LawKernels made
    addresses, in_python = resolve(functions, CALLERS, SIGNATURE, ("contacts", *parameters))
    made = LawKernels(history=addresses["force"], describe=addresses.get("describe", <size_t> describe_nothing),
                      n_records=records, has_couples=couples)
    made.functions, made.keep = in_python, functions
    return made
