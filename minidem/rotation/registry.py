"""All rotation schemes by name. A module of this folder that has SCHEMES is found by itself."""
import importlib
import pkgutil
from dataclasses import fields, replace
from pathlib import Path

from minidem.rotation.record import Scheme

_schemes = {}
_registered = set()     # those that came by `register`


def _discover():
    for module in pkgutil.iter_modules([str(Path(__file__).parent)]):
        found = importlib.import_module(f"minidem.rotation.{module.name}")
        for scheme in getattr(found, "SCHEMES", ()):
            _schemes[scheme.name] = scheme


def available():
    """Names of all rotation schemes, sorted."""
    if not _schemes:
        _discover()
    return sorted(_schemes)


def info(name):
    """The record of a scheme; parameters after a colon are allowed and ignored.

    Raises ValueError for an unknown name, with the names that exist.
    """
    known = available()
    base = str(name).partition(":")[0]
    if base not in known:
        raise ValueError(f"rotation is {name!r}, must be one of: {', '.join(known)}")
    return _schemes[base]


def register(name, move, start=None, finish=None, sync=None, predict=None, **record):
    """Add a rotation scheme of your own; it then works wherever a name does. Returns its record.

    The five functions are those of minidem/rotation/scheme.pxd. `move` is needed; without `sync`, w is
    taken to stand at the instant of the pose; without `predict` it is `sync`. Each may be

    * a Python function f(bodies, dt, stage, *parameters), called for eight bodies at a time. `bodies`
      has the arrays q (8, 4), w, predicted, torque, inertia (8, 3) and scratch (8, n_scratch), in the
      principal body frame; change q, w, predicted and scratch in place, and copy what is to outlast the
      call;
    * a C function  void f(double *block, const double *torque, const double *fixed, const double *step),
      compiled anywhere: a numba cfunc, a ctypes function with restype and argtypes, a
      scipy.LowLevelCallable, or a capsule whose name is the signature. step[0] is dt, step[1] the stage,
      step[2:] the parameters. block, torque and fixed have rows of eight doubles, one per body:
          block   0-3 q (w x y z)   4-6 w   14-16 predicted   20- scratch
          torque  0-2 torque
          fixed   0-2 inertia       3-5 1/inertia
      (rows.pxd names the others, which are not a rotation scheme's to change).

    record : further fields of `Scheme`: title, doi, stages, n_scratch, parameters,
        angular_velocity_offset (-0.5 for a leapfrog), orders ...

    Raises ValueError for the name of a built-in scheme, a wrong signature, and fields that make no sense.
    """
    from minidem.rotation.external import make_kernels
    if name in available() and name not in _registered:
        raise ValueError(f"name = {name!r}: this is a built-in scheme; give yours another name")
    functions = {"start": start, "move": move, "finish": finish, "predict": predict, "sync": sync}
    if move is None:
        raise ValueError("move = None: a scheme needs the function that moves a body by a step")
    unknown = set(record) - {field.name for field in fields(Scheme)} | set(record) & {"name", "kernels"}
    if unknown:
        raise ValueError(f"{sorted(unknown)[0]} is no field of a scheme's record; see minidem.rotation.record.Scheme")
    scheme = Scheme(name=name, kernels=None, **({"title": name, "doi": "", "equations": ""} | record))
    for field_name in ("orientation_offset", "angular_velocity_offset"):
        missing = [role for role in ("start", "sync") if functions[role] is None]
        offset = getattr(scheme, field_name)
        if offset != 0.0 and missing:
            raise ValueError(f"{field_name} = {offset}: a scheme that stores it at another instant than the pose needs "
                             f"{' and '.join(missing)}, too; start takes it there, sync brings it back")
    made = make_kernels(functions, scheme.n_scratch, len(scheme.parameters))
    _schemes[name] = replace(scheme, kernels=made)
    _registered.add(name)
    return _schemes[name]


def select(specification):
    """(scheme, parameter values) of 'name' or 'name:parameter=value,...'; ValueError if there is none such."""
    scheme = info(specification)
    return scheme, scheme.values(str(specification).partition(":")[2])
