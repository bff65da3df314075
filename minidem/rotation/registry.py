"""Rotation schemes: what describes one, and all of them by name; every module of this folder that has SCHEMES is
discovered."""
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

from minidem.core.checks import number, short_repr
from minidem.core.cython_file import import_cython
from minidem.core.listing import Listing
from minidem.core.registry import Description, Registry
from minidem.rotation.scheme import Kernels, Limits

Function = Callable | object            # a Python function, or a C function in one of the forms of `register`


@dataclass(frozen=True)
class Scheme(Description):
    """The description of a rotation scheme.

    Attributes
    ----------
    name, title, cites, cites_with, doi, equations, doc, used_in, parameters, meanings
        As for `minidem.core.registry.Description`.
    kernels : Kernels
        Its compiled functions (rotation/scheme.pxd).
    notes : str
        Deviations from the printed formula, in a few words.
    stages : tuple of float
        Instants of the force evaluations of a step, as fractions of it.
    orientation_offset, angular_velocity_offset : float
        Instants of the stored orientation and angular velocity relative to the pose, in steps (-0.5: leapfrog).
    orientation_scratch, angular_velocity_scratch : int or None
        Index of the first scratch value of the stored orientation and angular velocity; None: the values of the pose.
    order_q, order_w : int
        Global orders of convergence at the instant of the pose, body torque constant.
    order_q_varying, order_w_varying : int
        The same for a torque that varies.
    normalises : bool
        Whether the formula normalises the orientation in every step.
    keeps_norm : bool
        Whether the formula conserves its norm to rounding; the time loop removes the rounding every 32768 steps.
    symplectic : bool
        Whether the formula is symplectic and symmetric in time, so that energy does not drift.
    n_scratch : int
        Values per clump that the scheme stores beside orientation and angular velocity.
    reference : dict
        Parameters ("" for the defaults) to relative errors ((q, w), (q, w)) on the driven cylinder, section 3 of
        doi:10.1016/j.cpc.2023.109077, after 1 s in 800 and in 200 steps, computed independently of minidem.
        Optional; checked by tests/analytic/test_published.py.
    """

    kind: ClassVar[str] = "rotation"
    most_parameters: ClassVar[int] = Limits.MAX_PARAMETERS

    notes: str = ""
    stages: tuple[float, ...] = (1.0,)
    orientation_offset: float = 0.0
    angular_velocity_offset: float = 0.0
    orientation_scratch: int | None = None
    angular_velocity_scratch: int | None = None
    order_q: int = 1
    order_w: int = 1
    order_q_varying: int = 1
    order_w_varying: int = 1
    normalises: bool = False
    keeps_norm: bool = False
    symplectic: bool = False
    n_scratch: int = 0
    reference: Mapping[str, tuple] = field(default_factory=dict, repr=False)

    def __post_init__(self):
        """ValueError for a description that the loop could not use."""
        super().__post_init__()
        number("orientation_offset", self.orientation_offset)
        number("angular_velocity_offset", self.angular_velocity_offset)
        if not (isinstance(self.stages, tuple) and 1 <= len(self.stages) <= Limits.MAX_STAGES
                and all(0.0 < c <= 1.0 for c in self.stages) and self.stages[-1] == 1.0):
            self.refuse("stages", f"give 1 to {Limits.MAX_STAGES} fractions of the step, above 0, the last of them 1")
        if not isinstance(self.n_scratch, int) or not 0 <= self.n_scratch <= 1000:
            self.refuse("n_scratch", "give a whole number from 0 to 1000")
        for name, width in (("orientation_scratch", 4), ("angular_velocity_scratch", 3)):
            first = getattr(self, name)
            if first is not None and not (isinstance(first, int) and 0 <= first <= self.n_scratch - width):
                self.refuse(name, f"give the first of {width} scratch numbers, n_scratch = {self.n_scratch}")


SECOND_ORDER = {"order_q": 2, "order_w": 2, "order_q_varying": 2, "order_w_varying": 2}     # fields of many schemes
LEAPFROG = SECOND_ORDER | {"angular_velocity_offset": -0.5}

_registry: Registry[Scheme] = Registry(Scheme, "minidem.rotation", "SCHEMES")
available, info, select, own_names = _registry.available, _registry.info, _registry.select, _registry.own_names


def table() -> Listing:
    """All rotation schemes beside each other; printed as text, and in a notebook as a table.

    Returns
    -------
    list of dict
        A row for each: name; order, the lowest under torques that vary; symplectic; forces, their evaluations per step;
        cost, the time of a step relative to `spiral` as ORDERS.md has it, None for one of your own; used in, codes.
    """
    text = Path(__file__).with_name("ORDERS.md").read_text(encoding="utf-8")
    ns = {name: float(cost) for name, cost in re.findall(r"^\| `([^`]+)` \|(?:[^|]*\|){6} ([\d.]+) \|", text, re.M)}
    return Listing({"name": one.name, "order": min(one.order_q_varying, one.order_w_varying),
                    "symplectic": one.symplectic, "forces": len(one.stages),
                    "cost": ns[one.name] / ns["spiral"] if one.name in ns else None, "used in": one.used_in}
                   for one in map(info, available()))


def compile(path: str | Path) -> list[Scheme]:
    """Compile a Cython file that has rotation schemes in the form of the built-in ones, which then are as fast.

    Parameters
    ----------
    path : path
        A file like minidem/rotation/no_squish.pyx, in any folder: formulas, and a list SCHEMES. It cimports from the
        minidem that is installed. Needs Cython and a C compiler.

    Returns
    -------
    list of Scheme
        Those of its SCHEMES, for `register`.

    Raises
    ------
    ValueError
        If it cannot be compiled, with what Cython or the compiler says, or has no SCHEMES.

    Notes
    -----
    The compiled module is kept in the folder ``__pycache__`` beside the file, until the file or minidem changes.
    """
    module = import_cython(path, "path")
    schemes = getattr(module, "SCHEMES", None)
    if not (isinstance(schemes, list) and schemes and all(isinstance(one, Scheme) for one in schemes)):
        raise ValueError(f"path: {path} has SCHEMES = {short_repr(schemes)}; end it with SCHEMES = [Scheme(...)]")
    return [one if one.doc else replace(one, doc=module.__doc__ or "") for one in schemes]


def register(name: str | Scheme, move: Function | None = None, start: Function | None = None,
             finish: Function | None = None, sync: Function | None = None, predict: Function | None = None,
             **further: object) -> Scheme:
    """Add a rotation scheme; it then works wherever a name does.

    Parameters
    ----------
    name : str or Scheme
        A name, with the functions and fields that follow; or a whole description, alone, as from `compile`.
    move : function
        Takes stored state and torque to the pose of the next stage (minidem/rotation/scheme.pxd).
    start, finish, sync, predict : function, optional
        As in minidem/rotation/scheme.pxd. Without `sync`, w belongs to the instant of the pose; `predict`
        defaults to `sync`.
    **further : object
        Further fields of `Scheme`: title, doi, doc, stages, n_scratch, parameters, meanings,
        angular_velocity_offset (-0.5 for a leapfrog), orders and others.

    Returns
    -------
    Scheme
        Its description.

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
    * a C function ``void f(double *bodies, const double *wrench, const double *constants, const double *step)``,
      compiled anywhere: a numba cfunc, a ctypes function with restype and argtypes, a
      scipy.LowLevelCallable, or a capsule whose name is the signature. In C the pointers are to the structs of
      rotation/scheme.h (`md.get_include`), which says what they hold: ``bodies->orientation[k]`` is w of the
      quaternion of body k of eight. Elsewhere they are rows of eight doubles, one per body, with the names of
      `md.rotation.columns`: ``bodies[8 * columns.ORIENTATION + k]``, the first of four rows. step[0] is dt,
      step[1] the stage, step[2:] the parameters, all as doubles. Cython code may use the structs of scheme.pxd.
    """
    from minidem.rotation.external import make_kernels
    functions = {"start": start, "move": move, "finish": finish, "sync": sync, "predict": predict}
    if isinstance(name, Scheme):
        scheme = name
        others = [*(role for role, function in functions.items() if function is not None), *further]
        if others:
            raise ValueError(f"{others[0]}: name is a Scheme, which has all; change it by dataclasses.replace")
        if not isinstance(scheme.kernels, Kernels):
            scheme.refuse("kernels", "give Kernels(<size_t> FUNCTION) of a .pyx file, see `compile`, or register a "
                                     "name with functions")
        _registry.check_new(scheme.name, {}, ())
    else:
        _registry.check_new(name, further, reserved=("name", "kernels"))
        given: dict[str, Any] = {"title": name} | further
        scheme = Scheme(name=name, **given)
        if move is None:
            raise ValueError("move = None: a scheme needs the function that moves a body by a step")
        scheme = replace(scheme, kernels=make_kernels(functions, scheme.n_scratch, scheme.parameters))
    missing = [role for role in ("start", "sync") if not scheme.kernels.has(role)]
    for field_name in ("orientation_offset", "angular_velocity_offset"):
        offset = getattr(scheme, field_name)
        if offset != 0.0 and missing:
            raise ValueError(f"{field_name} = {offset}: a scheme that stores it at another instant than the pose needs "
                             f"{' and '.join(missing)}, too; start takes it there, sync brings it back")
    if not scheme.kernels.has("move"):
        scheme.refuse("kernels", "the function of the block lacks role(MOVE, move, b)")
    return _registry.add(scheme)
