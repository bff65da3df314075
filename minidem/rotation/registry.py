"""All rotation schemes by name; every module of this folder that has SCHEMES is discovered."""
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from minidem.core.registry import Registry, check_fields
from minidem.rotation.record import Scheme

Function = Callable | object            # a Python function, or a C function in one of the forms of `register`
_registry: Registry[Scheme] = Registry("rotation", "minidem.rotation", "SCHEMES")
available, info, select = _registry.available, _registry.info, _registry.select


def register(name: str, move: Function, start: Function | None = None, finish: Function | None = None,
             sync: Function | None = None, predict: Function | None = None, **record: object) -> Scheme:
    """Add a rotation scheme; it then works wherever a name does.

    Parameters
    ----------
    name : str
    move : function
        Takes stored state and torque to the pose of the next stage (minidem/rotation/scheme.pxd).
    start, finish, sync, predict : function, optional
        As in minidem/rotation/scheme.pxd. Without `sync`, w belongs to the instant of the pose; `predict`
        defaults to `sync`.
    **record : object
        Further fields of `minidem.rotation.record.Scheme`: title, doi, doc, stages, n_scratch, parameters,
        angular_velocity_offset (-0.5 for a leapfrog), orders and others.

    Returns
    -------
    Scheme
        Its record.

    Raises
    ------
    ValueError
        For the name of a built-in scheme, a wrong signature, or a wrong field.

    Notes
    -----
    Each function is one of

    * a Python function ``f(bodies, dt, stage, *parameters)``, called for eight bodies at a time. `bodies`
      has the arrays q (8, 4), w, predicted, torque, inertia (8, 3) and scratch (8, n_scratch), in the
      principal body frame. Change q, w, predicted and scratch in place, and copy what is used after the
      call. `stage` is an integer; so is a parameter whose default is one, and for a word its index.
    * a C function ``void f(double *block, const double *torque, const double *fixed, const double *step)``,
      compiled anywhere: a numba cfunc, a ctypes function with restype and argtypes, a
      scipy.LowLevelCallable, or a capsule whose name is the signature. step[0] is dt, step[1] the stage,
      step[2:] the parameters, all as doubles; Cython code may declare ``const Step *step`` instead, the struct
      of scheme.pxd, which begins with these doubles. block, torque and fixed have rows of eight doubles, one
      per body::

         block   0-3 q (w x y z)   4-6 w   14-16 predicted   20- scratch
         torque  0-2 torque
         fixed   0-2 inertia       3-5 1/inertia

      state/rows.pxd names the others, which a rotation scheme must not change.
    """
    from minidem.rotation.external import make_kernels
    _registry.refuse_built_in(name)
    fields: dict[str, Any] = {"title": name} | record
    functions = {"start": start, "move": move, "finish": finish, "sync": sync, "predict": predict}
    if move is None:
        raise ValueError("move = None: a scheme needs the function that moves a body by a step")
    check_fields(Scheme, record, reserved=("name", "kernels"))
    scheme = Scheme(name=name, kernels=None, **fields)
    for field_name in ("orientation_offset", "angular_velocity_offset"):
        missing = [role for role in ("start", "sync") if functions[role] is None]
        offset = getattr(scheme, field_name)
        if offset != 0.0 and missing:
            raise ValueError(f"{field_name} = {offset}: a scheme that stores it at another instant than the pose needs "
                             f"{' and '.join(missing)}, too; start takes it there, sync brings it back")
    return _registry.add(replace(scheme, kernels=make_kernels(functions, scheme.n_scratch, scheme.parameters)))
