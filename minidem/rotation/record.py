"""The record that describes a rotation scheme; registry, help, tests, citation and tables follow from it."""
from collections.abc import Mapping
from dataclasses import dataclass, field

from minidem.core.checks import number
from minidem.core.literature import Reference
from minidem.core.parameters import parameter_values
from minidem.core.registry import check_record, refuse_field
from minidem.rotation.scheme import Kernels, Limits


@dataclass(frozen=True)
class Scheme:
    """One rotation scheme.

    Attributes
    ----------
    name, title : str
        As in `rotation="name"`, and as in texts.
    kernels : Kernels
        Its compiled functions (rotation/scheme.pxd).
    cites : tuple of Reference
        Sources of the formula, the first one printing it: keys of minidem/references.bib, or
        `minidem.core.literature.article`.
    cites_with : dict
        Parameters, such as "inner=rk4", to the references that then replace `cites`.
    doi : str
        Of the paper that prints the formula; default: that of the first reference.
    equations : str
        Numbers of the equations there.
    doc : str
        Description; default: the docstring of the scheme's file.
    notes : str
        Deviations from the printed formula, in a few words.
    used_in : str
        Codes that use the scheme.
    stages : tuple of float
        Instants of the force evaluations of a step, as fractions of it.
    orientation_offset, angular_velocity_offset : float
        Instants of the stored orientation and angular velocity relative to the pose, in steps (-0.5: leapfrog).
    orientation_scratch, angular_velocity_scratch : int or None
        Index of the first scratch value of the stored orientation and angular velocity; None: those of the pose.
    order_q, order_w : int
        Global orders of convergence at the instant of the pose, body torque constant.
    order_q_varying, order_w_varying : int
        The same for a torque that varies.
    normalises : bool
        Whether the formula normalises the orientation in every step.
    keeps_norm : bool
        Whether the formula keeps its norm but for rounding, which the time loop removes every 32768 steps.
    symplectic : bool
        Whether the formula is symplectic and symmetric in time, so that energy does not drift.
    n_scratch : int
        Values per clump that the scheme stores beside orientation and angular velocity.
    parameters : dict
        Name to default number, or to a tuple of words, the first being the default.
    reference : dict
        Parameters ("" for the defaults) to relative errors ((q, w), (q, w)) on the driven cylinder, section 3 of
        doi:10.1016/j.cpc.2023.109077, after 1 s in 800 and in 200 steps, computed independently of minidem.
        Optional; checked by tests/analytic/test_published.py.
    """

    name: str
    title: str
    kernels: Kernels | None = field(repr=False)
    cites: tuple[Reference, ...] = field(default=(), repr=False)
    cites_with: Mapping[str, tuple[Reference, ...]] = field(default_factory=dict, repr=False)
    doi: str = ""
    equations: str = ""
    doc: str = field(default="", repr=False)
    notes: str = ""
    used_in: str = ""
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
    parameters: Mapping[str, float | tuple[str, ...]] = field(default_factory=dict)
    reference: Mapping[str, tuple] = field(default_factory=dict, repr=False)

    def __post_init__(self):
        """ValueError for a record that the loop could not use."""
        check_record(self, Limits.MAX_PARAMETERS)
        number("orientation_offset", self.orientation_offset)
        number("angular_velocity_offset", self.angular_velocity_offset)
        if not (isinstance(self.stages, tuple) and 1 <= len(self.stages) <= Limits.MAX_STAGES
                and all(0.0 < c <= 1.0 for c in self.stages) and self.stages[-1] == 1.0):
            refuse_field(self, "stages",
                         f"give 1 to {Limits.MAX_STAGES} fractions of the step, above 0, the last of them 1")
        if not isinstance(self.n_scratch, int) or not 0 <= self.n_scratch <= 1000:
            refuse_field(self, "n_scratch", "give a whole number from 0 to 1000")
        for name, width in (("orientation_scratch", 4), ("angular_velocity_scratch", 3)):
            first = getattr(self, name)
            if first is not None and not (isinstance(first, int) and 0 <= first <= self.n_scratch - width):
                refuse_field(self, name, f"give the first of {width} scratch numbers, n_scratch = {self.n_scratch}")

    def values(self, given: str = "") -> list[float | int]:
        """Parameter values, in the order of the record, from text such as 'iterations=20'; see `parameter_values`."""
        return parameter_values(f"rotation {self.name!r}", self.parameters, given)
